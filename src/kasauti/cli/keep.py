"""`keep`: the small tables of finished runs, or of a panel, into `results/NAME`, where they are committed.

What is kept is scored by today's rules, so that `check` finds it right. Sound, pages, times of calls, places on this
machine and its name stay behind: a table that is published says what was measured and how, not where.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kasauti.cli.results import FILE_LIMIT_BYTES, PROVENANCE, STUDY_LIMIT_BYTES, file_names
from kasauti.errors import ConfigError, ExitCode
from kasauti.identity import file_sha256
from kasauti.paths import shown
from kasauti.pipeline.folder import environment, now
from kasauti.pipeline.rescoring import ANSWERS, RESCORED, rescore
from kasauti.report import load
from kasauti.report.studies import PANEL_MARK
from kasauti.report.table_rows import CLIP_COLUMNS, ClipRow
from kasauti.report.tables import write_records
from kasauti.runs import ended_runs, find_run, run_record, run_state
from kasauti.store.files import write_text

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

_KEPT_FACTS = (
    "run_id study overrides started_at finished_at promptset systems judges scoring signature human_floors noise "
    "config python versions git"
).split()
_OF_THE_MACHINE = ("paths", "tracking", "executor", "data", "dry_run", "max_parallel_systems", "budget")

_PLACE = re.compile(r"(?<![^\s=\[,'\":(])(?:~|)/(?:[^/\s'\"=,\[\]{}:]+/)+([^/\s'\"=,\[\]{}:]*)")
"""An absolute path of two parts or more."""


def keep(names: Sequence[str], name: str, runs: Path, results: Path) -> ExitCode:
    """Writes `results/NAME` anew and says what is in it.

    Args:
        names: Runs (as for every command), the `study` of several, or the folder of a panel's tables.
        name: Of the study.
        runs: The folder of all runs.
        results: The folder of all finished studies.

    Raises:
        ConfigError: nothing goes by such a name, runs and a panel are mixed, or it is too large to be committed.
        StoreError: a run can't be read.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(f"keep --as {name!r}: a study is named in letters, digits, hyphens, dots and underscores")
    folders = list(dict.fromkeys(folder for each in names for folder in _folders(each, runs)))
    panels = [folder for folder in folders if (folder / PANEL_MARK).is_file()]
    if panels and len(folders) > 1:
        raise ConfigError(f"keep: {panels[0]} holds the tables of a panel, which is a study of its own; keep it alone")
    results.mkdir(parents=True, exist_ok=True)
    target = results / name
    with tempfile.TemporaryDirectory(dir=results, prefix=".keep-") as beside:
        made = Path(beside) / name
        made.mkdir()
        facts = _keep_panel(panels[0], made) if panels else _keep_runs(folders, made)
        files = {file: file_sha256(made / file) for file in file_names(made)}
        _check_sizes(made, files)
        _write_json(made / PROVENANCE, {"study": name, **facts, "files": files})
        if (target / "README.md").is_file():
            shutil.copyfile(target / "README.md", made / "README.md")
        if target.exists():
            shutil.rmtree(target)
        made.rename(target)
    print(f"{shown(target)}: {len(files)} files, {_kilobytes(target, files)} kB. Next: python -m kasauti check")
    return ExitCode.COMPLETE


def _folders(name: str, runs: Path) -> list[Path]:
    """What a name on the command line stands for."""
    path = Path(name)
    if (path / PANEL_MARK).is_file():
        return [path]
    inside = sorted(found.parent for found in path.glob("*/run.json"))
    named = [folder for folder in reversed(ended_runs(runs)) if run_record(folder).get("study") == name]
    return inside or named or [find_run(name, runs)]


def _keep_runs(folders: Sequence[Path], made: Path) -> dict[str, Any]:
    told = {}
    for folder in folders:
        state = run_state(folder)
        if state.get("state") not in ("complete", "incomplete", "imported"):
            raise ConfigError(f"{folder}: this run has not ended; run the same command again, then keep it")
        record = run_record(folder)
        run_id = str(record.get("run_id", folder.name))
        _keep_run(folder, made / run_id)
        facts = _scrubbed({key: record.get(key) for key in ("finished_at", "git", "python", "versions")})
        command = {"command": _command(record)} if "overrides" in record else {}
        told[run_id] = {**command, "state": state["state"], **facts}
    return {"kind": "runs", "runs": dict(sorted(told.items()))}


