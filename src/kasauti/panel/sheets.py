"""The results of a study as tables."""

from __future__ import annotations

from kasauti.panel.cases import SCALE
from kasauti.panel.sheet import Column, Sheet
from kasauti.panel.study import Study
from kasauti.stats.bootstrap import Interval


def sheets_of(study: Study) -> list[Sheet]:
    """All tables of a study that hold anything."""
    made = [
        _standings(study),
        _gaps(study),
        _positions(study),
        _adjusted(study),
        _agreements(study),
        _distributions(study),
        _leanings(study),
        _subpanels(study),
        _bradley_terry(study),
        _cuts(study),
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
        Column("win_rate", "first places", 3, "share of cases in which it was put first"),
        Column("n_tasks", "tasks"),
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
        Column("reversed_share", "level or reversed", 3, "share of draws in which the lower one is level or ahead"),
        Column("separated", "separated", None, "the 95 % interval of the difference leaves 0 out"),
        Column("neighbours", "neighbours", None, "no third system stands between them"),
    )
    note = "Paired by task. Each interval stands alone: of twenty pairs that are alike, one comes out as separated."
    return Sheet("gaps", "Which systems are told apart", note, columns, tuple(rows), study.subject.signature())


def _positions(study: Study) -> Sheet:
    rows = [
        {
            "judge": effect.judge,
            "on": on,
            **{f"effect_{letter}": value for letter, value in zip(letters(study), effect.effects, strict=True)},
            "spread": effect.spread,
            "share": effect.share,
            "p_value": effect.p_value,
            "n_cases": effect.n_cases,
        }
        for on, effects in study.positions.items()
        for effect in effects
    ]
    columns = (
        Column("judge", "judge"),
        Column("on", "on"),
        *(Column(f"effect_{letter}", letter, 2) for letter in letters(study)),
        Column("spread", "spread", 2, "best label less worst"),
        Column("share", "of variance", 3, "of what system and delivery leave unexplained"),
        Column("p_value", "p", 4, "permutation test: labels dealt anew among the tasks of a delivery"),
        Column("n_cases", "cases"),
    )
    deals = f"{study.draws.count:,} deals: {1 / (1 + study.draws.count):.4f}"
    note = f"What each label adds to a judge's score, rank, share of first places. Smallest p with {deals}."
    signature = study.subject.signature(failure="each_judge_its_own")
    return Sheet("positions", "Does the label matter?", note, columns, tuple(rows), signature)


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


def _agreements(study: Study) -> Sheet:
    rows = [
        {"scope": scope, "judges": " + ".join(judges), "alpha": found.alpha, "n_units": found.n_units}
        for scope, judges, found in study.agreements
    ]
    columns = (
        Column("scope", "scope"),
        Column("judges", "judges"),
        Column("alpha", "alpha", 2, "Krippendorff, ordinal: 1 perfect, 0 as by chance"),
        Column("n_units", "clips"),
    )
    note = (
        "Krippendorff's alpha of the scores. Many take 0.67 as the least for tentative conclusions (Krippendorff 2004)."
    )
    return Sheet("agreement", "Do the judges agree?", note, columns, tuple(rows), study.subject.signature())


def _distributions(study: Study) -> Sheet:
    rows = []
    for j, judge in enumerate(study.common.judges):
        for s, system in enumerate(study.common.systems):
            counts = study.counts[j, s].tolist()
            mean = sum(v * n for v, n in zip(SCALE, counts, strict=True)) / sum(counts)
            given = {f"score_{value}": count for value, count in zip(SCALE, counts, strict=True)}
            rows.append({"judge": judge, "system": system, **given, "mean": mean})
    columns = (
        Column("judge", "judge"),
        Column("system", "system"),
        *(Column(f"score_{value}", str(value)) for value in SCALE),
        Column("mean", "mean", 2, "over all tasks alike"),
    )
    note = "How often each judge gave each score."
    return Sheet("distributions", "How judges use the scale", note, columns, tuple(rows), study.subject.signature())


def _leanings(study: Study) -> Sheet:
    rows = [
        {
            "judge": found.judge,
            "system": found.system,
            "score": found.score,
            "rank": found.rank,
            "own_family": found.own_family,
        }
        for found in study.leanings
    ]
    columns = (
        Column("judge", "judge"),
        Column("system", "system"),
        Column(
            "score", "score above the others'", 2, "how much further above its case's mean than by the other judges"
        ),
        Column("rank", "ranks better", 2, "how many ranks better than by the other judges"),
        Column("own_family", "own family", None, "judge and system come from one maker"),
    )
    note = "Measured against the other judges, not explained: a judge may favour a system, or hear it better."
    return Sheet("leanings", "Whom each judge favours", note, columns, tuple(rows), study.subject.signature())


def _subpanels(study: Study) -> Sheet:
    rows = []
    for found in study.subpanels:
        by_system = zip(study.common.systems, found.scores, found.places, strict=True)
        values = {name: value for s, score, place in by_system for name, value in ((s, score), (f"{s}_place", place))}
        signature = study.subject.signature(judges=found.judges)
        rows.append({"judges": " + ".join(found.judges), **values, "signature": signature})
    columns = [Column("judges", "judges")]
    for system in study.common.systems:
        columns += [Column(system, system, 2), Column(f"{system}_place", "#", None, "place")]
    note = "The same tasks without one judge, and by one judge alone. The median of two judges is their mean."
    title = "Leaving judges out"
    return Sheet("subpanels", title, note, tuple(columns), tuple(rows), study.subject.signature())


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
        Column("others_cut", "others there", 2, "mean of all other systems on the tasks of the cut clips"),
        Column("others_whole", "others elsewhere", 2, "mean of all other systems on the remaining tasks"),
    )
    note = (
        "Clips as long as the cap on tokens allows. Long tasks are cut, so cut and whole differ in more than the cut."
    )
    return Sheet("cuts", "Cut at the token cap", note, columns, tuple(rows), study.subject.signature())


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


def letters(study: Study) -> list[str]:
    """The blind labels of the panel."""
    return [chr(ord("A") + place) for place in range(len(study.common.systems))]
