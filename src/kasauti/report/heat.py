"""Heat maps: a row per system, a column per language or tag, the stronger the colour the worse.

Error rates have fixed steps, so that a colour means the same in every report; marks are shaded between the lowest and
the highest of the table. The number always stands in the cell: colour is an aid and never the message.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from kasauti.records import AggregateRow, Prompt
from kasauti.report.leaderboard import Board, Line
from kasauti.report.loading import RunTables
from kasauti.report.wording import language_name, share_of, value_of

RATE_STEPS = (0.02, 0.05, 0.1, 0.15, 0.25, 0.4, 0.6, 0.8)
"""Error rates at which the shade changes; below the first is shade 0, from the last on shade 8."""


@dataclass(frozen=True)
class Cell:
    """One number and what must be known with it.

    Attributes:
        shade: 0 (good) to 8 (bad); None where there is no number.
        caveats: `10/12`, `wrong script 83 %`, `insufficient`, `best effort`; in the order to be read.
        hearable: Whether there are samples behind it.
    """

    key: str
    text: str
    shade: int | None
    caveats: tuple[str, ...]
    hearable: bool


@dataclass(frozen=True)
class HeatMap:
    """One table. `columns` holds (key, label, full name); each row the line it belongs to and one cell per column."""

    caption: str
    columns: tuple[tuple[str, str, str], ...]
    rows: tuple[tuple[Line, tuple[Cell, ...]], ...]


def language_map(board: Board, tables: RunTables, listed: Sequence[Prompt]) -> HeatMap:
    """Systems by languages; a number is a link where the page lists prompts of the language."""
    names = [(lang, lang, language_name(lang)) for lang in board.languages]
    efforts = {name: facts.languages or {} for name, facts in tables.systems.items()}
    by_system = {line.system: line.cells for line in board.lines}
    return _map("language", board, names, by_system, {prompt.lang for prompt in listed}, efforts)


def tag_map(board: Board, tables: RunTables, listed: Sequence[Prompt]) -> HeatMap | None:
    """Systems by tags, likewise; None where no prompt has a tag."""
    by_system: dict[str, dict[str, AggregateRow]] = {line.system: {} for line in board.lines}
    tags: dict[str, None] = {}
    for row in tables.aggregates:
        if (row.scope, row.judge, row.metric) == ("tag", board.judge, board.metric):
            by_system[row.system][row.key] = row
            tags[row.key] = None
    if not tags:
        return None
    names = [(tag, tag.replace("_", " "), tag) for tag in tags]
    return _map("tag", board, names, by_system, {tag for prompt in listed for tag in prompt.tags}, {})


def _map(
    caption: str,
    board: Board,
    columns: Sequence[tuple[str, str, str]],
    by_system: Mapping[str, Mapping[str, AggregateRow]],
    hearable: Collection[str],
    efforts: Mapping[str, Mapping[str, str]],
) -> HeatMap:
    shade = _shader(board, (row.mean for rows in by_system.values() for row in rows.values()))
    rows = []
    for line in board.lines:
        cells = [
            _cell(key, by_system[line.system].get(key), board, shade, key in hearable, efforts.get(line.system, {}))
            for key, *_ in columns
        ]
        rows.append((line, tuple(cells)))
    return HeatMap(caption, tuple(columns), tuple(rows))


def _shader(board: Board, means: Iterable[float | None]) -> Callable[[float | None], int | None]:
    """What maps a mean to its shade."""
    known = [mean for mean in means if mean is not None]
    low, high = (min(known), max(known)) if known else (0.0, 0.0)
    steps = RATE_STEPS if board.is_rate else tuple(low + (high - low) * step / 9 for step in range(1, 9))

    def shade(mean: float | None) -> int | None:
        if mean is None:
            return None
        step = bisect_right(steps, mean)
        return step if board.is_rate else 8 - step

    return shade


def _cell(
    key: str,
    row: AggregateRow | None,
    board: Board,
    shade: Callable[[float | None], int | None],
    listed: bool,
    efforts: Mapping[str, str],
) -> Cell:
    if row is None or row.status == "unsupported_language":
        return Cell(key, "unsupported" if row else "", None, (), False)
    caveats = []
    if row.n_ok < row.n_total:
        caveats.append(f"{row.n_ok}/{row.n_total}")
    if row.wrong_script_share:
        caveats.append(f"wrong script {share_of(row.wrong_script_share)}")
    if row.status == "insufficient":
        caveats.append("insufficient")
    if efforts.get(key) == "best_effort":
        caveats.append("best effort")
    hearable = listed and row.n_total > 0
    return Cell(key, value_of(row.mean, is_rate=board.is_rate), shade(row.mean), tuple(caveats), hearable)
