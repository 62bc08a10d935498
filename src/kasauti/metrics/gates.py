"""Gates: faults of a clip that an error rate alone does not name, each found by one measurement against one limit.

A gate has a name, a measurement with a unit, and a limit (`conf/scoring`; null turns it off). What can't be measured
(no clip, no transcript, no pace for the language) is not failed. Facts about the sound are those of `kasauti.audio`;
texts come normalised. A silent clip never gets here: that is a status. A gate says what is wrong, not whose fault it
is: a looping transcript may be the judge's.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from kasauti.errors import ConfigError
from kasauti.text.scripts import ScriptVerdict, dominant_script

TOKEN_CAP = "token_cap"
"""What a system writes under `end` in a clip's facts when the model was stopped by its limit of new tokens."""

NGRAM = 6
"""Length of the stretches, in code points, whose coming again makes a loop. In running text hardly any come twice."""

SHORT_TEXT_CHARS = 20
"""What is heard beyond a text is divided by its length, or by this if it is shorter: a syllable is no run-on."""


@dataclass
class GateLimits:
    """The limit of every gate that has one; None turns it off.

    Attributes:
        leading_silence: At most so many seconds before the sound begins.
        trailing_silence: At most so many seconds after it ends.
        too_short: The sound between these lasts at least so many times as long as expected for its text.
        too_long: At most so many times as long.
        token_cap: The clip lasts at least so many seconds less than the limit of new tokens allows.
        clipping: At most this share of the samples is at full scale.
        run_on: At most this share of the text's characters is heard beyond its length.
        looping: At most this share of the transcript's stretches of `NGRAM` characters has come before in it, beyond
            the share in the text.

    Raises:
        ConfigError: a limit is negative.
    """

    leading_silence: float | None = 1.0
    trailing_silence: float | None = 1.0
    too_short: float | None = 0.5
    too_long: float | None = 2.5
    token_cap: float | None = 0.05
    clipping: float | None = 0.001
    run_on: float | None = 0.5
    looping: float | None = 0.25

    def __post_init__(self) -> None:
        for name, limit in asdict(self).items():
            if limit is not None and not limit >= 0:
                raise ConfigError(f"scoring.gates.{name} is {limit}; wanted 0 or more (null turns the gate off)")


@dataclass(frozen=True)
class Sound:
    """What the gates of sound look at; None where it isn't known.

    Attributes:
        duration_s: Duration of the clip.
        expected_s: Expected duration of its text.
        leading_silence_s: Seconds before the sound begins.
        trailing_silence_s: Seconds after it ends.
        clipped_fraction: Share of samples at full scale.
        end: Why the model stopped, as the system says (`TOKEN_CAP`, anything else).
        cap_s: The longest clip that the limit of new tokens allows.
    """

    duration_s: float
    expected_s: float | None = None
    leading_silence_s: float | None = None
    trailing_silence_s: float | None = None
    clipped_fraction: float | None = None
    end: str | None = None
    cap_s: float | None = None


@dataclass(frozen=True)
class Transcript:
    """What the gates of text look at.

    Attributes:
        said: The reference at level `numbers`.
        heard: The transcript at the same level.
        verdict: Whether the transcript is in a script that it can be compared in.
    """

    said: str
    heard: str
    verdict: ScriptVerdict


@dataclass(frozen=True)
class Gate:
    """One gate of one row.

    Attributes:
        name: As in `GATES`.
        measured: Number or word; None where nothing could be measured.
        rule: What must hold between measurement and limit (`≤`), for people.
        limit: What it was held against; None where the gate is off.
        passed: False only for a measurement beyond the limit.
    """

    name: str
    measured: float | str | None
    rule: str
    limit: float | str | None
    passed: bool


GATES: dict[str, str] = {
    "leading_silence": "s",
    "trailing_silence": "s",
    "too_short": "of the expected length",
    "too_long": "of the expected length",
    "token_cap": "what ended it, or s",
    "clipping": "of the samples",
    "empty_transcript": "characters heard",
    "wrong_script": "main script, of the text",
    "run_on": "of the text, beyond it",
    "looping": "of it said before",
}
"""Every gate in the order of the tables, and the unit of its measurement."""


def sound_gates(sound: Sound, limits: GateLimits) -> list[Gate]:
    """The gates that need a clip and no judge."""
    ratio = None if sound.expected_s is None else _speech_s(sound) / sound.expected_s
    return [
        _at_most("leading_silence", sound.leading_silence_s, limits.leading_silence),
        _at_most("trailing_silence", sound.trailing_silence_s, limits.trailing_silence),
        _at_least("too_short", ratio, limits.too_short),
        _at_most("too_long", ratio, limits.too_long),
        _token_cap(sound, limits.token_cap),
        _at_most("clipping", sound.clipped_fraction, limits.clipping),
    ]


def transcript_gates(transcript: Transcript, limits: GateLimits) -> list[Gate]:
    """The gates that need a transcript and no clip."""
    said, heard = transcript.said, transcript.heard
    in_script = transcript.verdict == "ok"
    extra = (len(heard) - len(said)) / max(len(said), SHORT_TEXT_CHARS)
    return [
        _at_least("empty_transcript", len(heard), min(1, len(said))),
        Gate("wrong_script", dominant_script(heard), "for", dominant_script(said), in_script),
        _at_most("run_on", max(0.0, extra) if in_script else None, limits.run_on),
        _at_most("looping", max(0.0, repeated_share(heard) - repeated_share(said)), limits.looping),
    ]


def repeated_share(text: str) -> float:
    """Share of a text's stretches of `NGRAM` code points, counted at every place, that stand in it further to the left.

    0 for a text in which nothing comes again, near 1 for a loop, be it of one letter, a word or a phrase. It is about
    what a compressor would save, without depending on the version of one or on the bytes that a script takes.
    """
    n = len(text) - NGRAM + 1
    if n < 2:
        return 0.0
    return 1 - len({text[at : at + NGRAM] for at in range(n)}) / n


def _speech_s(sound: Sound) -> float:
    """Duration less the silence at both ends, which has gates of its own."""
    return sound.duration_s - (sound.leading_silence_s or 0.0) - (sound.trailing_silence_s or 0.0)


def _token_cap(sound: Sound, margin_s: float | None) -> Gate:
    """Whether the model was stopped by its limit: as the system says, else by the duration."""
    if sound.end is None and sound.cap_s is not None and margin_s is not None:
        limit_s = sound.cap_s - margin_s
        return Gate("token_cap", sound.duration_s, "<", limit_s, sound.duration_s < limit_s)
    limit = None if margin_s is None else TOKEN_CAP
    return Gate("token_cap", sound.end, "≠", limit, limit is None or sound.end != TOKEN_CAP)


def _at_most(name: str, measured: float | None, limit: float | None) -> Gate:
    return Gate(name, measured, "≤", limit, measured is None or limit is None or measured <= limit)


def _at_least(name: str, measured: float | None, limit: float | None) -> Gate:
    return Gate(name, measured, "≥", limit, measured is None or limit is None or measured >= limit)
