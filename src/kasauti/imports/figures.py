"""Published figures: vendors' means and medians by language, from JSON of whatever shape.

Walks the file and takes every number that stands under a metric, a system and, if there is one, a language, be they
keys (`{"azure": {"hi": {"cer_median": 0.04}}}`) or fields of records. No rows are behind such figures, so there are no
intervals and no verdicts: they are listed, never ranked.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kasauti.errors import PromptError, TextError
from kasauti.imports.columns import Rate, field_of, rate_of, statistic_of, words_of
from kasauti.records import AggregateRow
from kasauti.rows import read_text
from kasauti.text.languages import resolve_language

_WRAPPERS = frozenset(
    """vendors vendor systems system models model providers provider languages language langs per language by language
    results result metrics metric analysis data scores summary stats statistics tts rows entries""".split()
)
_OVERALL = frozenset({"overall", "all", "macro", "average", "total", "aggregate", "global"})


@dataclass(frozen=True)
class _Place:
    """Where in the file the walk is."""

    system: str = ""
    lang: str = ""
    metric: Rate | None = None
    path: tuple[str, ...] = ()


@dataclass
class Figures:
    """What was found: (system, language or `all`, metric) -> statistic -> value; and the paths nothing was made of."""

    path: Path
    values: dict[tuple[str, str, str], dict[str, float]] = field(default_factory=lambda: defaultdict(dict))
    counts: dict[tuple[str, str], int] = field(default_factory=dict)
    plain: set[str] = field(default_factory=set)
    unknown: list[str] = field(default_factory=list)


def read_figures(path: Path) -> Figures:
    """Reads a file of published figures.

    Raises:
        PromptError: it is not JSON, or there is no figure in it that belongs to a system.
    """
    try:
        content = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise PromptError(f"{path}:{error.lineno}: not JSON ({error.msg})") from error
    figures = Figures(path)
    _walk(content, _Place(), figures)
    if not figures.values:
        told = "; ".join(figures.unknown[:5]) or "nothing that is a number"
        raise PromptError(
            f"{path}: no error rate of a system in this file; wanted numbers under a metric (cer, cer_median, wer …), "
            f"a system and a language. Found {told}"
        )
    return figures


def figure_rows(figures: Figures, judge: str, level: str) -> list[AggregateRow]:
    """The figures as rows of `aggregate.csv`: languages first, then what was published over all of them."""
    rows = []
    languages_first = sorted(figures.values.items(), key=lambda item: (item[0][0], item[0][1] == "all"))
    for (system, lang, metric), found in languages_first:
        n = figures.counts.get((system, lang), 0)
        rows.append(
            AggregateRow(
                system=system,
                judge=judge,
                scope="macro" if lang == "all" else "lang",
                key=lang,
                metric=metric,
                level=level,
                n_langs=1 if lang != "all" else 0,
                n_prompts=n,
                n_ok=n,
                n_total=n,
                mean=found.get("mean"),
                median=found.get("median"),
            )
        )
    return rows + _overall(rows)


def _overall(rows: list[AggregateRow]) -> list[AggregateRow]:
    """Means over languages for systems that published none."""
    by_system: dict[tuple[str, str], list[AggregateRow]] = defaultdict(list)
    for row in rows:
        by_system[row.system, row.metric].append(row)
    made = []
    for mine in by_system.values():
        if all(row.scope == "lang" for row in mine):
            counts = {name: sum(getattr(row, name) for row in mine) for name in ("n_prompts", "n_ok", "n_total")}
            means, medians = [row.mean for row in mine], [row.median for row in mine]
            made.append(
                replace(
                    mine[0],
                    scope="macro",
                    key="all",
                    n_langs=len(mine),
                    mean=_mean(means),
                    median=_mean(medians),
                    **counts,
                )
            )
    return made


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if len(known) == len(values) else None


def _walk(node: Any, place: _Place, figures: Figures) -> None:
    if isinstance(node, list):
        for number, item in enumerate(node):
            _walk(item, replace(place, path=(*place.path, str(number))), figures)
    elif isinstance(node, dict):
        place = _identified(node, place)
        for key, value in node.items():
            below = replace(place, path=(*place.path, key))
            if isinstance(value, dict | list):
                _walk(value, _entered(key, below), figures)
            elif isinstance(value, int | float) and not isinstance(value, bool):
                _take(key, float(value), below, figures)


def _identified(node: dict[str, Any], place: _Place) -> _Place:
    """A record names its system and its language in fields of its own."""
    for key, value in node.items():
        if isinstance(value, str) and value:
            kind = field_of(key)
            if kind == "system" or (key == "name" and not place.system):
                place = replace(place, system=value)
            elif kind == "lang":
                place = replace(place, lang=_language(value) or value)
    return place


def _entered(key: str, place: _Place) -> _Place:
    """What a key over further ones says."""
    rate, lang = rate_of(key), _language(key)
    if rate is not None:
        return replace(place, metric=rate)
    if set(words_of(key)) <= _WRAPPERS:
        return place
    if set(words_of(key)) <= _OVERALL:
        return replace(place, lang="all")
    if lang is not None:
        return replace(place, lang=lang)
    return replace(place, system=place.system or key)


def _take(key: str, value: float, place: _Place, figures: Figures) -> None:
    """One number: a rate, a statistic of the metric above it, or a count."""
    rate, statistic = rate_of(key), statistic_of(key)
    lang = place.lang or _language(key) or "all"
    if rate is None and place.metric is not None and (statistic in ("mean", "median") or _language(key)):
        rate = Rate(place.metric.metric, statistic or place.metric.statistic, place.metric.percent)
    if not place.system or not math.isfinite(value) or value < 0:
        figures.unknown.append(".".join(place.path))
    elif rate is not None:
        if not rate.statistic:
            figures.plain.add(".".join(place.path[-1:]))
        known = figures.values[place.system, lang, rate.metric]
        statistic = rate.statistic or "mean"
        if known.setdefault(statistic, rate.value(value)) != rate.value(value):
            raise PromptError(
                f"{figures.path}: two values for the {statistic} {rate.metric} of {place.system!r} in {lang}, the "
                f"second at {'.'.join(place.path)}; wanted systems and languages as keys, or as fields of each record"
            )
    elif statistic == "n":
        figures.counts[place.system, lang] = int(value)
    else:
        figures.unknown.append(".".join(place.path))


def _language(name: str) -> str | None:
    try:
        return resolve_language(name)
    except TextError:
        return None
