"""Whisper through transformers, on a tiny checkpoint of the published layout: texts, facts, caps, refusals."""

from __future__ import annotations

import json
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audio_files import wav
from hearing import RATE_HZ, answers, clip, clips, noise, texts
from kasauti.checkpoints import Checkpoint, CheckpointError
from kasauti.errors import JudgeError
from kasauti.judges.base import JudgeTask
from kasauti.judges.sound import samples_of
from kasauti.judges.whisper import Whisper, WhisperOptions
from kasauti.judges.whisper_decoding import token_cap
from kasauti.records import Prompt, SampleRow, Status
from kasauti.report.tables import read_records
from runs import prompt_file, run_apart, words
from whisper_checkpoint import write_whisper

pytest.importorskip("transformers")

LEANING = 3.0
"""Some transcripts of the clips then end by themselves, and some at their cap."""


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_whisper(tmp_path_factory.mktemp("whisper"), LEANING)


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> list[JudgeTask]:
    return clips(tmp_path_factory.mktemp("clips"))


def judge(folder: Path, **options: object) -> Whisper:
    given = {"model": str(folder), "backend": "transformers", "device": "cpu", "workers": 8, **options}
    return Whisper(WhisperOptions(**given))


def token_ids(folder: Path) -> dict[str, int]:
    read = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    return {**read["model"]["vocab"], **{token["content"]: token["id"] for token in read["added_tokens"]}}


class Reference:
    """The slow reference: one clip, no cache, the best allowed token after another, by openai/whisper's definitions."""

    def __init__(self, folder: Path) -> None:
        from transformers import WhisperFeatureExtractor, WhisperForConditionalGeneration

        self.ids = token_ids(folder)
        self.names = {n: name for name, n in self.ids.items()}
        self.model = WhisperForConditionalGeneration.from_pretrained(folder).eval()
        self.features = WhisperFeatureExtractor.from_pretrained(folder)

    def hear(self, samples: np.ndarray, lang: str, rate: float = 60.0) -> tuple[str, dict[str, Any]]:
        import torch

        prompt = [self.ids[f"<|{name}|>"] for name in ("startoftranscript", lang, "transcribe", "notimestamps")]
        cap = min(448 - 4, 24 + int(np.ceil(rate * samples.size / RATE_HZ)))
        own = self.model.generation_config
        inputs = self.features(samples, sampling_rate=RATE_HZ, return_tensors="pt").input_features
        written: list[int] = []
        logprobs: list[float] = []
        end = self.ids["<|endoftext|>"]
        with torch.inference_mode():
            while True:
                given = torch.tensor([[*prompt, *written]])
                steps = self.model(input_features=inputs, decoder_input_ids=given).logits[0].log_softmax(-1)
                if not written:
                    no_speech = steps[0, self.ids["<|nospeech|>"]].exp().item()
                scores = steps[-1].tolist()
                barred = {*own.suppress_tokens, *([] if written else own.begin_suppress_tokens)}
                best = max((n for n in range(len(scores)) if n not in barred), key=scores.__getitem__)
                if len(written) == cap:
                    best = end
                logprobs.append(scores[best])
                if best == end:
                    break
                written.append(best)
        text = "".join(self.names[n] for n in written).replace("Ġ", " ")
        return text.strip(), {
            "windows": 1,
            "tokens": len(written),
            "token_cap": cap,
            "at_token_cap": len(written) == cap,
            "avg_logprob": float(np.mean(logprobs)),
            "no_speech_prob": no_speech,
            "compression_ratio": len(text.strip()) / len(zlib.compress(text.strip().encode())),
        }


def test_greedy_texts_and_facts_are_those_of_the_reference(folder: Path, tasks: list[JudgeTask]) -> None:
    reference = Reference(folder)
    heard = answers(judge(folder, beam_size=1), tasks)
    for task in tasks:
        text, facts = reference.hear(samples_of(task.clips[0], RATE_HZ), "hi")
        found = heard[task.judgment_id]
        assert found.transcript == text
        # Four decimals are kept, and single precision adds its own.
        assert found.outcome.facts == pytest.approx(facts, abs=2e-4)
    assert {answer.outcome.facts["at_token_cap"] for answer in heard.values()} == {True, False}
    assert len({answer.transcript for answer in heard.values()}) > 3


