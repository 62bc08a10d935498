"""What `reproduce` verifies, file by file. A check never raises for what is wrong with the data: it says what.

The limits of the published intervals can't be recomputed, since their seed is not published. They are held against the
same bootstrap of our own: with 10,000 draws the 2.5th percentile lies, four standard errors to either side, between the
1.6th and the 3.4th of another such run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from kasauti.errors import KasautiError
from kasauti.identity import file_sha256
from kasauti.panel.bundle import CHECKSUMS, read_checksums
from kasauti.panel.cases import Panel
from kasauti.panel.consensus import consensus, judge_means, pooled_by_judge
from kasauti.panel.cuts import at_cap
from kasauti.panel.indicemo import (
    DELIVERIES,
    EMOTIONS,
    FACTS,
    LABEL_OFFSETS,
    LABEL_ORDER,
    SCOPES,
    TOKENS_PER_S,
)
from kasauti.panel.intervals import Draws, drawn_means
from kasauti.panel.published import (
    JUDGMENTS,
    PROMPTS,
    Judgment,
    PublishedPrompt,
    Request,
    read_csv,
)
from kasauti.panel.tables import LEADERBOARD, LIMITS, Row, Source, csv_text, leaderboard_rows
from kasauti.pipeline.judging import rotated

DRAWS = Draws(10_000, 0)
"""As many draws as the published limits rest on."""

LOW_BAND, HIGH_BAND = (1.6, 3.4), (96.6, 98.4)
"""Percentiles of our draws between which a published limit must lie."""

_N_PROMPTS, _N_PER_DELIVERY = 100, 20
_TOLERANCE = 1e-9


@dataclass
class Check:
    """One file.

    Attributes:
        file: Path in the bundle.
        held: What was verified, in words.
        faults: What is wrong; empty when all holds.
    """

    file: str
    held: str = ""
    faults: list[str] = field(default_factory=list)


def check_checksums(folder: Path, pinned_sha256: str) -> list[Check]:
    """The list of checksums is the pinned one, and every file that it lists is there and holds."""
    listing = Check(CHECKSUMS, "is the pinned list")
    if file_sha256(folder / CHECKSUMS) != pinned_sha256:
        listing.faults.append(f"is another list than the pinned one (SHA-256 {pinned_sha256[:12]}… wanted)")
    try:
        listed = read_checksums(folder / CHECKSUMS)
    except KasautiError as error:
        listing.faults.append(str(error))
        return [listing]
    checks = [listing]
    for name, sha256 in listed.items():
        check = Check(name, "checksum")
        if not (folder / name).is_file():
            check.faults.append("is missing")
        elif (got := file_sha256(folder / name)) != sha256:
            check.faults.append(f"checksum mismatch: SHA-256 {got[:12]}…, listed {sha256[:12]}…")
        checks.append(check)
    return checks


def check_prompts(prompts: Sequence[PublishedPrompt]) -> Check:
    """All prompts are there, in order."""
    check = Check(PROMPTS, f"{_N_PROMPTS} prompts, {_N_PER_DELIVERY} a delivery")
    wanted = [(f"cs_{n + 1:04d}", DELIVERIES[n // _N_PER_DELIVERY]) for n in range(_N_PROMPTS)]
    got = [(prompt.id, prompt.delivery) for prompt in prompts]
    if len(got) != len(wanted):
        check.faults.append(f"{len(got)} prompts; wanted {len(wanted)}")
    for (name, delivery), found in zip(wanted, got, strict=False):
        if found != (name, delivery):
            check.faults.append(f"{name} ({delivery}) is missing or out of its place")
            break
    return check


def check_requests(system: str, requests: Sequence[Request], prompts: Sequence[PublishedPrompt]) -> Check:
    """There is one request for every prompt."""
    check = Check(f"requests/{system}.jsonl", f"{len(requests)} requests")
    counts = Counter(request.id for request in requests)
    wrong = [prompt.id for prompt in prompts if counts[prompt.id] != 1]
    if wrong or len(counts) != len(prompts):
        check.faults.append(f"not one request for each prompt: {', '.join(wrong[:3]) or 'unknown ids'}")
    return check


def check_judgments(judgments: Sequence[Judgment], panel: Panel, prompts: Sequence[PublishedPrompt]) -> Check:
    """Ids, deliveries, win credits and the common set follow from the rows; every blind label from the rotation."""
    check = Check(JUDGMENTS, f"{len(judgments):,} judgments in whole cases, {len(judgments):,} labels as rotated")
    place = {prompt.id: number for number, prompt in enumerate(prompts)}
    prompt_of = {prompt.id: prompt for prompt in prompts}
    common = set(panel.common().tasks)
    wins = panel.wins
    for judgment in judgments:
        rating = judgment.rating
        if rating.task not in place:
            check.faults.append(f"{judgment.id}: there is no prompt {rating.task}")
            continue
        order = rotated(LABEL_ORDER, place[rating.task] + LABEL_OFFSETS[rating.judge])
        at = (panel.tasks.index(rating.task), panel.judges.index(rating.judge), panel.systems.index(rating.system))
        prompt = prompt_of[rating.task]
        pairs = {
            "id": (judgment.id, f"{rating.task}__{rating.judge}__{rating.system}"),
            "blind_label": (_letter(rating.label), _letter(order.index(rating.system))),
            "target_delivery": (rating.delivery, prompt.delivery),
            "language_count": (judgment.language_count, prompt.language_count),
            "strict_common_set": (judgment.in_common_set, rating.task in common),
            "win_credit": (judgment.win_credit, float(wins[at])),
        }
        check.faults += [f"{judgment.id}: {n} {got}; wanted {want}" for n, (got, want) in pairs.items() if got != want]
    return check


def published_facts(panel: Panel, requests: Sequence[Request]) -> dict[str, str]:
    """The facts of `indicemo.FACTS`, from the data."""
    common = panel.common()
    per_delivery = Counter(common.delivery_of.tolist())
    left_out = sorted(set(panel.tasks) - set(common.tasks))
    gemini = pooled_by_judge(common, common.scores)[:, common.systems.index("gemini")]
    cap = max((request.max_tokens or 0 for request in requests), default=0)
    cut = at_cap({request.id: request.duration_s for request in requests}, cap, TOKENS_PER_S) if cap else []
    values = [
        str(len(common.tasks)),
        " ".join(left_out),
        "/".join(str(count) for count in panel.judged.sum(axis=0).tolist()),
        "/".join(str(per_delivery[d]) for d in range(len(common.deliveries))),
        str(len(common.of_deliveries(EMOTIONS).tasks)),
        "/".join(f"{value:.2f}" for value in gemini.tolist()),
        str(len(cut)),
    ]
    return dict(zip(FACTS, values, strict=True))


def check_table(folder: Path, name: str, compute: Callable[[Source], list[Row]], source: Source) -> Check:
    """A result table is, byte for byte, what follows from the judgments."""
    rows = compute(source)
    check = Check(name, f"{len(rows)} rows, byte for byte")
    if (folder / name).read_bytes() == csv_text(rows).encode():
        return check
    check.faults += _differences(rows, read_csv(folder / name), list(rows[0]))
    if not check.faults:
        check.faults.append("all cells hold, but other bytes differ (order of columns, quoting or line ends)")
    return check


def check_leaderboard(folder: Path, source: Source, draws: Draws = DRAWS) -> Check:
    """Point values of the leaderboard to the last digit; limits within what another bootstrap may give."""
    rows, published = leaderboard_rows(source), read_csv(folder / LEADERBOARD)
    cells, limits = len(rows) * len(rows[0]), len(rows) * len(LIMITS)
    held = f"{cells} cells to the last digit, {limits} limits within resampling noise"
    check = Check(LEADERBOARD, held, _differences(rows, published, list(rows[0])))
    if published and set(published[0]) != {*rows[0], *LIMITS}:
        check.faults.append(f"columns {', '.join(published[0])} are not the known ones")
    if not check.faults:
        check.faults += _limits_out_of_band(published, source, draws)
    return check


def _limits_out_of_band(published: Sequence[dict[str, str]], source: Source, draws: Draws) -> list[str]:
    faults = []
    row_of = {(row["scope"], row["system_id"]): row for row in published}
    for scope, deliveries in SCOPES.items():
        panel = source.panel.of_deliveries(deliveries)
        by_task = {
            "meq": consensus(panel).by_task,
            "mean_rank": judge_means(panel.ranks),
            "win_rate": judge_means(panel.wins),
        }
        for quantity, values in by_task.items():
            drawn = drawn_means(panel, values, draws)
            for end, band in (("low", LOW_BAND), ("high", HIGH_BAND)):
                bounds = np.percentile(drawn, band, axis=0)
                for s, system in enumerate(panel.systems):
                    column = f"{quantity}_ci95_{end}"
                    written = row_of[scope, system][column]
                    least, most = bounds[0, s] - _TOLERANCE, bounds[1, s] + _TOLERANCE
                    if not least <= _number(written) <= most:
                        faults.append(f"{scope} {system}: {column} {written}; wanted {least:.4f} to {most:.4f}")
    return faults


def _differences(rows: Sequence[Row], published: Sequence[dict[str, str]], columns: Sequence[str]) -> list[str]:
    """Cells of the file that are not what was computed, row by row."""
    if len(rows) != len(published):
        return [f"{len(published)} rows; wanted {len(rows)}"]
    faults = []
    for number, (row, found) in enumerate(zip(rows, published, strict=True), start=2):
        missing = [name for name in columns if name not in found]
        if missing:
            return [f"no column {missing[0]}"]
        faults += [
            f"line {number}: {name} {found[name]}; recomputed {row[name]}"
            for name in columns
            if str(row[name]) != found[name]
        ]
    return faults


def _number(written: str) -> float:
    """A cell as a number; NaN, which lies between no two numbers, where it is none."""
    try:
        return float(written)
    except ValueError:
        return float("nan")


def _letter(label: int) -> str:
    return chr(ord("A") + label)
