"""A small run folder, as the pipeline would write it, for tests of reports and for looking at them.

Four voices, two judges and seven languages in six scripts, with every kind of trouble that a report has to show: a
voice without a language, a transcript in another script, failures, several takes, a judge that gives marks and places
words in time, markup in a prompt and a path in an id. Sounds are tones. Nothing differs between two calls with the same
arguments.
"""

from __future__ import annotations

import array
import hashlib
import math
import random
import wave
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from kasauti.metrics.score import score_pair
from kasauti.metrics.timing import TimedWord, odd_words
from kasauti.pipeline.assembly import SCORE_COLUMNS, WORD_COLUMNS
from kasauti.pipeline.folder import RunFolder
from kasauti.pipeline.products import write_summary
from kasauti.prompts import prompts_sha256
from kasauti.records import Prompt, SampleRow, Status
from kasauti.report import SystemInfo
from kasauti.report.summarising import summarise
from kasauti.report.table_rows import CLIP_COLUMNS, LEVEL_COLUMNS
from kasauti.report.tables import write_table
from kasauti.settings import ScoringSettings
from kasauti.text.scripts import dominant_script
from kasauti.text.units import graphemes

LEVEL = "strict"

HOSTILE_TEXT = "<script>document.title = 'taken'</script> & \"tea\" at 5 o'clock"
HOSTILE_ID = "en/../../etc/</script><img src=x onerror=alert(1)>"

TEXTS: dict[str, list[tuple[str, str]]] = {
    "en": [
        ("The kettle sings long before the milkman rings the bell.", "plain"),
        ("Platform 7 is closed, so the 10:40 train leaves from 12.", "digits"),
        ("Ammu packed two idlis and a banana for the long ride.", "names code_switch"),
    ],
    "hi": [
        ("छत पर सूखते कपड़े अचानक आई हवा में उड़ गए।", "plain"),
        ("क्षितिज पर बादल देखकर शिक्षिका ने बच्चों को अंदर बुला लिया।", "plain"),
        ("दुकान में 350 रुपये की किताब अब 275 में मिल रही है।", "digits"),
    ],
    "bn": [
        ("নদীর ধারে বসে দাদু পুরোনো দিনের গল্প শোনাচ্ছিলেন।", "plain"),
        ("আজ বিকেল 5 টায় ক্লাস শুরু, তাই ছাতা নিয়ে যেও।", "digits"),
    ],
    "ta": [
        ("மழை நின்றதும் குழந்தைகள் தெருவில் விளையாட ஓடினார்கள்.", "plain"),
        ("என் அக்கா office முடிந்து எட்டு மணிக்கு வருவாள்.", "code_switch"),
    ],
    "te": [
        ("అమ్మమ్మ చేసిన పచ్చడి వాసన వీధి చివరి వరకు వస్తోంది.", "plain"),
        ("రేపు ఉదయం 6 గంటలకు బస్సు బయలుదేరుతుంది.", "digits"),
    ],
    "mr": [
        ("आजीच्या अंगणात प्राजक्ताचा सडा पडला होता.", "plain"),
        ("श्रीधरने ज्ञानेश्वरीचे पुस्तक वाचनालयातून आणले.", "names"),
    ],
    "ur": [
        ("بارش کے بعد گلی میں بچوں کی ہنسی گونجنے لگی۔", "plain"),
        ("خالہ نے عید کے لیے سویاں اور کھجوریں منگوائیں۔", "names"),
    ],
}

ROMANISED = "mausam aaj bahut achha hai"

SYSTEMS: dict[str, dict[str, Any]] = {
    "espeak": {
        "languages": dict.fromkeys(TEXTS, "supported"),
        "usd_per_1k_chars": 0.0,
        "noise": 0.22,
    },
    "kokoro": {
        "languages": {
            "en": "supported",
            "hi": "supported",
            "bn": "best_effort",
            "mr": "best_effort",
            "ta": "best_effort",
        },
        "usd_per_1k_chars": 0.0,
        "noise": 0.04,
    },
    "piper": {"languages": {"en": "supported"}, "usd_per_1k_chars": 0.0, "noise": 0.08},
    "cloud voice": {"languages": None, "usd_per_1k_chars": 0.03, "noise": 0.05},
}


@dataclass
class _Rows:
    samples: list[SampleRow] = field(default_factory=list)
    levels: list[dict[str, Any]] = field(default_factory=list)
    scores: list[dict[str, Any]] = field(default_factory=list)
    words: list[dict[str, Any]] = field(default_factory=list)
    clips: list[dict[str, Any]] = field(default_factory=list)


