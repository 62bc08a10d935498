"""`python -m kasauti`: reads and helps. (`run.py` makes and judges.)"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from kasauti.cli.studies import add_study_commands
from kasauti.console import tolerate_any_encoding
from kasauti.errors import ConfigError, ExitCode, KasautiError
from kasauti.records import VerdictName

_FORMATS = ("table", "md", "latex", "csv")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one subcommand and returns the exit code."""
    tolerate_any_encoding()
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except KasautiError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m kasauti",
        description="Read and compare finished runs. RUN is the start of a run id, a path of a run folder, or latest.",
    )
    parser.add_argument("--runs", metavar="DIR", help="folder of all runs (default: runs in the repository)")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    report = commands.add_parser("report", help="write a run's page again; with the audio in it, to send round")
    report.add_argument("run_name", metavar="RUN", nargs="?", default="latest")
    report.add_argument("--embed-audio", action="store_true", help="one file with all audio inside")
    report.add_argument("--output", type=Path, help="where to write it (default: in the run folder)")
    report.set_defaults(run=_report)

    aggregate = commands.add_parser("aggregate", help="one leaderboard over several runs")
    aggregate.add_argument("run_names", metavar="RUN", nargs="*")
    of_sweep = "the jobs of a sweep, by its folder or latest, with what is missing"
    aggregate.add_argument("--sweep", metavar="SWEEP", help=of_sweep)
    aggregate.add_argument("--format", choices=_FORMATS, default="table", help="how to print it (default: table)")
    aggregate.set_defaults(run=_aggregate)
    _add_compare(commands)
    _add_import(commands)

    explain = commands.add_parser("explain", help="where the numbers of one row came from, step by step")
    explain.add_argument("run_name", metavar="RUN")
    explain.add_argument("prompt_id", metavar="PROMPT_ID")
    explain.add_argument("--system", help="which system (default: the first that has a row)")
    explain.add_argument("--judge", help="which judge (default: the first)")
    explain.add_argument("--repeat", type=int, metavar="N", help="which take, from 0 (default: the first)")
    explain.add_argument("--rejudge", type=int, metavar="N", help="which hearing, from 0 (default: the first)")
    explain.set_defaults(run=_explain)

    status = commands.add_parser("status", help="list the runs and how they stand")
    status.set_defaults(run=_status)

    apart = commands.add_parser("disagreement", help="how far two judges of a run are apart, by language")
    apart.add_argument("run_name", metavar="RUN", nargs="?", default="latest")
    apart.add_argument("--judges", nargs=2, default=[], metavar="NAME", help="which (default: the first two)")
    apart.set_defaults(run=_disagreement)

    judge = commands.add_parser("check-judge", help="whether a program keeps the protocol of a remote judge")
    judge.add_argument("command", nargs="+", metavar="COMMAND", help="after --: the program and its arguments")
    judge.add_argument("--lang", default="hi", help="language code that it is asked in (default: hi)")
    wait = "longest silence while it loads or works, in seconds (default: 600)"
    judge.add_argument("--timeout", type=float, default=600.0, metavar="S", help=wait)
    judge.set_defaults(run=_check_judge)

    check = commands.add_parser("check", help="refuse audio, weights and keys in the tree; recompute results/")
    check.add_argument("root", nargs="?", type=Path, help="the tree (default: the repository)")
    published = "the published judgments, to recompute results made from them (default: $KASAUTI_SHARED_DATA)"
    check.add_argument("--mirror", type=Path, metavar="DIR", help=published)
    check.set_defaults(run=_check)
    add_study_commands(commands)
    return parser


def _add_compare(commands: Any) -> None:
    """`compare`, the one command with many options."""
    compare = commands.add_parser(
        "compare", help="verdicts of one run against another, scored anew on the prompts both have"
    )
    compare.add_argument("run_names", metavar="RUN", nargs=2)
    which = "which system, or NAME=NAME for one against another (default: all that both have)"
    compare.add_argument("--system", action="append", default=[], metavar="NAME", help=which)
    compare.add_argument("--metric", default="cer", help="cer (default), cer_nospace, gcer, wer or pcer")
    compare.add_argument("--level", help="of normalisation, for both runs (default: each run's own)")
    compare.add_argument("--format", choices=_FORMATS, default="table", help="how to print it (default: table)")
    fail_on = "exit with code 1 if a verdict over all languages is this one; may be given several times"
    compare.add_argument("--fail-on", action="append", default=[], choices=get_args(VerdictName), help=fail_on)
    compare.set_defaults(run=_compare)


def _add_import(commands: Any) -> None:
    """`import`: one form of published results so far."""
    importer = commands.add_parser("import", help="read published results into a run folder, to stand beside your own")
    importer.add_argument("kind", choices=["rumik-bench"], help="what it is")
    importer.add_argument("samples", type=Path, metavar="SAMPLES", help="scores by sample (.tsv, .csv, .jsonl)")
    importer.add_argument("figures", type=Path, metavar="FIGURES", nargs="?", help="vendors' figures (.json)")
    importer.add_argument("--system", default="", help="name of the system, where SAMPLES has no column for it")
    importer.add_argument("--judge", default="", help="name of the recogniser, likewise (default: published)")
    importer.add_argument("--judge-revision", default="", metavar="REV", help="its revision (default: as recorded)")
    importer.add_argument("--human", action="append", default=[], metavar="NAME", help="a system that is recordings")
    importer.add_argument("--prompts", type=Path, metavar="FILE", help="texts of the prompts, where SAMPLES has none")
    importer.add_argument("--level", default="numbers", help="of normalisation, where there are transcripts")
    importer.set_defaults(run=_import)


