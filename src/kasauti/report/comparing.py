"""Two runs against each other: scored anew from their raw answers with today's code, on the prompts both have.

Prompts are the same when language, text and control are, whatever their ids. An upgrade of the rules never makes old
runs incomparable; another level, number policy or revision of the judge does, and is named. Systems stand as
`name (A)` and `name (B)`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kasauti.errors import ConfigError, StatsError, near_matches
from kasauti.identity import digest
from kasauti.metrics.score import row_values, score_pair
from kasauti.records import Prompt, SampleRow, Status, VerdictRow
from kasauti.report.loading import RunTables
from kasauti.report.summarising import AS_RECORDED, rules_of_scoring, signature_of, verdict_row, verdict_rules
from kasauti.settings import ScoringSettings
from kasauti.stats.columns import common_revision
from kasauti.stats.compare import compare_rows
from kasauti.stats.humans import HumanFloor
from kasauti.stats.noise import StoredNoise
from kasauti.stats.scores import METRICS, marks_of
from kasauti.text.levels import Ladder


@dataclass(frozen=True)
class _Side:
    """One of the two runs, scored anew. `rules` and `rows` are by the systems' names in the comparison."""

    letter: str
    tables: RunTables
    scoring: ScoringSettings
    rows: list[SampleRow]
    rules: dict[str, dict[str, str]]

    def name(self, system: str) -> str:
        return f"{system} ({self.letter})"

    @property
    def humans(self) -> list[str]:
        """Names of human recordings."""
        return [self.name(name) for name, facts in self.tables.systems.items() if facts.role == "human"]

    @property
    def stored(self) -> list[StoredNoise]:
        """Noise that other runs measured."""
        return [replace(one, system=self.name(one.system)) for one in self.tables.noise]


def compare_runs(
    a: RunTables,
    b: RunTables,
    pairs: Sequence[tuple[str, str]],
    metric: str = "cer",
    level: str | None = None,
    floors: Sequence[HumanFloor] = (),
) -> list[VerdictRow]:
    """Verdicts on systems of one run against systems of another, by judge, language and over languages.

    Args:
        a, b: The runs, with the noise that others measured of their systems; may be the same.
        pairs: System of `a`, system of `b`; see `same_systems`.
        metric: One of the metrics, or a mark that the runs have.
        level: Level of normalisation for both; None = each run's own.
        floors: What other runs found of human recordings.

    Raises:
        ConfigError: there is no such metric.
        TextError: there is no such level.
        StatsError: the runs share no judge or no prompt, or not one pair of numbers can be compared; the message names
            what differs.
    """
    known = [*METRICS, *marks_of([*a.samples, *b.samples])]
    if metric not in known:
        raise ConfigError(f"no metric {metric!r}; {near_matches(metric, known)}")
    side_a, side_b = _side("A", a, level), _side("B", b, level)
    common = {row.prompt_id for row in side_a.rows} & {row.prompt_id for row in side_b.rows}
    if not common:
        raise StatsError(
            f"runs {_id(a)} and {_id(b)} have no prompt text in common; compare runs over the same prompts"
        )
    rows = [row for side in (side_a, side_b) for row in side.rows if row.prompt_id in common]
    wanted = [(side_a.name(first), side_b.name(second)) for first, second in pairs]
    humans = [*side_a.humans, *side_b.humans]
    rules = {**side_a.rules, **side_b.rules}
    found = compare_rows(
        rows,
        metric,
        pairs=wanted,
        humans=humans,
        floors=floors,
        stored=[*side_a.stored, *side_b.stored],
        signatures=rules,
        rules=verdict_rules(side_a.scoring, metric),
    )
    revisions = {(row.system, row.judge): common_revision([row.judge_revision]) for row in rows}
    verdicts = []
    for one in found:
        own, heard_by = rules[one.verdict.a], f"{one.judge}@{revisions.get((one.verdict.a, one.judge), '')}"
        signature = signature_of(metric, one.scope, own, heard_by, digest(sorted(common), 64))
        verdicts.append(verdict_row(one, own["level"], signature))
    _refuse_incomparable(a, b, verdicts)
    return verdicts