def build(
    root: Path,
    *,
    run_id: str = "3f9c1a7b",
    systems: tuple[str, ...] = tuple(SYSTEMS),
    langs: tuple[str, ...] = tuple(TEXTS),
    marks: bool = False,
    tone_s: float = 1.0,
    fingerprint: str = "",
    times: int = 1,
) -> Path:
    """Writes `root/runs/<run_id>` and the audio that it links to under `root/store`.

    Args:
        root: Any folder.
        run_id: Name of the run folder.
        systems: Which of `SYSTEMS`; piper has three takes of each prompt, the others one.
        langs: Which of `TEXTS`.
        marks: Add a second judge, which gives marks.
        tone_s: Length of the first tone of each system.
        fingerprint: Put in front of the fingerprints: a new text makes other voices.
        times: Repeats each text so many times, for a long list.

    Returns:
        The run folder.
    """
    prompts = _prompts(langs, times)
    rows = _Rows()
    store = root / "store"
    for prompt in prompts:
        for system in systems:
            for repeat in range(3 if system == "piper" else 1):
                _add(rows, prompt, system, repeat, run_id, store, tone_s, fingerprint)
                if marks:
                    _add_marks(rows, run_id, prompt.text)
    folder = RunFolder(root / "runs", run_id)
    folder.path.mkdir(parents=True)
    _write(folder, rows, prompts, systems, store, fingerprint, marks)
    return folder.path


def _prompts(langs: tuple[str, ...], times: int) -> list[Prompt]:
    prompts = []
    for lang in langs:
        for turn in range(times):
            for number, (text, tags) in enumerate(TEXTS[lang], start=1 + turn * len(TEXTS[lang])):
                script = dominant_script(text) or "Zyyy"
                prompts.append(Prompt(f"{lang}_{number:02}", lang, text, script, tuple(sorted(tags.split()))))
    if "en" in langs:
        prompts.append(Prompt(HOSTILE_ID, "en", HOSTILE_TEXT, "Latn", ("names",), {"delivery": "<b>calm</b>"}))
    return prompts


def _add(
    rows: _Rows, prompt: Prompt, system: str, repeat: int, run_id: str, store: Path, tone_s: float, fingerprint: str
) -> None:
    facts = SYSTEMS[system]
    draw = random.Random(f"{prompt.id}|{system}|{repeat}|{fingerprint}")
    clip_id = hashlib.sha256(f"{prompt.text}|{system}|{repeat}|{fingerprint}".encode()).hexdigest()[:32]
    sample: dict[str, Any] = {
        "run_id": run_id,
        "prompt_id": prompt.id,
        "lang": prompt.lang,
        "script": prompt.script,
        "tags": " ".join(prompt.tags),
        "system": system,
        "repeat": repeat,
        "judge": "whisper",
        "judge_revision": "whisper-base@1.0.0",
        "rejudge": 0,
        "status": Status.OK,
    }
    if facts["languages"] is not None and prompt.lang not in facts["languages"]:
        rows.samples.append(SampleRow(**{**sample, "status": Status.UNSUPPORTED_LANGUAGE, "reason": "system"}))
        return
    clip = {name: sample.get(name) for name in CLIP_COLUMNS} | {"clip_id": clip_id, "chars": len(prompt.text)}
    if system == "cloud voice" and prompt.id in ("ta_02", "en_02"):
        trouble = {"status": Status.SYNTHESIS_FAILED, "reason": "timeout"}
        rows.samples.append(SampleRow(**{**sample, **trouble, "clip_id": clip_id}))
        rows.clips.append({**clip, **trouble, "error": "no answer within 30 s <at all>"})
        return
    duration_s = tone_s if not repeat else tone_s * (1 + 0.1 * draw.random())
    path = f"clips/{clip_id[:2]}/{clip_id}.wav"
    _tone(store / path, duration_s, 220 + 40 * draw.random())
    cost = facts["usd_per_1k_chars"] * len(prompt.text) / 1000 if facts["usd_per_1k_chars"] else None
    streamed = 0.2 + 0.1 * draw.random() if cost else None
    rows.clips.append(
        {
            **clip,
            "path": path,
            "duration_s": duration_s,
            "sample_rate_hz": 8000,
            "channels": 1,
            "wall_s": 0.3 * duration_s * (1 + draw.random()),
            "ttfb_s": streamed,
            "cost_usd": cost,
            "truncated": system == "piper" and repeat == 2,
        }
    )
    sample |= {"clip_id": clip_id, "duration_s": duration_s, "judgment_id": clip_id[::-1]}
    romanised = system == "kokoro" and prompt.lang in ("hi", "bn")
    heard = ROMANISED if romanised else _misheard(prompt.text, facts["noise"], draw)
    if prompt.id == "te_02" and system == "espeak":
        heard = ""
    score = score_pair(prompt.text, heard, prompt.lang, LEVEL)
    counts = {name: getattr(score, name) for name in LEVEL_COLUMNS[7:]}
    rows.levels.append({**sample, "level": LEVEL, **counts})
    status = Status.WRONG_SCRIPT if score.status == "wrong_script" else Status.OK
    rows.samples.append(SampleRow(**{**sample, **counts, "hypothesis": heard, "status": status}))


