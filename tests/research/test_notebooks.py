"""Every notebook runs, by the interpreter that runs this test, and shows the figures that `make figures` writes.

Homes of Jupyter, IPython and matplotlib lie in a folder of the tests, and so does the kernel: whatever kernels the
user has, or a notebook names, make no difference.
"""

from __future__ import annotations

import base64
import json
import os
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from ipykernel.kernelspec import write_kernel_spec
from nbclient import NotebookClient

from kasauti import __main__ as command_line
from kasauti.cli.keep import keep
from kasauti.paths import ROOT
from panel_tables import write_panel
from runs import prompt_file, run_here

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
KERNEL = "python3"

# Jupyter's own loop on Windows, and sockets that its client closes a moment after us.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning:jupyter_client")


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A home without anything in it but the kernel of this interpreter."""
    folder = tmp_path_factory.mktemp("home")
    write_kernel_spec(folder / "data" / "kernels" / KERNEL)
    places = {name: str(folder / name.lower()) for name in ("HOME", "IPYTHONDIR", "JUPYTER_CONFIG_DIR")}
    places |= {"JUPYTER_DATA_DIR": str(folder / "data"), "JUPYTER_RUNTIME_DIR": str(folder / "runtime")}
    places |= {"JUPYTER_PATH": str(folder / "data"), "JUPYTER_PLATFORM_DIRS": "1", "PYTHONPATH": str(ROOT / "src")}
    places |= {"PYTHONNOUSERSITE": "1"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in places.items():
            patch.setenv(name, value)
        yield folder


@pytest.fixture(scope="module")
def studies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of results: a sweep of a voice that varies over two languages, and a panel."""
    root = tmp_path_factory.mktemp("studies")
    prompt_file(root, [(f"p{n}", "en" if n % 2 else "hi", f"the train number {n} leaves at seven") for n in range(12)])
    for rate in (0.05, 0.5):
        run_here(root, f"system.slip_rate={rate}", "system.stochastic=true", "repeats=2", "study=sweep")
    keep(["sweep"], "sweep", root / "runs", root / "results")
    write_panel(root / "panel")
    (root / "panel" / "study.json").write_text("{}", encoding="utf-8")
    keep([str(root / "panel")], "panel", root / "runs", root / "results")
    return root / "results"


def parameters(notebook: Any) -> dict[str, Any]:
    """What the first cell sets."""
    values: dict[str, Any] = {}
    exec(notebook.cells[0].source, values)
    return values


def execute(notebook: Any, folder: Path) -> Any:
    """Runs a notebook in a folder; its own kernel name is not asked."""
    client = NotebookClient(notebook, timeout=300, kernel_name=KERNEL, resources={"metadata": {"path": str(folder)}})
    return client.execute()


def with_parameters(notebook: Any, **values: Any) -> Any:
    cell = nbformat.v4.new_code_cell("\n".join(f"{name} = {value!r}" for name, value in values.items()))
    notebook.cells.insert(1, cell)
    return notebook


def pictures(notebook: Any) -> list[bytes]:
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert [output for output in outputs if output.output_type == "error"] == []
    shown = [output.data["image/png"] for output in outputs if "image/png" in output.get("data", {})]
    return [base64.b64decode(picture) for picture in shown]


def study_of(path: Path, studies: Path) -> Path:
    """The study that a notebook names if it is among the committed results, else one of this test."""
    committed = ROOT / "results" / parameters(nbformat.read(path, as_version=4))["STUDY"]
    return committed if committed.is_dir() else studies / ("panel" if "panel" in path.stem else "sweep")


def test_there_are_five() -> None:
    assert [path.stem for path in NOTEBOOKS] == (
        "01_leaderboard 02_noise_floors 03_decoding_sweep 04_judges 05_expression_panel".split()
    )


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_whole_and_thin(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert isinstance(parameters(notebook)["STUDY"], str)
    for cell in notebook.cells:
        assert len(cell.source.splitlines()) <= 40
        assert not cell.get("outputs")
        assert not cell.get("execution_count")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_shows_what_make_figures_writes(path: Path, studies: Path, tmp_path: Path) -> None:
    study = study_of(path, studies)
    out = tmp_path / "by_notebook"
    notebook = with_parameters(nbformat.read(path, as_version=4), STUDY=str(study), OUT=str(out))
    shown = pictures(execute(notebook, tmp_path))
    assert command_line.main(["figures", str(study), "--out", str(tmp_path / "by_command")]) == 0
    drawn = {each.name: each.read_bytes() for each in (tmp_path / "by_command" / study.name).iterdir()}
    written = {each.name: each.read_bytes() for each in out.iterdir() if each.suffix != ".md"}
    assert shown
    assert {name: drawn[name] for name in written} == written
    assert sorted(shown) == sorted(content for name, content in written.items() if name.endswith(".png"))


def test_cells_are_run_by_the_interpreter_under_test(tmp_path: Path, home: Path) -> None:
    told = "[sys.prefix, sys.executable, kasauti.__file__, os.getcwd(), os.environ['HOME']]"
    said = f"import json, os, sys, kasauti\nprint(json.dumps({told}))"
    notebook = execute(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(said)]), tmp_path)
    prefix, executable, package, folder, at_home = json.loads(notebook.cells[0].outputs[0].text)
    assert (prefix, executable) == (sys.prefix, sys.executable)
    assert Path(package).is_relative_to(ROOT)
    assert (folder, at_home) == (str(tmp_path), os.environ["HOME"])
    assert Path(at_home).is_relative_to(home)


def test_notebook_that_names_a_missing_kernel_runs(tmp_path: Path) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("print(6 * 7)")])
    notebook.metadata["kernelspec"] = {"name": "py39_new", "display_name": "My kernel", "language": "python"}
    assert execute(notebook, tmp_path).cells[0].outputs[0].text == "42\n"


def test_error_in_a_cell_fails(tmp_path: Path, studies: Path) -> None:
    from nbclient.exceptions import CellExecutionError

    notebook = nbformat.read(NOTEBOOKS[0], as_version=4)
    with pytest.raises(CellExecutionError, match="no study 'nothing'"):
        execute(with_parameters(notebook, STUDY="nothing"), tmp_path)