@pytest.mark.parametrize("beams", [1, 5])
def test_a_clip_is_heard_the_same_in_any_batch(
    folder: Path, tasks: list[JudgeTask], tmp_path: Path, beams: int
) -> None:
    given = [*tasks, clip(tmp_path / "long.wav", noise(33.0, 9))]
    together, alone = judge(folder, beam_size=beams), judge(folder, beam_size=beams, workers=1)
    assert together.facts == alone.facts
    heard, one_by_one = answers(together, given), answers(alone, given)
    for name, answer in heard.items():
        assert answer.transcript == one_by_one[name].transcript
        assert answer.outcome.facts == pytest.approx(one_by_one[name].outcome.facts, abs=2e-4)


def test_beams_find_what_the_publishers_own_search_finds(folder: Path, tasks: list[JudgeTask]) -> None:
    import torch
    from transformers import WhisperFeatureExtractor, WhisperForConditionalGeneration, WhisperTokenizer

    model = WhisperForConditionalGeneration.from_pretrained(folder).eval()
    tokenizer = WhisperTokenizer.from_pretrained(folder)
    heard = answers(judge(folder), tasks)
    # At a cap its search has another way of stopping.
    ended = [task for task in tasks if not heard[task.judgment_id].outcome.facts["at_token_cap"]]
    assert len(ended) > 2
    for task in ended:
        inputs = WhisperFeatureExtractor.from_pretrained(folder)(
            samples_of(task.clips[0], RATE_HZ), sampling_rate=RATE_HZ, return_tensors="pt", return_attention_mask=True
        )
        with torch.inference_mode():
            found = model.generate(
                inputs.input_features,
                attention_mask=inputs.attention_mask,
                language="hi",
                task="transcribe",
                num_beams=5,
                early_stopping=True,
                max_new_tokens=200,
            )
        text = tokenizer.decode(found[0], skip_special_tokens=True).strip()
        assert heard[task.judgment_id].transcript == text


def test_the_language_that_is_told_is_heard(folder: Path, tmp_path: Path) -> None:
    samples = noise(2.6, 0)
    spoken = [clip(tmp_path / f"{lang}.wav", samples, lang) for lang in ("hi", "ta")]
    reference = Reference(folder)
    expected = {lang: reference.hear(samples_of(spoken[0].clips[0], RATE_HZ), lang)[0] for lang in ("hi", "ta")}
    assert texts(judge(folder, beam_size=1), spoken) == expected
    assert expected["hi"] != expected["ta"]


def test_a_long_clip_is_heard_in_windows(folder: Path, tmp_path: Path) -> None:
    long = clip(tmp_path / "long.wav", noise(180.0, 2))
    (answer,) = judge(folder, beam_size=1).judge([long])
    samples = samples_of(long.clips[0], RATE_HZ)
    reference = Reference(folder)
    parts = [reference.hear(samples[start : start + 30 * RATE_HZ], "hi") for start in range(0, samples.size, 480_000)]
    assert answer.transcript == "".join(text for text, _ in parts)
    facts = answer.outcome.facts
    assert facts["windows"] == 6
    assert facts["tokens"] == sum(part["tokens"] for _, part in parts)
    assert facts["avg_logprob"] == pytest.approx(min(part["avg_logprob"] for _, part in parts), abs=2e-4)


def test_a_shorter_window_is_another_judge(folder: Path, tasks: list[JudgeTask]) -> None:
    short = judge(folder, window_s=1)
    assert short.facts.settings != judge(folder).facts.settings
    assert {name: answer.outcome.facts["windows"] for name, answer in answers(short, tasks).items()} == {
        "hi-0": 3,
        "hi-1": 1,
        "hi-2": 2,
        "hi-3": 1,
        "hi-4": 4,
    }


