"""Levels: the named, ordered ladder of normalisation.

`raw` → `strict` → `numbers` → `lenient` → `phonetic`; each forgives what the one before it forgives and more. A level
is a list of steps (`kasauti.text.steps`), the same for reference and transcript. The default ladder stands here and,
key by key the same, in `conf/scoring/default.yaml`, where a run may change it; a changed ladder has another signature.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache

from kasauti.errors import TextError, near_matches
from kasauti.text.markup import DEFAULT_MARKUP, Markup
from kasauti.text.steps import Step, rules_of, step

NORMALISER_VERSION = "1"
"""Goes up whenever any text normalises differently than before; part of every score's signature."""

LEVELS = ("raw", "strict", "numbers", "lenient", "phonetic")
"""Names of the levels, from the one that forgives least."""

_STRICT = ("soundless", "nfc", "markup", "case", "joiners", "letters", "apostrophes", "punctuation", "white_space")

DEFAULT_STEPS: dict[str, tuple[str, ...]] = {
    "raw": ("white_space",),
    "strict": _STRICT,
}


@dataclass(frozen=True)
class Ladder:
    """Levels and the steps of each.

    Attributes:
        steps: Level -> names of its steps, in order.
        markup: What the step `markup` takes away.

    Raises:
        TextError: a level or a step is unknown.
    """

    steps: Mapping[str, Sequence[str]] = field(default_factory=lambda: DEFAULT_STEPS)
    markup: Markup = DEFAULT_MARKUP

    def __post_init__(self) -> None:
        for level, names in self.steps.items():
            if level not in LEVELS:
                raise TextError(f"unknown level of normalisation {level!r}; {near_matches(level, LEVELS)}")
            for name in names:
                step(name)

    def __hash__(self) -> int:
        return hash(self.signature)

    @cached_property
    def _compiled(self) -> dict[str, tuple[Step, ...]]:
        return {level: tuple(map(step, names)) for level, names in self.steps.items()}

    @cached_property
    def signature(self) -> str:
        """Version of the normaliser; a ladder other than the default adds a hash of its steps and markup."""
        steps = {level: tuple(names) for level, names in self.steps.items()}
        if steps == DEFAULT_STEPS and self.markup == DEFAULT_MARKUP:
            return NORMALISER_VERSION
        spelled = json.dumps([steps, asdict(self.markup)], sort_keys=True)
        return f"{NORMALISER_VERSION}+{hashlib.sha256(spelled.encode()).hexdigest()[:8]}"

    def normalize(self, text: str, lang: str, level: str = "strict") -> str:
        """One level of normalisation; see the module's function of the same name."""
        if level not in self._compiled:
            raise TextError(f"unknown level of normalisation {level!r}; {near_matches(level, self._compiled)}")
        rules = rules_of(lang, self.markup)
        for apply in self._compiled[level]:
            text = apply(text, rules)
        return text


DEFAULT_LADDER = Ladder()


@lru_cache(maxsize=8192)
def normalize(text: str, lang: str, level: str = "strict", *, ladder: Ladder = DEFAULT_LADDER) -> str:
    """Text as it is compared at one level.

    Args:
        text: Any text.
        lang: Language of the row, by any of its names; decides which letters are the same.
        level: `raw` folds white space only; `strict` also puts every letter into one encoding, and takes punctuation,
            markup and the case of Latin letters away.
        ladder: The levels and their steps.

    Returns:
        The text in NFC (except at `raw`), words joined by single spaces. Normalising it again changes nothing.

    Raises:
        TextError: unknown language or level.

    Example:
        >>> normalize("नमस्ते, दुनिया! (हाय)", "hi")
        'नमस्ते दुनिया हाय'
    """
    return ladder.normalize(text, lang, level)
