"""Judges in environments of their own: the server scripts run as real processes, by path, without kasauti.

The packages themselves (fairseq2 and omnilingual-asr, AI4Bharat's NeMo) are not here. A stand-in with their calls is
written by the test and records how it was called; source of the calls: facebookresearch/omnilingual-asr 0.2.0,
AI4Bharat/IndicConformerASR README.md.
"""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from kasauti.errors import JudgeError
from kasauti.identity import file_sha256
from kasauti.judges.ai4bharat_nemo import Ai4BharatNemo, Ai4BharatNemoOptions
from kasauti.judges.base import Answer, Heard, JudgeTask
from kasauti.judges.conformance import How, check
from kasauti.judges.omnilingual import Omnilingual, OmnilingualOptions
from kasauti.judges.servers import line_server
from kasauti.judges.servers.omnilingual import CLIP_LIMIT_S, LANGUAGE_IDS
from kasauti.records import Prompt, Status
from kasauti.text.languages import LANGUAGES

TORCH = """
import sys
sys.stdout.write("torch greets the world\\n")  # libraries do
bfloat16, float32 = "bfloat16", "float32"
class cuda:
    def is_available(): return False
def device(name): return "device " + name
"""

OMNILINGUAL = """
import json, os, sys
class ASRInferencePipeline:
    def __init__(self, model_card, *, device=None, dtype="bfloat16"):
        self.loaded = [model_card, device, dtype]
    def transcribe(self, inp, *, lang=None, batch_size=2):
        print("transcribing", flush=True)
        for path in inp:
            if not os.path.exists(path): raise FileNotFoundError(path)
        said = [" " + json.dumps([*self.loaded, os.path.basename(p), l, batch_size]) for p, l in zip(inp, lang)]
        return TIMES
"""

NEMO = """
import json, os
class Model:
    cur_decoder = None
    def __init__(self, path, map_location): self.loaded = [os.path.basename(path), map_location]
    def eval(self): self.loaded.append("eval")
    def transcribe(self, paths, batch_size, logprobs, language_id):
        [path] = paths
        open(path).close()
        said = json.dumps([*self.loaded, self.cur_decoder, os.path.basename(path), batch_size, logprobs, language_id])
        return [said] if self.cur_decoder == "ctc" else ([said], [[said]])
class ASRModel:
    def restore_from(path, map_location): return Model(path, map_location)
"""


def package(folder: Path, files: dict[str, str], **versions: str) -> None:
    """Writes modules and the metadata of packages into a folder."""
    for name, code in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        for parent in path.relative_to(folder).parents:
            (folder / parent / "__init__.py").touch()
        path.write_text(code, encoding="utf-8")
    (folder / "__init__.py").unlink(missing_ok=True)
    for name, version in versions.items():
        info = folder / f"{name}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")


