"""eSpeak NG as it is installed: the same bits whatever came before, and no text that ends in anything but a status."""

from __future__ import annotations

import hashlib
import subprocess
from typing import Any

import numpy as np
import pytest

from kasauti.errors import SpeechSystemError
from kasauti.records import Prompt, Status
from kasauti.systems import espeak_client
from kasauti.systems.base import Speech, SpeechRequest
from kasauti.systems.espeak import Espeak, EspeakOptions

pytestmark = pytest.mark.local
pytest.importorskip("espeakng_loader")

# "My name is ...", in the language's own words and script.
SENTENCES = {
    "as": "মোৰ নাম অনুপম",
    "bn": "আমার নাম অনুপম",
    "en": "My name is Anupam.",
    "gu": "મારું નામ અનુપમ છે",
    "hi": "मेरा नाम अनुपम है।",
    "kn": "ನನ್ನ ಹೆಸರು ಅನುಪಮ",
    "ml": "എന്റെ പേര് അനുപം",
    "mr": "माझे नाव अनुपम आहे.",
    "ne": "मेरो नाम अनुपम हो।",
    "or": "ମୋର ନାମ ଅନୁପମ",
    "pa": "ਮੇਰਾ ਨਾਮ ਅਨੁਪਮ ਹੈ",
    "sd": "منهنجو نالو انوپم آهي",
    "ta": "என் பெயர் அனுபம்",
    "te": "నా పేరు అనుపమ్",
    "ur": "میرا نام انوپم ہے",
}


HINDI = Prompt("p", "hi", "नमस्ते", "Deva")


def request(text: str, lang: str = "hi", clip_id: str = "c", repeat: int = 0) -> SpeechRequest:
    return SpeechRequest(clip_id, Prompt("p", lang, text, "Zyyy"), repeat, seed=repeat)


def speak(text: str, lang: str = "hi", **options: Any) -> Speech:
    system = Espeak(EspeakOptions(**options))
    (speech,) = system.synthesise([request(text, lang)])
    return speech


def bits(speech: Speech) -> str:
    assert speech.samples is not None
    return hashlib.sha256(speech.samples.tobytes()).hexdigest()


@pytest.mark.parametrize("lang", sorted(SENTENCES))
def test_every_offered_language_speaks(lang: str) -> None:
    speech = speak(SENTENCES[lang], lang)
    assert speech.outcome.status is Status.OK
    assert speech.samples is not None
    assert speech.samples.dtype == np.float32
    assert speech.rate_hz == 22_050
    assert len(speech.samples) / speech.rate_hz > 0.5
    assert 0.05 < float(np.abs(speech.samples).max()) <= 1.0


def test_languages_are_the_ones_that_can_be_understood() -> None:
    languages = Espeak(EspeakOptions()).facts.languages
    assert languages is not None
    assert set(languages) == set(SENTENCES)
    # kok is there but spells vowel signs; sa mai mni brx sat ks doi are not in the data.
    assert not {"kok", "sa", "mai", "mni", "brx", "sat", "ks", "doi", "ks-Deva", "sd-Deva"} & set(languages)


def test_a_clip_is_the_same_bit_for_bit_whatever_came_before() -> None:
    system = Espeak(EspeakOptions())
    texts = ["नमस्ते", "एक दो तीन चार", "नमस्ते", "नमस्ते"]
    first, _, third, fourth = system.synthesise([request(text, clip_id=str(n)) for n, text in enumerate(texts)])
    assert bits(first) == bits(third) == bits(fourth) == bits(speak("नमस्ते"))


def test_repeats_have_no_noise() -> None:
    system = Espeak(EspeakOptions())
    takes = system.synthesise([request("पानी", clip_id=str(n), repeat=n) for n in range(3)])
    assert len({bits(take) for take in takes}) == 1


def test_settings_change_the_sound_and_are_declared() -> None:
    variants: list[dict[str, Any]] = [{}, {"voice": "+f3"}, {"rate_wpm": 250}, {"pitch": 80}]
    assert len({bits(speak("नमस्ते", **options)) for options in variants}) == 4
    systems = [Espeak(EspeakOptions(**options)) for options in variants]
    assert len({str(system.facts.settings) for system in systems}) == 4
    assert len({str(system.settings_of(HINDI)) for system in systems}) == 4


