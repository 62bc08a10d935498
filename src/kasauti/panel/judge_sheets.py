"""Tables about the judges: label effects, agreement, use of the scale, leanings, the table without some of them."""

from __future__ import annotations

from kasauti.panel.cases import SCALE
from kasauti.panel.sheet import Column, Sheet
from kasauti.panel.study import Study


def positions(study: Study) -> Sheet:
    """What each label adds, judge by judge."""
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
        Column("spread", "spread", 2, "best label less worst", minor=True),
        Column("share", "of variance", 3, "of what system and delivery leave unexplained", minor=True),
        Column("p_value", "p", 4, "permutation test: labels dealt anew among the tasks of a delivery"),
        Column("n_cases", "cases", minor=True),
    )
    deals = f"{study.draws.count:,} deals: {1 / (1 + study.draws.count):.4f}"
    note = f"What each label adds to a judge's score, rank, share of first places. Smallest p with {deals}."
    signature = study.subject.signature(failure="each_judge_its_own")
    return Sheet("positions", "Does the label matter?", note, columns, tuple(rows), signature)


def agreements(study: Study) -> Sheet:
    """Krippendorff's alpha."""
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


def spreads(study: Study) -> Sheet:
    """How far the scores of one clip lie apart."""
    total = int(study.spreads.sum())
    rows = [
        {"points": points, "clips": count, "share": count / total}
        for points, count in enumerate(study.spreads.tolist())
    ]
    columns = (Column("points", "points apart"), Column("clips", "clips"), Column("share", "share", 2))
    note = "How far the highest and the lowest score of a clip lie apart."
    title = "How far judges lie apart"
    return Sheet("spreads", title, note, columns, tuple(rows), study.subject.signature())


def distributions(study: Study) -> Sheet:
    """How often each judge gave each score."""
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


def leanings(study: Study) -> Sheet:
    """Whom each judge favours."""
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


def subpanels(study: Study) -> Sheet:
    """The table by some of the judges."""
    rows = []
    for found in study.subpanels:
        by_system = zip(study.common.systems, found.scores, found.places, strict=True)
        values = {name: value for s, score, place in by_system for name, value in ((s, score), (f"{s}_place", place))}
        signature = study.subject.signature(judges=found.judges)
        rows.append({"judges": " + ".join(found.judges), **values, "signature": signature})
    columns = [Column("judges", "judges")]
    for system in study.common.systems:
        columns += [Column(system, system, 2), Column(f"{system}_place", "#", None, "place", minor=True)]
    note = "The same tasks without one judge, and by one judge alone. The median of two judges is their mean."
    title = "Leaving judges out"
    return Sheet("subpanels", title, note, tuple(columns), tuple(rows), study.subject.signature())


def letters(study: Study) -> list[str]:
    """The blind labels of the panel."""
    return [chr(ord("A") + place) for place in range(len(study.common.systems))]
