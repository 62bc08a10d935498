"""How store, tables and summaries hold up at 10^5 to 10^6 clips; the figures behind docs/scale.md.

    python benchmarks/scale.py [--records 100000,1000000] [--rows 100000,1000000] [--prompts 2000,10000] [--folder DIR]

Three questions, each asked in a fresh process with its own peak of memory: a store of so many records (opened, looked
up, claimed, appended to), so many rows of eight systems in eight runs (made one table, page and spreadsheet, as
`python -m kasauti aggregate` does), and a run of so many prompts whose answers are all there (scored and written anew).
Content is made here and is the same each time. Not a test: nothing passes or fails by a clock.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SYSTEMS = 8
TEXT = "आज सुबह बाज़ार में बहुत भीड़ थी और मुझे सब्ज़ी लेने में एक घंटा लगा।"
CLIP_S, RATE_HZ = 9.3, 24_000

Found = dict[str, float]
"""What was measured, by name; `_s` in the name: seconds of processor time."""


def identity(number: int) -> str:
    """An id of 24 hex digits, spread as real ones are."""
    return hashlib.sha256(str(number).encode()).hexdigest()[:24]


def peak_mib() -> float:
    """Most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def rate(count: int, work: Callable[[int], Any]) -> float:
    """Calls of `work` a second, by the wall clock: what waits for a disk counts."""
    began = time.perf_counter()
    for number in range(count):
        work(number)
    return count / (time.perf_counter() - began)


# --- a store


def store(n_records: int, folder: Path) -> Found:
    """A store of so many clips and as many judgments."""
    import numpy as np

    from kasauti.pipeline.synthesis import _record
    from kasauti.records import Outcome, Prompt
    from kasauti.store.library import Store
    from kasauti.systems.base import Speech, SpeechRequest

    size = _write_store(folder, n_records)
    began = time.process_time()
    opened = Store(folder)
    open_s = time.process_time() - began
    held_mib = peak_mib()
    draw = random.Random(0)
    known = [identity(draw.randrange(n_records)) for _ in range(5000)]
    samples = (0.1 * np.random.default_rng(0).standard_normal(int(CLIP_S * RATE_HZ))).astype(np.float32)

    def claim(number: int) -> None:
        opened.claims.try_claim(known[number])
        opened.claims.release(known[number])

    def keep(number: int) -> None:
        request = SpeechRequest(identity(-1 - number), Prompt("p", "hi", TEXT, "Deva"), 0, 1)
        speech = Speech(request.clip_id, Outcome(), samples, RATE_HZ)
        opened.clips.put(_record(opened, "rumik", "fingerprint", request, speech))

    return {
        "bytes a clip": size / n_records,
        "open_s": open_s,
        "peak MiB": held_mib,
        "get/s": rate(5000, lambda number: opened.clips.get(known[number])),
        "refresh/s": rate(5000, lambda _: opened.clips.refresh()),
        "claims/s": rate(5000, claim),
        "append/s": rate(300, lambda number: opened.clips.put(_clip(n_records + number))),
        "clips kept/s": rate(150, keep),
    }


def _write_store(folder: Path, n_records: int) -> int:
    """Lines as the store writes them, without its locks and flushes; size of the clips' file."""
    from kasauti.records import Judgment, Outcome
    from kasauti.store.library import _encode

    def line(record: Any) -> bytes:
        return json.dumps(_encode(record), ensure_ascii=False, separators=(",", ":")).encode() + b"\n"

    with (folder / "clips.jsonl").open("wb") as clips, (folder / "judgments.jsonl").open("wb") as judgments:
        for number in range(n_records):
            clips.write(line(_clip(number)))
            heard = Judgment(identity(-number), "indicconformer", "indicconformer@abc", "hi", 0, Outcome(), raw=TEXT)
            judgments.write(line(heard))
    return (folder / "clips.jsonl").stat().st_size


def _clip(number: int) -> Any:
    from kasauti.records import Clip, Outcome

    name = identity(number)
    return Clip(
        clip_id=name,
        system="rumik",
        fingerprint="rumik-ai/rumik-oss-1@0ed3c98684e14350c910129c0efa179841c41ad2, rules 1",
        lang="hi",
        text=f"{TEXT} {number}",
        repeat=0,
        outcome=Outcome(wall_s=3.123, facts={"end": "stop", "tokens": 812, "tokens_per_second": 87.5}),
        path=f"clips/{name[:2]}/{name}.wav",
        audio_sha256=hashlib.sha256(name.encode()).hexdigest(),
        duration_s=CLIP_S,
        sample_rate_hz=RATE_HZ,
        channels=1,
        rms_dbfs=-21.123456,
        clipped_fraction=0.0,
        leading_silence_s=0.12,
        trailing_silence_s=0.2,
        created_at="2026-12-01T07:00:00+00:00",
    )


# --- rows of several systems


