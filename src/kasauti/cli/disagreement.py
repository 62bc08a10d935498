"""`python -m kasauti disagreement`: two judges of one run, language by language."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kasauti.cli.layout import table, wrapped
from kasauti.errors import ConfigError
from kasauti.report import load
from kasauti.report.disagreement import Disagreement, disagreements


def disagreement(folder: Path, judges: list[str]) -> str:
    """What is printed.

    Args:
        folder: The run.
        judges: Two of its judges; empty = its first two.

    Raises:
        ConfigError: the run has no two judges, or not these.
        StoreError: the run can't be read.
    """
    run = load(folder)
    first, *others = judges or list(run.judges)[:2]
    if not others:
        raise ConfigError(f"run {folder.name} has one judge, {first}; two are compared: judge=router judge.rank=both")
    found = disagreements(run, first, others[0])
    return "".join(f"{line}\n" for line in _lines(first, others[0], found))


def _lines(first: str, second: str, found: list[Disagreement]) -> Iterator[str]:
    head = ["language", "rows", "both", f"cer {first}", f"cer {second}", "apart", ""]
    rows = [head, *([*_cells(one)] for one in found)]
    yield from table(rows, right=[1, 2, 3, 4, 5], indent="")
    yield ""
    yield from wrapped(
        "cer on the rows that both have scored. apart: edits between the two transcripts by the length of the longer."
    )


def _cells(one: Disagreement) -> Iterator[str]:
    yield one.lang
    yield str(one.rows)
    yield str(one.both)
    yield from (f"{rate:.4f}" for rate in one.cer) if one.cer is not None else ("", "")
    yield "" if one.apart is None else f"{one.apart:.4f}"
    notes = ["single judge"] if one.single_judge else []
    notes += [f"{one.other_script} in different scripts"] if one.other_script else []
    yield ", ".join(notes)