def test_a_clip_is_told_apart_by_what_its_own_language_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    own = Espeak(EspeakOptions()).settings_of(HINDI)
    assert own == Espeak(EspeakOptions(voice="hi")).settings_of(HINDI)  # the same sound
    monkeypatch.setattr(espeak_client, "VOICES", {**espeak_client.VOICES, "te": "te+f1", "kok": "kok"})
    assert Espeak(EspeakOptions()).settings_of(HINDI) == own  # another language is mended, another is added


def test_a_voice_of_one_language_speaks_that_language_only() -> None:
    assert Espeak(EspeakOptions(voice="hi+f3")).facts.languages == {"hi": "supported"}
    assert Espeak(EspeakOptions(voice="en-us")).facts.languages == {"en": "supported"}


# The library would read a NUL as the end, markup as commands if asked to, and a lone surrogate is no UTF-8 at all.
@pytest.mark.parametrize(
    "text",
    [
        "क\0ख",
        "\ud800 क",
        "😀 नमस्ते 🏽‍♀️",
        "<speak><break time='9s'/>क</speak>",
        "[[k'a]] क",
        "क\u200d\u200c\u0300" * 50,
        "﷽ क 𑀓 一 ꯀ ᱚ",
        "9" * 2_000,
        "क" * 20_000,
    ],
    ids=["nul", "surrogate", "emoji", "ssml", "phoneme input", "joiners", "scripts", "digits", "long"],
)
def test_odd_text_is_spoken(text: str) -> None:
    assert speak(text).outcome.status is Status.OK


@pytest.mark.parametrize("text", ["...", "!?—", "\u200d\u200c", "\x07\x1b", "\ufdfd", " "])
def test_nothing_to_speak_is_a_failed_clip(text: str) -> None:
    outcome = speak(text).outcome
    assert (outcome.status, outcome.reason) == (Status.SYNTHESIS_FAILED, "nothing_spoken")
    assert outcome.final


def test_markup_is_text() -> None:
    assert bits(speak("<speak>a</speak>")) != bits(speak("a"))


def test_a_killed_child_costs_one_clip(monkeypatch: pytest.MonkeyPatch) -> None:
    run = subprocess.run

    def run_and_die(command: list[str], **options: Any) -> Any:
        return run([command[0], "-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"], **options)

    system = Espeak(EspeakOptions())
    with monkeypatch.context() as patch:
        patch.setattr(subprocess, "run", run_and_die)
        (lost,) = system.synthesise([request("नमस्ते")])
    assert (lost.outcome.status, lost.outcome.reason) == (Status.SYNTHESIS_FAILED, "engine_crashed")
    assert lost.outcome.retryable
    (spoken,) = system.synthesise([request("नमस्ते")])
    assert bits(spoken) == bits(speak("नमस्ते"))


def test_a_child_that_hangs_is_a_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(espeak_client, "_TIMEOUT_S", 0.0001)
    outcome = speak("क").outcome
    assert (outcome.status, outcome.reason, outcome.retryable) == (Status.SYNTHESIS_FAILED, "timeout", True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rate_wpm": 10}, "rate_wpm=10: wanted 80 to 450"),
        ({"pitch": 200}, "pitch=200: wanted 0 to 99"),
        ({"voice": "kok"}, "voice=kok"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SpeechSystemError, match=message):
        Espeak(EspeakOptions(**options))


def test_preflight_finds_a_voice_that_is_not_there() -> None:
    (finding,) = Espeak(EspeakOptions(voice="en-nowhere")).check([])
    assert finding.level == "error"
    assert "en-nowhere" in finding.message
    assert Espeak(EspeakOptions()).check([]) == []


def test_phonemes_come_from_every_clause_and_without_language_marks() -> None:
    ipa, english = espeak_client.phonemes(["राम घर गया। सीता आई! OK कहा", "church"], "hi")
    assert "ɾˈaːm" in ipa
    assert "siːt" in ipa.replace("ˈ", "").replace("ˌ", "")
    assert "(" not in ipa
    assert "t^ʃ" in english
