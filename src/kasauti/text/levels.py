"""Levels: the named, ordered ladder of normalisation.

`raw` → `strict` → `numbers` → `lenient` → `phonetic`; each forgives what the one before it forgives and more. A level
is a list of steps (`kasauti.text.steps`), the same for reference and transcript; a few steps look at both at once, so a
pair is normalised by `normalize_pair` and a text alone by `normalize`. The default ladder stands here; another one is a
`Ladder`, and has another signature.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache, cached_property, lru_cache

from kasauti.errors import TextError, near_matches
from kasauti.text.markup import DEFAULT_MARKUP, Markup
from kasauti.text.numbers.policy import DEFAULT_POLICY, NumberPolicy
from kasauti.text.rules import Rules, rules_of
from kasauti.text.steps import PAIR_STEPS, STEPS, Clean, PairStep, Step, check_step

NORMALISER_VERSION = "1"
"""Goes up whenever any text normalises differently than before; part of every score's signature."""

_FIRST = ("soundless", "nfc", "markup")
_LETTERS = ("case", "joiners", "letters", "apostrophes", "punctuation")
_NUMBERS = (*_FIRST, "old_numerals", "numbers", *_LETTERS, "white_space")
_SPELLING = ("inner_signs", "accents", "nukta", "spelling", "white_space")
_LENIENT = ("visarga", *_NUMBERS, *_SPELLING, "short_forms", "other_script")

_LAST_OF_A_STAGE = frozenset({"white_space", "visarga"})

DEFAULT_STEPS: dict[str, tuple[str, ...]] = {
    "raw": ("white_space",),
    "strict": (*_FIRST, *_LETTERS, "white_space"),
    "numbers": _NUMBERS,
    "lenient": _LENIENT,
    "phonetic": (*_LENIENT, "sounds"),
}
"""Names of the levels, from the one that forgives least, and the steps of each."""


@dataclass(frozen=True)
class Ladder:
    """Levels and the steps of each.

    Attributes:
        steps: Level -> names of its steps, in order; a level that is not given has its default steps.
        markup: What the step `markup` takes away.
        numbers: How the step `numbers` reads.

    Raises:
        TextError: a level or a step is unknown.
    """

    steps: Mapping[str, Sequence[str]] = field(default_factory=dict)
    markup: Markup = DEFAULT_MARKUP
    numbers: NumberPolicy = DEFAULT_POLICY

    def __post_init__(self) -> None:
        for level, names in self.steps.items():
            if level not in DEFAULT_STEPS:
                raise TextError(f"unknown level of normalisation {level!r}; {near_matches(level, DEFAULT_STEPS)}")
            for name in names:
                check_step(name)

    def __hash__(self) -> int:
        return hash(self.signature)

    @cached_property
    def _all_steps(self) -> dict[str, tuple[str, ...]]:
        return DEFAULT_STEPS | {level: tuple(names) for level, names in self.steps.items()}

    @cached_property
    def _stages(self) -> dict[str, tuple[_Stage, ...]]:
        return {level: _compiled(names) for level, names in self._all_steps.items()}

    @cached_property
    def signature(self) -> str:
        """Version of the normaliser; another ladder than the default adds a hash of all it holds."""
        own = [self._all_steps, asdict(self.markup), asdict(self.numbers)]
        if own == [DEFAULT_STEPS, asdict(DEFAULT_MARKUP), asdict(DEFAULT_POLICY)]:
            return NORMALISER_VERSION
        spelled = json.dumps(own, sort_keys=True)
        return f"{NORMALISER_VERSION}+{hashlib.sha256(spelled.encode()).hexdigest()[:8]}"

    def stages(self, level: str) -> tuple[_Stage, ...]:
        """The compiled steps of a level.

        Raises:
            TextError: unknown level.
        """
        if level not in self._stages:
            raise TextError(f"unknown level of normalisation {level!r}; {near_matches(level, self._stages)}")
        return self._stages[level]


