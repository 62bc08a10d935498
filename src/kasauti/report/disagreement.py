"""How far two judges of one run are apart, language by language.

What one recogniser hears of a voice is voice and recogniser together. Where two that share no lineage hear the same,
it is the voice; how much they differ bounds what either of them can tell. Computed from the rows of a finished run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kasauti.errors import ConfigError, near_matches
from kasauti.metrics.edits import edit_distance
from kasauti.records import SampleRow, Status
from kasauti.report.loading import RunTables
from kasauti.text.levels import Ladder, normalize_pair
from kasauti.text.scripts import dominant_script
from kasauti.text.units import code_points


@dataclass(frozen=True)
class Disagreement:
    """One language.

    Attributes:
        rows: Rows that the first judge answered. `both`: of these, what the second answered as well.
        cer: Mean error rate by the first and by the second judge, on the rows that both have a score for; None without.
        apart: Mean over the rows of edits between the two transcripts by the length of the longer, 0 to 1, in code
            points at the run's level; None without a row.
        other_script: Rows of both whose transcripts are in different scripts; they are not in `apart`.
    """

    lang: str
    rows: int
    both: int
    cer: tuple[float, float] | None
    apart: float | None
    other_script: int

    @property
    def single_judge(self) -> bool:
        """Whether nothing of this language was answered by the second judge."""
        return self.both == 0


def disagreements(run: RunTables, first: str, second: str) -> list[Disagreement]:
    """Compares two judges in the order of the prompts' languages.

    Raises:
        ConfigError: the run has no such judge.
    """
    for name in (first, second):
        if name not in run.judges:
            raise ConfigError(f"this run has no judge {name!r}; {near_matches(name, run.judges)}")
    answers = [{_place(row): row for row in run.samples if row.judge == name and _answered(row)} for name in run.judges]
    by_judge = dict(zip(run.judges, answers, strict=True))
    ladder = run.scoring.ladder()
    return [_language(lang, by_judge[first], by_judge[second], run.scoring.level, ladder) for lang in run.languages]


_Place = tuple[str, str, int, int]


def _place(row: SampleRow) -> _Place:
    return row.prompt_id, row.system, row.repeat, row.rejudge


def _answered(row: SampleRow) -> bool:
    return row.hypothesis is not None and row.status in (Status.OK, Status.WRONG_SCRIPT)


def _language(
    lang: str, first: dict[_Place, SampleRow], second: dict[_Place, SampleRow], level: str, ladder: Ladder
) -> Disagreement:
    mine = [place for place, row in first.items() if row.lang == lang]
    pairs = [(first[place], second[place]) for place in mine if place in second]
    scored = [(a.cer, b.cer) for a, b in pairs if a.status is b.status is Status.OK]
    shares = list(_apart(pairs, level, ladder))
    return Disagreement(
        lang=lang,
        rows=len(mine),
        both=len(pairs),
        cer=(_mean([a or 0.0 for a, _ in scored]), _mean([b or 0.0 for _, b in scored])) if scored else None,
        apart=_mean(shares) if shares else None,
        other_script=len(pairs) - len(shares),
    )


def _apart(pairs: Sequence[tuple[SampleRow, SampleRow]], level: str, ladder: Ladder) -> Iterator[float]:
    for a, b in pairs:
        heard = a.hypothesis or "", b.hypothesis or ""
        if len({dominant_script(text) for text in heard} - {None}) < 2:
            one, other = (code_points(text) for text in normalize_pair(*heard, a.lang, level, ladder=ladder))
            yield edit_distance(one, other) / max(len(one), len(other), 1)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
