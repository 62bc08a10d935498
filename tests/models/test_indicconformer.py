"""IndicConformer on a small random checkpoint of the published layout, against a slow class in its publisher's way."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

from audio_files import tone
from indicconformer_checkpoint import LANGUAGES, write_checkpoint
from kasauti import audio
from kasauti.checkpoints import CheckpointError
from kasauti.errors import JudgeError
from kasauti.judges import indicconformer_graphs
from kasauti.judges.base import Answer, Heard, JudgeTask
from kasauti.judges.indicconformer import IndicConformer, IndicConformerOptions
from kasauti.judges.indicconformer_files import languages_of
from kasauti.model_files import outside_weights
from kasauti.records import Prompt, Status

RATE_HZ = 16_000
PUBLISHER = Path(__file__).parents[1] / "indicconformer_publisher.py"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint with the publisher's class in it."""
    made = write_checkpoint(tmp_path_factory.mktemp("indicconformer"), scripts={"mni": "Mtei"})
    shutil.copy(PUBLISHER, made / "model_onnx.py")
    config = json.loads((made / "config.json").read_text())
    config["auto_map"] = {"AutoConfig": "model_onnx.Config", "AutoModel": "model_onnx.Model"}
    (made / "config.json").write_text(json.dumps(config))
    return made


@pytest.fixture
def broken(folder: Path, tmp_path: Path) -> Path:
    """A copy to spoil."""
    return Path(shutil.copytree(folder, tmp_path / "broken"))


def babble(seconds: float, seed: int, rate_hz: int = RATE_HZ) -> Any:
    """Noise that swells, sinks and changes its colour a few times a second: what a random model writes changes too."""
    draw = np.random.default_rng(seed)
    times = np.arange(round(seconds * rate_hz)) / rate_hz
    pitch = 300 + 200 * np.sin(2 * np.pi * 1.3 * times + seed)
    voice = np.sin(2 * np.pi * np.cumsum(pitch) / rate_hz) + 0.3 * draw.standard_normal(times.size)
    return (0.2 * voice * (0.55 + 0.45 * np.sin(2 * np.pi * 2.1 * times))).astype(np.float32)


CLIPS = [("hi", 2.0), ("ta", 3.1), ("sd", 0.7), ("hi", 1.3), ("bn", 5.5), ("sat", 0.05), ("hi", 3.1), ("ur", 16.0)]


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> list[JudgeTask]:
    clips = tmp_path_factory.mktemp("clips")
    for number, (_, seconds) in enumerate(CLIPS):
        audio.write_wav(clips / f"{number}.wav", babble(seconds, number), RATE_HZ)
    return [task(clips / f"{number}.wav", lang, str(number)) for number, (lang, _) in enumerate(CLIPS)]


def task(path: Path, lang: str = "hi", name: str = "t") -> JudgeTask:
    return JudgeTask(name, lang, 0, (Heard(path, "0" * 64, 1.0),))


def judge_of(folder: Path, **options: Any) -> IndicConformer:
    return IndicConformer(IndicConformerOptions(model=str(folder), **{"device": "cpu", "threads": 1, **options}))


def answers(judge: IndicConformer, tasks: list[JudgeTask]) -> dict[str, Answer]:
    return {answer.judgment_id: answer for answer in judge.judge(tasks)}


def texts(judge: IndicConformer, tasks: list[JudgeTask]) -> dict[str, str | None]:
    found = answers(judge, tasks)
    assert {answer.outcome.status for answer in found.values()} == {Status.OK}
    return {name: answer.transcript for name, answer in found.items()}


