"""Where the paces of `conf/scoring` come from, and how the gates do on 500 real durations.

The published clips are not public, their texts and durations are: five systems, 100 sentences that each mix two or
three languages. Scripts stand in for languages there, since a word's script is all that tells its language.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import yaml
from numpy.typing import NDArray
from scipy.optimize import nnls

from kasauti.metrics.gates import GateLimits, Sound, sound_gates
from kasauti.metrics.length import LengthSettings, expected_length, length_penalty
from kasauti.text.languages import LANGUAGES, resolve_language
from kasauti.text.levels import normalize
from kasauti.text.numbers import cardinal
from kasauti.text.phonetic import fold
from kasauti.text.scripts import script_counts

CONF = yaml.safe_load((Path(__file__).parents[2] / "conf/scoring/default.yaml").read_text(encoding="utf-8"))
LENGTH = LengthSettings(**CONF["length"])
LIMITS = GateLimits(**CONF["gates"])
ROUNDING = 0.0501
"""The file gives one decimal."""

FITTED = {"Latn": "en", "Deva": "hi", "Beng": "bn", "Guru": "pa", "Knda": "kn", "Taml": "ta", "Telu": "te"}
RUMIK = "rumik_oss_1"
RUMIK_CAP_S = 2048 / 100
"""New tokens allowed by its requests, over its tokens a second (12.5 frames of 8 codes)."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Published:
    """One clip: who spoke, the text at level `numbers`, its language, its duration."""

    system: str
    prompt_id: str
    text: str
    lang: str
    duration_s: float

    @property
    def expected_s(self) -> float:
        length = expected_length(self.text, self.lang, LENGTH)
        assert length is not None
        return length.expected_s