@pytest.fixture
def omnilingual(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment with a stand-in for `omnilingual-asr`; kasauti can't be found in it."""
    inside = "omnilingual_asr/models/inference/pipeline.py"
    folder = tmp_path / "environment"
    package(folder, {"torch.py": TORCH, inside: OMNILINGUAL.replace("TIMES", "said")}, omnilingual_asr="0.2.0")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    return folder


def clip(folder: Path, name: str, duration_s: float = 1.0) -> Heard:
    path = folder / name
    path.write_bytes(b"RIFF")
    return Heard(path, file_sha256(path), duration_s)


def omni(**options: Any) -> Omnilingual:
    return Omnilingual(OmnilingualOptions(python=sys.executable, **options))


def answers(judge: Omnilingual | Ai4BharatNemo, *tasks: JudgeTask) -> dict[str, Answer]:
    try:
        return {answer.judgment_id: answer for answer in judge.judge(tasks)}
    finally:
        judge.close()


# --- Omnilingual


def test_omnilingual_is_told_the_language_and_answers_in_batches(tmp_path: Path, omnilingual: Path) -> None:
    langs = ["hi", "ur", "ta"]
    tasks = [JudgeTask(lang, lang, 0, (clip(tmp_path, f"नाम {lang}.wav"),)) for lang in langs]
    found = answers(omni(device="cpu", dtype="float32", batch_clips=2), *tasks)
    heard = {lang: json.loads(answer.transcript or "") for lang, answer in found.items()}
    assert heard["hi"] == ["omniASR_LLM_7B_v2", "cpu", "float32", "नाम hi.wav", "hin_Deva", 2]
    assert heard["ur"][-2:] == ["urd_Arab", 2]  # rule 5 of the router: Urdu is asked for by name, in its own script
    assert heard["ta"][-2:] == ["tam_Taml", 1]
    assert found["hi"].raw == f" {found['hi'].transcript}"


def test_omnilingual_gives_times_as_well_in_later_versions(tmp_path: Path, omnilingual: Path) -> None:
    later = omnilingual / "omnilingual_asr/models/inference/pipeline.py"
    later.write_text(OMNILINGUAL.replace("TIMES", "said, [[] for _ in said]"), encoding="utf-8")
    found = answers(omni(), JudgeTask("a", "hi", 0, (clip(tmp_path, "a.wav"),)))
    assert json.loads(found["a"].transcript or "") == ["omniASR_LLM_7B_v2", None, "bfloat16", "a.wav", "hin_Deva", 1]


def test_omnilingual_refuses_long_clips_and_one_bad_clip_costs_no_other(tmp_path: Path, omnilingual: Path) -> None:
    gone = Heard(tmp_path / "gone.wav", "0" * 64, 1.0)
    found = answers(
        omni(batch_clips=4),
        JudgeTask("long", "hi", 0, (clip(tmp_path, "long.wav", CLIP_LIMIT_S),)),
        JudgeTask("most", "hi", 0, (clip(tmp_path, "most.wav", CLIP_LIMIT_S - 0.001),)),
        JudgeTask("gone", "hi", 0, (gone,)),
        JudgeTask("sanskrit", "sa", 0, (clip(tmp_path, "sa.wav"),)),
    )
    ends = {name: (answer.outcome.status, answer.outcome.reason) for name, answer in found.items()}
    assert ends == {
        "long": (Status.JUDGE_FAILED, "too_long"),
        "most": (Status.OK, None),
        "gone": (Status.JUDGE_FAILED, "engine_error"),
        "sanskrit": (Status.UNSUPPORTED_LANGUAGE, "judge"),
    }
    assert found["long"].outcome.error == "the clip lasts 40 s; the model takes less than 40 s"
    assert not found["long"].outcome.retryable


def test_another_version_of_the_package_is_another_judge(omnilingual: Path, tmp_path: Path) -> None:
    task = JudgeTask("a", "hi", 0, (clip(tmp_path, "a.wav"),))
    with pytest.raises(JudgeError, match=r"it says that it is 'omniASR_LLM_7B_v2\+omnilingual-asr-0\.2\.0', but"):
        answers(omni(package="0.1.0"), task)
    assert omni().facts.signature != omni(dtype="float32").facts.signature
    assert omni().facts.signature == omni(device="cpu", batch_clips=1).facts.signature


def test_an_environment_without_the_package_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package(tmp_path / "environment", {"torch.py": TORCH})
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "environment"))
    with pytest.raises(JudgeError, match=r"can't be set up: ModuleNotFoundError: No module named 'omnilingual_asr'"):
        answers(omni(), JudgeTask("a", "hi", 0, (clip(tmp_path, "a.wav"),)))


@pytest.mark.parametrize("model", ["omniASR_CTC_1B_v2", "omniASR_LLM_7B_ZS"])
def test_models_that_can_not_be_told_the_language_are_refused(model: str) -> None:
    with pytest.raises(JudgeError, match=f"model={model}: wanted an LLM model"):
        omni(model=model)


def test_languages_that_omnilingual_can_not_judge_are_left_out() -> None:
    # Source: the publisher's results table (7B LLM): CER 30.9 brx_Deva, 32.2 gom_Deva, 165.8 kas_Arab, 51.1 mni_Beng;
    # its list of language ids has no Sanskrit and no Santali.
    assert {entry.base for entry in LANGUAGES.values()} - set(LANGUAGE_IDS) == {"brx", "kok", "ks", "mni", "sa", "sat"}
    assert omni().facts.languages == frozenset(LANGUAGE_IDS)
    for code, name in LANGUAGE_IDS.items():
        iso, _, script = name.partition("_")
        assert iso in LANGUAGES[code].aliases or iso == code
        assert script == LANGUAGES[code].script


# --- AI4Bharat's fork of NeMo


