"""Which figures a study has: all that its tables hold enough for."""

from __future__ import annotations

from collections.abc import Iterator

from kasauti.report.figures.floors import floor_figures_of, measured_floors, shrinking_figures_of
from kasauti.report.figures.judges import judge_figures_of, levels_of
from kasauti.report.figures.languages import language_figure
from kasauti.report.figures.leaderboard import leaderboard_figure
from kasauti.report.figures.panel import PANEL_FIGURES
from kasauti.report.figures.plate import Plate
from kasauti.report.figures.style import FigureError
from kasauti.report.figures.sweep import curves, sweep_figure, swept_options
from kasauti.report.leaderboard import Board, boards, headlines
from kasauti.report.names import Names
from kasauti.report.studies import Study
from kasauti.stats.scores import METRICS

HEADLINE = METRICS[0]


def leaderboard_figures(study: Study, names: Names) -> list[Plate]:
    """Leaderboard and map of languages of every judge's headline; beside them those by sound, as in the report.

    Raises:
        FigureError: no row of the study has a score.
    """
    scored = [board for board in headlines(boards(study.merged)) if _has_numbers(board)]
    if not scored:
        raise FigureError(f"study {study.name}: no row has a score, so there is no leaderboard to draw")
    plates = []
    for board in scored:
        plates += [leaderboard_figure(study.merged, board, names), language_figure(study.merged, board, names)]
    return plates


def floor_figures(study: Study, names: Names) -> list[Plate]:
    """Measured noise floors, and how they shrink where they are not 0.

    Raises:
        FigureError: no floor is measured.
    """
    plates = floor_figures_of(study.merged, HEADLINE, names)
    return [*plates, *shrinking_figures_of(study.merged, HEADLINE, names)]


def judge_figures(study: Study, names: Names) -> list[Plate]:
    """Every judge that writes transcripts, at the levels of normalisation.

    Raises:
        FigureError: none does, or none of their transcripts is scored at two levels.
    """
    judges = _writing(study)
    if not judges:
        raise FigureError(f"study {study.name}: no judge gave a transcript, so there are no levels to draw")
    drawn = [judge for judge in judges if len(levels_of(study.runs, judge)) > 1] or judges
    return [plate for judge in drawn for plate in judge_figures_of(study.runs, judge, names)]


def sweep_figures(study: Study, names: Names) -> list[Plate]:
    """The swept option against the headline metric.

    Raises:
        FigureError: nothing is swept.
    """
    return [sweep_figure(study, HEADLINE, names)]


def panel_figures(study: Study, names: Names) -> list[Plate]:
    """The expression panel.

    Raises:
        FigureError: a table of it is missing.
    """
    return [draw(study, names) for draw in PANEL_FIGURES]


def figures_of(study: Study, names: Names) -> Iterator[Plate]:
    """All figures of a study.

    Raises:
        FigureError: it holds nothing that can be drawn, or a font is missing.
    """
    if study.panel:
        yield from panel_figures(study, names)
        return
    yield from leaderboard_figures(study, names)
    if measured_floors(study.merged, HEADLINE):
        yield from floor_figures(study, names)
    if any(len(levels_of(study.runs, judge)) > 1 for judge in _writing(study)):
        yield from judge_figures(study, names)
    if swept_options(study) and curves(study, HEADLINE)[1]:
        yield from sweep_figures(study, names)


def _has_numbers(board: Board) -> bool:
    return any(line.overall.mean is not None for line in board.lines)


def _writing(study: Study) -> list[str]:
    """Judges that gave a transcript."""
    return list(dict.fromkeys(row.judge for run in study.runs for row in run.samples if row.hypothesis is not None))
