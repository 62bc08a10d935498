"""Whisper as it is installed: the text of the engine's own loop, faster, and one bad clip costs one clip."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kasauti import audio, paths, weights
from kasauti.errors import JudgeError
from kasauti.judges.base import Answer, Heard, JudgeTask
from kasauti.judges.whisper import LANGUAGES, Whisper, WhisperOptions
from kasauti.judges.whisper_decoding import RATE_HZ, token_cap
from kasauti.records import Prompt, Status
from kasauti.systems import espeak_client
from processes import ENVIRONMENT, output

pytestmark = pytest.mark.local
pytest.importorskip("faster_whisper")

SENTENCES = {
    "en-1": ("en", "The rain stopped early this morning, so we walked to the market."),
    "hi-1": ("hi", "मेरा नाम अनुपम है और मैं दिल्ली में रहता हूँ।"),
}


@pytest.fixture(scope="module")
def whisper() -> Iterator[Whisper]:
    judge = Whisper(WhisperOptions())
    yield judge
    judge.close()


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> list[JudgeTask]:
    folder = tmp_path_factory.mktemp("clips")
    made = []
    for name, (lang, text) in SENTENCES.items():
        samples, rate_hz = espeak_client.samples_of(text, espeak_client.VOICES[lang], 160, 50)
        audio.write_wav(folder / f"{name}.wav", samples, rate_hz)
        made.append(task(folder / f"{name}.wav", lang, name))
    return made


def task(path: Path, lang: str = "en", name: str = "t") -> JudgeTask:
    return JudgeTask(name, lang, 0, (Heard(path, "0" * 64, 1.0),))


def answers(judge: Whisper, tasks: list[JudgeTask]) -> dict[str, Answer]:
    return {answer.judgment_id: answer for answer in judge.judge(tasks)}


@pytest.fixture(scope="module")
def heard(whisper: Whisper, tasks: list[JudgeTask]) -> dict[str, Answer]:
    return answers(whisper, tasks)


def loop(judge: Whisper, task: JudgeTask) -> str:
    """The oracle: the engine's own `transcribe`, one file after the other."""
    sound = audio.read_audio(task.clips[0].path)
    samples = audio.resample(audio.mono(sound), sound.rate_hz, RATE_HZ)
    segments, _ = judge._model.transcribe(
        samples,
        language=task.lang,
        beam_size=5,
        temperature=[0.0],
        condition_on_previous_text=False,
        without_timestamps=True,
        no_speech_threshold=None,
        log_prob_threshold=None,
        compression_ratio_threshold=None,
    )
    return "".join(segment.text for segment in segments).strip()


def test_texts_are_those_of_a_plain_loop_over_the_engine(
    whisper: Whisper, tasks: list[JudgeTask], heard: dict[str, Answer]
) -> None:
    assert {name: answer.transcript for name, answer in heard.items()} == {
        task.judgment_id: loop(whisper, task) for task in tasks
    }
    assert "walked to the market" in (heard["en-1"].transcript or "")
    assert all(answer.outcome.status is Status.OK for answer in heard.values())


def test_the_number_of_workers_changes_no_answer_and_no_identity(
    whisper: Whisper, tasks: list[JudgeTask], heard: dict[str, Answer]
) -> None:
    alone = Whisper(WhisperOptions(workers=1))
    assert alone.facts == whisper.facts
    (answer,) = alone.judge(tasks[:1])
    assert answer.transcript == heard["en-1"].transcript


def test_facts_for_gates_are_kept(heard: dict[str, Answer]) -> None:
    facts = heard["en-1"].outcome.facts
    assert facts["windows"] == 1
    assert facts["at_token_cap"] is False
    assert 5 < facts["tokens"] < facts["token_cap"] < 448
    assert -1 < facts["avg_logprob"] < 0
    assert 0 <= facts["no_speech_prob"] < 0.5
    assert 0.5 < facts["compression_ratio"] < 1.5


