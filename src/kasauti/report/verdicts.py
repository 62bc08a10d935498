"""Verdicts as they are shown: which pairs, in which order, in which words; the same on every surface."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kasauti.records import VerdictRow
from kasauti.report.loading import RunTables
from kasauti.report.wording import METRIC_NAMES, NOTHING, floor_notes, floor_value, level_of, metric_name, value_of

HEADINGS = ("pair", "verdict", "difference", "95 % interval", "floor", "could tell", "prompts")

_STYLES = {"better": "green", "worse": "red", "within_noise": "", "judge_limited": "magenta"}

_TURNED = {"better": "worse", "worse": "better"}

NEEDS_WORDS = ("not_comparable", "insufficient", "judge_limited")
"""Verdicts that the numbers beside them don't explain."""


def chosen_pairs(verdicts: Iterable[VerdictRow], systems: Sequence[str]) -> tuple[VerdictRow, ...]:
    """Verdicts on neighbours in a list of systems, and on the first of it against each of the others.

    Args:
        verdicts: Of one judge, metric, scope and key, each pair once.
        systems: In the order of the leaderboard.

    Returns:
        The system that stands higher as `a`; by the place of `b`. A pair that no verdict was made on is left out.
    """
    known = {(row.a, row.b): row for row in verdicts}
    known |= {(row.b, row.a): turned(row) for row in list(known.values())}
    pairs = [
        (above, system)
        for place, system in enumerate(systems[1:], start=1)
        for above in dict.fromkeys((systems[place - 1], systems[0]))
    ]
    return tuple(known[pair] for pair in pairs if pair in known)


def turned(row: VerdictRow) -> VerdictRow:
    """The same verdict with the systems in the other order; words that carry the sign of a number are left out."""

    def negative(value: float | None) -> float | None:
        return None if value is None else 0.0 - value  # not -0.0

    return replace(
        row,
        a=row.b,
        b=row.a,
        mean_a=row.mean_b,
        mean_b=row.mean_a,
        verdict=_TURNED.get(row.verdict, row.verdict),  # type: ignore[arg-type]
        difference=negative(row.difference),
        ci95_low=negative(row.ci95_high),
        ci95_high=negative(row.ci95_low),
        reason=row.reason if row.verdict in NEEDS_WORDS else "",
    )


def verdict_name(row: VerdictRow) -> str:
    """The verdict in words: `within noise`."""
    return row.verdict.replace("_", " ")


def verdict_cells(row: VerdictRow, *, is_rate: bool) -> list[str]:
    """One verdict as text, in the columns of `HEADINGS`."""
    low, high = (_signed(value, is_rate=is_rate) for value in (row.ci95_low, row.ci95_high))
    return [
        f"{row.a} – {row.b}",
        verdict_name(row),
        _signed(row.difference, is_rate=is_rate),
        f"{low} to {high}" if row.difference is not None else NOTHING,
        floor_value(row.floor95, row.floor_kind, is_rate=is_rate),
        value_of(row.smallest, is_rate=is_rate),
        str(row.n_prompts),
    ]


def reasons(rows: Iterable[VerdictRow]) -> list[str]:
    """Why, for the verdicts that need words."""
    return [f"{row.a} – {row.b}: {verdict_name(row)}: {row.reason}." for row in rows if row.verdict in NEEDS_WORDS]


def legend(rows: Sequence[VerdictRow]) -> list[str]:
    """What the columns mean."""
    if not rows:
        return []
    notes = [
        "difference: first less second, over the prompts that both have scored. could tell: the smallest difference "
        "that these prompts and takes could have told; – : none of any size."
    ]
    if all(row.human is None for row in rows):
        notes.append("No human recordings here: whether the judge itself is the limit is not known (system=human).")
    return notes


def print_verdicts(rows: Sequence[VerdictRow], console: Console, title: str, *, is_rate: bool, keys: bool) -> None:
    """Prints verdicts as a table.

    Args:
        rows: What to print, in order.
        console: Its width decides how many columns there are: the interval and the prompts give way first.
        title: Above the table.
        is_rate: Whether the metric is shown in per cent.
        keys: Whether the rows are of several judges or languages, which are then named in front.
    """
    hidden = ("95 % interval", "prompts") if console.width < 100 else ()
    shown = [place for place, heading in enumerate(HEADINGS) if heading not in hidden]
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    if keys:
        table.add_column("judge, language", overflow="fold", max_width=24)
    for place in shown:
        table.add_column(HEADINGS[place], justify="left" if place < 2 else "right", overflow="fold")
    for row in rows:
        cells = [Text(cell) for cell in verdict_cells(row, is_rate=is_rate)]
        cells[1].stylize(_STYLES.get(row.verdict, "yellow"))
        table.add_row(*([Text(key_of(row))] if keys else []), *(cells[place] for place in shown))
    console.print(Text(title, style="bold"))
    console.print(table)


def show_comparison(a: RunTables, b: RunTables, rows: Sequence[VerdictRow], console: Console) -> None:
    """Verdicts of one run against another as a table with its legend."""
    metric = rows[0].metric
    console.print()
    print_verdicts(
        rows,
        console,
        f"{metric_name(metric)}{level_of(metric, rows[0].level)}: run A = {_named(a)} against run B = {_named(b)}",
        is_rate=metric in METRIC_NAMES,
        keys=True,
    )
    console.print()
    for note in (*reasons(rows), *floor_notes(rows), *legend(rows)):
        console.print(Text(note, style="dim"))


def key_of(row: VerdictRow) -> str:
    """Judge and language of a verdict."""
    return f"{row.judge}, {'all languages' if row.scope == 'macro' else row.key}"


def _signed(value: float | None, *, is_rate: bool) -> str:
    if value is None:
        return NOTHING
    return f"{100 * value:+.1f}" if is_rate else f"{value:+.2f}"


def _named(tables: RunTables) -> str:
    run = tables.runs[0]
    return f"{run.run_id} ({run.finished_at[:16].replace('T', ' ')})" if run.finished_at else run.run_id