@pytest.fixture(scope="module", params=["ctc", "rnnt"])
def decoder(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def slow(folder: Path, tasks: list[JudgeTask], decoder: str) -> dict[str, str | None]:
    """What the publisher's class writes, one clip at a time."""
    return texts(judge_of(folder, decoder=decoder, backend="remote_code"), tasks)


# --- the same text


def test_in_batches_it_writes_what_the_publishers_class_writes_clip_by_clip(
    folder: Path, tasks: list[JudgeTask], slow: dict[str, str | None], decoder: str
) -> None:
    found = texts(judge_of(folder, decoder=decoder), tasks)
    assert found == slow
    assert len({text for text in found.values() if text}) == len(CLIPS)  # a model that writes one thing shows nothing


@pytest.mark.parametrize("batch_clips", [1, 2, 3, 64])
def test_the_batch_does_not_change_the_text(
    folder: Path, tasks: list[JudgeTask], slow: dict[str, str | None], decoder: str, batch_clips: int
) -> None:
    assert texts(judge_of(folder, decoder=decoder, batch_clips=batch_clips), tasks[::-1]) == slow


def test_features_in_numpy_give_the_same_text(
    folder: Path, tasks: list[JudgeTask], slow: dict[str, str | None], decoder: str
) -> None:
    assert texts(judge_of(folder, decoder=decoder, features="numpy"), tasks) == slow


def test_a_prediction_network_for_many_rows_writes_the_same(
    folder: Path, tasks: list[JudgeTask], tmp_path: Path
) -> None:
    many = write_checkpoint(tmp_path, one_state=False, scripts={"mni": "Mtei"})
    one, other = (judge_of(place, decoder="rnnt") for place in (folder, many))
    assert texts(one, tasks) == texts(other, tasks)
    shapes = [judge._engine._decoder._row_by_row for judge in (one, other)]
    assert shapes == [True, False]


@pytest.mark.parametrize(("rows", "begins"), [(5633, 5632), (257, 256)])
def test_a_transducer_begins_with_the_blank_of_all_that_its_prediction_network_knows(
    tasks: list[JudgeTask], tmp_path: Path, rows: int, begins: int
) -> None:
    """Whatever `config.json` says, which the publisher's class does not read."""
    made = write_checkpoint(tmp_path, embedded=rows)
    (made / "config.json").write_text('{"SOS": 7}')
    judge = judge_of(made, decoder="rnnt")
    assert texts(judge, tasks[:1])["0"]
    assert judge._engine._decoder.start_piece == begins


def test_a_prediction_network_that_has_no_blank_is_refused(tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match="takes neither 5632 nor 256 as the piece that decoding begins with"):
        judge_of(write_checkpoint(tmp_path, embedded=256), decoder="rnnt").load()


def test_an_encoder_that_hears_padding_is_given_one_clip_at_a_time(tasks: list[JudgeTask], tmp_path: Path) -> None:
    leaky = write_checkpoint(tmp_path, masked=False)
    found = {size: judge_of(leaky, batch_clips=size) for size in (1, 8)}
    assert texts(found[1], tasks) == texts(found[8], tasks)
    assert found[8]._engine.alone


def test_an_encoder_that_masks_padding_is_given_batches(folder: Path) -> None:
    judge = judge_of(folder)
    judge.load()
    assert not judge._engine.alone


# --- facts and identity


def test_what_is_kept_beside_the_text(folder: Path, tasks: list[JudgeTask], decoder: str) -> None:
    found = answers(judge_of(folder, decoder=decoder), tasks)
    facts = {name: answer.outcome.facts for name, answer in found.items()}
    assert {kept["decoder"] for kept in facts.values()} == {decoder}
    assert [facts[str(number)]["chunks"] for number in range(len(CLIPS))] == [1] * 7 + [2]
    assert all(-10 < kept["mean_logprob"] < 0 for kept in facts.values())
    assert all(answer.raw == answer.transcript for answer in found.values())


def test_pieces_of_a_long_clip_are_heard_as_clips_of_their_own(folder: Path, tmp_path: Path, decoder: str) -> None:
    from kasauti.judges.indicconformer_chunks import pieces

    long = np.concatenate([babble(8, 1), np.zeros(800, np.float32), babble(8.5, 2)])
    audio.write_wav(tmp_path / "long.wav", long, RATE_HZ)
    stored = audio.mono(audio.read_audio(tmp_path / "long.wav"))
    parts = pieces(stored, RATE_HZ, 9.0)
    assert len(parts) == 2
    for number, part in enumerate(parts):
        audio.write_wav(tmp_path / f"{number}.wav", part, RATE_HZ)
    judge = judge_of(folder, decoder=decoder, chunk_s=9.0)
    alone = texts(judge, [task(tmp_path / f"{number}.wav", name=str(number)) for number in range(2)])
    assert texts(judge, [task(tmp_path / "long.wav")]) == {"t": f"{alone['0']} {alone['1']}"}


SAME = {"device": "auto", "threads": 2, "batch_clips": 3, "id": "mine"}
OTHERS = [{"decoder": "rnnt"}, {"backend": "remote_code"}, {"features": "numpy"}, {"chunk_s": 10.0}, {"chunk_s": None}]


@pytest.mark.parametrize("options", [*({name: value} for name, value in SAME.items()), *OTHERS], ids=str)
def test_what_changes_answers_is_part_of_the_name_and_nothing_else(folder: Path, options: dict[str, Any]) -> None:
    same = judge_of(folder, **options).facts.signature == judge_of(folder).facts.signature
    assert same is (set(options) <= set(SAME))


def test_a_checkpoint_is_the_same_wherever_it_lies_and_another_when_a_weight_changes(
    folder: Path, broken: Path
) -> None:
    before = judge_of(broken).facts.revision
    assert before == judge_of(folder).facts.revision
    weight = next((broken / "assets").glob("layers.0.*"))
    weight.write_bytes(weight.read_bytes()[::-1])
    assert judge_of(broken).facts.revision != before


# --- languages


@pytest.mark.parametrize(
    ("lang", "judged"),
    [*((lang, True) for lang in LANGUAGES), ("en", False), ("ks-Deva", False), ("sd-Deva", False), ("mni-Mtei", True)],
)
def test_languages(folder: Path, lang: str, judged: bool) -> None:
    outcome = judge_of(folder).refuse(Prompt("p", lang, "x", "Latn"))
    assert (outcome is None) is judged
    assert judged or (outcome is not None and outcome.status is Status.UNSUPPORTED_LANGUAGE)


def test_a_code_with_a_script_is_heard_with_the_languages_own_vocabulary(folder: Path, tasks: list[JudgeTask]) -> None:
    path = tasks[0].clips[0].path
    judge = judge_of(folder)
    found = texts(judge, [task(path, "mni", "plain"), task(path, "mni-Mtei", "with script")])
    assert found["plain"] == found["with script"]
    assert found["plain"]
    assert all("ꯀ" <= letter <= "ꯪ" for letter in found["plain"].replace(" ", ""))


def test_a_language_that_is_written_in_another_script_is_told_before_the_run(folder: Path) -> None:
    prompts = [Prompt(lang, lang, "x", "Beng") for lang in ("mni", "mni-Mtei", "hi", "en")]
    [finding] = judge_of(folder).check(prompts)
    assert (finding.level, finding.subject) == ("warning", "judge indicconformer")
    assert "it writes mni in Mtei" in finding.message


def test_a_model_that_is_not_here_is_taken_at_its_published_languages() -> None:
    judge = IndicConformer(IndicConformerOptions())
    assert judge.facts.languages == languages_of(dict.fromkeys(LANGUAGES))
    assert judge.facts.revision == "ai4bharat/indic-conformer-600m-multilingual@e9b71b369c04+onnx"


# --- clips


def test_odd_clips_get_a_named_status_or_a_text_and_cost_no_other(folder: Path, tmp_path: Path) -> None:
    good = babble(1.0, 3)
    stereo = np.stack([good, good], axis=1)
    audio.write_wav(tmp_path / "good.wav", good, RATE_HZ)
    write(tmp_path / "stereo.wav", stereo, RATE_HZ)
    audio.write_wav(tmp_path / "8khz.wav", babble(1.0, 4, 8000), 8000)
    audio.write_wav(tmp_path / "44khz.wav", babble(1.0, 4, 44_100), 44_100)
    audio.write_wav(tmp_path / "minutes.wav", babble(180.0, 5), RATE_HZ)
    audio.write_wav(tmp_path / "one.wav", good[:1], RATE_HZ)
    audio.write_wav(tmp_path / "frame.wav", good[:159], RATE_HZ)
    audio.write_wav(tmp_path / "least.wav", good[:257], RATE_HZ)
    audio.write_wav(tmp_path / "tone.wav", tone(1.0, 0.5, RATE_HZ), RATE_HZ)
    audio.write_wav(tmp_path / "silence.wav", np.zeros(16_000, np.float32), RATE_HZ)
    write(tmp_path / "nan.wav", np.where(np.arange(16_000) == 5, np.nan, good), RATE_HZ, "FLOAT")
    (tmp_path / "empty.wav").write_bytes(b"")
    (tmp_path / "page.wav").write_bytes(b"<html></html>")
    found = answers(judge_of(folder), [task(path, "hi", path.stem) for path in sorted(tmp_path.glob("*.wav"))])
    ended = {name: answer.outcome.reason for name, answer in found.items()}
    assert ended == {
        "good": None, "stereo": None, "8khz": None, "44khz": None, "minutes": None, "least": None, "tone": None,
        "silence": None, "one": "too_short", "frame": "too_short", "nan": "not_a_number", "empty": "empty_file",
        "page": "unreadable",
    }  # fmt: skip
    assert all((answer.transcript is None) is (ended[name] is not None) for name, answer in found.items())
    assert found["stereo"].transcript == found["good"].transcript
    assert found["minutes"].outcome.facts["chunks"] >= 12


def write(path: Path, samples: Any, rate_hz: int, subtype: str = "PCM_16") -> None:
    import soundfile

    soundfile.write(path, samples, rate_hz, subtype=subtype)


def test_memory_that_ends_halves_the_batch_and_changes_no_text(
    folder: Path, tasks: list[JudgeTask], monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = judge_of(folder, batch_clips=8)
    judge.load()
    hear = judge._engine.hear

    def full(clips: Any, spoken: Any) -> Any:
        if len(clips) > 2:
            raise RuntimeError("BFCArena::AllocateRawInternal Failed to allocate memory for requested buffer")
        return hear(clips, spoken)

    monkeypatch.setattr(judge._engine, "hear", full)
    assert texts(judge, tasks) == texts(judge_of(folder), tasks)
    assert judge.batch_clips == 2


def test_scores_that_are_no_numbers_are_no_transcript(
    folder: Path, tasks: list[JudgeTask], decoder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = judge_of(folder, decoder=decoder)
    judge.load()
    encode = judge._engine._encode

    def spoilt(features: Any) -> Any:
        outputs, lengths = encode(features)
        return np.where(np.arange(outputs.shape[2]) == 2, np.nan, outputs).astype(np.float32), lengths

    monkeypatch.setattr(judge._engine, "_encode", spoilt)
    found = answers(judge, tasks[:2]).values()
    assert {(one.outcome.status, one.outcome.reason, one.transcript) for one in found} == {
        (Status.JUDGE_FAILED, "not_a_number", None)
    }


# --- what is wrong with a checkpoint, a machine or an option


def drop(*names: str) -> Any:
    def change(folder: Path) -> None:
        for name in names:
            (folder / name).unlink()

    return change


def test_a_weight_that_is_missing_is_named_before_anything_is_made(broken: Path) -> None:
    drop("assets/layers.0.linear_q.weight", "assets/pre_encode.conv.weight")(broken)
    [finding] = judge_of(broken).check([])
    assert finding.level == "error"
    assert "assets/layers.0.linear_q.weight, assets/pre_encode.conv.weight" in finding.message
    with pytest.raises(JudgeError, match=r"encoder\.onnx: ONNX Runtime can't load it"):
        answers(judge_of(broken), [task(Path("none.wav"))])


def test_places_of_outside_weights_are_those_that_onnx_reads(folder: Path) -> None:
    path = folder / "assets" / "encoder.onnx"
    tensors = onnx.load(str(path), load_external_data=False).graph.initializer
    places = [{entry.key: entry.value for entry in tensor.external_data} for tensor in tensors]
    ends = {at["location"]: int(at.get("offset", 0)) + int(at["length"]) for at in places if at}
    assert outside_weights(path) == ends
    assert len(ends) == 7


@pytest.mark.parametrize(
    "name",
    ["encoder.onnx", "ctc_decoder.onnx", "preprocessor.ts", "layers.0.linear_q.weight", "pre_encode.conv.weight"],
)
@pytest.mark.parametrize("share", [0.0, 0.3, 0.999])
def test_a_file_that_was_copied_in_part_is_named_before_anything_is_made(broken: Path, name: str, share: float) -> None:
    path = broken / "assets" / name
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(content[: int(share * len(content))])
    [finding] = judge_of(broken).check([])
    assert finding.level == "error"
    assert name in finding.message
    assert re.search("not all of it is there|is empty|missing or cut short", finding.message)


@pytest.mark.parametrize(
    "name", ["assets/encoder.onnx", "assets/ctc_decoder.onnx", "assets/vocab.json", "assets/preprocessor.ts"]
)
def test_a_file_that_is_missing_is_named_at_once(broken: Path, name: str) -> None:
    drop(name)(broken)
    with pytest.raises(CheckpointError, match=f"lacks {name}"):
        judge_of(broken)


def test_files_of_the_other_decoder_are_not_needed(broken: Path, tasks: list[JudgeTask]) -> None:
    drop("assets/rnnt_decoder.onnx", "assets/joint_enc.onnx", "config.json")(broken)
    assert texts(judge_of(broken), tasks[:1])["0"]


def swap(name: str, other: str) -> Any:
    return lambda folder: shutil.copy(folder / "assets" / other, folder / "assets" / name)


def garbage(name: str) -> Any:
    return lambda folder: (folder / "assets" / name).write_bytes(b"not a model")


def languages_short(folder: Path) -> None:
    for name in ("vocab.json", "language_masks.json"):
        table = json.loads((folder / "assets" / name).read_text(encoding="utf-8"))
        (folder / "assets" / name).write_text(
            json.dumps({lang: own[:200] + own[-1:] if name[0] == "l" else own for lang, own in table.items()})
        )


WRONG = [
    ("ctc", garbage("encoder.onnx"), r"encoder\.onnx: ONNX Runtime can't load it"),
    ("ctc", garbage("preprocessor.ts"), r"preprocessor\.ts: torch can't load it"),
    ("ctc", swap("encoder.onnx", "ctc_decoder.onnx"), "wanted inputs audio_signal, length, got encoder_output"),
    ("ctc", swap("ctc_decoder.onnx", "joint_enc.onnx"), "wanted inputs encoder_output, got input"),
    ("rnnt", swap("rnnt_decoder.onnx", "encoder.onnx"), "wanted inputs targets"),
    ("rnnt", swap("joint_post_net_hi.onnx", "joint_pre_net.onnx"), "joint_post_net_hi.onnx has 16 rows"),
    ("ctc", languages_short, r"ctc_decoder.onnx has 5633 rows, language_masks.json is for 201"),
    ("rnnt", languages_short, r"has 257 rows, language_masks.json is for"),
]


@pytest.mark.parametrize(("decoder", "spoil", "message"), WRONG)
def test_another_models_files_are_refused_when_they_are_loaded(
    broken: Path, decoder: str, spoil: Any, message: str
) -> None:
    spoil(broken)
    with pytest.raises(JudgeError, match=message):
        judge_of(broken, decoder=decoder).load()


def test_graphs_that_can_not_run_end_the_run_with_words(broken: Path) -> None:
    """An encoder whose batches are of one clip: names and files fit, and the first two clips show that it doesn't."""
    import onnx

    graph = onnx.load(str(broken / "assets" / "encoder.onnx"))
    graph.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 1
    onnx.save(graph, str(broken / "assets" / "encoder.onnx"))
    judge = judge_of(broken)
    for _ in range(2):  # and what is not whole is not used the next time
        with pytest.raises(JudgeError, match=r"judge indicconformer: .* can't be set up: InvalidArgument: "):
            judge.load()


def test_a_front_end_that_numpy_does_not_have_is_refused(broken: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    import indicconformer_checkpoint

    made = indicconformer_checkpoint.mel_filters
    monkeypatch.setattr(indicconformer_checkpoint, "mel_filters", lambda: made()[::-1].copy())
    indicconformer_checkpoint.write_preprocessor(broken / "assets" / "preprocessor.ts")
    with pytest.raises(JudgeError, match="use features=torchscript"):
        judge_of(broken, features="numpy").load()
    drop("assets/preprocessor.ts")(broken)
    judge_of(broken, features="numpy").load()  # without the file there is nothing to compare with
    assert torch is not None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decoder": "beam"}, "decoder=beam: wanted one of ctc, rnnt"),
        ({"backend": "torch"}, "backend=torch: wanted one of onnx, remote_code"),
        ({"features": "librosa"}, "features=librosa: wanted one of torchscript, numpy"),
        ({"device": "gpu"}, "device=gpu: wanted one of auto, cpu, cuda"),
        ({"chunk_s": 2.9}, "chunk_s=2.9: wanted at least 3 seconds"),
        ({"chunk_s": float("nan")}, "wanted at least 3 seconds"),
        ({"batch_clips": 0}, "batch_clips=0: wanted at least 1"),
        ({"threads": -1}, "threads=-1: wanted 0 to 1024"),
        ({"threads": 100_000}, "threads=100000: wanted 0 to 1024"),
    ],
)
def test_options_out_of_range_are_refused(folder: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(JudgeError, match=message):
        judge_of(folder, **options)


def test_a_gpu_that_is_not_there_is_told_before_the_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    [finding] = judge_of(folder, device="cuda").check([])
    assert (finding.level, "sees no GPU" in finding.message) == ("error", True)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: ["CPUExecutionProvider"])
    [finding] = judge_of(folder, device="cuda").check([])
    assert "the one for CPUs" in finding.message
    assert "onnxruntime-gpu" in finding.remedy


@pytest.mark.parametrize("there", [True, False])
def test_a_gpu_that_will_lie_idle_is_told_before_the_run(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: ["CPUExecutionProvider"])
    monkeypatch.setenv("PATH", str(tmp_path))
    if there:
        (tmp_path / "nvidia-smi").write_text("#!/bin/sh\n")
        (tmp_path / "nvidia-smi").chmod(0o755)
    found = [(finding.level, finding.message) for finding in judge_of(folder, device="auto").check([])]
    assert found == [("warning", "device=auto: the installed ONNX Runtime is the one for CPUs.")] * there


def test_a_gpu_is_asked_for_exact_float32_and_only_for_what_is_large(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {}
    made = onnxruntime.InferenceSession

    def session(path: str, options: Any, providers: list[Any], enable_fallback: int) -> Any:
        asked[Path(path).stem] = providers
        return made(path, options, ["CPUExecutionProvider"])

    monkeypatch.setattr(indicconformer_graphs, "has_cuda", lambda: True)
    monkeypatch.setattr(onnxruntime, "preload_dlls", lambda: asked.update(libraries=len(asked)))
    monkeypatch.setattr(onnxruntime, "InferenceSession", session)
    judge_of(folder, device="auto", decoder="rnnt").load()
    assert asked.pop("libraries") == 0  # before any session
    on_gpu = {name for name, providers in asked.items() if len(providers) > 1}
    assert on_gpu == {"encoder", "joint_enc"}
    (name, options), rest = asked["encoder"]
    assert (name, rest) == ("CUDAExecutionProvider", "CPUExecutionProvider")
    assert (options["use_tf32"], options["cudnn_conv1d_pad_to_nc1d"]) == ("0", "1")


def test_a_gpu_that_onnxruntime_can_not_use_ends_the_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The installed package falls back to the CPU without a word where CUDA's libraries don't load."""
    monkeypatch.setattr(indicconformer_graphs, "has_cuda", lambda: False)
    with pytest.raises(JudgeError, match="device=cuda: ONNX Runtime could not use the GPU"):
        judge_of(folder, device="cuda").load()
    judge_of(folder, device="auto").load()


# --- the publisher's own class


def test_a_class_that_can_not_be_loaded_ends_the_run(broken: Path) -> None:
    (broken / "model_onnx.py").write_text("raise RuntimeError('no such luck')\n")
    with pytest.raises(JudgeError, match="its class can't be loaded: RuntimeError: no such luck"):
        judge_of(broken, backend="remote_code").load()


def test_a_class_that_answers_no_text_costs_the_clip(broken: Path, tasks: list[JudgeTask]) -> None:
    code = (broken / "model_onnx.py").read_text(encoding="utf-8")
    (broken / "model_onnx.py").write_text(code.replace("def forward(", "def forward(*_): return 3\n\n    def f("))
    [answer] = answers(judge_of(broken, backend="remote_code"), tasks[:1]).values()
    assert (answer.outcome.status, answer.outcome.reason) == (Status.JUDGE_FAILED, "engine_error")
    assert "answered int" in str(answer.outcome.error)


def test_the_publishers_code_is_copied_to_our_cache(folder: Path, alone: Path, tasks: list[JudgeTask]) -> None:
    texts(judge_of(folder, backend="remote_code"), tasks[:1])
    assert list(alone.glob("modules/**/model_onnx.py"))


def test_other_rows_in_the_ctc_decoder_do_not_disturb(broken: Path, tasks: list[JudgeTask]) -> None:
    """A checkpoint with its languages in another order is read by its masks, not by places known beforehand."""
    masks = json.loads((broken / "assets" / "language_masks.json").read_text())
    masks["hi"], masks["ta"] = masks["ta"], masks["hi"]
    (broken / "assets" / "language_masks.json").write_text(json.dumps(masks))
    shutil.copy(PUBLISHER, broken / "model_onnx.py")
    assert texts(judge_of(broken), tasks) == texts(judge_of(broken, backend="remote_code"), tasks)