def rows(n_rows: int, folder: Path) -> Found:
    """One table over the runs of all systems, as `python -m kasauti aggregate` makes it, page and spreadsheet too."""
    from rich.console import Console

    from kasauti.cli import aggregate
    from kasauti.report import merging

    runs = sorted((folder / "runs").glob("[0-9]*"))
    if not runs:  # in a process of its own, so that writing is not in the peak
        _write_runs(n_rows, folder)
        return {}
    found: Found = {}
    for name, module in {
        "load": aggregate,
        "summarise": merging,
        "write_page": aggregate,
        "write_xlsx": aggregate,
    }.items():
        setattr(module, name, _measured(getattr(module, name), name, found))
    aggregate.aggregate_runs(runs, Console(file=io.StringIO()))
    return found


def _measured(function: Callable[..., Any], name: str, found: Found) -> Callable[..., Any]:
    """The function, which adds its seconds of processor time to `found`, and notes the peak of memory so far."""

    def measured(*args: Any, **options: Any) -> Any:
        began = time.process_time()
        result = function(*args, **options)
        found[f"{name}_s"] = found.get(f"{name}_s", 0.0) + time.process_time() - began
        found[f"MiB after {name}"] = peak_mib()
        return result

    return measured


def _write_runs(n_rows: int, folder: Path) -> None:
    """A run folder for each system: that of a run of one prompt, its tables replaced."""
    from dataclasses import replace

    from rich.console import Console

    from kasauti.pipeline.run import run as run_it
    from kasauti.records import SAMPLE_COLUMNS
    from kasauti.report.table_rows import CLIP_COLUMNS, ClipRow
    from kasauti.report.tables import write_records

    model = run_it(_settings(folder / "model", 1), Console(file=io.StringIO())).folder
    facts = json.loads((model / "run.json").read_text("utf-8"))
    made = list(_rows(n_rows))
    for number in range(SYSTEMS):
        target, system = folder / "runs" / f"{number:012x}", f"system{number}"
        shutil.copytree(model, target)
        own = [replace(row, run_id=target.name) for row in made[number::SYSTEMS]]
        facts |= {"run_id": target.name, "systems": {system: {**facts["systems"].popitem()[1], "fingerprint": system}}}
        facts["judges"] = {"indicconformer": {"revision": "indicconformer@abc", "settings": {}}}
        (target / "run.json").write_text(json.dumps(facts), "utf-8")
        write_records(target / "per_sample.tsv", SAMPLE_COLUMNS, own)
        known = [name for name in CLIP_COLUMNS if hasattr(own[0], name)]
        clips = (ClipRow(**{name: getattr(row, name) for name in known}, **_sound_of(row)) for row in own)
        write_records(target / "clips.tsv", CLIP_COLUMNS, clips)
        prompts = ({"id": row.prompt_id, "lang": row.lang, "script": row.script, "text": TEXT} for row in own)
        lines = (json.dumps(prompt, ensure_ascii=False) for prompt in prompts)
        (target / "prompts.jsonl").write_text("".join(f"{line}\n" for line in lines), "utf-8")


def _sound_of(row: Any) -> dict[str, Any]:
    """What `clips.tsv` says of a clip that a row does not, with numbers of their own."""
    draw = random.Random(row.clip_id)
    return {
        "path": f"clips/{row.clip_id[:2]}/{row.clip_id}.wav",
        "sample_rate_hz": RATE_HZ,
        "channels": 1,
        "rms_dbfs": -20 - draw.random(),
        "clipped_fraction": 0.0,
        "truncated": False,
        "leading_silence_s": 0.12,
        "trailing_silence_s": draw.random(),
        "chars": row.ref_chars,
        "wall_s": draw.random(),
        "created_at": "2026-12-01T07:00:00+00:00",
    }


