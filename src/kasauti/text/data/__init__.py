"""Tables that the text modules read: facts about scripts and languages, without behaviour."""