def _without_its_call(clip: ClipRow) -> ClipRow:
    return replace(clip, path=None, wall_s=None, ttfb_s=None, created_at=None, error=None)


def _keep_run(source: Path, target: Path) -> None:
    rescore(source, target)
    for path in target.iterdir():
        if path.name not in (*RESCORED, *ANSWERS, "prompts.jsonl") or _is_empty(path):
            path.unlink()
    clips = map(_without_its_call, load(source).clips)
    write_records(target / "clips.tsv", CLIP_COLUMNS, clips)
    record, state = run_record(source), run_state(source)
    facts = {key: record[key] for key in _KEPT_FACTS if record.get(key) is not None}
    if "overrides" in facts:
        facts["overrides"] = _told_overrides(record)
    if "config" in facts:
        facts["config"] = {key: value for key, value in facts["config"].items() if key not in _OF_THE_MACHINE}
    # `load` wants to know where the sound lies; here there is none.
    _write_json(target / "run.json", {**_scrubbed(facts), "store": "store"})
    _write_json(target / "status.json", {key: state[key] for key in ("run_id", "state", "at") if key in state})


def _keep_panel(source: Path, made: Path) -> dict[str, Any]:
    for path in sorted(source.glob("*.tsv")):
        shutil.copyfile(path, made / path.name)
    try:
        facts = json.loads((source / "study.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"{source / 'study.json'}: can't read how these tables were made ({error}); run the study again"
        ) from error
    return {"kind": "panel", **facts, "kept_at": now(), **_scrubbed(_versions())}


def _versions() -> dict[str, Any]:
    found = environment()
    return {key: found[key] for key in ("git", "python", "versions")}


def _command(record: Mapping[str, Any]) -> str:
    return " ".join(["python run.py", *_scrubbed(_told_overrides(record))])


def _told_overrides(record: Mapping[str, Any]) -> list[str]:
    """The command line less what only says where things lie on this machine."""
    words = record.get("overrides") or []
    return [word for word in words if word.lstrip("+~").partition("=")[0].partition(".")[0] not in _OF_THE_MACHINE]


def _scrubbed(value: Any) -> Any:
    """JSON values with absolute paths cut down to their last part."""
    if isinstance(value, str):
        return _PLACE.sub(lambda found: f"…/{found[1]}", value)
    if isinstance(value, Mapping):
        return {key: _scrubbed(held) for key, held in value.items()}
    return [_scrubbed(held) for held in value] if isinstance(value, list) else value


def _is_empty(path: Path) -> bool:
    """Whether a table has no row below its header."""
    return path.read_bytes().count(b"\n") <= 1 and path.name in (*ANSWERS, "switching.tsv")


def _check_sizes(made: Path, files: Mapping[str, str]) -> None:
    sizes = {file: (made / file).stat().st_size for file in files}
    for file, size in sizes.items():
        if size > FILE_LIMIT_BYTES:
            raise ConfigError(
                f"keep: {file} has {size / 1e6:.1f} MB, {FILE_LIMIT_BYTES / 1e6:g} are the limit; only small tables "
                "belong in the tree, a run of that size is published elsewhere"
            )
    if sum(sizes.values()) > STUDY_LIMIT_BYTES:
        raise ConfigError(
            f"keep: {sum(sizes.values()) / 1e6:.1f} MB in all, {STUDY_LIMIT_BYTES / 1e6:g} are the limit of a study; "
            "keep fewer runs"
        )


def _kilobytes(folder: Path, files: Mapping[str, str]) -> int:
    return round(sum((folder / file).stat().st_size for file in files) / 1000)


def _write_json(path: Path, value: Mapping[str, Any]) -> None:
    write_text(path, json.dumps(value, ensure_ascii=False, indent=1) + "\n")
