"""Who is ahead: aggregate rows to a ranked list, and to a table by language.

Only like is ranked against like: systems with enough scored rows in every language of the comparison, on the prompts
that they have in common. The others follow without a rank, with the reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from kasauti.records import AggregateRow


@dataclass(frozen=True)
class LeaderboardRow:
    """One system by one judge.

    Attributes:
        rank: 1 = best; systems with the same value share the mean of their places; None where it can't be ranked.
        value: `mean_common` of the row, by which it is ranked.
        row: The aggregate row.
        reason: Why there is no rank; empty where there is one.
    """

    rank: float | None
    system: str
    judge: str
    value: float | None
    row: AggregateRow
    reason: str = ""


def leaderboard(
    aggregates: Iterable[AggregateRow],
    metric: str = "cer",
    *,
    scope: str = "macro",
    key: str = "all",
    humans: Collection[str] = (),
    higher_is_better: bool = False,
) -> list[LeaderboardRow]:
    """Ranks systems by one metric, judge by judge.

    Args:
        aggregates: What `aggregate` returned.
        metric: Name of the metric.
        scope, key: Which cells: `("macro", "all")`, `("pooled", "all")`, `("lang", "hi")` or `("tag", "digits")`.
        humans: Systems whose clips are human recordings, as given to `aggregate`: listed, not ranked.
        higher_is_better: For marks; error rates are better the lower they are.

    Returns:
        For each judge in order of first appearance the ranked systems, best first, then the others.
    """
    rows = [row for row in aggregates if row.metric == metric]
    judges = list(dict.fromkeys(row.judge for row in rows))
    board: list[LeaderboardRow] = []
    for judge in judges:
        mine = [row for row in rows if row.judge == judge]
        competing = [row for row in mine if row.system not in humans]
        full = {row.key for row in competing if row.scope == "lang" and row.status == "ok"}
        chosen = [row for row in mine if (row.scope, row.key) == (scope, key)]
        over_languages = scope in ("macro", "pooled")
        entries = [_entry(row, humans, _lacking(row, mine, full) if over_languages else "") for row in chosen]
        board += _ranked(entries, higher_is_better)
    return board


def per_language(aggregates: Iterable[AggregateRow], metric: str, judge: str) -> dict[str, dict[str, AggregateRow]]:
    """Language -> system -> row, both in order of first appearance; a pair without rows is left out."""
    table: dict[str, dict[str, AggregateRow]] = {}
    for row in aggregates:
        if (row.scope, row.metric, row.judge) == ("lang", metric, judge):
            table.setdefault(row.key, {})[row.system] = row
    return table


def _lacking(row: AggregateRow, rows: Sequence[AggregateRow], full: set[str]) -> str:
    """In words, what the system of `row` lacks of the languages of the comparison; empty where it has them all."""
    mine = {other.key: other for other in rows if other.scope == "lang" and other.system == row.system}
    langs = list(dict.fromkeys(other.key for other in rows if other.scope == "lang"))
    spoken = [lang for lang in langs if lang not in mine or mine[lang].status != "unsupported_language"]
    unspoken = full - set(spoken)
    told = [f"speaks {len(spoken)} of {len(langs)} languages"] if unspoken else []
    unscored = [lang for lang in spoken if lang in full and not (lang in mine and mine[lang].n_prompts)]
    told += [f"no score in {', '.join(unscored)}"] if unscored else []
    return ", ".join(told)


def _entry(row: AggregateRow, humans: Collection[str], lacking: str) -> LeaderboardRow:
    reason = ""
    if row.system in humans:
        reason = "human reference"
    elif row.status == "insufficient":
        reason = f"insufficient: {row.n_ok}/{row.n_total} scored"
    elif row.status != "ok":
        reason = row.status.replace("_", " ")
    elif lacking:
        reason = lacking
    elif row.mean_common is None:
        reason = "no prompt in common with the others"
    return LeaderboardRow(None, row.system, row.judge, row.mean_common, row, reason)


def _ranked(entries: Sequence[LeaderboardRow], higher_is_better: bool) -> list[LeaderboardRow]:
    ranked = [(entry.value, entry) for entry in entries if not entry.reason and entry.value is not None]
    ranked.sort(key=lambda pair: pair[0], reverse=higher_is_better)
    values = [value for value, _ in ranked]
    board = [
        LeaderboardRow(
            rank=values.index(value) + (values.count(value) + 1) / 2,
            system=entry.system,
            judge=entry.judge,
            value=value,
            row=entry.row,
        )
        for value, entry in ranked
    ]
    return board + [entry for entry in entries if entry.reason]
