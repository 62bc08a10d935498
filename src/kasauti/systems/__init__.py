"""Speech systems: the protocol (`base`) and one file per system; a class comes in by `_target_` from its YAML file."""