def test_a_bad_clip_costs_one_clip(
    whisper: Whisper, tasks: list[JudgeTask], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "page.wav").write_bytes(b"<!doctype html><title>502</title>" * 10)
    (tmp_path / "empty.wav").write_bytes(b"")
    (tmp_path / "heavy.wav").write_bytes(tasks[0].clips[0].path.read_bytes())
    bad = [task(tmp_path / f"{name}.wav", name=name) for name in ("page", "empty", "gone", "heavy")]
    features = whisper._model.feature_extractor

    def throw_once(samples: Any) -> Any:
        monkeypatch.setattr(whisper._model, "feature_extractor", features)
        raise RuntimeError("no memory left")

    monkeypatch.setattr(whisper._model, "feature_extractor", throw_once)
    outcomes = {name: answer.outcome for name, answer in answers(whisper, bad).items()}
    assert {name: (outcome.status, outcome.reason, outcome.retryable) for name, outcome in outcomes.items()} == {
        "page": (Status.JUDGE_FAILED, "unreadable", False),
        "empty": (Status.JUDGE_FAILED, "empty_file", False),
        "gone": (Status.JUDGE_FAILED, "unreadable", False),
        "heavy": (Status.JUDGE_FAILED, "engine_error", True),
    }
    assert outcomes["heavy"].error == "RuntimeError: no memory left"


def test_stopping_early_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = Whisper(WhisperOptions())
    monkeypatch.setattr(judge, "_load", lambda: None)
    monkeypatch.setattr(judge, "answer", lambda task: Answer(task.judgment_id))
    taken: list[str] = []

    def endless() -> Iterator[JudgeTask]:
        while True:
            taken.append("task")
            yield task(Path("clip.wav"))

    stream = judge.judge(endless())
    next(stream)
    stream.close()  # type: ignore[attr-defined]  # it is a generator
    assert len(taken) <= 4, "no more than two tasks for each worker are taken ahead"


