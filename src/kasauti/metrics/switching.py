"""Code-switched text: errors by the script that a word was written in, and errors where the script changes.

Counts are in words. A word's script is that of most of its letters; words without letters (digits) have none and are
passed over when neighbours are compared. A reference word is *at a switch point* when the nearest word on either side
is in another script, so a sentence in one script has none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kasauti.metrics.edits import AlignedPair, align
from kasauti.text.codeswitch import same_word
from kasauti.text.languages import language
from kasauti.text.levels import DEFAULT_LADDER, Ladder, normalize_pair
from kasauti.text.scripts import dominant_script
from kasauti.text.units import words


@dataclass(frozen=True)
class HeardCounts:
    """What became of the reference words of one script; the four add up to their number.

    Attributes:
        right: Heard as written.
        other_script: Heard as the same word in another script.
        wrong: Another word was heard.
        missing: Nothing was heard.
    """

    right: int = 0
    other_script: int = 0
    wrong: int = 0
    missing: int = 0

    @property
    def n(self) -> int:
        """How many words the reference has in this script."""
        return self.right + self.other_script + self.wrong + self.missing


@dataclass(frozen=True)
class SwitchCounts:
    """Errors of one pair by script and place.

    Attributes:
        by_script: ISO 15924 code of the written word (None for words without letters) -> what became of such words.
        word_edits: All word edits, insertions among them.
        switch_words: Reference words at a switch point.
        switch_edits: Edits of those words, and insertions between two words in different scripts.
    """

    by_script: Mapping[str | None, HeardCounts]
    word_edits: int
    switch_words: int
    switch_edits: int

    @property
    def switch_share(self) -> float | None:
        """Share of the word edits that are at a switch point; None when there is no edit."""
        return self.switch_edits / self.word_edits if self.word_edits else None


def switch_counts(
    reference: str, hypothesis: str, lang: str, level: str = "numbers", *, ladder: Ladder = DEFAULT_LADDER
) -> SwitchCounts:
    """Counts errors by script and at switch points.

    Args:
        reference: What was to be said.
        hypothesis: What was heard.
        lang: Language of the reference, by any of its names.
        level: Level of normalisation; at `lenient` the same word in another script counts as right.
        ladder: The levels and their steps.

    Raises:
        TextError: unknown language or level.
    """
    said, heard = (words(text) for text in normalize_pair(reference, hypothesis, lang, level, ladder=ladder))
    scripts = [dominant_script(word) for word in said]
    before, after = _nearest(scripts), _nearest(scripts[::-1])[::-1]
    switches = [
        script is not None and any(near not in (None, script) for near in (before[i], after[i]))
        for i, script in enumerate(scripts)
    ]
    tally: dict[str | None, dict[str, int]] = {script: {} for script in scripts}
    word_edits = switch_edits = at = 0
    for pair in align(said, heard):
        if pair.reference is None:
            around = {script for script in (_nearest([*scripts[:at], None])[-1], _next(scripts, at)) if script}
            switch_edits += len(around) > 1
            word_edits += 1
            continue
        became = _became(pair, language(lang).base)
        tally[scripts[at]][became] = tally[scripts[at]].get(became, 0) + 1
        wrong = became != "right"
        word_edits += wrong
        switch_edits += wrong and switches[at]
        at += 1
    return SwitchCounts({s: HeardCounts(**n) for s, n in tally.items()}, word_edits, sum(switches), switch_edits)


def _nearest(scripts: Sequence[str | None]) -> list[str | None]:
    """For each word the script of the nearest word before it that has one."""
    found: list[str | None] = []
    last: str | None = None
    for script in scripts:
        found.append(last)
        last = script or last
    return found


def _next(scripts: Sequence[str | None], at: int) -> str | None:
    """The script of the first word from a place on that has one."""
    return next((script for script in scripts[at:] if script), None)


def _became(pair: AlignedPair, lang: str) -> str:
    """Name of the count of `HeardCounts` that a reference word belongs to."""
    if pair.kind == "hit":
        return "right"
    if pair.hypothesis is None:
        return "missing"
    return "other_script" if same_word(str(pair.reference), str(pair.hypothesis), lang) else "wrong"
