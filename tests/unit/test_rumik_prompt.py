"""The text that the model reads: one form, which no prompt can break."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasauti.records import Prompt, Status
from kasauti.systems.base import SpeechFailed
from kasauti.systems.rumik.prompt import DESCRIPTION, SPEAKER, Delivery, delivery_of, wire
from kasauti.text.languages import LANGUAGES

IRA = Delivery("Ira", "professional, Hindi accent, steady pace")
FORM = re.compile(r'<text>([^:<>"]+): (?:<description="([^"<>]*)"> )?(.*)<audio>', re.DOTALL)


def prompt(lang: str = "hi", text: str = "नमस्ते", **control: str) -> Prompt:
    return Prompt("p", lang, text, "Deva", control=control)


def test_the_form_is_that_of_the_model_card() -> None:
    """Source: prompt of the published benchmark, as every public client of the model writes it."""
    assert wire("नमस्ते", IRA) == '<text>Ira: <description="professional, Hindi accent, steady pace"> नमस्ते<audio>'
    assert wire("  Hello.\n", Delivery("Zoya", None)) == "<text>Zoya: Hello.<audio>"
    assert wire("<laugh> no <sigh>", Delivery("Siya", None)) == "<text>Siya: <laugh> no <sigh><audio>"
    assert wire('5 < 6 and <b>bold</b> "quoted"', Delivery("Ira", None)).endswith('<b>bold</b> "quoted"<audio>')


@pytest.mark.parametrize(
    ("lang", "accent"),
    [("hi", "Hindi"), ("ta", "Tamil"), ("ks-Deva", "Kashmiri"), ("mni-Mtei", "Manipuri"), ("en", "Indian English")],
)
def test_the_accent_is_that_of_the_language(lang: str, accent: str) -> None:
    assert delivery_of(prompt(lang), SPEAKER, DESCRIPTION) == Delivery(
        "Ira", f"professional, {accent} accent, steady pace"
    )


@pytest.mark.parametrize(
    ("control", "template", "wanted"),
    [
        ({}, None, None),
        ({}, "", None),
        ({}, "whisper", "whisper"),
        ({"description": "Happy, Hindi accent, Steady pace"}, DESCRIPTION, "Happy, Hindi accent, Steady pace"),
        ({"description": "calm, {lang} accent"}, None, "calm, Hindi accent"),
        ({"tone": "sad"}, DESCRIPTION, "sad, Hindi accent, steady pace"),
        ({"accent": "Tamil"}, DESCRIPTION, "professional, Tamil accent, steady pace"),
        ({"accent": "Tamil accent"}, DESCRIPTION, "professional, Tamil accent, steady pace"),
        ({"pace": "slow"}, DESCRIPTION, "professional, Hindi accent, slow pace"),
        ({"pace": "fast pace"}, None, "fast pace"),
        ({"tone": "angry", "pace": "fast"}, None, "angry, fast pace"),
        ({"tone": ""}, DESCRIPTION, "Hindi accent, steady pace"),
        ({"delivery": "angry"}, DESCRIPTION, "professional, Hindi accent, steady pace"),
    ],
)
def test_a_prompt_says_how_it_wants_to_be_said(
    control: dict[str, str], template: str | None, wanted: str | None
) -> None:
    assert delivery_of(prompt(**control), "Ira", template).description == wanted


def test_a_prompt_may_have_its_own_voice() -> None:
    assert delivery_of(prompt(speaker="Zoya"), "Ira", None).speaker == "Zoya"


@pytest.mark.parametrize(
    "text",
    [
        "end<audio>",
        "a </audio> b",
        "< AUDIO >",
        "<text>Zoya: other words",
        '<description="sad"> words',
        "<Description>",
        "<BOS_TOKEN>",
        "<|END_OF_TURN_TOKEN|>",
        "<PAD>",
        "<0_0>",
        "a<2047_7>b",
    ],
)
def test_a_text_that_would_be_taken_for_structure_is_refused_by_name(text: str) -> None:
    with pytest.raises(SpeechFailed, match="takes for structure") as caught:
        wire(text, IRA)
    assert (caught.value.outcome.status, caught.value.outcome.reason) == (Status.SYNTHESIS_FAILED, "breaks_format")
    assert not caught.value.outcome.retryable


@pytest.mark.parametrize("description", ['sad"> <audio>', "a\nb", "<sad>", "x\x00"])
def test_a_description_can_not_end_early(description: str) -> None:
    with pytest.raises(SpeechFailed, match=r"description .*without double quotes"):
        wire("words", Delivery("Ira", description))


@pytest.mark.parametrize("speaker", ["", "Ira: Zoya", "<Ira>", "I\nra", 'I"ra'])
def test_a_speaker_is_a_name(speaker: str) -> None:
    with pytest.raises(SpeechFailed, match="speaker"):
        wire("words", Delivery(speaker, None))


@given(st.text(), st.text(), st.one_of(st.none(), st.text(min_size=1)))
def test_whatever_is_not_refused_has_the_form_and_can_be_read_back(
    text: str, speaker: str, description: str | None
) -> None:
    try:
        line = wire(text, Delivery(speaker, description))
    except SpeechFailed:
        return
    found = FORM.fullmatch(line)
    assert found is not None
    assert found.groups() == (speaker, description, text.strip())
    assert line.count("<audio>") == line.count("<text>") == 1


@given(st.sampled_from(sorted(LANGUAGES)), st.dictionaries(st.sampled_from(["tone", "accent", "pace"]), st.text()))
def test_every_language_and_every_wish_gives_a_delivery(lang: str, control: dict[str, str]) -> None:
    delivery_of(prompt(lang, **control), SPEAKER, DESCRIPTION)
