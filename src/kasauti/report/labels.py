"""Names for what several runs call alike but is not: each meaning of a name gets what tells it from the others.

`piper` at two temperatures becomes `piper temperature=0.6` and `piper temperature=0.8`; where no option differs (a
checkpoint that was overwritten in place, recordings that were replaced), or too many do, a run's id stands behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kasauti.identity import canonical_json, without
from kasauti.report.loading import RunTables
from kasauti.settings import CANNOT_CHANGE_A_RESULT

_NO_OPTION = ("_target_", "id")

_MOST_OPTIONS = 3
"""That a name is made of."""


@dataclass(frozen=True)
class _Kind:
    """Systems, or judges.

    Attributes:
        names: The names in a run.
        same: Whether a name means the same in two runs.
        options: What a run asked for under a name.
    """

    names: Callable[[RunTables], Iterable[str]]
    same: Callable[[str, RunTables, RunTables], bool]
    options: Callable[[str, RunTables], Mapping[str, Any]]


def told_apart(parts: Sequence[RunTables]) -> list[RunTables]:
    """The runs, systems and judges renamed where one name means several things."""
    systems = _names(parts, _Kind(lambda part: part.systems, _same_voice, _options_of_system))
    judges = _names(parts, _Kind(lambda part: part.judges, _same_judge, _options_of_judge))
    return [_renamed(part, *new) for part, *new in zip(parts, systems, judges, strict=True)]


def _names(parts: Sequence[RunTables], kind: _Kind) -> list[dict[str, str]]:
    """For each run: name -> new name, of those names that mean several things."""
    new: list[dict[str, str]] = [{} for _ in parts]
    for name in dict.fromkeys(name for part in parts for name in kind.names(part)):
        meanings: list[RunTables] = []  # the first run of each
        meant: dict[int, int] = {}
        for place, part in enumerate(parts):
            if name in kind.names(part):
                known = (n for n, first in enumerate(meanings) if kind.same(name, first, part))
                meant[place] = next(known, len(meanings))
                if meant[place] == len(meanings):
                    meanings.append(part)
        if len(meanings) > 1:
            labels = _labels(name, meanings, [kind.options(name, part) for part in meanings])
            for place, meaning in meant.items():
                new[place][name] = labels[meaning]
    return new


def _labels(name: str, meanings: Sequence[RunTables], options: Sequence[Mapping[str, Any]]) -> list[str]:
    """A new name for each meaning of a name, from the options that differ between them."""
    keys = [
        key
        for key in dict.fromkeys(key for one in options for key in one)
        if len({canonical_json(one.get(key)) for one in options}) > 1
    ]
    if len(keys) > _MOST_OPTIONS:
        keys = []
    shown = {key: _shown([one.get(key) for one in options]) for key in keys}
    labels = [" ".join([name, *(f"{key}={shown[key][place]}" for key in keys)]) for place in range(len(meanings))]
    return [
        label if labels.count(label) == 1 else f"{label} {part.runs[0].run_id[:8]}"
        for label, part in zip(labels, meanings, strict=True)
    ]


def _shown(values: Sequence[Any]) -> list[str]:
    """Values of one option as short text; of paths the last part, where that tells them apart."""
    whole = [value if isinstance(value, str) else canonical_json(value) for value in values]
    last = [text.rstrip("/").rpartition("/")[2] for text in whole]
    texts = last if len(set(last)) == len(set(whole)) else whole
    return [text.replace("|", "/") for text in texts]  # it separates the parts of a signature


def _same_voice(name: str, a: RunTables, b: RunTables) -> bool:
    """Whether a system id means one voice: same facts, and the same clip wherever both runs spoke the same thing."""
    known, other = a.systems[name], b.systems[name]
    if (known.fingerprint, known.settings) != (other.fingerprint, other.settings):
        return False
    spoken = {(row.prompt_id, row.repeat): row.clip_id for row in a.clips if row.system == name}
    again = ((row.prompt_id, row.repeat, row.clip_id) for row in b.clips if row.system == name)
    return all(spoken.get((prompt, repeat), clip_id) == clip_id for prompt, repeat, clip_id in again)


def _same_judge(name: str, a: RunTables, b: RunTables) -> bool:
    return a.judges[name] == b.judges[name]


def _options_of_system(name: str, part: RunTables) -> dict[str, Any]:
    asked = _flat(_telling("systems", name, part.runs[0].options.get(name, {})))
    return {**asked, **part.systems[name].decoding}


def _options_of_judge(name: str, part: RunTables) -> dict[str, Any]:
    return _flat(_telling("judges", name, part.runs[0].judge_options.get(name, {})))


def _telling(group: str, name: str, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Options that can change a result."""
    kept: Mapping[str, Any] = without({group: {name: options}}, CANNOT_CHANGE_A_RESULT)[group][name]
    return {key: value for key, value in kept.items() if key not in (*_NO_OPTION, "repeats")}


def _flat(options: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in options.items():
        flat |= _flat(value, f"{path}{key}.") if isinstance(value, Mapping) else {f"{path}{key}": value}
    return flat


def _renamed(part: RunTables, systems: Mapping[str, str], judges: Mapping[str, str]) -> RunTables:
    if not systems and not judges:
        return part

    def system(name: str) -> str:
        return systems.get(name, name)

    def judge(name: str) -> str:
        return judges.get(name, name)

    return replace(
        part,
        systems={system(name): facts for name, facts in part.systems.items()},
        judges={judge(name): revision for name, revision in part.judges.items()},
        signatures={judge(name): text for name, text in part.signatures.items()},
        samples=[replace(row, system=system(row.system), judge=judge(row.judge)) for row in part.samples],
        aggregates=[replace(row, system=system(row.system), judge=judge(row.judge)) for row in part.aggregates],
        clips=[replace(row, system=system(row.system)) for row in part.clips],
        marks=[replace(row, system=system(row.system), judge=judge(row.judge)) for row in part.marks],
        words=[replace(row, system=system(row.system), judge=judge(row.judge)) for row in part.words],
        noise=[replace(one, system=system(one.system), judge=judge(one.judge)) for one in part.noise],
    )
