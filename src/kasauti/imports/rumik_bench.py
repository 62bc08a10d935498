"""`import rumik-bench`: published scores of the 21-language bench as a run folder of its own.

The folder has state `imported`, and an id made of the files' content and of what the user said of them. Names stay as
recorded (`silk-oss-v2`). What was made of each column is printed and kept in `run.json`; what was not, likewise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from kasauti.errors import PromptError
from kasauti.identity import RUN_ID_LENGTH, digest, file_sha256
from kasauti.imports.columns import several
from kasauti.imports.figures import Figures, figure_rows, read_figures
from kasauti.imports.samples import AS_RECORDED, Given, Mapped, read_samples
from kasauti.pipeline.folder import RunFolder, environment, now
from kasauti.pipeline.products import write_summary, write_views
from kasauti.prompts import prompts_sha256
from kasauti.records import AggregateRow
from kasauti.report import SystemInfo
from kasauti.report.summarising import Summary, rules_of_scoring, signature_of, summarise
from kasauti.report.table_rows import CLIP_COLUMNS
from kasauti.report.tables import write_table
from kasauti.settings import ScoringSettings

KIND = "rumik-bench"


@dataclass(frozen=True)
class _Import:
    """All that goes into the folder."""

    run_id: str
    files: Mapping[str, str]
    given: Given
    scoring: ScoringSettings
    mapped: Mapped
    figures: Figures | None
    systems: Mapping[str, SystemInfo]
    judges: Mapping[str, str]
    summary: Summary


def import_rumik_bench(
    samples: Path, figures: Path | None, given: Given, level: str, runs: Path, console: Console
) -> Path:
    """Reads published scores and writes them as a run folder.

    Args:
        samples: Scores by sample (`per_sample.tsv`).
        figures: Vendors' figures (`vendor_analysis.json`), if there are any.
        given: What the files don't say.
        level: Level of normalisation at which texts are scored.
        runs: The folder of all runs.
        console: Where to say what was made of what.

    Returns:
        The run folder.

    Raises:
        PromptError: with file and line, what can't be read.
        TextError: there is no such level.
    """
    scoring = ScoringSettings(level=level, levels=[level])
    mapped = read_samples(samples, given, scoring)
    if mapped.recorded:
        scoring = replace(scoring, level=AS_RECORDED, levels=[])
    found = read_figures(figures) if figures is not None else None
    unknown = set(given.humans) - {row.system for row in mapped.rows}
    if unknown:
        raise PromptError(
            f"{samples}: no system {several(sorted(unknown))} in this file; --human names recordings in it"
        )
    files = {path.name: file_sha256(path) for path in (samples, figures) if path is not None}
    said = [str(value) for value in vars(given).values()]
    content = {"kind": KIND, "files": sorted(files.values()), "given": said, "level": level}
    made = _made(digest(content, RUN_ID_LENGTH), files, given, scoring, mapped, found)
    folder = RunFolder(runs, made.run_id)
    with folder.locked():
        _write(folder, made)
    _tell(made, samples, figures, console)
    return folder.path


def _made(
    run_id: str, files: Mapping[str, str], given: Given, scoring: ScoringSettings, mapped: Mapped, found: Figures | None
) -> _Import:
    mapped.rows[:] = [replace(row, run_id=run_id) for row in mapped.rows]
    judges = {row.judge: row.judge_revision for row in mapped.rows}
    fingerprint = f"{KIND}:{digest(sorted(files.values()))}"
    systems = {
        row.system: SystemInfo(
            role="human" if row.system in given.humans else "machine",
            fingerprint=fingerprint,
            recorded="rates" if mapped.recorded else "",
        )
        for row in mapped.rows
    }
    summary = summarise(mapped.rows, scoring, systems, prompts_sha256(mapped.prompts.values()))
    if found is not None:
        rows = _published(found, scoring, next(iter(judges.items())), set(systems))
        systems |= {row.system: SystemInfo(fingerprint=fingerprint, recorded="figures") for row in rows}
        summary = replace(summary, aggregates=[*summary.aggregates, *rows])
    return _Import(run_id, files, given, scoring, mapped, found, systems, judges, summary)


def _published(
    figures: Figures, scoring: ScoringSettings, judge: tuple[str, str], with_rows: set[str]
) -> list[AggregateRow]:
    """Figures of the systems that have no rows, each with its signature."""
    rules = dict.fromkeys(rules_of_scoring(scoring), AS_RECORDED)
    rows = figure_rows(figures, judge[0], AS_RECORDED)
    return [
        replace(row, signature=signature_of(row.metric, row.scope, rules, "@".join(judge), AS_RECORDED))
        for row in rows
        if row.system not in with_rows
    ]


def _write(folder: RunFolder, made: _Import) -> None:
    rows = made.mapped.rows
    write_summary(folder, list(made.mapped.prompts.values()), rows, made.summary)
    write_table(folder.path / "clips.tsv", CLIP_COLUMNS, ())
    headline = [row for row in made.summary.aggregates if (row.scope, row.metric) == ("macro", "cer")]
    signatures = {row.judge: row.signature for row in reversed(headline)}
    folder.write_json(
        "summary.json",
        {
            "run_id": made.run_id,
            "rows": dict(sorted(Counter(str(row.status) for row in rows).items())),
            "headline": [asdict(row) for row in headline],
            "signatures": signatures,
        },
    )
    folder.write_json("run.json", _provenance(folder, made, signatures))
    folder.write_json("status.json", {"run_id": made.run_id, "state": "imported", "at": now(), "exit_code": 0})
    write_views(folder)


def _provenance(folder: RunFolder, made: _Import, signatures: Mapping[str, str]) -> dict[str, Any]:
    prompts = made.mapped.prompts.values()
    given = {name: str(value) for name, value in vars(made.given).items() if value}
    return {
        "run_id": made.run_id,
        "study": None,
        "finished_at": now(),
        "imported": {"kind": KIND, "files": made.files, "given": given, "columns": _mapping(made.mapped)},
        "store": str(folder.path.resolve()),
        "promptset": {"name": KIND, "sha256": prompts_sha256(prompts), "count": len(prompts)},
        "systems": {name: asdict(facts) for name, facts in made.systems.items()},
        "judges": {name: {"revision": revision} for name, revision in made.judges.items()},
        "scoring": asdict(made.scoring),
        "signature": signatures,
        **environment(),
    }


def _mapping(mapped: Mapped) -> dict[str, str | None]:
    """Column -> what was made of it; None where nothing was."""
    made: dict[str, str | None] = {column: kind for kind, column in mapped.fields.items()}
    use = "taken as recorded" if mapped.recorded else "compared with ours, not used"
    for column, rate in mapped.rates.items():
        made[column] = f"{rate.metric}{' in per cent' if rate.percent else ''}, {use}"
    return made | dict.fromkeys(mapped.unknown)


def _tell(made: _Import, samples: Path, figures: Path | None, console: Console) -> None:
    """Says what was made of what."""
    mapped = made.mapped
    lines = [f"{samples}: {len(mapped.rows)} samples of {several(dict.fromkeys(row.system for row in mapped.rows))}"]
    for column, use in _mapping(mapped).items():
        lines.append(f"  {column} → {use}" if use else f"  {column}: not used, its name is not known")
    if mapped.recorded:
        lines.append("No transcripts with their references: rates are taken as recorded, and every signature says so.")
    elif mapped.checked:
        lines.append(
            f"Scored anew from the transcripts at level {made.scoring.level}. Of {mapped.checked} recorded CER, "
            f"{mapped.differing} differ from ours by more than 0.0005 (largest difference {mapped.farthest:.4f})."
        )
    if made.figures is not None:
        lines += _figures_told(made, made.figures, figures)
    for line in lines:
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def _figures_told(made: _Import, figures: Figures, path: Path | None) -> list[str]:
    listed = [name for name, facts in made.systems.items() if facts.recorded == "figures"]
    lines = [f"{path}: published figures of {several(listed)}; without rows they are listed, not ranked"]
    skipped = sorted({system for system, _, _ in figures.values} - set(listed))
    lines += [f"  {name}: left out, its samples are in the table" for name in skipped]
    lines += [f"  {key}: taken for a mean, its name doesn't say" for key in sorted(figures.plain)]
    shown = figures.unknown[:10]
    lines += [f"  {name}: not used" for name in shown]
    if len(figures.unknown) > len(shown):
        lines.append(f"  … and {len(figures.unknown) - len(shown)} more not used")
    return lines
