"""What a study found, in sentences: the numbers that a reader of the table alone would not know."""

from __future__ import annotations

from kasauti.panel.position import PositionEffect
from kasauti.panel.sheet import shown
from kasauti.panel.study import ALL, Study

SURE = 0.05
"""A label effect is spoken of below this p, divided by the number of judges that are tested."""


def findings_of(study: Study) -> list[str]:
    """The findings, most important first."""
    return [*_separation(study), *_positions(study), *_agreement(study), *_judges(study), *_cuts(study)]


def _separation(study: Study) -> list[str]:
    told: list[str] = []
    level: list[str] = []
    for gap in study.scopes[ALL].gaps:
        if gap.neighbours:
            pair = f"{_name(study, gap.upper)} above {_name(study, gap.lower)} by {shown(gap.difference, 2)}"
            (told if gap.separated else level).append(pair)
    found = []
    if told:
        found.append(f"Neighbours told apart: {'; '.join(told)}.")
    if level:
        found.append(f"Neighbours not told apart: {'; '.join(level)}.")
    return found


def _positions(study: Study) -> list[str]:
    found = []
    effects = study.positions.get("score", [])
    limit = SURE / max(1, len(effects))
    for effect in effects:
        if effect.p_value < limit:
            found.append(
                f"The label moves the scores of {effect.judge}: {_labels(effect)} (p {p_of(effect)}, "
                f"{100 * effect.share:.0f} % of the variance within systems and deliveries)."
            )
        else:
            found.append(f"No effect of the label is seen in the scores of {effect.judge} (p {p_of(effect)}).")
    return found


def p_of(effect: PositionEffect) -> str:
    """The p of a label effect, with as many digits as tell something."""
    return f"{effect.p_value:.2f}" if effect.p_value >= 0.01 else f"{effect.p_value:.4f}"


def _labels(effect: PositionEffect) -> str:
    values = effect.effects
    best, worst = values.index(max(values)), values.index(min(values))
    return f"{chr(ord('A') + best)} {values[best]:+.2f}, {chr(ord('A') + worst)} {values[worst]:+.2f}".replace("-", "−")


def _agreement(study: Study) -> list[str]:
    return [
        f"Agreement of the judges: alpha {shown(found.alpha, 2)}."
        for scope, judges, found in study.agreements
        if scope == ALL and judges == study.common.judges
    ]


def _judges(study: Study) -> list[str]:
    found = [
        f"{leaning.judge} puts {_name(study, leaning.system)}, of its own family, {shown(leaning.score, 2)} further "
        f"above the mean of a case than the other judges do, and {shown(leaning.rank, 2)} ranks better."
        for leaning in study.leanings
        if leaning.own_family
    ]
    whole = study.subpanels[0]
    for part in study.subpanels[1:]:
        if len(part.judges) == len(whole.judges) - 1 and len(whole.judges) > 2 and part.places != whole.places:
            absent = next(judge for judge in whole.judges if judge not in part.judges)
            order = sorted(range(len(part.places)), key=lambda system: part.places[system])
            names = ", ".join(_name(study, study.common.systems[system]) for system in order)
            found.append(f"Without {absent} the order is {names}.")
    return found


def _cuts(study: Study) -> list[str]:
    system, cut = study.subject.cut_system, study.subject.cut_tasks
    if system is None or not cut:
        return []
    return [
        f"{len(cut)} of {len(study.subject.panel.tasks)} clips of {_name(study, system)} are as long as its cap on "
        f"tokens allows ({max(cut.values()):.2f} s): cut, very likely."
    ]


def _name(study: Study, system: str) -> str:
    return study.subject.system_names[system]