def _add_marks(rows: _Rows, run_id: str, text: str) -> None:
    """A row of the second judge for the take that was added last."""
    last = rows.samples[-1]
    heard = last.clip_id is not None and last.duration_s is not None
    status = Status.OK if heard else last.status
    draw = random.Random(f"{last.clip_id}|listener")
    marks = {mark: float(draw.randint(1, 5)) for mark in ("naturalness", "clarity")} if heard else {}
    place: dict[str, Any] = {
        "run_id": run_id,
        "prompt_id": last.prompt_id,
        "system": last.system,
        "repeat": last.repeat,
        "judge": "listener",
        "rejudge": 0,
    }
    rows.samples.append(
        SampleRow(
            **place,
            lang=last.lang,
            script=last.script,
            tags=last.tags,
            judge_revision="listener-2@2026-05-01",
            status=status,
            reason=None if heard else last.reason,
            clip_id=last.clip_id,
            duration_s=last.duration_s,
            marks=marks or None,
        )
    )
    for mark, value in marks.items():
        rows.scores.append({**place, "judgment_id": "x", "label": "B", "mark": mark, "value": value})
    if heard and last.duration_s is not None:
        words = _placed(text, last.duration_s)
        for number, (word, odd) in enumerate(zip(words, odd_words(words), strict=True)):
            rows.words.append({**place, "place": number, **asdict(word), "odd": odd})


def _placed(text: str, duration_s: float) -> list[TimedWord]:
    """The words of a text over a clip, by their letters; after the third there is a pause, the last has no place."""
    words = text.split()
    letters_s = duration_s / (sum(map(len, words)) + 12)
    placed, start_s = [], 0.0
    for number, word in enumerate(words[:-1]):
        start_s += 10 * letters_s if number == 3 else 0.0
        placed.append(TimedWord(word, start_s, start_s + len(word) * letters_s, 0.1 if number == 1 else 0.8))
        start_s += len(word) * letters_s
    return [*placed, TimedWord(words[-1])]


def _misheard(text: str, noise: float, draw: random.Random) -> str:
    """A transcript with some clusters lost, doubled or swapped, and now and then a whole word gone or too many."""
    words = []
    for word in text.split():
        if draw.random() < noise / 4:
            continue
        clusters = graphemes(word)
        words.append("".join(_slip(cluster, clusters, noise, draw) for cluster in clusters))
        if draw.random() < noise / 6:
            words.append(word)
    return " ".join(words)


def _slip(cluster: str, among: list[str], noise: float, draw: random.Random) -> str:
    if draw.random() > noise:
        return cluster
    return draw.choice(["", cluster + cluster, draw.choice(among)])


def _tone(path: Path, duration_s: float, pitch_hz: float) -> None:
    rate_hz = 8000
    frames = int(duration_s * rate_hz)
    wavelength = rate_hz / pitch_hz
    samples = array.array("h", (int(6000 * math.sin(2 * math.pi * n / wavelength)) for n in range(frames)))
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate_hz)
        file.writeframes(samples.tobytes())


def _write(
    folder: RunFolder,
    rows: _Rows,
    prompts: list[Prompt],
    systems: tuple[str, ...],
    store: Path,
    fingerprint: str,
    marks: bool,
) -> None:
    judges = {"whisper": "whisper-base@1.0.0"} | ({"listener": "listener-2@2026-05-01"} if marks else {})
    write_table(folder.path / "levels.tsv", LEVEL_COLUMNS, rows.levels)
    write_table(folder.path / "words.tsv", WORD_COLUMNS, rows.words)
    write_table(folder.path / "scores.tsv", SCORE_COLUMNS, rows.scores)
    write_table(folder.path / "clips.tsv", CLIP_COLUMNS, rows.clips)
    scoring = ScoringSettings(level=LEVEL, levels=[LEVEL], draws=500)
    facts = {name: SystemInfo() for name in systems}
    write_summary(folder, prompts, rows.samples, summarise(rows.samples, scoring, facts, prompts_sha256(prompts)))
    folder.write_json("summary.json", {"run_id": folder.run_id})
    signature = f"metric:cer|unit:code_point|level:{LEVEL}|normaliser:1|aggregation:macro_mean|failures:common|judge:"
    folder.write_json(
        "run.json",
        {
            "run_id": folder.run_id,
            "study": None,
            "started_at": "2026-12-01T09:00:00+00:00",
            "finished_at": "2026-12-01T09:04:10+00:00",
            "store": str(store.resolve()),
            "promptset": {"name": "example", "sha256": hashlib.sha256(b"example").hexdigest(), "count": len(prompts)},
            "systems": {
                name: {
                    "role": "machine",
                    "fingerprint": fingerprint + name,
                    "languages": SYSTEMS[name]["languages"],
                    "settings": {},
                    "usd_per_1k_chars": SYSTEMS[name]["usd_per_1k_chars"],
                }
                for name in systems
            },
            "judges": {name: {"revision": revision} for name, revision in judges.items()},
            "scoring": {"level": LEVEL, "levels": [LEVEL], "min_ok_share": 0.95, "draws": 500, "seed": 0},
            "signature": {name: signature + f"{name}@{revision}" for name, revision in judges.items()},
            "versions": {"kasauti": "0.1.0", "regex": "2026.11.19"},
            "git": "0123456789abcdef0123456789abcdef01234567",
            "timings_s": {"synthesis": 120.5},
            "cost_usd": 0.01,
        },
    )