@pytest.fixture
def fork(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment with a stand-in for the fork, and a checkpoint for it."""
    folder = tmp_path / "environment"
    package(folder, {"torch.py": TORCH, "nemo/collections/asr/models.py": NEMO})
    (folder / "nemo" / "__init__.py").write_text("__version__ = '1.23.0rc0'\n")
    (folder / "nemo/collections/asr/__init__.py").write_text("from nemo.collections.asr import models\n")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    (tmp_path / "hi.nemo").write_bytes(b"weights")
    return tmp_path / "hi.nemo"


def nemo(checkpoint: Path, **options: Any) -> Ai4BharatNemo:
    given = {"python": sys.executable, "langs": ["hi"], **options}
    return Ai4BharatNemo(Ai4BharatNemoOptions(checkpoint=str(checkpoint), **given))


@pytest.mark.parametrize("decoder", ["ctc", "rnnt"])
def test_the_fork_is_called_as_its_publisher_says(tmp_path: Path, fork: Path, decoder: str) -> None:
    found = answers(nemo(fork, decoder=decoder), JudgeTask("a", "hi", 0, (clip(tmp_path, "a.wav"),)))
    heard = json.loads(found["a"].transcript or "")
    assert heard == ["hi.nemo", "device cpu", "eval", decoder, "a.wav", 1, False, "hi"]


def test_another_checkpoint_or_decoder_is_another_judge(fork: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.nemo"
    other.write_bytes(b"others")
    assert nemo(fork).facts.revision == f"nemo@{file_sha256(fork)[:12]}+ai4bharat-nemo-1.23.0rc0"
    assert nemo(fork).facts.revision != nemo(other).facts.revision
    assert nemo(fork).facts.signature != nemo(fork, decoder="ctc").facts.signature
    moved = tmp_path / "moved.nemo"
    moved.write_bytes(b"weights")
    assert nemo(moved).facts == nemo(fork).facts
    with pytest.raises(
        JudgeError, match=r"it says that it is 'nemo@.*1\.23\.0rc0', but judge.revision is 'nemo@.*2\.0'"
    ):
        answers(nemo(fork, package="2.0"), JudgeTask("a", "hi", 0, (clip(tmp_path, "a.wav"),)))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"langs": None}, "langs is empty; say which languages"),
        ({"decoder": "beam"}, "wanted decoder one of ctc, rnnt"),
        ({"device": "tpu"}, "device one of auto, cpu, cuda"),
    ],
)
def test_options_of_the_fork_that_can_not_be_meant(fork: Path, options: dict[str, Any], told: str) -> None:
    with pytest.raises(JudgeError, match=told):
        nemo(fork, **options)
    with pytest.raises(JudgeError, match=r"checkpoint=/no/such.nemo: there is no such file"):
        nemo(Path("/no/such.nemo"))


# --- both


def test_a_missing_interpreter_is_told_before_the_run(fork: Path) -> None:
    prompts = [Prompt("p", "hi", "एक", "Deva")]
    for unset in (Omnilingual(OmnilingualOptions()), nemo(fork, python=None)):
        [finding] = unset.check(prompts)
        assert finding.level == "error"
        assert "judge.python does not say where" in finding.message
        assert "judge.python=" in finding.remedy
    for gone in (Omnilingual(OmnilingualOptions(python="/no/such/python")), nemo(fork, python="/no/such/python")):
        [finding] = gone.check(prompts)
        assert finding.message == "there is no program /no/such/python, or it may not be run."
    assert omni().check(prompts) == nemo(fork).check(prompts) == []


def test_both_keep_the_protocol(omnilingual: Path, fork: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for judge, folder in ((omni(), omnilingual), (nemo(fork), fork.parent / "environment")):
        monkeypatch.setenv("PYTHONPATH", str(folder))
        found = list(check(How(judge._options.command)))
        assert [one.found for one in found if not one.passed] == []


def test_the_line_server_needs_nothing_but_an_old_python() -> None:
    source = Path(line_server.__file__).read_text(encoding="utf-8")
    tree = ast.parse(source, feature_version=(3, 8))
    imported = {
        name
        for node in ast.walk(tree)
        for name in (
            [node.module] if isinstance(node, ast.ImportFrom) else [n.name for n in getattr(node, "names", [])]
        )
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert imported <= sys.stdlib_module_names, imported