def same_systems(a: RunTables, b: RunTables, wanted: Sequence[str] = ()) -> list[tuple[str, str]]:
    """Which systems of two runs stand against each other.

    Args:
        a, b: The runs.
        wanted: Names that both runs have, or `NAME=NAME` for one of `a` against another of `b`. Empty: all names that
            both have; where there are none, the only machine of each.

    Raises:
        ConfigError: a run has no such system, or it isn't clear which is meant.
    """
    if wanted:
        return [_pair(a, b, name) for name in wanted]
    mine, others = ([n for n, facts in t.systems.items() if facts.role != "human"] for t in (a, b))
    shared = [name for name in mine if name in others]
    if shared:
        return [(name, name) for name in shared]
    if len(mine) == len(others) == 1:
        return [(mine[0], others[0])]
    raise ConfigError(
        f"runs {_id(a)} ({', '.join(mine)}) and {_id(b)} ({', '.join(others)}) have no system in common; say which to "
        "compare: --system NAME=NAME"
    )


def rescored(row: SampleRow, prompt: Prompt, level: str, ladder: Ladder) -> SampleRow:
    """A row scored with today's code from its raw answer; a row without a transcript stays as it is."""
    if row.hypothesis is None or row.status not in (Status.OK, Status.WRONG_SCRIPT):
        return row
    score = score_pair(prompt.text, row.hypothesis, prompt.lang, level, ladder=ladder)
    status = Status.WRONG_SCRIPT if score.status == "wrong_script" else Status.OK
    return replace(row, status=status, **row_values(score))


def _side(letter: str, tables: RunTables, level: str | None) -> _Side:
    scoring = replace(tables.scoring, level=level or tables.scoring.level)
    ladder, own = scoring.ladder(), rules_of_scoring(scoring)
    prompts = {prompt.id: prompt for prompt in tables.prompts}
    keys = _keys(tables.prompts)
    rows = []
    for row in tables.samples:
        if not tables.systems[row.system].recorded:
            row = rescored(row, prompts[row.prompt_id], scoring.level, ladder)
        rows.append(replace(row, prompt_id=keys[row.prompt_id], system=f"{row.system} ({letter})"))
    rules = {
        f"{name} ({letter})": dict.fromkeys(own, AS_RECORDED) if facts.recorded else own
        for name, facts in tables.systems.items()
    }
    return _Side(letter, tables, scoring, rows, rules)


def _keys(prompts: Sequence[Prompt]) -> dict[str, str]:
    """Prompt id -> what makes it the same prompt in another run; a text that comes again is counted.

    An import of rates has no texts; its prompts go by their ids.
    """
    seen: Counter[str] = Counter()
    keys = {}
    for prompt in prompts:
        content = [prompt.lang, prompt.text, dict(prompt.control)] if prompt.text else [prompt.lang, None, prompt.id]
        key = digest(content)
        keys[prompt.id] = f"{key}-{seen[key]}"
        seen[key] += 1
    return keys


def _refuse_incomparable(a: RunTables, b: RunTables, verdicts: Sequence[VerdictRow]) -> None:
    if not verdicts:
        raise StatsError(
            f"runs {_id(a)} and {_id(b)} have nothing in common to compare: judges {', '.join(a.judges)} and "
            f"{', '.join(b.judges)}; wanted one judge and one language that both systems have rows of"
        )
    if all(row.verdict == "not_comparable" for row in verdicts):
        told = "; ".join(dict.fromkeys(row.reason for row in verdicts))
        raise StatsError(
            f"runs {_id(a)} and {_id(b)} can't be compared: {told}. A level can be chosen for both (--level); a judge "
            "of another revision must hear the clips again (for transcripts that you brought: name the recogniser that "
            "wrote both files with judge.revision=NAME)"
        )


def _pair(a: RunTables, b: RunTables, wanted: str) -> tuple[str, str]:
    first, separator, second = wanted.partition("=")
    if not separator or (wanted in a.systems and wanted in b.systems):
        first = second = wanted
    for name, tables in ((first, a), (second, b)):
        if name not in tables.systems:
            raise ConfigError(f"run {_id(tables)} has no system {name!r}; {near_matches(name, tables.systems)}")
    return first, second


def _id(tables: RunTables) -> str:
    return tables.runs[0].run_id