@pytest.mark.parametrize("beams", [1, 5])
def test_a_cap_ends_each_transcript_at_its_own_length(tmp_path: Path, tasks: list[JudgeTask], beams: int) -> None:
    config = json.loads((write_whisper(tmp_path) / "generation_config.json").read_text())
    never = [*config["suppress_tokens"], token_ids(tmp_path)["<|endoftext|>"]]
    edit(tmp_path / "generation_config.json", suppress_tokens=never)
    folder = tmp_path
    heard = answers(judge(folder, beam_size=beams, max_tokens_per_second=7.0), tasks)
    for task in tasks:
        facts = heard[task.judgment_id].outcome.facts
        assert facts["tokens"] == facts["token_cap"] == token_cap(task.clips[0].duration_s, 7.0, prompt_tokens=4)
        assert facts["at_token_cap"] is True


def test_any_sound_is_heard_or_a_failed_row(folder: Path, tmp_path: Path) -> None:
    speech = noise(2.0, 3)
    given = [
        clip(tmp_path / "mono.wav", speech),
        clip(tmp_path / "stereo.wav", np.repeat(speech[:, None], 2, 1)),
        clip(tmp_path / "8k.wav", noise(2.0, 3, 8_000), rate_hz=8_000),
        clip(tmp_path / "one.wav", np.full(1, 0.5, np.float32)),
        clip(tmp_path / "none.wav", speech),
    ]
    (tmp_path / "none.wav").write_bytes(wav(b""))
    found = answers(judge(folder), given)
    failed = {name: answer.outcome.reason for name, answer in found.items() if answer.outcome.status is not Status.OK}
    assert failed == {"none": "no_samples"}
    assert found["stereo"].transcript == found["mono"].transcript


# --- identity


def test_the_default_is_the_judge_that_it_was() -> None:
    # Stored judgments are found by these.
    facts = Whisper(WhisperOptions()).facts
    assert facts.settings == {"compute_type": "int8", "beam_size": 5, "window_s": 30, "max_tokens_per_second": 60.0}
    assert facts.revision.startswith("whisper-base@")
    assert facts.revision.endswith("+faster-whisper")
    assert Whisper(WhisperOptions(backend="faster-whisper", model="base", compute_type="int8")).facts == facts


def test_identity_is_that_of_the_files_and_the_arithmetic(folder: Path, tmp_path: Path) -> None:
    plain = judge(folder)
    assert plain.facts.revision.startswith("whisper@folder@")
    assert plain.facts.revision.endswith("+transformers")
    assert plain.facts.settings["compute_type"] == "float32"
    assert judge(folder, device="auto", workers=1).facts == plain.facts
    assert judge(folder, compute_type="bfloat16").facts != plain.facts
    again = write_whisper(tmp_path, LEANING)
    assert judge(again).facts == plain.facts
    (again / "README.md").write_text("x")
    assert judge(again).facts == plain.facts
    config = json.loads((again / "generation_config.json").read_text())
    (again / "generation_config.json").write_text(json.dumps({**config, "suppress_tokens": []}))
    assert judge(again).facts != plain.facts


def test_half_precision_hears(folder: Path, tasks: list[JudgeTask]) -> None:
    found = answers(judge(folder, compute_type="bfloat16"), tasks)
    assert {answer.outcome.status for answer in found.values()} == {Status.OK}


def test_scores_that_are_no_numbers_are_no_transcript(folder: Path, tasks: list[JudgeTask]) -> None:
    model = judge(folder)
    model._batched.load()
    model._batched._model.model.decoder.layer_norm.weight.data[3] = float("nan")
    found = answers(model, tasks[:2]).values()
    assert {(one.outcome.status, one.outcome.reason, one.transcript) for one in found} == {
        (Status.JUDGE_FAILED, "not_a_number", None)
    }


