"""`run.py` as a process: what it refuses and how it says so, and what asking it costs.

Every refusal ends with exit code 2 and one line on standard error, before anything is made. The table, one command for
each way there is to be wrong, is worked through in one process that runs `run.py` anew for each line; the full tables
are in test_compose.py and with the modules. Single commands have processes of their own.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from kasauti import hooks
from kasauti.config import CONF
from kasauti.errors import ExitCode
from processes import ENVIRONMENT, ROOT, Ended, run_all


def words(folder: Path, *given: str) -> list[str]:
    """A command on fakes that writes into `folder`; what is given wins."""
    base = {
        "system": "system=fake",
        "judge": "judge=fake",
        "paths.runs": f"paths.runs={folder}/runs",
        "paths.store": f"paths.store={folder}/store",
    }
    keys = {word.lstrip("+~").partition("=")[0] for word in given}
    return [*(word for key, word in base.items() if key not in keys), *given]


LIST = r"a list is written in brackets"
QUOTES = r"needs quotes inside the shell's"
OURS = r"only classes of kasauti may be named"

REFUSED: list[tuple[list[str], str]] = [
    # Options that don't exist, with near matches.
    (["system=fak"], r"no system called 'fak'; did you mean 'fake'\?"),
    (["judge=[fake,whisperr]"], r"no judge called 'whisperr'; did you mean 'whisper'\?"),
    (["system=null"], r"a group needs the name of one of its options"),
    (["system=[fake,espeak]"], r"one at a time; .*system=lineup 'system.members=\[A,B\]'"),
    # Keys that don't exist.
    (["promptset.limt=2"], r"no key 'promptset.limt'; did you mean 'limit' or 'split'\?"),
    (["+judge.slp_rate=1"], r"no key judge.slp_rate; did you mean 'slip_rate'"),
    (["system.members=[fake]"], r"no key 'system.members' in a single system; .*system=lineup 'system.members="),
    (["experiment=reproduce_indicemo"], r"add one with \+experiment=NAME"),
    # Values of another type.
    (["promptset.limit=two"], r"promptset.limit: Value 'two' .* could not be converted to Integer"),
    (["promptset.langs=hi"], LIST),
    # Values that can't be meant.
    (["repeats=0"], r"repeats=0: must be at least 1"),
    (["budget.max_usd=nan"], r"budget.max_usd=nan: no number to work with; null means not set"),
    (["system.id='a|b'"], r"system id 'a\|b': an id is non-empty text .* without \|"),
    # Cases hydra-07 to hydra-14.
    (["promptset.ids=[1_1_1]"], r"promptset.ids=\[1_1_1\]: read as 111, but promptset.ids is text"),
    (["+prompt_id=1_1_1"], r"no key prompt_id"),
    (["promptset.lang=nan"], r"unknown language 'nan'"),
    (["promptset.langs=[none]"], r"unknown language 'none'"),
    (["promptset.name=ek,do"], QUOTES),
    (["promptset.name=नमस्ते"], rf"^error: promptset.name=नमस्ते; .*{QUOTES}"),
    (["promptset.name=₹500"], QUOTES),
    # Selections of nothing.
    (["promptset.langs=[hindhi]"], r"promptset.langs: unknown language 'hindhi'; did you mean 'hindi'"),
    (["promptset.ids=[smoke_en_99]"], r"promptset.ids: no prompt has 'smoke_en_99'; did you mean 'smoke_en_09'"),
    # What is missing.
    (["promptset=file"], r"no value for promptset.path: add promptset.path=VALUE"),
    (["promptset=file", "promptset.path=/no/such/file.csv"], r"/no/such/file.csv: can't read this file: No such file"),
    (["system=audio_dir", "system.path=/no/such/folder"], r"system.path: /no/such/folder is not a folder"),
    (["system=audio_dir", "system.path=null"], r"judge fake: it has to hear audio, and audio_dir has none"),
    (["judge=transcripts"], r"no value for judge.path: add judge.path=VALUE"),
    (
        ["system=lineup", "system.members=[fak]"],
        r"system.members: no system 'fak' in conf/system; did you mean 'fake'\?",
    ),
    (["system=lineup", "system.members=[fake,fake]"], r"two systems have the id 'fake'"),
    (["system=lineup", "system.members=[{use: fake, _target_: os.system}]"], OURS),
    # Code from outside.
    (["system._target_=os.system"], OURS),
    # Words that are no overrides.
    (["--no-such-flag"], r"unrecognized arguments: --no-such-flag"),
]

TAKEN: list[tuple[list[str], str]] = [
    (["promptset.langs=[Hindi,ta-IN]", "promptset.limit=1"], r"smoke: hi 1, ta 1"),
    (["promptset.name='नमस्ते दुनिया'"], r"नमस्ते दुनिया: en 10"),
    (["system.id='[/bold]'", "judge.fake.id='[red]'", "promptset.name='[x]'"], r"\[/bold\] → \[red\] · \[x\]: en 10"),
]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Ended]]:
    folder = tmp_path_factory.mktemp("command_line")
    commands = [words(folder, *given) for given, _ in REFUSED] + [words(folder, *g, "dry_run=true") for g, _ in TAKEN]
    return folder, run_all(commands)


@pytest.mark.parametrize("place", range(len(REFUSED)), ids=[" ".join(given) for given, _ in REFUSED])
def test_refused(table: tuple[Path, list[Ended]], place: int) -> None:
    ended, message = table[1][place], REFUSED[place][1]
    assert ended.code == ExitCode.USAGE, ended
    assert re.search(message, ended.complaints), ended.complaints
    assert "Traceback" not in ended.complaints
    assert ended.complaints.startswith(("error: ", "usage: "))
    assert len(ended.complaints) < 1500


@pytest.mark.parametrize("place", range(len(TAKEN)), ids=[" ".join(given) for given, _ in TAKEN])
def test_taken(table: tuple[Path, list[Ended]], place: int) -> None:
    ended, said = table[1][len(REFUSED) + place], TAKEN[place][1]
    assert (ended.code, ended.complaints) == (ExitCode.COMPLETE, "")
    assert re.search(said, ended.said), ended.said


def test_nothing_was_made_by_any_of_them(table: tuple[Path, list[Ended]]) -> None:
    assert list(table[0].iterdir()) == []


def process(*given: str, cwd: Path = ROOT, flags: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *flags, str(ROOT / "run.py"), *given],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=cwd,
        env=ENVIRONMENT,
        check=False,
    )


def test_a_process_of_its_own_ends_with_code_2_and_makes_nothing(tmp_path: Path) -> None:
    ended = process(*words(tmp_path, "system=fak"), cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "error: no system called 'fak'; did you mean 'fake'?\n"
    assert list(tmp_path.iterdir()) == []


BAD_FILES: dict[str, tuple[str | bytes, str]] = {
    "missing field": ('{"id":"a","lang":"hi"}\n', r"mine.jsonl:1: no field 'text'"),
    "empty text": (
        '{"id":"a","lang":"hi","text":"x"}\n{"id":"b","lang":"hi","text":" "}\n',
        r"mine.jsonl:2: the text is empty",
    ),
    "duplicate id": ('{"id":"a","lang":"hi","text":"x"}\n' * 2, r"mine.jsonl:2: id 'a' is already used in line 1"),
    "not UTF-8": (b'{"id":"a","lang":"hi","text":"\xe9"}\n', r"mine.jsonl:1: not UTF-8"),
    "unknown language": ('{"id":"a","lang":"xx","text":"x"}\n', r"mine.jsonl:1: unknown language 'xx'"),
}


def test_bad_prompt_files_are_refused_with_line_and_nothing_is_written(tmp_path: Path) -> None:
    commands, paths = [], []
    for name, (content, _) in BAD_FILES.items():
        folder = tmp_path / name.replace(" ", "_")
        folder.mkdir()
        paths.append(folder / "mine.jsonl")
        paths[-1].write_bytes(content.encode() if isinstance(content, str) else content)
        commands.append(words(folder, "promptset=file", f"promptset.path={paths[-1]}"))
    for ended, path, (_, message) in zip(run_all(commands), paths, BAD_FILES.values(), strict=True):
        assert ended.code == ExitCode.USAGE
        assert re.search(message, ended.complaints), ended.complaints
        assert list(path.parent.iterdir()) == [path]


# --- asking costs little

HEAVY = """torch pandas onnxruntime faster_whisper ctranslate2 piper espeakng_loader scipy matplotlib wandb transformers
    nemo jinja2 openpyxl httpx av tokenizers huggingface_hub""".split()


@pytest.mark.parametrize("asked", [["--help"], ["--cfg", "job"]], ids=" ".join)
def test_asking_loads_no_engine(asked: list[str], tmp_path: Path) -> None:
    ended = process(*asked, cwd=tmp_path, flags=["-X", "importtime"])
    assert ended.returncode == 0
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in ended.stderr.splitlines() if "|" in line}
    assert "hydra" in loaded
    assert "kasauti" in loaded
    assert not loaded & set(HEAVY)
    assert list(tmp_path.iterdir()) == []
    if asked == ["--help"]:
        assert max(cell_len(line) for line in ended.stdout.splitlines()) <= 80
        rows = ended.stdout.partition("GROUPS (")[2].partition("\n\n")[0].splitlines()[1:]
        assert all(re.match(r"  [\w ]{10} \w", row) for row in rows), rows
        for group in sorted({path.parent.name for path in CONF.glob("*/*.yaml")}):
            assert re.search(rf"^ *{group}[: ] *\w", ended.stdout, re.MULTILINE)
        for option in ("espeak", "audio_dir", "transcripts", "smoke", "published"):
            assert option in ended.stdout
        for part in ("USAGE", "GROUPS", "KEYS", "EXAMPLES", "EXIT CODES", "dry_run=true", "python -m kasauti"):
            assert part in ended.stdout
    else:
        assert "system:\n  _target_: kasauti.systems.espeak.Espeak\n  id: espeak" in ended.stdout
        assert "name: smoke" in ended.stdout


# --- sweeps


def records(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*/job_*.json"))]


def test_a_sweep_names_the_jobs_that_failed_and_writes_nothing_where_it_was_called(tmp_path: Path) -> None:
    # Cases hydra-01, hydra-02, hydra-06: a job that fails, two jobs with one folder, paths of the caller.
    here = tmp_path / "here"
    here.mkdir()
    ended = process(
        "-m",
        *words(tmp_path, "promptset.ids=[smoke_en_01],[nope],[smoke_hi_01]", "scoring.draws=100"),
        f"hydra.sweep.dir={tmp_path}/sweep",
        "hydra.sweep.subdir=fixed",
        cwd=here,
    )
    assert ended.returncode == ExitCode.USAGE
    assert "promptset.ids: no prompt has 'nope'" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "2 of 3 jobs have results" in ended.stdout
    said = " ".join(ended.stdout.split())
    assert re.search(r"failed: .*nope\S*.*: promptset.ids: no prompt has 'nope'", said)
    first, failed, last = records(tmp_path / "sweep")
    assert [record["exit_code"] for record in (first, failed, last)] == [0, 2, 0]
    assert "nope" in failed["error"]
    folders = {Path(record["folder"]) for record in (first, last)}
    assert len(folders) == 2
    assert all(folder.parent == tmp_path / "runs" and (folder / "per_sample.tsv").is_file() for folder in folders)
    assert list(here.iterdir()) == []


def test_ctrl_c_is_meant_for_the_whole_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "exit_code", ExitCode.INTERRUPTED)
    record = hooks._outcome(None, [])  # type: ignore[arg-type]
    error = "not run: the sweep was interrupted"
    assert record == {"state": "interrupted", "error": error, "exit_code": ExitCode.INTERRUPTED}


@pytest.mark.parametrize(("codes", "worst"), [([0, 1, 0], 1), ([0, 2, 1], 2), ([130, 0, 2], 130), ([0], 0)], ids=str)
def test_the_worst_job_of_a_sweep_counts(monkeypatch: pytest.MonkeyPatch, codes: list[int], worst: int) -> None:
    monkeypatch.setattr(hooks, "exit_code", ExitCode.COMPLETE)
    for code in codes:
        hooks._note(ExitCode(code))
    assert hooks.exit_code == worst


SLOW = """
import os, signal, sys
from kasauti.systems import fake
real = fake.Fake.speak
def speak(self, request):
    if request.prompt.id == "smoke_en_03":
        os.kill(os.getpid(), signal.SIGINT)
    return real(self, request)
fake.Fake.speak = speak
sys.argv = sys.argv[1:]
import runpy
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def test_ctrl_c_finishes_the_row_in_hand_and_the_same_command_goes_on(tmp_path: Path) -> None:
    command = words(tmp_path, "promptset.langs=[en]", "scoring.draws=100")
    broken_off = subprocess.run(
        [sys.executable, "-c", SLOW, str(ROOT / "run.py"), *command],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        check=False,
    )
    assert broken_off.returncode == ExitCode.INTERRUPTED, broken_off.stderr
    assert "Run the same command again" in broken_off.stdout
    made = (tmp_path / "store" / "clips.jsonl").read_text().splitlines()
    assert len(made) == 3
    [ended] = run_all([command])
    assert ended.code == ExitCode.COMPLETE
    assert len((tmp_path / "store" / "clips.jsonl").read_text().splitlines()) == 10
