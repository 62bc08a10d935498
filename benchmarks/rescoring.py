"""How fast stored transcripts are scored again: 2,100 prompts by 8 systems, one core.

    python benchmarks/rescoring.py [--rounds 3] [--prompts 2100] [--systems 8]

Variants are measured in turn, each time in a fresh process (cold memories, its own peak of memory), and the best of
all rounds counts, by wall clock and by processor time. Rows are made here and are the same each time. Needs jiwer and
whisper-normalizer, which the project itself does not; without the latter only our own variants run. Not a test:
nothing passes or fails by a clock.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LEVELS = ("raw", "strict", "numbers", "lenient", "phonetic")

Row = tuple[str, str, str]
"""Language, reference, hypothesis."""


# --- what is measured


def ours_like_for_like(rows: Iterable[Row]) -> list[int]:
    """Edits and lengths in words and code points of every row at level `strict`."""
    from kasauti.metrics.edits import edit_distance
    from kasauti.text.levels import normalize_pair

    totals = [0, 0, 0, 0]
    for lang, reference, hypothesis in rows:
        said, heard = normalize_pair(reference, hypothesis, lang, "strict")
        words = said.split()
        counts = edit_distance(words, heard.split()), len(words), edit_distance(said, heard), len(said)
        totals = [total + count for total, count in zip(totals, counts, strict=True)]
    return totals


def ours_everything(rows: Iterable[Row]) -> list[int]:
    """All units at all levels, as the tables of a run hold them."""
    from kasauti.metrics.score import score_pair

    totals = [0, 0, 0, 0]
    for lang, reference, hypothesis in rows:
        scores = {level: score_pair(reference, hypothesis, lang, level) for level in LEVELS}
        score = scores["strict"]
        counts = score.word_edits, score.ref_words, score.char_edits, score.ref_chars
        totals = [total + count for total, count in zip(totals, counts, strict=True)]
    return totals


def jiwer_row_by_row(rows: Iterable[Row]) -> list[int]:
    """Whisper's basic normaliser, then jiwer for words and for characters of every row."""
    import jiwer
    from whisper_normalizer.basic import BasicTextNormalizer

    normalise = BasicTextNormalizer()
    totals = [0, 0, 0, 0]
    for _, reference, hypothesis in rows:
        said, heard = normalise(reference), normalise(hypothesis)
        words, characters = jiwer.process_words(said, heard), jiwer.process_characters(said, heard)
        counts = (*_jiwer_counts(words), *_jiwer_counts(characters))
        totals = [total + count for total, count in zip(totals, counts, strict=True)]
    return totals


def jiwer_in_one_call(rows: Iterable[Row]) -> list[int]:
    """The same with all rows given to jiwer at once, which yields the totals only."""
    import jiwer
    from whisper_normalizer.basic import BasicTextNormalizer

    normalise = BasicTextNormalizer()
    pairs = [(normalise(reference), normalise(hypothesis)) for _, reference, hypothesis in rows]
    said, heard = ([pair[side] for pair in pairs] for side in (0, 1))
    return [*_jiwer_counts(jiwer.process_words(said, heard)), *_jiwer_counts(jiwer.process_characters(said, heard))]


def _jiwer_counts(output: Any) -> tuple[int, int]:
    edits = output.substitutions + output.deletions + output.insertions
    return edits, output.hits + output.substitutions + output.deletions


VARIANTS: dict[str, Callable[[Iterable[Row]], list[int]]] = {
    "jiwer, row by row": jiwer_row_by_row,
    "jiwer, one call": jiwer_in_one_call,
    "kasauti, strict, wer + cer": ours_like_for_like,
    "kasauti, everything": ours_everything,
}


# --- rows


def make_rows(n_prompts: int, n_systems: int) -> list[Row]:
    """Prompts of 21 languages, some with figures or English words, as systems of rising error are heard to say them."""
    from kasauti.text.languages import LANGUAGES

    draw = random.Random(0)
    langs = [code for code in LANGUAGES if code not in ("ks-Deva", "mni-Mtei", "sd-Deva", "sa", "en")]
    vocabularies = {lang: _vocabulary(lang) for lang in langs}
    english = _vocabulary("en")
    rows = []
    for number in range(n_prompts):
        lang = langs[number % len(langs)]
        words = vocabularies[lang]
        text = _sentence(words, english, draw)
        rates = (0.5 * system / max(1, n_systems - 1) for system in range(n_systems))
        rows += [(lang, text, _heard(text, lang, rate, words, draw)) for rate in rates]
    return rows


def _vocabulary(lang: str) -> list[str]:
    """Words of the smoke prompts, and number words, which every language has."""
    from kasauti.text.numbers import cardinal

    lines = (ROOT / "prompts" / "smoke.jsonl").read_text(encoding="utf-8").splitlines()
    smoke = [row["text"] for row in map(json.loads, lines) if row["lang"] == lang]
    numbers = [word for n in range(1, 1000, 7) for word in cardinal(n, lang).split()]
    spoken = {word.strip(".,।?!") for text in smoke for word in text.split()}
    return sorted({word for word in spoken if not any(map(str.isdigit, word))} | set(numbers))