def test_large_v3_is_known_by_name() -> None:
    model = Whisper(WhisperOptions(backend="transformers"))
    assert model.facts.revision == "whisper@openai/whisper-large-v3@06f233fe06e7+transformers"
    assert model.facts == Whisper(WhisperOptions(backend="transformers", model="large-v3")).facts
    (finding,) = model.check([])  # no hub is asked here, and nothing is in its cache
    assert finding.level == "error"
    assert "openai/whisper-large-v3 is not in the hub's cache" in finding.message
    refused = model.refuse(Prompt("p", "or", "x", "Orya"))
    assert refused is not None
    assert refused.status is Status.UNSUPPORTED_LANGUAGE


# --- what is refused, before anything is made


def test_nothing_is_lacking_in_a_whole_folder(folder: Path) -> None:
    assert judge(folder).check([]) == []


@pytest.mark.parametrize(
    "name", ["config.json", "generation_config.json", "preprocessor_config.json", "tokenizer.json"]
)
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    (write_whisper(tmp_path) / name).unlink()
    with pytest.raises(CheckpointError, match=f"lacks {name}"):
        judge(tmp_path)


def said_of(folder: Path) -> str:
    (finding,) = judge(folder).check([])
    assert finding.level == "error"
    return finding.message


def test_missing_weights_are_named(tmp_path: Path) -> None:
    (write_whisper(tmp_path) / "model.safetensors").unlink()
    assert "lacks model.safetensors" in said_of(tmp_path)


def edit(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **changes}))


def test_another_architecture_is_named(tmp_path: Path) -> None:
    edit(write_whisper(tmp_path) / "config.json", model_type="wav2vec2")
    assert "model_type=wav2vec2; wanted whisper" in said_of(tmp_path)


def test_a_vocabulary_that_does_not_fit_is_said_before_the_run(tmp_path: Path) -> None:
    edit(write_whisper(tmp_path) / "config.json", vocab_size=100)
    assert "the model has 100 rows" in said_of(tmp_path)


@pytest.mark.parametrize("name", ["generation_config.json", "preprocessor_config.json"])
def test_a_config_that_is_cut_is_no_config_of_defaults(tmp_path: Path, name: str) -> None:
    (write_whisper(tmp_path) / name).write_text('{"suppress_tokens": [1')
    with pytest.raises(JudgeError, match=f"{name} can't be read as JSON"):
        judge(tmp_path).check([])


def test_features_that_do_not_fit_are_said_before_the_run(tmp_path: Path) -> None:
    edit(write_whisper(tmp_path) / "preprocessor_config.json", feature_size=128)
    assert "feature_size=128, but config.json has num_mel_bins=16" in said_of(tmp_path)


def test_weights_that_are_not_all_there_are_said_before_the_run(tmp_path: Path) -> None:
    path = write_whisper(tmp_path) / "model.safetensors"
    content = path.read_bytes()
    path.write_bytes(content[:-100])
    assert "model.safetensors: not all of it is there" in said_of(tmp_path)
    path.unlink()
    index = tmp_path / "model.safetensors.index.json"
    index.write_text("{}")
    assert "lacks weights, says model.safetensors.index.json" in said_of(tmp_path)
    index.write_text('{"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}')
    (tmp_path / "model-1.safetensors").write_bytes(content)
    assert "lacks model-2.safetensors, says" in said_of(tmp_path)
    (tmp_path / "model-2.safetensors").write_bytes(b"")
    assert "model-2.safetensors is empty" in said_of(tmp_path)


def test_a_whisper_of_english_alone_is_refused(tmp_path: Path) -> None:
    path = write_whisper(tmp_path) / "tokenizer.json"
    read = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**read, "added_tokens": [t for t in read["added_tokens"] if t["content"] != "<|ta|>"]}))
    assert "tokenizer.json lacks <|ta|>; wanted a multilingual Whisper" in said_of(tmp_path)


def test_a_tokenizer_that_is_none_is_named(tmp_path: Path) -> None:
    path = write_whisper(tmp_path) / "tokenizer.json"
    path.write_text("[]")
    with pytest.raises(JudgeError, match=r"tokenizer\.json: wanted a JSON object"):
        judge(tmp_path).check([])
    path.write_text("{}")
    with pytest.raises(JudgeError, match="is no tokenizer's file"):
        judge(tmp_path).check([])