@pytest.mark.parametrize("content", ["zeros", "stereo 48 kHz", "one sample", "beyond one window"])
def test_any_sound_gets_an_answer(whisper: Whisper, tasks: list[JudgeTask], tmp_path: Path, content: str) -> None:
    speech = audio.read_audio(tasks[0].clips[0].path)
    made = {
        "zeros": (np.zeros(16_000, np.float32), 16_000),
        "stereo 48 kHz": (np.repeat(audio.resample(audio.mono(speech), speech.rate_hz, 48_000)[:, None], 2, 1), 48_000),
        "one sample": (np.full(1, 0.5, np.float32), 16_000),
        "beyond one window": (
            np.tile(audio.mono(speech), 1 + 31 * speech.rate_hz // len(speech.samples)),
            speech.rate_hz,
        ),
    }
    samples, rate_hz = made[content]
    audio.write_wav(tmp_path / "clip.wav", samples, rate_hz)
    (answer,) = whisper.judge([task(tmp_path / "clip.wav")])
    assert answer.outcome.status is Status.OK
    assert answer.transcript is not None
    if content == "stereo 48 kHz":
        assert "walked to the market" in answer.transcript
    if content == "beyond one window":
        assert answer.outcome.facts["windows"] == 2


def test_a_cap_ends_a_transcript_and_is_said(tasks: list[JudgeTask], heard: dict[str, Answer]) -> None:
    tight = Whisper(WhisperOptions(max_tokens_per_second=1.0))
    (answer,) = tight.judge(tasks[1:])
    cap = answer.outcome.facts["token_cap"]
    assert 24 < cap < heard["hi-1"].outcome.facts["tokens"]
    assert answer.outcome.facts["tokens"] == cap
    assert answer.outcome.facts["at_token_cap"] is True


@pytest.mark.parametrize(
    ("seconds", "rate", "cap"),
    [
        (0.0, 60.0, 24),
        (2.0, 60.0, 24 + 120),
        (2.001, 60.0, 24 + 121),
        (30.0, 60.0, 448 - 4),
        (30.0, 10.0, 324),
    ],
)
def test_the_cap_follows_its_formula(seconds: float, rate: float, cap: int) -> None:
    assert token_cap(seconds, rate, prompt_tokens=4) == cap


def test_a_shorter_window_is_another_judge(whisper: Whisper, tasks: list[JudgeTask]) -> None:
    short = Whisper(WhisperOptions(window_s=10))
    assert short.facts.settings != whisper.facts.settings
    (answer,) = short.judge(tasks[:1])
    assert "market" in (answer.transcript or "")


def test_languages() -> None:
    assert len(LANGUAGES - {"en"}) == 14
    judge = Whisper(WhisperOptions())
    for lang in ("or", "ks-Deva", "sd-Deva", "kok", "mni-Mtei"):
        outcome = judge.refuse(Prompt("p", lang, "x", "Zyyy"))
        assert outcome is not None
        assert outcome.status is Status.UNSUPPORTED_LANGUAGE


def test_revision_names_the_weights_and_the_engine() -> None:
    revision = Whisper(WhisperOptions()).facts.revision
    assert revision == f"whisper-base@{weights.revision('whisper-base')}+faster-whisper"


def test_a_folder_is_a_model_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    for path in weights.locate("whisper-base").folder.iterdir():
        (folder / path.name).symlink_to(path)
    by_path = Whisper(WhisperOptions(model=str(folder)))
    assert by_path.check([]) == []
    revision = by_path.facts.revision
    assert revision.startswith("whisper@")
    (finding,) = Whisper(WhisperOptions(model=str(tmp_path / "nothing"))).check([])
    assert finding.level == "error"
    assert "base" in finding.remedy
    # Only what is read counts: neither the folder's name nor what lies beside the model.
    (folder / "README.md").write_text("x")
    folder.rename(tmp_path / "renamed")
    monkeypatch.chdir(tmp_path)
    assert Whisper(WhisperOptions(model="renamed")).facts.revision == revision
    monkeypatch.chdir("/")
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    assert Whisper(WhisperOptions(model="renamed")).facts.revision == revision
    (tmp_path / "renamed" / "tokenizer.json").unlink()
    assert Whisper(WhisperOptions(model="renamed")).facts.revision != revision


def test_features_do_not_depend_on_the_threads_that_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """An actor of a cluster gets one, a program of its own all: another order of sums once made another name."""
    code = (
        "import hashlib\n"
        "import numpy as np\n"
        "from kasauti.judges.whisper import Whisper, WhisperOptions\n"
        "judge = Whisper(WhisperOptions())\n"
        "judge._load()\n"
        "noise = np.random.default_rng(0).normal(0, 0.1, 37_000).astype(np.float32)\n"
        "print(hashlib.sha256(judge._model.feature_extractor(noise).tobytes()).hexdigest())\n"
    )
    found = set()
    for threads in ("1", "2"):
        monkeypatch.setitem(ENVIRONMENT, "OPENBLAS_NUM_THREADS", threads)
        found.add(output(code))
    assert len(found) == 1


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    folder = tmp_path / "copy"
    folder.mkdir()
    for path in weights.locate("whisper-base").folder.iterdir():
        (folder / path.name).symlink_to(path)
    return folder


def test_a_model_that_can_not_be_loaded_stops_the_run(copy: Path) -> None:
    (copy / "model.bin").unlink()
    (copy / "model.bin").write_bytes(b"\x07\0\0\0 of a version that is not known here")
    judge = Whisper(WhisperOptions(model=str(copy)))
    assert judge.check([]) == []
    with pytest.raises(JudgeError, match="can't be loaded"):
        next(iter(judge.judge([])), None)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("model.bin", None, "no such folder with model.bin"),
        ("model.bin", "not a model", r"model\.bin: not all of it is there, or it is no file of CTranslate2"),
        ("config.json", None, "no such folder with config.json"),
        ("config.json", "{", r"config\.json can't be read as JSON"),
        # The engine would fetch another model's from a hub.
        ("tokenizer.json", None, "no such folder with tokenizer.json"),
        ("tokenizer.json", '{"model": {"vocab": {"a"', r"tokenizer\.json can't be read as JSON"),
        ("tokenizer.json", '{"model": {"vocab": {}}, "added_tokens": []}', "wanted a multilingual Whisper"),
    ],
)
def test_what_a_conversion_lacks_is_said_before_the_run(copy: Path, name: str, content: str | None, said: str) -> None:
    (copy / name).unlink()
    if content is not None:
        (copy / name).write_text(content)
    judge = Whisper(WhisperOptions(model=str(copy)))
    try:
        (finding,) = judge.check([])
        told = finding.message
    except JudgeError as error:
        told = str(error)
    assert re.search(said, told), told
    with pytest.raises(JudgeError, match=said):
        next(iter(judge.judge([])), None)


