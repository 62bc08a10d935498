"""How many clips a second a recogniser hears in batches, against one clip after the other through the same engine.

    python benchmarks/judging.py --judge indicconformer [--model FOLDER] [--clips 48] [--batch 8] [--rounds 3]
    python benchmarks/judging.py --judge nemo --model MY.nemo --set langs=[hi]

Clips are sentences of the smoke prompts by eSpeak NG, one to four in a clip, 2 to 15 s, the same each time. Variants
are measured in turn, each in a fresh process that has loaded the model and heard one clip, and the best of all rounds
counts. The first is the plain way: of Whisper its engine with all settings of its own and one file after the other, of
the others the judge with one clip at a time. Texts are compared: a ratio counts only where they are equal. Without
`--model`, IndicConformer is a random one of moderate size (29 million weights; the published one has 600), so that its
texts are nonsense and its arithmetic is not. Not a test: nothing passes or fails by a clock.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RATE_HZ = 16_000

AT_ONCE = {"whisper": "workers"}
"""Judge -> its option for clips at once, where that is not `batch_clips`."""


# --- what is heard


def make_clips(folder: Path, n_clips: int) -> list[dict[str, Any]]:
    """WAV files of speech in five languages, lengths mixed."""
    import numpy as np

    from kasauti import audio
    from kasauti.systems import espeak_client

    draw = random.Random(0)
    lines = (ROOT / "prompts" / "smoke.jsonl").read_text(encoding="utf-8").splitlines()
    texts: dict[str, list[str]] = {}
    for row in map(json.loads, lines):
        if row["lang"] != "en":
            texts.setdefault(row["lang"], []).append(row["text"])
    clips = []
    for number in range(n_clips):
        lang = draw.choice(sorted(texts))
        text = " ".join(draw.choices(texts[lang], k=draw.randint(1, 4)))
        sound, rate_hz = espeak_client.samples_of(text, espeak_client.VOICES[lang], 160, 50)
        samples = audio.resample(np.asarray(sound, np.float32), rate_hz, RATE_HZ)[: 15 * RATE_HZ]
        path = folder / f"{number:03}.wav"
        audio.write_wav(path, samples, RATE_HZ)
        clips.append({"path": str(path), "lang": lang, "duration_s": samples.size / RATE_HZ})
    return clips


def random_model(folder: Path) -> Path:
    """An IndicConformer 512 wide and 8 deep, of the published layout; its transducer writes some 6 pieces a second."""
    sys.path.insert(0, str(ROOT / "tests"))
    from indicconformer_checkpoint import write_checkpoint

    return write_checkpoint(folder, width=512, layers=8, hidden=320, reserve=28.0)


# --- how it is measured


def judge_of(name: str, given: dict[str, Any]) -> Any:
    """A judge by the name of its file in `conf/judge`, with some options."""
    from omegaconf import OmegaConf

    from kasauti.parts import build, part_class

    node = OmegaConf.to_container(OmegaConf.load(ROOT / "conf" / "judge" / f"{name}.yaml"))
    return build(part_class(node[name]["_target_"]).options_type(node[name]["_target_"], name, **given))


def plain_whisper(options: dict[str, Any]) -> Any:
    """Whisper's judge around an engine with as many threads as it chooses, and one clip after the other."""
    import faster_whisper

    from kasauti import weights
    from kasauti.judges.whisper_decoding import steady

    folder = weights.locate(f"whisper-{options.get('model') or 'base'}").folder
    judge = judge_of("whisper", {**options, "workers": 1})
    judge._model = faster_whisper.WhisperModel(
        str(folder),
        device="cuda" if options.get("device") == "cuda" else "cpu",
        compute_type=options.get("compute_type") or "int8",
    )
    steady(judge._model.feature_extractor)  # else the texts differ by last digits
    return judge


def has_plain_loop(judge: str, options: dict[str, Any]) -> bool:
    """Whether there is an engine with a way of its own to hear one file after the other, and weights known by name."""
    return judge == "whisper" and options.get("backend") != "transformers" and "/" not in str(options.get("model"))


