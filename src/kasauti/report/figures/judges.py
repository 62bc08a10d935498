"""How much of an error rate is the judge: the same answers at every level of normalisation, language by language.

What falls away from `strict` to `phonetic` is how the judge wrote what it heard: numbers in figures, other spellings,
another script. What is left at `phonetic` was heard otherwise than it was to be said, by voice and judge together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kasauti.records import SampleRow, Status
from kasauti.report.figures.plate import Plate, finished
from kasauti.report.figures.style import (
    BLACK,
    BLUE,
    DOUBLE_MM,
    GRID,
    ORANGE,
    SINGLE_MM,
    SKY,
    VERMILION,
    FigureError,
    bare,
    hide_spare,
    new_figure,
    pages,
    paper,
)
from kasauti.report.loading import RunTables, load_levels
from kasauti.report.names import Names
from kasauti.report.table_rows import LevelRow
from kasauti.report.wording import count_of, share_of
from kasauti.stats.bootstrap import Interval, bootstrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEVELS = ("strict", "numbers", "lenient", "phonetic")
"""From the one that forgives least, as they are drawn; `raw` counts markup and commas, which nobody says."""

_LOOKS = {"strict": ("s", VERMILION), "numbers": ("D", ORANGE), "lenient": ("^", SKY), "phonetic": ("o", BLUE)}

_PER_ROW = 3

_APART = 0.14
"""How far above and below the line of a language its first and its last level stand."""


@dataclass(frozen=True)
class LevelCell:
    """One language of one system by one judge.

    Attributes:
        levels: Level -> mean CER over prompts with its interval; every answer counts, in whatever script.
        n_rows: Answers. `other_script`: share of them that came in another script than the text.
    """

    levels: Mapping[str, Interval]
    n_rows: int
    other_script: float


_Voice = tuple[str, str]

Cells = Mapping[_Voice, Mapping[str, LevelCell]]
"""(system, judge) -> language -> cell."""


def level_cells(runs: Sequence[RunTables], draws: int = 2_000) -> Cells:
    """Mean CER at every level, by system, judge and language.

    Args:
        runs: With `levels.tsv` in their folders. What several have of a system by its id counts as takes of one.
        draws: Of the bootstrap by prompt; its seed is that of the runs' scoring.

    Raises:
        StoreError: a table can't be read.
    """
    values: dict[_Voice, dict[str, dict[str, dict[str, list[float]]]]] = {}
    foreign: dict[tuple[_Voice, str], list[bool]] = {}
    for run in runs:
        samples = {_place(row): row for row in run.samples}
        for row in load_levels(run.runs[0].folder):
            sample = samples[_place(row)]
            voice = (row.system, row.judge)
            by_level = values.setdefault(voice, {}).setdefault(sample.lang, {})
            by_level.setdefault(row.level, {}).setdefault(row.prompt_id, []).append(row.cer)
            if row.level == run.scoring.levels[0]:
                foreign.setdefault((voice, sample.lang), []).append(sample.status is Status.WRONG_SCRIPT)
    seed = runs[0].scoring.seed
    return {
        voice: {
            lang: LevelCell(
                {level: bootstrap(scores, draws=draws, seed=seed) for level, scores in by_level.items()},
                len(foreign[voice, lang]),
                sum(foreign[voice, lang]) / len(foreign[voice, lang]),
            )
            for lang, by_level in languages.items()
        }
        for voice, languages in values.items()
    }


def _place(row: LevelRow | SampleRow) -> tuple[str, str, int, str, int]:
    return row.prompt_id, row.system, row.repeat, row.judge, row.rejudge


def levels_of(runs: Sequence[RunTables], judge: str) -> list[str]:
    """Those of `LEVELS` at which transcripts of a judge are scored."""
    known = {row.level for run in runs for row in load_levels(run.runs[0].folder) if row.judge == judge}
    return [level for level in LEVELS if level in known]


def judge_figures_of(runs: Sequence[RunTables], judge: str, names: Names) -> list[Plate]:
    """Draws one judge: a panel for each system, a line for each language from `strict` to `phonetic`.

    Returns:
        One figure for every six systems.

    Raises:
        FigureError: no transcript of this judge was scored at two of these levels.
    """
    levels = levels_of(runs, judge)
    if len(levels) < 2:
        raise FigureError(f"judge {judge}: no transcript is scored at two of the levels {', '.join(LEVELS)}")
    cells = {system: languages for (system, heard), languages in level_cells(runs).items() if heard == judge}
    signatures = _signatures(runs, judge, levels)
    languages = list(dict.fromkeys(row.lang for run in runs for row in run.samples))
    return [
        _page(
            f"judge_levels_{judge}{suffix}",
            judge,
            some,
            [lang for lang in languages if _any(some, lang)],
            levels,
            names,
            signatures,
        )
        for suffix, some in pages(cells)
    ]


def _page(
    name: str,
    judge: str,
    cells: Mapping[str, Mapping[str, LevelCell]],
    languages: Sequence[str],
    levels: Sequence[str],
    names: Names,
    signatures: Sequence[str],
) -> Plate:
    columns = min(_PER_ROW, len(cells))
    rows = math.ceil(len(cells) / columns)
    with paper():
        width = DOUBLE_MM if columns > 1 else SINGLE_MM * 1.2
        figure = new_figure(width, (12 + 6 * len(languages)) * rows + 16)
        grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        for axes, (system, by_lang) in zip(grid.flat, cells.items(), strict=False):
            _draw(axes, languages, by_lang, levels)
            axes.set_title(names.system(system), loc="left")
        hide_spare(grid, len(cells))
        grid[0, 0].set_xlim(left=0)
        grid[0, 0].set_yticks(range(len(languages)), [names.language(lang).replace("\n", " ") for lang in languages])
        grid[0, 0].set_ylim(len(languages) - 0.5, -0.5)
        figure.supxlabel(f"CER, %, heard by {names.judge(judge)}", fontsize="medium")
        handles, labels = grid[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=len(handles), handletextpad=0.2)
        return finished(name, figure, _caption(judge, cells, levels, names), signatures)


def _any(cells: Mapping[str, Mapping[str, LevelCell]], lang: str) -> bool:
    return any(lang in by_lang for by_lang in cells.values())


def _draw(axes: Axes, languages: Sequence[str], cells: Mapping[str, LevelCell], levels: Sequence[str]) -> None:
    for level in levels:
        marker, color = _LOOKS[level]
        shift = {levels[0]: -_APART, levels[-1]: _APART}.get(level, 0.0)
        drawn = [(place + shift, cells[lang].levels[level]) for place, lang in enumerate(languages) if lang in cells]
        means = [100 * (found.estimate or 0.0) for _, found in drawn]
        size, fill = (5.0, color) if level in (levels[0], levels[-1]) else (3.5, "white")
        places = [place for place, _ in drawn]
        looks: dict[str, Any] = {"marker": marker, "ms": size, "color": color, "mfc": fill, "clip_on": False}
        axes.plot(means, places, ls="", label=level, zorder=3, **looks)
        if level in (levels[0], levels[-1]):
            for place, found in drawn:
                if found.low is not None and found.high is not None:
                    axes.plot([100 * found.low, 100 * found.high], [place, place], color=color, lw=1, zorder=2)
    for place, lang in enumerate(languages):
        if lang in cells:
            ends = [100 * (cells[lang].levels[level].estimate or 0.0) for level in (levels[0], levels[-1])]
            axes.plot(ends, [place, place], color=GRID, lw=4, solid_capstyle="butt", zorder=1)
        else:
            axes.text(0.02, place, "–", transform=axes.get_yaxis_transform(), va="center", color=BLACK)
    bare(axes)


def _caption(judge: str, cells: Mapping[str, Mapping[str, LevelCell]], levels: Sequence[str], names: Names) -> str:
    rows = sum(cell.n_rows for by_lang in cells.values() for cell in by_lang.values())
    parts = [
        f"Mean CER at the levels {', '.join(levels)}, heard by {names.judge(judge)}, "
        f"n = {count_of(rows, 'transcript')}, all of them, in whatever script they came; lines: 95 % "
        f"bootstrap interval by prompt at {levels[0]} and {levels[-1]}. "
        f"What falls away from {levels[0]} to {levels[-1]} is how the judge writes, not what it heard."
    ]
    for system, by_lang in cells.items():
        told = ", ".join(f"{lang} {_share(cell, levels)}" for lang, cell in by_lang.items())
        parts.append(f"{names.system(system)}, share of the rate that falls away: {told}.")
        foreign = [f"{lang} {share_of(cell.other_script)}" for lang, cell in by_lang.items() if cell.other_script]
        parts += [f"Transcripts in another script: {', '.join(foreign)}."] if foreign else []
    return " ".join(parts)


def _share(cell: LevelCell, levels: Sequence[str]) -> str:
    first, last = (cell.levels[level].estimate or 0.0 for level in (levels[0], levels[-1]))
    return share_of(max(0.0, (first - last) / first)) if first else "–"


def _signatures(runs: Iterable[RunTables], judge: str, levels: Sequence[str]) -> list[str]:
    """The signatures of the runs' own numbers, with the levels that are shown in the place of theirs."""
    shown = f"level:{'+'.join(levels)}"
    rows = (
        row for run in runs for row in run.aggregates if (row.judge, row.metric, row.scope) == (judge, "cer", "lang")
    )
    return ["|".join(shown if part.startswith("level:") else part for part in row.signature.split("|")) for row in rows]
