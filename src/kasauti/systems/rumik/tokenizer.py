"""The tokenizer, read from `tokenizer.json` alone.

`tokenizer_config.json` names a class that transformers 5 builds anew, with another pre-tokenizer than the one in the
file: Indic text then falls into up to twice as many tokens, and some ids lie outside the model's table. That class is
never asked here. What is left to go wrong is caught when it is loaded: marks that are not one token with the id that
the config gives, ids that the model has no row for, and, by the hash of the ids of fixed sentences, any other reading.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kasauti.errors import SpeechSystemError
from kasauti.identity import digest
from kasauti.systems.base import SpeechFailed
from kasauti.systems.rumik.layout import Layout
from kasauti.systems.rumik.prompt import AUDIO, SOUNDS, TEXT, Delivery, wire

BOS = "<BOS_TOKEN>"

SENTENCES = (
    "आज सुबह बारिश जल्दी थम गई, इसलिए हम बाज़ार तक पैदल गए।",
    "இன்று காலை மழை சீக்கிரம் நின்றது, அதனால் சந்தைக்கு நடந்தோம்.",
    "ఈ రోజు ఉదయం వాన త్వరగా ఆగింది, అందుకే బజారుకు నడిచి వెళ్ళాం.",
    "আজ সকালে বৃষ্টি তাড়াতাড়ি থেমে গেছে, তাই আমরা হেঁটে বাজারে গেলাম।",
    "آج صبح بارش جلدی رک گئی، اس لیے ہم بازار تک پیدل گئے۔",
    "The rain stopped early this morning, so we walked to the market at 9:30.",
    "मेरी meeting दस बजे है, please थोड़ा जल्दी आना।",
)
"""What is hashed: written for this, in scripts that a wrong pre-tokenizer takes apart and one that it does not."""

_DELIVERY = Delivery("Ira", "professional, Hindi accent, steady pace")
_HASH_LENGTH = 16


class WireTokenizer:
    """Turns wire text into ids.

    Args:
        folder: The checkpoint.
        config: Its `config.json`.
        layout: What that says.
        expected: The hash that it must have; None takes any.

    Raises:
        SpeechSystemError: the file can't be read, does not fit the model, or reads the fixed sentences otherwise than
            `expected` says.

    Attributes:
        sha: Hash of the ids of the fixed sentences.
    """

    def __init__(self, folder: Path, config: Mapping[str, Any], layout: Layout, expected: str | None = None) -> None:
        from tokenizers import Tokenizer

        self._path = folder / "tokenizer.json"
        self._layout = layout
        try:
            self._tokenizer = Tokenizer.from_file(str(self._path))
        except Exception as error:  # the library raises bare Exceptions
            raise SpeechSystemError(f"{self._path}: can't be read ({error})") from error
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._bos = self._mark(BOS, config.get("bos_token_id"))
        self._text = self._mark(TEXT, layout.text_start_token_id)
        self._audio = self._mark(AUDIO, layout.audio_start_token_id)
        self._mark("</audio>", layout.audio_end_token_id)
        self._reserved = self._reserved_ids()
        self.sha = self._hash()
        if expected is not None and self.sha != expected:
            raise SpeechSystemError(
                f"{self._path}: the ids of the fixed sentences hash to {self.sha}, and tokenizer_sha={expected} is "
                "wanted: it reads text otherwise than the tokenizer that this hash was taken from"
            )

    def encode(self, text: str) -> list[int]:
        """Ids of a wire text, with one BOS.

        Raises:
            SpeechFailed: reason `breaks_format`: something in it is read as structure; `no_such_token`: the model has
                no row for what it is read as.
        """
        ids: list[int] = self._tokenizer.encode(text).ids
        if max(ids) >= self._layout.vocab_size:
            raise SpeechFailed(
                f"the tokenizer gives the id {max(ids)}, and the model's vocabulary ends at "
                f"{self._layout.vocab_size - 1}: it is not this model's",
                reason="no_such_token",
            )
        if ids[:1] != [self._bos]:
            ids = [self._bos, *ids]
        marks = [self._text, self._audio]
        if ids[1] != marks[0] or ids[-1] != marks[1] or any(token in self._reserved for token in ids[2:-1]):
            found = sorted({str(self._tokenizer.id_to_token(token)) for token in ids[2:-1] if token in self._reserved})
            raise SpeechFailed(
                f"the tokenizer reads {', '.join(found) or 'its marks'} in this text, which the model takes for "
                "structure; take it out",
                reason="breaks_format",
            )
        return ids

    def _mark(self, token: str, wanted: Any) -> int:
        found = self._tokenizer.token_to_id(token)
        if found is None or (wanted is not None and found != wanted):
            raise SpeechSystemError(
                f"{self._path}: {token} is {'no token' if found is None else f'token {found}'}, and config.json says "
                f"{wanted}: the tokenizer is not this model's"
            )
        return int(found)

    def _reserved_ids(self) -> frozenset[int]:
        """Ids that a text must not hold: marks, special tokens but those of the form itself, units of sound."""
        added = self._tokenizer.get_added_tokens_decoder()
        special = {token for token, one in added.items() if one.special and one.content not in SOUNDS}
        form = set(self._tokenizer.encode(wire("a", _DELIVERY), add_special_tokens=False).ids)
        units = range(self._layout.first_unit_id, self._layout.last_unit_id + 1)
        marks = {self._bos, self._text, self._audio, self._layout.audio_end_token_id}
        return frozenset(special - form) | set(units) | marks

    def _hash(self) -> str:
        try:
            return digest([self.encode(wire(sentence, _DELIVERY)) for sentence in SENTENCES], _HASH_LENGTH)
        except SpeechFailed as error:
            raise SpeechSystemError(f"{self._path}: a plain sentence does not come through: {error}") from error