def test_weights_of_another_model_stop_the_run_by_name(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    path = write_whisper(tmp_path / "model") / "model.safetensors"
    kept = {name: value for name, value in load_file(path).items() if "decoder.layers.1" not in name}
    save_file(kept, path, {"format": "pt"})
    with pytest.raises(JudgeError, match=r"lacks weights of a Whisper: model\.decoder\.layers\.1"):
        texts(judge(tmp_path / "model"), [clip(tmp_path / "a.wav", noise(1.0))])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"compute_type": "int8"}, "wanted one of float32"),
        ({"backend": "openai"}, "wanted faster-whisper or transformers"),
        ({"beam_size": 0}, "beam_size=0: wanted 1 to 100"),
        ({"beam_size": 500}, "beam_size=500: wanted 1 to 100"),
        ({"window_s": 31}, "window_s=31: wanted 1 to 30"),
        ({"max_tokens_per_second": -5}, "max_tokens_per_second=-5: wanted 1 to 1000"),
        ({"max_tokens_per_second": 1e308}, "wanted 1 to 1000"),
        ({"workers": 0}, "workers=0: wanted at least 1"),
        ({"model": "nowhere"}, "no such folder"),
        ({"model": "someone/whisper-hi"}, "wanted the commit"),
        ({"model": "someone/whisper-hi", "revision": "main"}, "wanted the commit"),
    ],
)
def test_impossible_options_are_refused(folder: Path, options: dict[str, object], said: str) -> None:
    with pytest.raises((JudgeError, CheckpointError), match=said):
        judge(folder, **options)


def test_no_gpu_where_one_is_asked_for_is_said_before_the_run(folder: Path) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    (finding,) = judge(folder, device="cuda").check([])
    assert "sees no GPU" in finding.message


def test_what_a_hub_will_hand_out_is_checked_as_far_as_it_is_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    model = Whisper(WhisperOptions(backend="transformers", device="cuda"))
    monkeypatch.setattr(Checkpoint, "_may_fetch", lambda self: None)
    fetched, gpu = model.check([])
    assert "will be fetched when first used" in fetched.message
    assert "sees no GPU" in gpu.message
    edit(write_whisper(tmp_path) / "config.json", model_type="wav2vec2")
    monkeypatch.setattr(Checkpoint, "_cached", lambda self: tmp_path)
    gpu, fault = model.check([])
    assert "model_type=wav2vec2; wanted whisper" in fault.message


def test_a_device_that_is_full_ends_the_run_with_words(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers import WhisperForConditionalGeneration

    def full(self: object, device: str) -> None:
        raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")

    monkeypatch.setattr(WhisperForConditionalGeneration, "to", full)
    with pytest.raises(JudgeError, match=r"can't be loaded: CUDA out of memory"):
        judge(folder)._batched.load()


def test_a_package_that_can_not_be_imported_ends_the_run_with_words(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = judge(folder)
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(JudgeError, match=r"can't be loaded: .*tokenizers"):
        model._batched.load()


def test_the_command_judges_with_it(folder: Path, tmp_path: Path) -> None:
    given = [f"judge.model={folder}", "judge.backend=transformers", "judge.workers=4"]
    prompt_file(tmp_path, [("p1", "hi", "आज मौसम अच्छा है"), ("p2", "or", "ଆଜି ପାଗ ଭଲ ଅଛି")])
    done = run_apart(*words(tmp_path, *given, system="espeak", judge="whisper"))
    assert done.returncode == 0, done.stderr
    (run,) = (tmp_path / "runs").iterdir()
    rows = {row.lang: row for row in read_records(run / "per_sample.tsv", SampleRow)}
    assert rows["hi"].hypothesis
    assert rows["hi"].judge_revision.startswith("whisper@folder@")
    assert rows["or"].status is Status.UNSUPPORTED_LANGUAGE
    assert "[transformers]" not in done.stdout + done.stderr