def _sentence(words: list[str], english: list[str], draw: random.Random) -> str:
    chosen = draw.choices(words, k=draw.randint(7, 14))
    if draw.random() < 0.2:
        shape, most = draw.choice(
            (("{}", 99), ("{}", 9_999), ("₹{}", 99_999), ("{}%", 99), ("{}:30", 12), ("{}.5", 99))
        )
        chosen[draw.randrange(len(chosen))] = shape.format(draw.randint(1, most))
    if draw.random() < 0.15:
        for _ in range(3):
            chosen[draw.randrange(len(chosen))] = draw.choice(english)
    chosen[draw.randrange(len(chosen) - 1)] += ","
    return " ".join(chosen) + draw.choice((".", "।", "?"))


def _heard(text: str, lang: str, rate: float, words: list[str], draw: random.Random) -> str:
    """A transcript: words lost, swapped, bent; figures as words or not; now and then nothing, a loop, Latin letters."""
    from kasauti.text.iso15919 import to_iso15919
    from kasauti.text.numbers import expand_numbers

    odd = draw.random()
    if odd < 0.01:
        return ""
    if odd < 0.02:
        return f"{draw.choice(words)} " * 40
    if draw.random() < 0.5:
        text = expand_numbers(text, lang)
    heard = []
    for word in text.split():
        kind = draw.random()
        if kind < rate / 4:
            continue
        if kind < rate / 2:
            word = draw.choice(words)
        elif kind < rate:
            at = draw.randrange(len(word))
            word = word[:at] + word[at + 1 :]
        heard.append(word.strip(",") if draw.random() < 0.5 else word)
    return to_iso15919(" ".join(heard), lang) if odd > 0.95 else " ".join(heard)


# --- how it is measured


def measure(variant: str, path: Path) -> dict[str, Any]:
    """One variant in this process: seconds by the wall and by the processor, MiB at the peak, and the totals."""
    rows = [tuple(row) for row in json.loads(path.read_text(encoding="utf-8"))]
    gc.collect()
    before_mib = _peak_mib()
    wall, processor = time.perf_counter(), time.process_time()
    totals = VARIANTS[variant](rows)
    wall_s, processor_s = time.perf_counter() - wall, time.process_time() - processor
    rates = {"wer": totals[0] / totals[1], "cer": totals[2] / totals[3]}
    return {"wall_s": wall_s, "processor_s": processor_s, "peak_mib": _peak_mib(), "before_mib": before_mib, **rates}


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def apart(variant: str, path: Path) -> dict[str, Any]:
    """`measure` in a process of its own, bound to one core where the system can do that."""
    core = {min(os.sched_getaffinity(0))} if hasattr(os, "sched_setaffinity") else set()
    done = subprocess.run(
        [sys.executable, __file__, "--measure", variant, "--rows", str(path)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONHASHSEED": "0"},
        preexec_fn=(lambda: os.sched_setaffinity(0, core)) if core else None,
    )
    return dict(json.loads(done.stdout))


def show(found: dict[str, list[dict[str, Any]]], n_rows: int) -> None:
    """The table: the best of each variant, and its ratio to the faster way of calling jiwer."""
    best = {name: min(runs, key=lambda run: run["processor_s"]) for name, runs in found.items()}
    jiwer = [best[name]["processor_s"] for name in best if name.startswith("jiwer")]
    heads = f"{'wall s':>9}{'proc. s':>9}{'µs a row':>10}{'of jiwer':>10}{'peak MiB':>10}{'wer':>8}{'cer':>8}"
    print(f"\n{'variant':28}{heads}")
    for name, run in best.items():
        wall_s = min(other["wall_s"] for other in found[name])
        ratio = f"{run['processor_s'] / min(jiwer):.2f}" if jiwer else "-"
        micros = f"{run['processor_s'] / n_rows * 1e6:.0f}"
        print(
            f"{name:28}{wall_s:9.2f}{run['processor_s']:9.2f}{micros:>10}{ratio:>10}{run['peak_mib']:10.0f}"
            f"{run['wer']:8.4f}{run['cer']:8.4f}"
        )


def main() -> None:
    """Makes the rows, measures the variants in turn, prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--prompts", type=int, default=2100)
    parser.add_argument("--systems", type=int, default=8)
    parser.add_argument("--measure", choices=VARIANTS, help=argparse.SUPPRESS)
    parser.add_argument("--rows", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure, options.rows)))
        return
    sys.path.insert(0, str(ROOT / "src"))
    rows = make_rows(options.prompts, options.systems)
    outside = all(importlib.util.find_spec(name) for name in ("jiwer", "whisper_normalizer"))
    variants = [name for name in VARIANTS if outside or not name.startswith("jiwer")]
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in variants}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.json"
        path.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
        print(f"{len(rows)} rows, {os.cpu_count()} cores; best of {options.rounds} rounds")
        for round_number in range(options.rounds):
            print(f"round {round_number + 1}: load {os.getloadavg()[0]:.1f}", flush=True)
            for name in variants:
                found[name].append(apart(name, path))
    show(found, len(rows))


if __name__ == "__main__":
    main()