@dataclass(frozen=True)
class _Stage:
    """Consecutive steps that look at one text; or one step that looks at a pair, with those that follow it.

    Attributes:
        alone: What is done to a text by itself.
        together: What is done to a pair first, in place of the first `replaced` steps of `alone`.
        replaced: 1 if the step for pairs has a form for one text, else 0.
    """

    alone: tuple[Step, ...] = ()
    together: PairStep | None = None
    replaced: int = 0

    @cached_property
    def after(self) -> tuple[Step, ...]:
        """The steps of `alone` that are done to a pair too."""
        return self.alone[self.replaced :]


def _compiled(names: Sequence[str]) -> tuple[_Stage, ...]:
    """The stages of a level; some steps end one, so that levels share what they do alike to texts that are alike."""
    stages = [_Stage()]
    for name in names:
        alone = (STEPS[name],) if name in STEPS else ()
        if name in PAIR_STEPS:
            stages.append(_Stage(alone, PAIR_STEPS[name], len(alone)))
        else:
            stages[-1] = replace(stages[-1], alone=stages[-1].alone + alone)
        if name in _LAST_OF_A_STAGE:
            stages.append(_Stage())
    return tuple(stage for stage in stages if stage.alone or stage.together)


@lru_cache(maxsize=1 << 14)
def _applied(steps: tuple[Step, ...], text: str, rules: Rules) -> str:
    """A text after some steps; a reference comes again for every system, and the first steps for every level."""
    for step in steps:
        text = step(text, rules)
    return text


@lru_cache(maxsize=1 << 10)
def _met(together: PairStep, reference: str, hypothesis: str, rules: Rules, clean: Clean) -> tuple[str, str]:
    """A pair after a step for pairs; the levels of one pair are asked for one after another."""
    return together(reference, hypothesis, rules, clean)


@cache
def _cleaner(steps: tuple[Step, ...], rules: Rules) -> Clean:
    """Some steps as one function, the same object each time: others remember by it what they have cleaned."""
    return lambda text: _applied(steps, text, rules)


DEFAULT_LADDER = Ladder()


def normalize(text: str, lang: str, level: str = "strict", *, ladder: Ladder = DEFAULT_LADDER) -> str:
    """Text as it is compared at one level.

    Args:
        text: Any text.
        lang: Language of the row, by any of its names; decides which letters are the same.
        level: `raw` folds white space only; `strict` also puts every letter into one encoding, and takes punctuation,
            markup and the case of Latin letters away; `numbers` also writes numbers in words; `lenient` also takes one
            of several spellings of print; `phonetic` writes words by their sounds.
        ladder: The levels and their steps.

    Returns:
        The text in NFC (except at `raw`), words joined by single spaces. Normalising it again changes nothing.

    Raises:
        TextError: unknown language or level.

    Example:
        >>> normalize("नमस्ते, दुनिया! (हाय)", "hi")
        'नमस्ते दुनिया हाय'
    """
    rules = rules_of(lang, ladder.markup, ladder.numbers)
    for stage in ladder.stages(level):
        text = _applied(stage.alone, text, rules)
    return text


def normalize_pair(
    reference: str, hypothesis: str, lang: str, level: str = "strict", *, ladder: Ladder = DEFAULT_LADDER
) -> tuple[str, str]:
    """Reference and transcript as they are compared at one level.

    The same as `normalize` of each, except for what can only be seen in both: which of its accepted readings a number
    was given (from `numbers` on), a word that is the reference's word in another script, and Latin abbreviations
    and initials (both from `lenient` on).

    Args:
        reference: What was to be said.
        hypothesis: What was heard.
        lang: Language of the reference, by any of its names.
        level: As for `normalize`.
        ladder: The levels and their steps.

    Raises:
        TextError: unknown language or level.
    """
    rules = rules_of(lang, ladder.markup, ladder.numbers)
    for stage in ladder.stages(level):
        if stage.together is not None:
            reference, hypothesis = _met(stage.together, reference, hypothesis, rules, _cleaner(stage.after, rules))
        reference, hypothesis = (_applied(stage.after, text, rules) for text in (reference, hypothesis))
    return reference, hypothesis