@pytest.fixture(scope="module")
def clips(bundle: Path) -> list[Published]:
    prompts = {}
    for line in (bundle / "prompts.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        lang = resolve_language(row["anchor_accent"])
        prompts[row["id"]] = (normalize(row["transcript"], lang, "numbers"), lang)
    found = []
    for path in sorted((bundle / "requests").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            found.append(Published(path.stem, row["id"], *prompts[row["id"]], row["duration_seconds"]))
    assert len(found) == 500
    return found


def sentences(clips: list[Published]) -> list[Published]:
    """Each sentence once, with the median of its durations: one system's slow or cut clip does not move it."""
    durations: dict[str, list[float]] = {}
    for clip in clips:
        durations.setdefault(clip.prompt_id, []).append(clip.duration_s)
    first = {clip.prompt_id: clip for clip in reversed(clips)}
    return [
        Published("median", i, first[i].text, first[i].lang, float(np.median(values)))
        for i, values in durations.items()
    ]


def letters_of(clips: list[Published]) -> Array:
    """Letters and marks in each fitted script, a row for each clip."""
    return np.array([[script_counts(clip.text).get(script, 0) for script in FITTED] for clip in clips], float)


def sounds_of(clips: list[Published]) -> Array:
    """Latin letters, and sounds of all other words (`phonetic.fold`), a row for each clip."""
    rows = []
    for clip in clips:
        row = [0, 0]
        for word in clip.text.split():
            script = next(iter(script_counts(word)))
            row[script != "Latn"] += len(word) if script == "Latn" else len(fold(word, FITTED[script]))
        rows.append(row)
    return np.array(rows, float)


def fit(amounts: Array, durations_s: Array) -> Array:
    """Seconds for one unit of each column: non-negative least squares on errors relative to the duration."""
    seconds, _ = nnls(amounts / durations_s[:, None], np.ones(len(durations_s)))
    return np.asarray(seconds)


def durations_of(clips: list[Published]) -> Array:
    return np.array([clip.duration_s for clip in clips])


def log_errors(clips: list[Published]) -> Array:
    """ln(duration / expected) with the paces of the file."""
    return np.log([clip.duration_s / clip.expected_s for clip in clips])


def numbers_in_words(lang: str) -> str:
    return normalize(" ".join(cardinal(n, lang) for n in range(1, 101)), lang, "numbers")


def letters_in_numbers(lang: str) -> int:
    return sum(script_counts(numbers_in_words(lang)).values())


def test_paces_of_seven_scripts_are_the_fit(clips: list[Published]) -> None:
    median = sentences(clips)
    paces = 1 / fit(letters_of(median), durations_of(median))
    for lang, pace in zip(FITTED.values(), paces, strict=True):
        assert LENGTH.chars_per_second[lang] == pytest.approx(pace, abs=ROUNDING), lang


def test_a_fixed_time_for_each_clip_adds_nothing(clips: list[Published]) -> None:
    # So an expected duration is a sum over letters and no more.
    median = sentences(clips)
    with_constant = np.hstack([letters_of(median), np.ones((len(median), 1))])
    assert fit(with_constant, durations_of(median))[-1] < 0.05


def test_error_of_the_fit_is_what_the_file_says(clips: list[Published]) -> None:
    median = sentences(clips)
    uncut = [clip for clip in clips if (clip.system, clip.duration_s) != (RUMIK, RUMIK_CAP_S)]
    assert np.std(log_errors(median)) == pytest.approx(0.11, abs=0.005)
    assert np.std(log_errors(uncut)) == pytest.approx(0.18, abs=0.005)
    assert abs(np.mean(log_errors(uncut))) < 0.02
    letters, durations_s, draw = letters_of(median), durations_of(median), np.random.default_rng(0)
    drawn = (draw.integers(0, len(median), len(median)) for _ in range(400))
    paces = np.array([1 / fit(letters[rows], durations_s[rows]) for rows in drawn])
    low, high = np.quantile(paces, [0.025, 0.975], axis=0)
    assert np.mean((high - low) / (high + low)) == pytest.approx(0.11, abs=0.005)


def test_paces_of_scripts_without_clips_follow_from_sounds_and_number_words(clips: list[Published]) -> None:
    median = sentences(clips)
    sounds_per_second = 1 / fit(sounds_of(median), durations_of(median))[1]
    assert sounds_per_second == pytest.approx(10.5, abs=ROUNDING)
    for lang in ("gu", "ml", "or", "sat"):
        sounds = len(fold(numbers_in_words(lang), lang).replace(" ", ""))
        pace = sounds_per_second * letters_in_numbers(lang) / sounds
        assert LENGTH.chars_per_second[lang] == pytest.approx(pace, abs=ROUNDING), lang
    seconds = dict(zip(FITTED, fit(letters_of(median), durations_of(median)), strict=True))
    for lang, other in {"ur": "hi", "ks": "ks-Deva", "sd": "sd-Deva", "mni-Mtei": "mni"}.items():
        pace = letters_in_numbers(lang) / (seconds[LANGUAGES[other].script] * letters_in_numbers(other))
        assert LENGTH.chars_per_second[lang] == pytest.approx(pace, abs=ROUNDING), lang


def test_every_language_has_a_pace_and_shares_that_of_its_script() -> None:
    assert set(LENGTH.chars_per_second) == set(LANGUAGES)
    for script, fitted in FITTED.items():
        for lang, entry in LANGUAGES.items():
            if entry.script == script:
                assert LENGTH.chars_per_second[lang] == LENGTH.chars_per_second[fitted], lang


def test_exactly_twenty_clips_were_cut_at_the_token_cap(clips: list[Published]) -> None:
    cut = [
        clip
        for clip in clips
        if clip.system == RUMIK
        and any(
            gate.name == "token_cap" and not gate.passed
            for gate in sound_gates(Sound(clip.duration_s, cap_s=RUMIK_CAP_S), LIMITS)
        )
    ]
    assert len(cut) == 20
    assert {clip.duration_s for clip in cut} == {RUMIK_CAP_S}


def test_no_published_clip_is_too_short_or_too_long_and_one_in_ten_pays(clips: list[Published]) -> None:
    ratios = np.exp(log_errors(clips))
    assert ratios.min() > 0.55
    assert ratios.max() < 2.1  # a slow and sad one; calm delivery is no fault
    for clip in clips:
        gates = sound_gates(Sound(clip.duration_s, clip.expected_s), LIMITS)
        assert all(gate.passed for gate in gates), clip
    paying = [clip for clip in clips if length_penalty(clip.duration_s, clip.expected_s) > 0]
    assert len(paying) / len(clips) == pytest.approx(0.1, abs=0.01)