def measure(plan: dict[str, Any], at_once: int) -> dict[str, Any]:
    """One variant in this process: seconds by the wall and by the processor, MiB at the peak, and the texts."""
    from kasauti.judges.base import Heard, JudgeTask

    if at_once == 0:
        judge = plain_whisper(plan["options"])
    else:
        judge = judge_of(plan["judge"], {**plan["options"], AT_ONCE.get(plan["judge"], "batch_clips"): at_once})
    tasks = [
        JudgeTask(str(place), clip["lang"], 0, (Heard(Path(clip["path"]), "", clip["duration_s"]),))
        for place, clip in enumerate(plan["clips"])
    ]
    list(judge.judge(tasks[:1]))
    wall, processor = time.perf_counter(), time.process_time()
    answers = {answer.judgment_id: answer for answer in judge.judge(tasks)}
    wall_s, processor_s = time.perf_counter() - wall, time.process_time() - processor
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    judge.close()
    texts = [answers[task.judgment_id].transcript for task in tasks]
    return {"wall_s": wall_s, "processor_s": processor_s, "peak_mib": peak_mib, "texts": texts}


def apart(plan: Path, at_once: int) -> dict[str, Any]:
    """`measure` in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--measure", str(at_once), "--plan", str(plan)],
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    return dict(json.loads(done.stdout.splitlines()[-1]))


def show(found: dict[str, list[dict[str, Any]]], clips: list[dict[str, Any]]) -> None:
    """The table: the best of each variant, and its ratio to the first."""
    best = {name: min(runs, key=lambda run: run["wall_s"]) for name, runs in found.items()}
    first = next(iter(best.values()))
    seconds = sum(clip["duration_s"] for clip in clips)
    heads = (
        f"{'wall s':>9}{'proc. s':>9}{'clips/s':>9}{'x real time':>13}{'ratio':>7}{'peak MiB':>10}{'equal texts':>13}"
    )
    print(f"\n{'variant':16}{heads}")
    for name, run in best.items():
        equal = sum(ours == theirs for ours, theirs in zip(run["texts"], first["texts"], strict=True))
        print(
            f"{name:16}{run['wall_s']:9.2f}{run['processor_s']:9.2f}{len(clips) / run['wall_s']:9.2f}"
            f"{seconds / run['wall_s']:13.1f}{first['wall_s'] / run['wall_s']:7.2f}"
            f"{first['processor_s'] / run['processor_s']:10.2f}{run['peak_mib']:10.0f}"
            f"{f'{equal} of {len(clips)}':>13}"
        )
    missing = sum(text is None for text in first["texts"])
    print(f"{missing} of {len(clips)} clips have no text" if missing else "every clip has a text")


def main() -> None:
    """Makes the clips, measures the variants in turn, prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judge", default="indicconformer")
    parser.add_argument("--model", help="folder or file of the weights")
    parser.add_argument("--set", nargs="*", default=[], metavar="KEY=VALUE", help="other options of the judge")
    parser.add_argument("--clips", type=int, default=48)
    parser.add_argument("--batch", type=int, nargs="*", default=[4, 8])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--plan", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure is not None:
        print(json.dumps(measure(json.loads(options.plan.read_text(encoding="utf-8")), options.measure)))
        return
    sys.path.insert(0, str(ROOT / "src"))
    from omegaconf import OmegaConf

    given = OmegaConf.to_container(OmegaConf.from_dotlist(options.set))
    with tempfile.TemporaryDirectory() as folder:
        if options.model is None and options.judge == "indicconformer":
            options.model = str(random_model(Path(folder) / "model"))
        clips = make_clips(Path(folder), options.clips)
        plan = Path(folder) / "plan.json"
        told = {**given, **({"model": options.model} if options.model else {})}
        plan.write_text(json.dumps({"judge": options.judge, "options": told, "clips": clips}), encoding="utf-8")
        seconds = sum(clip["duration_s"] for clip in clips)
        print(f"{options.judge}: {len(clips)} clips, {seconds:.0f} s, {os.cpu_count()} cores")
        found: dict[str, list[dict[str, Any]]] = {}
        for round_number in range(options.rounds):
            print(f"round {round_number + 1}: load {os.getloadavg()[0]:.1f}", flush=True)
            for at_once in (*([0] if has_plain_loop(options.judge, told) else []), 1, *options.batch):
                name = {0: "plain loop", 1: "one by one"}.get(at_once, f"{at_once} at once")
                found.setdefault(name, []).append(apart(plan, at_once))
        show(found, clips)


if __name__ == "__main__":
    main()
