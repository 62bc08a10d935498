"""The text that the model reads, built here and nowhere else: `<text>Ira: <description="…"> words<audio>`.

The tokenizer puts BOS before it. Nothing in a prompt can end a field early or leave `<audio>` out: what would is
refused by name, before anything is loaded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kasauti.records import Prompt
from kasauti.systems.base import SpeechFailed
from kasauti.text.languages import LANGUAGES

TEXT, AUDIO = "<text>", "<audio>"
SOUNDS = ("<laugh>", "<chuckle>", "<sigh>")
"""Sounds that a text may ask for."""

SPEAKER = "Ira"
DESCRIPTION = "professional, {lang} accent, steady pace"
"""As in the published benchmark."""

_ACCENTS = {"en": "Indian English"}
"""Where the model's own list of accents has another name than the language."""

_CONTROL = re.compile(r"<\s*/?\s*(?i:text|audio|description)\b|<\|?[A-Z_]{3,}\|?>|<\d+_\d+>")
"""What the model takes for structure: its own marks, special tokens of the base model, codes of the codec."""

_ENDS_A_FIELD = re.compile(r'["<>\r\n\x00-\x1f]')


@dataclass(frozen=True)
class Delivery:
    """How a text is to be said.

    Attributes:
        speaker: Name of the voice.
        description: Tone, accent, pace; None leaves the delivery to the model.
    """

    speaker: str
    description: str | None


def delivery_of(prompt: Prompt, speaker: str, description: str | None) -> Delivery:
    """What a prompt asks for, on top of what the system's options say.

    `control.speaker` and `control.description` take the place of the options; `control.tone`, `.accent` and `.pace`
    that of the first, second and third part of the description (parts have commas between them).

    Args:
        prompt: The prompt.
        speaker: The system's voice.
        description: The system's description, with `{lang}` for the English name of the prompt's language.
    """
    control = prompt.control
    template = control.get("description", description)
    parts = [part.strip() for part in template.split(",")] if template else []
    for place, (name, word) in enumerate((("tone", ""), ("accent", "accent"), ("pace", "pace"))):
        if name in control:
            parts += [""] * (place + 1 - len(parts))
            parts[place] = _worded(control[name].strip(), word)
    wanted = ", ".join(part for part in parts if part).replace("{lang}", _accent(prompt.lang))
    return Delivery(control.get("speaker", speaker).strip(), wanted or None)


def wire(text: str, delivery: Delivery) -> str:
    """The text that the model reads, without BOS.

    Raises:
        SpeechFailed: reason `breaks_format`, naming what would be taken for structure.
    """
    words = text.strip()
    found = _CONTROL.search(words)
    if found is not None:
        raise _broken(f"the text holds {found[0]!r}, which the model takes for structure; take it out")
    if not delivery.speaker or ":" in delivery.speaker or _ENDS_A_FIELD.search(delivery.speaker):
        raise _broken(f"speaker {delivery.speaker!r}: wanted a name, without quotes, colons, brackets and line ends")
    if delivery.description is None:
        return f"{TEXT}{delivery.speaker}: {words}{AUDIO}"
    if _ENDS_A_FIELD.search(delivery.description):
        raise _broken(f"description {delivery.description!r}: wanted words without double quotes, <, > and line ends")
    return f'{TEXT}{delivery.speaker}: <description="{delivery.description}"> {words}{AUDIO}'


def _accent(lang: str) -> str:
    return _ACCENTS.get(lang) or LANGUAGES[lang].name.partition(" (")[0]


def _worded(value: str, word: str) -> str:
    """`Hindi` as `Hindi accent`, `slow` as `slow pace`: the model knows the second forms."""
    return value if not word or not value or value.lower().endswith(word) else f"{value} {word}"


def _broken(message: str) -> SpeechFailed:
    return SpeechFailed(message, reason="breaks_format")
