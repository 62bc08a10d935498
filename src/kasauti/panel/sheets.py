"""The results of a study as tables: those about systems here, those about judges in `judge_sheets`."""

from __future__ import annotations

from kasauti.panel import judge_sheets
from kasauti.panel.sheet import Column, Sheet
from kasauti.panel.study import ALL, Study
from kasauti.stats.bootstrap import Interval


def sheets_of(study: Study) -> list[Sheet]:
    """All tables of a study that hold anything."""
    made = [
        _standings(study),
        _gaps(study),
        judge_sheets.positions(study),
        _adjusted(study),
        judge_sheets.agreements(study),
        judge_sheets.spreads(study),
        judge_sheets.distributions(study),
        judge_sheets.leanings(study),
        judge_sheets.subpanels(study),
        _bradley_terry(study),
        _cuts(study),
        _whole(study),
        _cut_clips(study),
    ]
    return [sheet for sheet in made if sheet.rows]


def _standings(study: Study) -> Sheet:
    rows = [
        {
            "scope": scope,
            "system": standing.system,
            "score": standing.score,
            "place": Interval(standing.place, standing.place_low, standing.place_high, None, standing.score.n_prompts),
            "mean_rank": standing.mean_rank,
            "win_rate": standing.win_rate,
            "n_tasks": standing.score.n_prompts,
        }
        for scope, found in study.scopes.items()
        for standing in found.standings
    ]
    columns = (
        Column("scope", "scope"),
        Column("system", "system"),
        Column("score", "score", 2, "median over judges, mean per delivery, mean over deliveries; 1 to 5"),
        Column("place", "place", None, "by score; equals share the mean of their places"),
        Column("mean_rank", "mean rank", 2, "rank that judges gave, mean over judges, tasks, deliveries; 1 is best"),
        Column("win_rate", "first places", 3, "share of cases in which it was put first", minor=True),
        Column("n_tasks", "tasks", minor=True),
    )
    draws = f"{study.draws.count:,} draws, seed {study.draws.seed}"
    note = f"95 % bootstrap intervals by task, drawn within delivery, {draws}."
    return Sheet("standings", "Scores and places", note, columns, tuple(rows), study.subject.signature())


def _gaps(study: Study) -> Sheet:
    rows = [
        {
            "scope": scope,
            "upper": gap.upper,
            "lower": gap.lower,
            "difference": gap.difference,
            "reversed_share": gap.reversed_share,
            "separated": gap.separated,
            "neighbours": gap.neighbours,
        }
        for scope, found in study.scopes.items()
        for gap in found.gaps
    ]
    columns = (
        Column("scope", "scope"),
        Column("upper", "system"),
        Column("lower", "stands above"),
        Column("difference", "by", 2),
        Column(
            "reversed_share", "level or reversed", 3, "share of draws with the lower one level or ahead", minor=True
        ),
        Column("separated", "separated", None, "the 95 % interval of the difference leaves 0 out"),
        Column("neighbours", "neighbours", None, "no third system stands between them", minor=True),
    )
    note = "Paired by task. Each interval stands alone: of twenty pairs that are alike, one comes out as separated."
    return Sheet("gaps", "Which systems are told apart", note, columns, tuple(rows), study.subject.signature())


def _adjusted(study: Study) -> Sheet:
    rows = []
    for scope, found in study.scopes.items():
        if found.adjusted is None:
            continue
        order = [found.plain.panel.systems[s] for s in found.plain.order]
        after = [found.adjusted.panel.systems[s] for s in found.adjusted.order]
        for place, system in enumerate(order, start=1):
            s = found.plain.panel.systems.index(system)
            score, adjusted = float(found.plain.overall[s]), float(found.adjusted.overall[s])
            rows.append(
                {
                    "scope": scope,
                    "system": system,
                    "score": score,
                    "adjusted": adjusted,
                    "change": adjusted - score,
                    "order": place,
                    "adjusted_order": after.index(system) + 1,
                }
            )
    columns = (
        Column("scope", "scope"),
        Column("system", "system"),
        Column("score", "score", 3),
        Column("adjusted", "adjusted", 3, "every score less the effect of its label on that judge"),
        Column("change", "change", 3),
        Column("order", "order"),
        Column("adjusted_order", "adjusted order"),
    )
    note = "Beside the scores, never instead of them: an average effect is taken off a scale that has ends."
    signature = study.subject.signature(adjusted="label_position")
    return Sheet("position_adjusted", "Scores less the label's effect", note, columns, tuple(rows), signature)


def _bradley_terry(study: Study) -> Sheet:
    found = study.bradley_terry
    rows = [{"system": each.system, "strength": each.strength} for each in found.strengths] if found else []
    columns = (
        Column("system", "system"),
        Column("strength", "log strength", 2, "difference d of two systems: the first is put before with odds exp(d)"),
    )
    note = (
        f"One scale from all pairs of all cases, ties split; converged in {found.iterations} iterations; "
        f"the worst pair is predicted {found.largest_miss:.3f} off its share."
        if found
        else ""
    )
    return Sheet("bradley_terry", "Bradley-Terry", note, columns, tuple(rows), study.subject.signature())


def _cuts(study: Study) -> Sheet:
    rows = [{**vars(effect)} for effect in study.cuts]
    columns = (
        Column("system", "system"),
        Column("delivery", "delivery"),
        Column("n_cut", "cut"),
        Column("n_whole", "whole"),
        Column("cut", "score, cut", 2),
        Column("whole", "score, whole", 2),
        Column("others_cut", "others there", 2, "mean of all other systems on the tasks of the cut clips", minor=True),
        Column("others_whole", "others elsewhere", 2, "mean of all other systems on the remaining tasks", minor=True),
    )
    note = (
        "Clips as long as the cap on tokens allows. Long tasks are cut, so cut and whole differ in more than the cut."
    )
    return Sheet("cuts", "Cut at the token cap", note, columns, tuple(rows), study.subject.signature())


def _whole(study: Study) -> Sheet:
    before = {standing.system: standing for standing in study.scopes[ALL].standings}
    rows = [
        {
            "system": standing.system,
            "score": before[standing.system].score,
            "without": standing.score,
            "n_tasks": standing.score.n_prompts,
        }
        for standing in study.whole
    ]
    columns = (
        Column("system", "system"),
        Column("score", "score", 2),
        Column("without", "without those tasks", 2),
        Column("n_tasks", "tasks left"),
    )
    note = "Scores of all systems without the tasks of cut clips: another, shorter mixture of tasks, not a correction."
    signature = study.subject.signature(failure="common,no_cut_clip")
    return Sheet("without_cut_tasks", "Without the tasks of cut clips", note, columns, tuple(rows), signature)


def _cut_clips(study: Study) -> Sheet:
    panel = study.subject.panel
    delivery = {task: panel.deliveries[d] for task, d in zip(panel.tasks, panel.delivery_of.tolist(), strict=True)}
    rows = [
        {"system": study.subject.cut_system, "task": task, "delivery": delivery[task], "duration_s": duration_s}
        for task, duration_s in study.subject.cut_tasks.items()
    ]
    columns = (
        Column("system", "system"),
        Column("task", "task"),
        Column("delivery", "delivery"),
        Column("duration_s", "seconds", 2),
    )
    return Sheet("cut_clips", "Clips at the cap", "", columns, tuple(rows), study.subject.signature())
