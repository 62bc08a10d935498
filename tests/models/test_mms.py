"""MMS through transformers, on a tiny checkpoint of the published layout: what is heard, what is refused and why."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio_files import wav
from hearing import RATE_HZ, answers, clip, clips, noise, texts
from kasauti.checkpoints import Checkpoint, CheckpointError
from kasauti.errors import JudgeError
from kasauti.judges.base import JudgeTask
from kasauti.judges.mms import Mms, MmsOptions, collapsed
from kasauti.judges.sound import samples_of
from kasauti.records import Prompt, SampleRow, Status
from kasauti.report.tables import read_records
from mms_checkpoint import vocabulary, write_mms
from runs import run_apart, words

pytest.importorskip("transformers")

CODES = {"en": "eng", "hi": "hin", "ta": "tam", "ne": "npi nep"}


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_mms(tmp_path_factory.mktemp("mms"))


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> list[JudgeTask]:
    place = tmp_path_factory.mktemp("clips")
    return [*clips(place, "hi"), *clips(place, "ta"), clip(place / "en.wav", noise(1.3), "en")]


def judge(folder: Path, **options: object) -> Mms:
    return Mms(MmsOptions(**{"model": str(folder), "codes": CODES, "device": "cpu", **options}))


def greedy(rows: Sequence[int], code: str) -> str:
    """The slow reference of the collapse: a letter is written where it begins, the blank and the ends never."""
    letters = {row: letter for letter, row in vocabulary(code).items()}
    written = ""
    for place, row in enumerate(rows):
        begins = place == 0 or rows[place - 1] != row
        if begins and row == vocabulary(code)["|"]:
            written += " "
        elif begins and row > vocabulary(code)["|"]:
            written += letters[row]
    return written.strip()


def heard_alone(folder: Path, task: JudgeTask) -> str:
    """The reference: the publisher's way with one clip, the language's adapter named when the model is loaded."""
    import torch
    from transformers import Wav2Vec2FeatureExtractor, Wav2Vec2ForCTC

    code = CODES[task.lang]
    model = Wav2Vec2ForCTC.from_pretrained(folder, target_lang=code, ignore_mismatched_sizes=True).eval()
    samples = samples_of(task.clips[0], RATE_HZ)
    inputs = Wav2Vec2FeatureExtractor.from_pretrained(folder)(samples, sampling_rate=RATE_HZ, return_tensors="pt")
    with torch.inference_mode():
        logits = model(inputs.input_values).logits[0]
    return greedy([max(range(len(row)), key=row.__getitem__) for row in logits.tolist()], code)


def test_texts_are_those_of_each_clip_alone_with_its_adapter(folder: Path, tasks: list[JudgeTask]) -> None:
    heard = texts(judge(folder), tasks)
    assert heard == {task.judgment_id: heard_alone(folder, task) for task in tasks}
    assert len(set(heard.values())) == len(tasks), "a model that writes the same for every clip shows nothing"


def test_adapters_are_swapped_and_said(folder: Path, tasks: list[JudgeTask]) -> None:
    model = judge(folder, batch_clips=1)
    mixed = [tasks[0], tasks[-1], tasks[5], tasks[1]]  # Hindi, English, Tamil, Hindi
    found = answers(model, mixed)
    assert [found[task.judgment_id].outcome.facts["adapter"] for task in mixed] == ["hin", "eng", "tam", "hin"]
    assert {name: answer.transcript for name, answer in found.items()} == texts(judge(folder), mixed)


def test_the_mask_is_what_keeps_padding_out(
    folder: Path, tasks: list[JudgeTask], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = judge(folder)
    masked = texts(model, tasks)
    forward = model._model.forward
    monkeypatch.setattr(model._model, "forward", lambda input_values, attention_mask: forward(input_values))
    assert texts(model, tasks) != masked, "if this held, the tests of batches would show nothing"


def test_a_model_that_normalises_over_its_input_hears_each_clip_alone(tmp_path: Path, tasks: list[JudgeTask]) -> None:
    folder = write_mms(tmp_path, feat_extract_norm="group", do_stable_layer_norm=False)
    model = judge(folder, batch_clips=8)
    assert texts(model, tasks) == {task.judgment_id: heard_alone(folder, task) for task in tasks}
    assert model.batch_clips == 1


@given(st.lists(st.integers(0, len(vocabulary("hin")) - 1), max_size=40))
def test_the_collapse_is_that_of_the_reference(rows: list[int]) -> None:
    assert collapsed(rows, vocabulary("hin")) == greedy(rows, "hin")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("", ""),
        ("__", ""),
        ("aab", "ab"),
        ("a_a", "aa"),
        ("aa__aa|bb|", "aa b"),
        ("||a||_|b", "a  b"),
    ],
)
def test_collapsing_by_hand(path: str, text: str) -> None:
    rows = {"_": 0, "|": 4, "a": 5, "b": 6}
    assert collapsed([rows[letter] for letter in path], vocabulary("eng")) == text


def test_any_sound_is_heard_or_a_failed_row(folder: Path, tmp_path: Path) -> None:
    speech = noise(2.0, 3)
    given = [
        clip(tmp_path / "mono.wav", speech),
        clip(tmp_path / "stereo.wav", np.repeat(speech[:, None], 2, 1)),
        clip(tmp_path / "8k.wav", noise(2.0, 3, 8_000), rate_hz=8_000),
        clip(tmp_path / "long.wav", noise(180.0)),
        clip(tmp_path / "short.wav", noise(0.02)),
        clip(tmp_path / "none.wav", speech),
    ]
    (tmp_path / "none.wav").write_bytes(wav(b""))
    found = answers(judge(folder), given)
    failed = {name: answer.outcome.reason for name, answer in found.items() if answer.outcome.status is not Status.OK}
    assert failed == {"short": "too_short", "none": "no_samples"}
    assert found["stereo"].transcript == found["mono"].transcript
    assert found["long"].transcript


def test_identity_is_that_of_the_files_the_codes_and_the_arithmetic(folder: Path, tmp_path: Path) -> None:
    plain = judge(folder)
    assert judge(folder, batch_clips=1, device="auto").facts == plain.facts
    assert judge(folder, dtype="bfloat16").facts != plain.facts
    assert judge(folder, codes={"hi": "hin"}).facts.settings != plain.facts.settings
    moved = write_mms(tmp_path / "again")
    assert judge(moved).facts == plain.facts
    (moved / "README.md").write_text("x")
    assert judge(moved).facts == plain.facts
    (moved / "adapter.hin.safetensors").write_bytes((moved / "adapter.tam.safetensors").read_bytes())
    assert judge(moved).facts != plain.facts


def test_half_precision_hears(folder: Path, tasks: list[JudgeTask]) -> None:
    assert all(texts(judge(folder, dtype="bfloat16"), tasks[:2]).values())


def test_scores_that_are_no_numbers_are_no_transcript(folder: Path, tasks: list[JudgeTask]) -> None:
    """As half precision makes them where it overflows: the best of such scores is the blank, and the text empty."""
    model = judge(folder)
    model.load()
    model._model.wav2vec2.encoder.layer_norm.weight.data[3] = float("nan")
    found = answers(model, tasks[:3]).values()
    assert {(one.outcome.status, one.outcome.reason, one.transcript) for one in found} == {
        (Status.JUDGE_FAILED, "not_a_number", None)
    }
    assert all("dtype=float32" in str(one.outcome.error) for one in found)


# --- languages


def prompt(lang: str) -> Prompt:
    return Prompt("p", lang, "x", "Zyyy")


def test_languages_are_those_of_the_table_that_the_folder_has(folder: Path) -> None:
    model = judge(folder)
    assert model.facts.languages == {"en", "hi", "ta"}
    for lang in ("ne", "mai", "sd-Deva"):
        refused = model.refuse(prompt(lang))
        assert refused is not None
        assert refused.status is Status.UNSUPPORTED_LANGUAGE


@pytest.mark.parametrize("code", ["npi", "nep"])
def test_nepali_is_what_the_checkpoint_calls_it(tmp_path: Path, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("mms_checkpoint").LETTERS, code, "अकखग")
    folder = write_mms(tmp_path / "model", codes=("eng", code))
    model = judge(folder)
    assert model.facts.languages == {"en", "ne"}
    found = answers(model, [clip(tmp_path / "a.wav", noise(1.2), "ne")])
    assert found["a"].outcome.facts["adapter"] == code


def test_of_the_published_model_all_of_the_table_is_expected() -> None:
    model = Mms(MmsOptions(codes=CODES))
    assert model.facts.revision == "mms@facebook/mms-1b-all@3d33597edbda"
    assert model.facts.languages == set(CODES)
    (finding,) = model.check([prompt("hi")])  # no hub is asked here, and nothing is in its cache
    assert finding.level == "error"
    assert "facebook/mms-1b-all is not in the hub's cache" in finding.message


def test_what_a_hub_will_hand_out_is_checked_as_far_as_it_is_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch
    from safetensors.torch import save_file

    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    model = Mms(MmsOptions(codes=CODES, device="cuda"))
    monkeypatch.setattr(Checkpoint, "_may_fetch", lambda self: None)
    fetched, gpu = model.check([prompt("hi")])
    assert (fetched.level, gpu.level) == ("warning", "error")
    assert "will be fetched when first used" in fetched.message
    assert "sees no GPU" in gpu.message
    write_mms(tmp_path, codes=("eng", "tam"))
    monkeypatch.setattr(Checkpoint, "_cached", lambda self: tmp_path)
    save_file({"no_head": torch.zeros(1)}, tmp_path / "adapter.tam.safetensors")
    gpu, fault = model.check([prompt("hi"), prompt("ta")])
    assert "is no adapter" in fault.message


def test_a_device_that_is_full_ends_the_run_with_words(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers import Wav2Vec2ForCTC

    def full(self: object, device: str) -> None:
        raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")

    monkeypatch.setattr(Wav2Vec2ForCTC, "to", full)
    with pytest.raises(JudgeError, match=r"can't be loaded: CUDA out of memory"):
        judge(folder).load()


def test_a_package_that_can_not_be_imported_ends_the_run_with_words(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(JudgeError, match=r"can't be loaded: .*transformers"):
        judge(folder).load()


# --- what is refused, before anything is made


def test_nothing_is_lacking_in_a_whole_folder(folder: Path) -> None:
    assert judge(folder).check([prompt("hi"), prompt("ta"), prompt("mai")]) == []


@pytest.mark.parametrize("name", ["config.json", "vocab.json", "preprocessor_config.json", "model.safetensors"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    (write_mms(tmp_path) / name).unlink()
    with pytest.raises(CheckpointError, match=f"lacks {name}"):
        judge(tmp_path)


def test_a_missing_adapter_is_a_language_less(tmp_path: Path) -> None:
    (write_mms(tmp_path) / "adapter.hin.safetensors").unlink()
    assert judge(tmp_path).facts.languages == {"en", "ta"}


@pytest.mark.parametrize(
    ("file", "change", "said"),
    [
        ("config.json", {"model_type": "whisper"}, "model_type=whisper"),
        ("config.json", {"adapter_attn_dim": None}, "adapter_attn_dim=None"),
        ("vocab.json", {"a": 3}, "not nested by language"),
        ("vocab.json", {"hin": {"a": "3"}}, "not nested by language"),
        ("preprocessor_config.json", {"sampling_rate": None}, "sampling_rate=None"),
        ("preprocessor_config.json", {"sampling_rate": 0}, "sampling_rate=0"),
    ],
)
def test_another_architecture_is_named(tmp_path: Path, file: str, change: dict[str, object], said: str) -> None:
    path = write_mms(tmp_path) / file
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(JudgeError, match=said):
        judge(tmp_path).check([prompt("hi")])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("model.safetensors", "not all of it is there"),
        ("adapter.hin.safetensors", "not all of it is there"),
        ("preprocessor_config.json", "can't be read as JSON"),
    ],
)
def test_a_file_that_is_not_all_there_is_said_before_the_run(tmp_path: Path, name: str, said: str) -> None:
    path = write_mms(tmp_path) / name
    path.write_bytes(path.read_bytes()[:-40])
    try:
        told = [finding.message for finding in judge(tmp_path).check([prompt("hi")]) if finding.level == "error"]
    except JudgeError as error:
        told = [str(error)]
    assert len(told) == 1
    assert path.name in told[0]
    assert said in told[0]


def test_a_vocabulary_without_a_blank_is_said_before_the_run(tmp_path: Path) -> None:
    path = write_mms(tmp_path) / "vocab.json"
    path.write_text(path.read_text(encoding="utf-8").replace("<pad>", "<blank>"), encoding="utf-8")
    (finding,) = judge(tmp_path).check([prompt("hi")])
    assert "vocab.json has no <pad> for hin" in finding.message


def test_a_vocabulary_that_does_not_fit_is_said_before_the_run(tmp_path: Path) -> None:
    path = write_mms(tmp_path) / "vocab.json"
    read = json.loads(path.read_text(encoding="utf-8"))
    read["hin"]["ऑ"] = len(read["hin"])
    path.write_text(json.dumps(read))
    (finding,) = judge(tmp_path).check([prompt("hi"), prompt("ta")])
    assert finding.level == "error"
    rows = len(vocabulary("hin"))
    assert f"its head has {rows} rows, but vocab.json has {rows + 1} entries for hin" in finding.message
    assert judge(tmp_path).check([prompt("ta")]) == []
    rows = answers(judge(tmp_path), [clip(tmp_path / f"{lang}.wav", noise(1.0), lang) for lang in ("hi", "ta")])
    assert (rows["hi"].outcome.status, rows["hi"].outcome.reason) == (Status.JUDGE_FAILED, "vocabulary")
    assert rows["ta"].outcome.status is Status.OK


def test_an_adapter_that_is_none_is_said_before_the_run(tmp_path: Path) -> None:
    (write_mms(tmp_path) / "adapter.hin.safetensors").write_bytes(b"not tensors at all")
    (finding,) = judge(tmp_path).check([prompt("hi")])
    assert "not all of it is there, or it is no safetensors file" in finding.message


def test_weights_of_another_model_stop_the_run_by_name(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    path = write_mms(tmp_path / "model") / "model.safetensors"
    kept = {name: value for name, value in load_file(path).items() if "encoder.layers.1" not in name}
    save_file(kept, path, {"format": "pt"})
    with pytest.raises(JudgeError, match=r"lacks weights of a wav2vec2: wav2vec2\.encoder\.layers\.1"):
        texts(judge(tmp_path / "model"), [clip(tmp_path / "a.wav", noise(1.0))])


def test_impossible_options_are_refused(folder: Path) -> None:
    for options in ({"dtype": "int8"}, {"batch_clips": 0}):
        with pytest.raises(JudgeError, match="wanted"):
            judge(folder, **options)
    (finding,) = judge(folder, device="tpu").check([])
    assert "device=tpu" in finding.message


def test_the_command_judges_with_it(folder: Path, tmp_path: Path) -> None:
    smoke = ["promptset=smoke", "promptset.limit=1", "promptset.langs=[hi,ta,mr]"]
    done = run_apart(*words(tmp_path, f"judge.model={folder}", *smoke, system="espeak", judge="mms"))
    assert done.returncode == 0, done.stderr
    (run,) = (tmp_path / "runs").iterdir()
    rows = {row.lang: row for row in read_records(run / "per_sample.tsv", SampleRow)}
    assert {lang: row.status for lang, row in rows.items()} == {
        "hi": Status.OK,
        "ta": Status.OK,
        "mr": Status.UNSUPPORTED_LANGUAGE,
    }
    assert rows["hi"].hypothesis
    assert rows["hi"].judge_revision.startswith("mms@folder@")
    assert (done.stdout + done.stderr).count("CC BY-NC 4.0") == 1