@pytest.mark.parametrize("size", [3, 20, 1_000_000, -1])
def test_a_conversion_that_was_copied_in_part_is_said_before_the_run(copy: Path, size: int) -> None:
    content = (copy / "model.bin").read_bytes()[:size]
    (copy / "model.bin").unlink()
    (copy / "model.bin").write_bytes(content)
    (finding,) = Whisper(WhisperOptions(model=str(copy))).check([])
    assert "model.bin: not all of it is there" in finding.message


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it has another name, and is not looked for")
@pytest.mark.parametrize(("library", "found"), [("libc.so.6", True), ("libno_such_library.so.12", False)])
def test_a_library_of_cuda_that_is_not_there_is_said_before_the_run(
    library: str, found: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine itself says it of every clip, at the first one."""
    import ctranslate2

    monkeypatch.setattr(ctranslate2, "get_cuda_device_count", lambda: 1)
    monkeypatch.setattr(ctranslate2, "get_supported_compute_types", lambda device: {"int8"})
    monkeypatch.setattr("kasauti.judges.whisper_preflight._CUBLAS", library)
    told = [(finding.level, finding.message) for finding in Whisper(WhisperOptions(device="cuda")).check([])]
    why = f"device=cuda: CTranslate2 needs {library}, which is not found; the run would end there."
    assert told == ([] if found else [("warning", why)])


def test_an_engine_that_can_not_encode_on_a_gpu_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    import faster_whisper

    class Engine(faster_whisper.WhisperModel):  # type: ignore[misc]
        def __init__(self, folder: str, device: str, **options: Any) -> None:
            super().__init__(folder, device="cpu", **options)

        def encode(self, features: Any) -> Any:
            assert features.shape == (80, 3000)
            raise RuntimeError("Library libcublas.so.12 is not found or cannot be loaded")

    monkeypatch.setattr(faster_whisper, "WhisperModel", Engine)
    judge = Whisper(WhisperOptions(device="cuda"))
    for _ in range(2):  # the second time too: nothing half set up is kept
        with pytest.raises(JudgeError, match=r"can't be loaded: Library libcublas\.so\.12 is not found"):
            next(iter(judge.judge([])), None)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"device": "tpu"}, "device=tpu: wanted one of auto, cpu, cuda"),
        ({"device": "cuda"}, "device=cuda: CTranslate2 sees no GPU here"),
        ({"compute_type": "float16"}, "compute_type=float16: wanted one that this device has: default, "),
        ({"compute_type": "float32"}, None),
    ],
)
def test_what_the_engine_can_not_do_here_is_said_before_the_run(
    options: dict[str, Any], said: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    import ctranslate2

    monkeypatch.setattr(ctranslate2, "get_cuda_device_count", lambda: 0)
    monkeypatch.setattr(ctranslate2, "get_supported_compute_types", lambda device: {"int8", "float32"})
    found = Whisper(WhisperOptions(**options)).check([])
    assert [finding.level for finding in found] == ["error"] * (said is not None)
    assert all(str(said) in finding.message for finding in found)


@pytest.mark.parametrize("options", [{"window_s": 31}, {"window_s": 0}, {"beam_size": 0}, {"workers": 0}])
def test_impossible_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(JudgeError, match="wanted"):
        Whisper(WhisperOptions(**options))