def _runs(options: argparse.Namespace) -> Path:
    """The folder of all runs: a relative one from the current folder if it is there, else from the repository."""
    from kasauti.paths import product_path, source_path

    return product_path("runs") if options.runs is None else source_path(options.runs)


def _report(options: argparse.Namespace) -> int:
    from kasauti.report import load, write_page
    from kasauti.runs import find_run

    folder = find_run(options.run_name, _runs(options))
    name = "report-with-audio.html" if options.embed_audio else "report.html"
    output: Path = options.output or folder / name
    write_page(load(folder), output, embed_audio=options.embed_audio)
    print(output)
    return ExitCode.COMPLETE


def _aggregate(options: argparse.Namespace) -> int:
    from kasauti.cli.aggregate import aggregate_runs, formatted_runs
    from kasauti.console import console
    from kasauti.runs import find_run

    if options.sweep is not None:
        return _aggregate_sweep(options)
    if not options.run_names:
        raise ConfigError("aggregate: name one run or more, or --sweep SWEEP")
    runs = _runs(options)
    folders = [find_run(name, runs) for name in options.run_names]
    if options.format == "table":
        print(aggregate_runs(folders, console()))
    else:
        print(formatted_runs(folders, options.format), end="")
    return ExitCode.COMPLETE


def _aggregate_sweep(options: argparse.Namespace) -> int:
    from kasauti.cli.sweep import show_sweep
    from kasauti.console import console
    from kasauti.paths import product_path
    from kasauti.pipeline.sweep import SweepFolder, latest_sweep

    if options.run_names or options.format != "table":
        raise ConfigError("aggregate --sweep: a sweep stands alone and is printed as a table")
    if options.sweep == "latest":
        return show_sweep(latest_sweep(product_path("logs/sweeps")), console())
    return show_sweep(SweepFolder(Path(options.sweep)), console())


def _compare(options: argparse.Namespace) -> int:
    from kasauti.cli.compare import Wanted, compare
    from kasauti.console import console
    from kasauti.runs import find_run

    first, second = (find_run(name, _runs(options)) for name in options.run_names)
    wanted = Wanted(options.system, options.metric, options.level, options.format, options.fail_on)
    return compare(first, second, wanted, console())


def _import(options: argparse.Namespace) -> int:
    from kasauti.console import console
    from kasauti.imports.rumik_bench import import_rumik_bench
    from kasauti.imports.samples import Given

    said = Given(options.system, options.judge, options.judge_revision, tuple(options.human), options.prompts)
    runs = _runs(options)
    print(import_rumik_bench(options.samples, options.figures, said, options.level, runs, console()))
    return ExitCode.COMPLETE


def _explain(options: argparse.Namespace) -> int:
    from kasauti.cli.explain import Wanted, explain
    from kasauti.runs import find_run

    wanted = Wanted(options.prompt_id, options.system, options.judge, options.repeat, options.rejudge)
    print(explain(find_run(options.run_name, _runs(options)), wanted), end="")
    return ExitCode.COMPLETE


def _status(options: argparse.Namespace) -> int:
    from rich.table import Table
    from rich.text import Text

    from kasauti.console import console
    from kasauti.runs import run_folders, run_state

    runs = _runs(options)
    newest_first = sorted(run_folders(runs), key=lambda folder: str(run_state(folder).get("at", "")), reverse=True)
    if not newest_first:
        print(f"{runs}: no run in this folder; make one with python run.py")
        return ExitCode.COMPLETE
    table = Table(box=None, padding=(0, 1, 0, 0))
    for heading in ("run", "state", "at (UTC)"):
        table.add_column(heading, no_wrap=True)
    for heading in ("systems", "judges", "prompts"):
        table.add_column(heading, overflow="fold")
    table.add_column("what went wrong", overflow="fold", min_width=len("interrupted:"))
    for folder in newest_first:
        table.add_row(*map(Text, _standing(folder)))
    console().print(table)
    return ExitCode.COMPLETE


def _standing(folder: Path) -> list[str]:
    """The line of one run in `status`; what it was of is known once it has written its first results."""
    from kasauti.runs import is_being_written, run_record, run_state

    state, record = run_state(folder), run_record(folder)
    said = str(state.get("state", "?"))
    if said == "running" and not is_being_written(folder):
        said = "broken off"
    error = str(state.get("error", "")).strip().splitlines()[-1:]
    if said == "interrupted" or state.get("exit_code") == ExitCode.INTERRUPTED:
        error = ["interrupted: the same command goes on"]
    prompts = record.get("promptset", {})
    return [
        folder.name,
        said,
        str(state.get("at", "?"))[:16].replace("T", " "),
        ", ".join(record.get("systems", ["?"])),
        ", ".join(record.get("judges", ["?"])),
        f"{prompts['name']}: {prompts['count']}" if prompts else "?",
        *(error or [""]),
    ]


def _disagreement(options: argparse.Namespace) -> int:
    from kasauti.cli.disagreement import disagreement
    from kasauti.runs import find_run

    print(disagreement(find_run(options.run_name, _runs(options)), options.judges), end="")
    return ExitCode.COMPLETE


def _check_judge(options: argparse.Namespace) -> int:
    from kasauti.judges.conformance import How, check

    failed = False
    for one in check(How(options.command, options.lang, options.timeout)):
        failed |= not one.passed
        print(f"{'ok  ' if one.passed else 'FAIL'} {one.name}: {one.found}", flush=True)
    return ExitCode.INCOMPLETE if failed else ExitCode.COMPLETE


def _check(options: argparse.Namespace) -> int:
    from kasauti.cli import check
    from kasauti.paths import ROOT

    given = os.environ.get("KASAUTI_SHARED_DATA")
    return check.run(options.root or ROOT, options.mirror or (Path(given) if given else None))


if __name__ == "__main__":
    sys.exit(main())
