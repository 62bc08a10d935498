"""Everything that is computed about a panel beyond its table, in one place; any panel, not only the published one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeVar

from kasauti.identity import score_signature
from kasauti.panel import PanelError
from kasauti.panel.agreement import Agreement, agreement, spreads
from kasauti.panel.bradley_terry import BradleyTerry, bradley_terry
from kasauti.panel.cases import SCALE, Panel
from kasauti.panel.consensus import Consensus, compared, consensus
from kasauti.panel.cuts import CutEffect, cut_effects, without_cuts
from kasauti.panel.intervals import Draws, Gap, Standing, gaps, standings
from kasauti.panel.leanings import Leaning, Subpanel, leanings, score_counts, subpanels
from kasauti.panel.position import PositionEffect, position_adjusted, position_effects
from kasauti.stats.columns import IntArray

ALL = "all_deliveries"
"""The scope of all tasks."""

_T = TypeVar("_T")


@dataclass(frozen=True)
class Subject:
    """A panel and what must be known about it from elsewhere.

    Attributes:
        panel: All its cases.
        scopes: Name -> deliveries; `ALL` is one of them.
        system_names: System -> name in figures and text.
        revisions: Judge -> model id.
        families: Judge -> the system of the same maker.
        source: Further parts of the score signature: prompt set, protocol.
        cut_system, cut_tasks: A system with a cap, and the tasks whose clip reached it.
    """

    panel: Panel
    scopes: Mapping[str, Sequence[str]]
    system_names: Mapping[str, str]
    revisions: Mapping[str, str]
    families: Mapping[str, str]
    source: Mapping[str, str]
    cut_system: str | None = None
    cut_tasks: Mapping[str, float] = field(default_factory=dict)

    def signature(self, judges: Sequence[str] | None = None, *, adjusted: str = "none", failure: str = "common") -> str:
        """Score signature of the panel, or of some of its judges.

        Args:
            judges: Whose scores; None = all judges'.
            adjusted: What was taken off the scores.
            failure: Which tasks count.
        """
        named = self.panel.judges if judges is None else judges
        return score_signature(
            {
                "metric": "expression",
                "scale": f"{SCALE[0]}-{SCALE[-1]}",
                "aggregation": "median_of_judges,mean_of_delivery,mean_of_deliveries",
                "failure": failure,
                "adjusted": adjusted,
                "judges": ",".join(f"{judge}@{self.revisions[judge]}" for judge in named),
                "lineup": ",".join(sorted(self.panel.systems)),
                **self.source,
            }
        )


@dataclass(frozen=True)
class Scope:
    """Standings and gaps over some deliveries; `adjusted` are the scores with label effects taken out."""

    standings: list[Standing]
    gaps: list[Gap]
    plain: Consensus
    adjusted: Consensus | None


@dataclass(frozen=True)
class Study:
    """The results. What could not be computed is None or empty, and `lacking` says why.

    Attributes:
        scopes: By name, as in the subject.
        positions: Label effects of each judge on its `score`, `rank` and `first place`.
        agreements: Of all judges over all tasks (first), all judges by delivery, and pairs of judges over all tasks,
            with their deliveries' and judges' names.
        spreads: Clips by how many points their scores lie apart.
        counts: Shape (judges, systems, scores of the scale).
        whole: Standings over the tasks of which no clip was cut; empty where none was.
    """

    subject: Subject
    common: Panel
    draws: Draws
    scopes: dict[str, Scope]
    positions: dict[str, list[PositionEffect]]
    agreements: list[tuple[str, tuple[str, ...], Agreement]]
    spreads: IntArray
    counts: IntArray
    leanings: list[Leaning]
    subpanels: list[Subpanel]
    bradley_terry: BradleyTerry | None
    cuts: list[CutEffect]
    whole: list[Standing]
    lacking: dict[str, str]


def study_of(subject: Subject, draws: Draws) -> Study:
    """Computes everything.

    Raises:
        PanelError: no task was judged by every judge.
    """
    panel, common = subject.panel, compared(subject.panel)
    lacking: dict[str, str] = {}

    def attempt(name: str, compute: Callable[[], _T]) -> _T | None:
        try:
            return compute()
        except PanelError as error:
            lacking[name] = str(error)
            return None

    adjusted = attempt("position", lambda: position_adjusted(panel))
    return Study(
        subject=subject,
        common=common,
        draws=draws,
        scopes={name: _scope(common, adjusted, deliveries, draws) for name, deliveries in subject.scopes.items()},
        positions=_positions(panel, draws) if adjusted else {},
        agreements=_agreements(common, draws),
        spreads=spreads(common),
        counts=score_counts(common),
        leanings=leanings(common, subject.families, draws) if len(common.judges) > 1 else [],
        subpanels=subpanels(common),
        bradley_terry=attempt("bradley_terry", lambda: bradley_terry(common, draws)),
        cuts=cut_effects(common, subject.cut_system, subject.cut_tasks) if subject.cut_system else [],
        whole=standings(without_cuts(common, subject.cut_tasks), draws) if subject.cut_tasks else [],
        lacking=lacking,
    )


def _scope(common: Panel, adjusted: Panel | None, deliveries: Sequence[str], draws: Draws) -> Scope:
    here = common.of_deliveries(deliveries)
    return Scope(
        standings=standings(here, draws),
        gaps=gaps(here, draws),
        plain=consensus(here),
        adjusted=consensus(adjusted.common().of_deliveries(deliveries)) if adjusted else None,
    )


def _positions(panel: Panel, draws: Draws) -> dict[str, list[PositionEffect]]:
    quantities = {"score": panel.scores, "rank": panel.ranks, "first place": panel.wins}
    return {name: position_effects(panel, values, draws) for name, values in quantities.items()}


def _agreements(common: Panel, draws: Draws) -> list[tuple[str, tuple[str, ...], Agreement]]:
    if len(common.judges) < 2:
        return []
    found = [(ALL, common.judges, agreement(common, draws))]
    found += [(name, common.judges, agreement(common.of_deliveries([name]), draws)) for name in common.deliveries]
    if len(common.judges) > 2:
        found += [(ALL, pair, agreement(common.of_judges(pair), draws)) for pair in combinations(common.judges, 2)]
    return found
