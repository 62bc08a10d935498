"""The published tables from the published judgments; and every kind of damage is found and named.

Expected values: the published files themselves, and facts from the benchmark's own description.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from rich.console import Console

from kasauti.panel import PanelError
from kasauti.panel.bundle import BundleOptions
from kasauti.panel.checks import check_leaderboard
from kasauti.panel.consensus import consensus
from kasauti.panel.indicemo import FACTS, LABEL_OFFSETS, LABEL_ORDER
from kasauti.panel.intervals import Draws
from kasauti.panel.published import published_panel, read_judgments, read_prompts
from kasauti.panel.reproduce import Reproduce
from kasauti.panel.tables import (
    CONSENSUS,
    PAIRWISE,
    SENSITIVITY,
    Source,
    consensus_rows,
    csv_text,
    pairwise_rows,
    sensitivity_rows,
)
from kasauti.pipeline.judging import rotated

ROOT = Path(__file__).parents[2]
PINNED = yaml.safe_load((ROOT / "conf/experiment/reproduce_indicemo.yaml").read_text(encoding="utf-8"))["task"]
FILES = [
    "checksums.sha256",
    "judgments.jsonl",
    "prompts.jsonl",
    "provenance.json",
    *(f"requests/{name}.jsonl" for name in sorted(LABEL_ORDER)),
    *(f"results/{name}.csv" for name in ("consensus_scores", "judge_sensitivity", "leaderboard", "pairwise")),
]

Row = dict[str, Any]


def reproduce(folder: Path) -> tuple[int, str, str]:
    """Exit code, the line with PASS or FAIL, all that was printed."""
    text = io.StringIO()
    options = BundleOptions(mirror=str(folder), checksums_sha256=PINNED["checksums_sha256"])
    code = Reproduce(options).run(Console(file=text, width=80))
    (line,) = [line for line in text.getvalue().splitlines() if line.startswith(("PASS", "FAIL"))]
    return int(code), line, text.getvalue()


def rewrite(folder: Path, name: str, change: Callable[[list[Row]], list[Row]]) -> None:
    """Changes the rows of a JSONL file and mends its checksum, so that only the content gives the damage away."""
    path = folder / name
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
    path.write_text("".join(json.dumps(row) + "\n" for row in change(rows)), encoding="utf-8")
    mend(folder, name)


def mend(folder: Path, name: str) -> None:
    listing = folder / "checksums.sha256"
    lines = listing.read_text().splitlines()
    sha256 = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    listing.write_text("".join(f"{sha256}  {name}\n" if line.endswith(name) else f"{line}\n" for line in lines))


def test_pass_names_every_file(bundle: Path) -> None:
    code, line, text = reproduce(bundle)
    assert (code, line) == (0, f"PASS {', '.join(FILES)}")
    assert "1,490 judgments in whole cases, 1,490 labels as rotated" in text
    assert "455 cells to the last digit, 210 limits within resampling noise" in text
    for name, value in FACTS.items():
        assert f"{name}: {value}\n" in text


def test_facts_are_the_published_ones() -> None:
    assert list(FACTS.values()) == [
        "98",
        "cs_0046 cs_0098",
        "100/100/98",
        "20/20/19/20/19",
        "79",
        "4.73/4.66/3.73",
        "20",
    ]


def source_of(folder: Path) -> Source:
    judgments = read_judgments(folder)
    return Source(
        published_panel(judgments).common(),
        {judgment.rating.system: judgment.system_name for judgment in judgments},
        {judgment.rating.judge: judgment.judge_model for judgment in judgments},
    )


def test_tables_byte_for_byte(bundle: Path) -> None:
    source = source_of(bundle)
    tables = {CONSENSUS: consensus_rows, SENSITIVITY: sensitivity_rows, PAIRWISE: pairwise_rows}
    for name, compute in tables.items():
        assert csv_text(compute(source)).encode() == (bundle / name).read_bytes()


def test_scores_of_the_published_page(bundle: Path) -> None:
    found = consensus(published_panel(read_judgments(bundle)))
    scores = dict(zip(found.panel.systems, found.overall.tolist(), strict=True))
    assert scores == {
        "gemini": 4.578421052631579,
        "rumik_oss_1": 2.9184210526315786,
        "cartesia_sonic_preview": 2.714736842105263,
        "cartesia_sonic_3_5": 2.3194736842105264,
        "elevenlabs": 2.1642105263157894,
    }


@pytest.mark.parametrize(
    ("prompt", "judge", "order"),
    # Four rows of the protocol's description, A to E.
    [
        ("cs_0001", "qwen", "gemini elevenlabs cartesia_sonic_3_5 cartesia_sonic_preview rumik_oss_1"),
        ("cs_0098", "gemini", "elevenlabs cartesia_sonic_3_5 cartesia_sonic_preview rumik_oss_1 gemini"),
        ("cs_0099", "openai", "rumik_oss_1 gemini elevenlabs cartesia_sonic_3_5 cartesia_sonic_preview"),
        ("cs_0093", "openai", "cartesia_sonic_preview rumik_oss_1 gemini elevenlabs cartesia_sonic_3_5"),
    ],
)
def test_blind_labels_go_round(prompt: str, judge: str, order: str) -> None:
    assert rotated(LABEL_ORDER, int(prompt[3:]) - 1 + LABEL_OFFSETS[judge]) == order.split()


def test_the_place_within_a_delivery_gives_the_same_labels(bundle: Path) -> None:
    """A live panel counts within the delivery: blocks of twenty are a multiple of five systems."""
    seen: dict[str, int] = {}
    for place, prompt in enumerate(read_prompts(bundle)):
        within = seen.get(prompt.delivery, 0)
        seen[prompt.delivery] = within + 1
        assert rotated(LABEL_ORDER, within) == rotated(LABEL_ORDER, place)


def change_row(index: int, **changes: Any) -> Callable[[list[Row]], list[Row]]:
    return lambda rows: [row | changes if place == index else row for place, row in enumerate(rows)]


def swap_labels(rows: list[Row]) -> list[Row]:
    rows[0]["blind_label"], rows[1]["blind_label"] = rows[1]["blind_label"], rows[0]["blind_label"]
    return rows


JUDGMENT_DAMAGE: dict[str, tuple[Callable[[list[Row]], list[Row]], list[str]]] = {
    # Row 2 is Gemini TTS at rank 3 with score 3 in the first case; 4 is still a ranking.
    "a perturbed score": (
        change_row(1, expression_quality_score=4),
        ["results/judge_sensitivity.csv: line ", "results/leaderboard.csv: line "],
    ),
    "a score that contradicts its rank": (
        change_row(0, expression_quality_score=1),
        ["judgments.jsonl: cs_0001 × gemini: ", "results/consensus_scores.csv: not recomputed"],
    ),
    "a missing row": (lambda rows: rows[1:], ["judgments.jsonl: cs_0001 × gemini: no rating of rumik_oss_1"]),
    "a row twice": (lambda rows: [rows[0], *rows], ["judgments.jsonl: cs_0001 × gemini × rumik_oss_1: judged twice"]),
    "a missing case": (
        lambda rows: rows[5:],
        ["judgments.jsonl: cs_0001__qwen__", "strict_common_set", "results/consensus_scores.csv: line 2: "],
    ),
    "a swapped label": (
        swap_labels,
        ["judgments.jsonl: cs_0001__gemini__rumik_oss_1: blind_label B; wanted A"],
    ),
    "another rank": (change_row(0, rank=2.5), ["judgments.jsonl: cs_0001 × gemini: ranks"]),
    "another win credit": (change_row(0, win_credit=1.0), ["win_credit 1.0; wanted 0.0"]),
    "another delivery": (change_row(0, target_delivery="Sad"), ["judgments.jsonl: cs_0001 × gemini"]),
    "an unknown judge": (change_row(0, judge_id="claude"), ["judgments.jsonl: unknown judge 'claude'"]),
    "a truth value for a score": (
        change_row(0, expression_quality_score=True),
        ["judgments.jsonl:1: expression_quality"],
    ),
    "a renamed system": (change_row(1489, system_name="X"), ["results/consensus_scores.csv: line "]),
    "a judge without any case": (
        lambda rows: [row for row in rows if row["judge_id"] != "openai"],
        ["judgments.jsonl: judgments.jsonl: no Happy task was judged by every judge"],
    ),
}


@pytest.mark.parametrize("damage", JUDGMENT_DAMAGE)
def test_a_damaged_judgment_is_named(copied: Path, damage: str) -> None:
    change, named = JUDGMENT_DAMAGE[damage]
    rewrite(copied, "judgments.jsonl", change)
    code, line, text = reproduce(copied)
    assert code == 1
    assert line.startswith("FAIL checksums.sha256: is another list than the pinned one")
    for words in named:
        assert words in text


def test_damage_under_an_unchanged_list_is_a_checksum_mismatch(copied: Path) -> None:
    path = copied / "judgments.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"expression_quality_score": 3', b'"expression_quality_score": 4', 1))
    code, line, _ = reproduce(copied)
    assert code == 1
    assert line.startswith("FAIL judgments.jsonl: checksum mismatch")
    assert "results/judge_sensitivity.csv: line " in line


@pytest.mark.parametrize("name", FILES[1:])
def test_each_file_is_covered_by_its_checksum(copied: Path, name: str) -> None:
    with (copied / name).open("ab") as file:
        file.write(b" ")
    code, line, _ = reproduce(copied)
    assert code == 1
    assert f"{name}: checksum mismatch" in line


@pytest.mark.parametrize("name", FILES[1:])
def test_each_missing_file_is_named(copied: Path, name: str) -> None:
    (copied / name).unlink()
    code, line, _ = reproduce(copied)
    assert code == 1
    assert f"{name}: is missing" in line


def test_a_changed_checksum_is_named(copied: Path) -> None:
    listing = copied / "checksums.sha256"
    listing.write_text(listing.read_text().replace("b4469", "c4469"))
    code, line, _ = reproduce(copied)
    assert code == 1
    assert "checksums.sha256: is another list" in line
    assert "judgments.jsonl: checksum mismatch" in line


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        (
            CONSENSUS,
            "2.9184210526315786",
            "2.918421052631579",
            "line 3: overall_consensus_score 2.918421052631579; recom",
        ),
        (SENSITIVITY, ",79\n", ",80\n", "line 2: n_prompts 80; recomputed 79"),
        (PAIRWISE, "0.8143459915611815", "0.8143459915611816", "line 2: system_a_pairwise_win_rate 0.8143459915611816"),
        ("results/leaderboard.csv", "4.433552631578948", "4.433552631578947", "line 2: judge_mean_expression_quality"),
        (
            "results/leaderboard.csv",
            "4.517763157894738",
            "4.457763157894738",
            "emotion_only gemini: meq_ci95_low 4.4577",
        ),
        ("results/leaderboard.csv", "4.517763157894738", "x", "emotion_only gemini: meq_ci95_low x"),
        ("results/leaderboard.csv", "win_rate_ci95_low", "win_rate_low", "columns"),
        (CONSENSUS, "\n", "\r\n", "all cells hold, but other bytes differ"),
    ],
)
def test_a_changed_table_is_named(copied: Path, name: str, old: str, new: str, words: str) -> None:
    path = copied / name
    text = path.read_bytes().decode()
    assert old in text
    path.write_bytes(text.replace(old, new, -1 if old == "\n" else 1).encode())
    mend(copied, name)
    code, line, _ = reproduce(copied)
    assert code == 1
    assert f"{name}: {words}" in line


def test_prompts_and_requests_must_be_whole(copied: Path) -> None:
    rewrite(copied, "prompts.jsonl", lambda rows: rows[1:])
    rewrite(copied, "requests/gemini.jsonl", lambda rows: [rows[1], *rows[1:]])
    code, _, text = reproduce(copied)
    assert code == 1
    assert "prompts.jsonl: 99 prompts; wanted 100" in text
    assert "prompts.jsonl: cs_0001 (Happy) is missing or out of its place" in text
    assert "requests/gemini.jsonl: not one request for each prompt" in text
    assert "judgments.jsonl: cs_0001__gemini__rumik_oss_1: there is no prompt cs_0001" in text


def test_a_task_with_another_delivery_than_its_prompt(copied: Path) -> None:
    moved = {"target_delivery": "Sad"}
    rewrite(copied, "judgments.jsonl", lambda rows: [r | moved if r["prompt_id"] == "cs_0001" else r for r in rows])
    code, _, text = reproduce(copied)
    assert code == 1
    assert "judgments.jsonl: cs_0001__gemini__rumik_oss_1: target_delivery Sad; wanted Happy" in text


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_published_limits_lie_within_any_draws(bundle: Path, seed: int) -> None:
    assert check_leaderboard(bundle, source_of(bundle), Draws(10_000, seed)).faults == []


def test_no_case_in_common_is_an_error_of_the_data(bundle: Path) -> None:
    judgments = [j for j in read_judgments(bundle) if j.rating.judge != "openai" or j.rating.delivery != "Angry"]
    with pytest.raises(PanelError, match="no Angry task was judged by every judge"):
        published_panel(judgments)


@pytest.mark.parametrize("study", ["reproduce_indicemo", "indicemo_beyond"])
def test_both_studies_pin_the_same_bundle(study: str) -> None:
    task = yaml.safe_load((ROOT / f"conf/experiment/{study}.yaml").read_text(encoding="utf-8"))["task"]
    for key in ("address", "commit", "checksums_sha256", "mirror", "store"):
        assert task[key] == PINNED[key]


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "run.py"), *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )


def test_the_command_ends_with_0_or_1(bundle: Path, copied: Path) -> None:
    good = command("+experiment=reproduce_indicemo", f"data.mirror={bundle}")
    assert (good.returncode, good.stderr) == (0, "")
    assert [line for line in good.stdout.splitlines() if line.startswith("PASS")] == [f"PASS {', '.join(FILES)}"]
    rewrite(copied, "judgments.jsonl", swap_labels)
    bad = command("+experiment=reproduce_indicemo", f"data.mirror={copied}")
    assert bad.returncode == 1
    assert any(line.startswith("FAIL ") for line in bad.stdout.splitlines())


def test_the_command_refuses_a_folder_without_bundle(tmp_path: Path) -> None:
    found = command("+experiment=reproduce_indicemo", f"data.mirror={tmp_path}")
    assert found.returncode == 2
    assert "no checksums.sha256 there" in found.stderr