def _rows(n_rows: int) -> Iterator[Any]:
    from kasauti.records import SampleRow, Status
    from kasauti.text.languages import LANGUAGES

    draw, langs = random.Random(0), list(LANGUAGES)[:21]
    for prompt in range(n_rows // SYSTEMS):
        lang, chars = langs[prompt % len(langs)], draw.randint(40, 90)
        for system in range(SYSTEMS):
            edits = int(chars * draw.random() * 0.1 * (system + 1))
            name = hashlib.sha256(f"{prompt} {system}".encode()).hexdigest()
            counts = {"char_edits": edits, "ref_chars": chars, "word_edits": edits // 4, "ref_words": 10}
            counts |= {"nospace_edits": edits, "ref_nospace": chars, "grapheme_edits": edits, "ref_graphemes": chars}
            rates = dict.fromkeys(("cer", "cer_nospace", "gcer", "wer", "pcer"), edits / chars)
            yield SampleRow(
                *("abcdefabcdef", f"{lang}_{prompt:07d}", lang, "Deva", "digits" if prompt % 5 == 0 else ""),
                *(f"system{system}", 0, "indicconformer", "indicconformer@abc", 0, Status.OK),
                clip_id=name[:24],
                audio_sha256=name,
                judgment_id=name[-24:],
                duration_s=CLIP_S,
                hypothesis=TEXT,
                gates="",
                **counts,
                **rates,
            )


# --- a run whose answers are there


def run(n_prompts: int, folder: Path) -> Found:
    """Scoring and writing a run anew from its store, and the same command again when it is finished."""
    from rich.console import Console

    from kasauti.pipeline.run import run as run_it

    settings = _settings(folder, n_prompts)
    if not (folder / "store").exists():
        _answers(settings, folder)
        return {}
    found: Found = {}
    for name in ("run_s", "again_s"):
        began = time.process_time()
        run_it(settings, Console(file=io.StringIO()))
        found[name] = time.process_time() - began
    return {**found, "ms a row": found["run_s"] / n_prompts * 1000, "peak MiB": peak_mib()}


def _settings(folder: Path, n_prompts: int) -> Any:
    from hydra import compose, initialize_config_dir

    from kasauti.config import CONF, register, run_settings

    folder.mkdir(exist_ok=True)
    prompts = folder / "prompts.jsonl"
    smoke = [json.loads(line) for line in (ROOT / "prompts" / "smoke.jsonl").read_text("utf-8").splitlines()]
    with prompts.open("w", encoding="utf-8") as file:
        for number in range(n_prompts):
            row = smoke[number % len(smoke)]
            text = f"{row['text']} {smoke[(number // len(smoke)) % len(smoke)]['text']} {number}"
            file.write(json.dumps({"id": f"p{number}", "lang": row["lang"], "text": text}) + "\n")
    register()
    words = ["system=fake", "judge=fake", "promptset=file", f"promptset.path={prompts}"]
    with initialize_config_dir(str(CONF), version_base="1.3"):
        words += [f"paths.runs={folder}/runs", f"paths.store={folder}/store"]
        return run_settings(compose("config", words), words)


def _answers(settings: Any, folder: Path) -> None:
    """A store with every clip and judgment of a run; all clips share one file, which nobody will hear."""
    from dataclasses import replace

    from kasauti.pipeline.judging import hearings_once
    from kasauti.pipeline.plan import make_plan
    from kasauti.records import Judgment, Outcome
    from kasauti.store.library import Store, _encode

    plan, root = make_plan(settings), folder / "store"
    (root / "clips").mkdir(parents=True)
    (root / "clips" / "one.wav").write_bytes(b"")

    def write(name: str, records: Iterator[Any]) -> None:
        lines = (json.dumps(_encode(record), ensure_ascii=False, separators=(",", ":")) for record in records)
        (root / name).write_text("".join(f"{line}\n" for line in lines), "utf-8")

    names = (take.clip_id or "" for take in plan.takes)
    write("clips.jsonl", (replace(_clip(n), clip_id=name, path="clips/one.wav") for n, name in enumerate(names)))
    heard = hearings_once(plan, "fake", Store(root))
    draw = random.Random(0)
    texts = {id(hearing): next(iter(hearing.takes.values())).prompt.text for hearing in heard}
    bent = {key: "".join(c for c in text if draw.random() > 0.05) for key, text in texts.items()}
    write(
        "judgments.jsonl",
        (
            Judgment(h.task.judgment_id, "fake", "fake-1", h.task.lang, 0, Outcome(), transcript=bent[id(h)])
            for h in heard
        ),
    )


# --- how it is measured


QUESTIONS: dict[str, Callable[[int, Path], Found]] = {"store": store, "rows": rows, "run": run}


def apart(question: str, size: int, folder: Path) -> Found:
    """One question in a process of its own; where content had to be made first, asked once more."""
    found: Found = {}
    while not found:
        done = subprocess.run(
            [sys.executable, __file__, "--measure", question, "--size", str(size), "--folder", str(folder)],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"},
        )
        found = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Asks the questions one after the other and prints what came of each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, sizes in {"records": "100000,1000000", "rows": "100000,1000000", "prompts": "2000,10000"}.items():
        parser.add_argument(f"--{name}", default=sizes, help=f"sizes (default: {sizes}); empty = leave it out")
    parser.add_argument("--folder", type=Path, help="where to work; the disk that is measured")
    parser.add_argument("--measure", choices=QUESTIONS, help=argparse.SUPPRESS)
    parser.add_argument("--size", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(QUESTIONS[options.measure](options.size, options.folder)))
        return
    print(f"{os.cpu_count()} cores; _s = seconds of processor time")
    for question, sizes in {"store": options.records, "rows": options.rows, "run": options.prompts}.items():
        for size in map(int, filter(None, sizes.split(","))):
            with tempfile.TemporaryDirectory(dir=options.folder) as folder:
                found = apart(question, size, Path(folder))
            told = ", ".join(f"{name} {value:,.2f}" for name, value in found.items())
            print(f"{question} {size:,}: {told} (load {os.getloadavg()[0]:.1f})", flush=True)


if __name__ == "__main__":
    main()
