"""`system=rumik` as the pipeline uses it: replies and their facts, what it refuses, and what it lacks."""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kasauti import devices
from kasauti.devices import DeviceError
from kasauti.errors import KasautiError, SpeechSystemError
from kasauti.records import Prompt, Status
from kasauti.systems.base import Speech, SpeechRequest
from kasauti.systems.rumik import system as system_module
from kasauti.systems.rumik.system import Rumik, RumikOptions
from kasauti.text.languages import LANGUAGES
from processes import held
from rumik_checkpoint import make_checkpoint

pytest.importorskip("torch")
pytest.importorskip("transformers")

TEXT = "आज सुबह बारिश जल्दी थम गई। हम बाज़ार तक पैदल गए। शाम को फिर मिलेंगे।"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_checkpoint(tmp_path_factory.mktemp("rumik"))


def rumik(folder: Path, **options: Any) -> Rumik:
    return Rumik(RumikOptions(model=str(folder), **{"device": "cpu", "dtype": "float32", **options}))


@pytest.fixture(scope="module")
def system(folder: Path) -> Iterator[Rumik]:
    built = rumik(folder)
    yield built
    built.close()


def prompt(text: str = TEXT, lang: str = "hi", **control: str) -> Prompt:
    return Prompt("p", lang, text, "Deva", control=control)


def request(name: str = "c", seed: int = 1, said: Prompt | None = None, **decoding: Any) -> SpeechRequest:
    return SpeechRequest(name, said or prompt(), 0, seed, {"max_new_tokens": 60, **decoding})


def one(system: Rumik, **changes: Any) -> Speech:
    (speech,) = system.synthesise([request(**changes)])
    return speech


def test_a_clip_and_its_facts(system: Rumik) -> None:
    speech = one(system, seed=4)
    facts = dict(speech.outcome.facts)
    assert speech.outcome.status is Status.OK
    assert speech.samples is not None
    assert speech.samples.dtype == np.float32
    assert speech.rate_hz == 24_000
    assert speech.samples.size == 1920 * facts["frames"]
    assert facts["tokens"] == 8 * facts["frames"] + facts["dropped"] + (facts["end"] == "end_token")
    assert facts["end"] in ("stop_head", "end_token", "token_cap")
    assert facts["tokens_per_second"] == 100.0
    assert (facts["speaker"], facts["description"]) == ("Ira", "professional, Hindi accent, steady pace")
    assert facts["pieces"] == 1
    assert len(facts["tokenizer_sha"]) == 16
    json.dumps(facts)
    assert speech.outcome.wall_s is not None
    assert speech.outcome.wall_s > 0


def test_a_clip_that_is_cut_says_so(system: Rumik) -> None:
    speech = one(system, min_new_tokens=24, max_new_tokens=24)
    assert speech.outcome.facts["end"] == "token_cap"
    assert speech.outcome.facts["frames"] <= 3


def test_a_clip_without_a_whole_frame_is_a_failed_row(system: Rumik) -> None:
    outcome = one(system, min_new_tokens=7, max_new_tokens=7).outcome
    assert (outcome.status, outcome.reason) == (Status.SYNTHESIS_FAILED, "no_frames")
    assert outcome.final
    assert (outcome.facts["tokens"], outcome.facts["frames"], outcome.facts["dropped"]) == (7, 0, 7)


@pytest.mark.parametrize("batch_clips", [1, 3, 8])
def test_the_same_seed_is_the_same_sound_in_every_batch(folder: Path, system: Rumik, batch_clips: int) -> None:
    asked = [request(f"c{n}", seed=n, said=prompt(TEXT[: 10 + 7 * n])) for n in range(7)]
    batched = rumik(folder, batch_clips=batch_clips)
    told = {speech.clip_id: speech.samples for speech in batched.synthesise(iter(asked))}
    assert sorted(told) == [f"c{n}" for n in range(7)]
    for n, speech in enumerate(next(iter(system.synthesise([one]))) for one in asked):
        samples = told[f"c{n}"]
        assert samples is not None
        assert speech.samples is not None
        assert np.array_equal(samples, speech.samples)
    batched.close()


def test_seeds_temperature_and_top_k_move_the_sound(system: Rumik) -> None:
    takes = [
        one(system, seed=4),
        one(system, seed=5),
        one(system, seed=4, temperature=1.5),
        one(system, seed=4, top_k=3),
        one(system, seed=4, temperature=0.0),
    ]
    sounds = {speech.samples.tobytes() for speech in takes if speech.samples is not None}
    assert len(sounds) == 5
    assert one(system, seed=9, temperature=0.0).samples.tobytes() == takes[4].samples.tobytes()  # type: ignore[union-attr]


def test_voice_and_delivery_reach_the_model(folder: Path, system: Rumik) -> None:
    base = one(system, min_new_tokens=60)
    for said in (prompt(speaker="Zoya"), prompt(description="sad"), prompt(pace="slow")):
        other = one(system, said=said, min_new_tokens=60)
        assert other.samples is not None
        assert base.samples is not None
        assert not np.array_equal(other.samples, base.samples)


def test_ways_of_drawing_do_not_mix(system: Rumik) -> None:
    """A stream may change its decoding: each clip is drawn as it asks."""
    asked = [request(f"c{n}", seed=4, temperature=0.0 if n % 3 == 1 else 0.8) for n in range(6)]
    told = {speech.clip_id: speech.samples for speech in system.synthesise(asked)}
    greedy, drawn = told["c1"], told["c0"]
    assert greedy is not None
    assert drawn is not None
    assert all(np.array_equal(told[f"c{n}"], greedy if n % 3 == 1 else drawn) for n in range(6))  # type: ignore[arg-type]
    assert not np.array_equal(greedy, drawn)


def test_long_texts_are_spoken_in_pieces_where_that_is_asked_for(folder: Path) -> None:
    cut = rumik(folder, chunk_chars=30)
    speech = one(cut, seed=4)
    facts = speech.outcome.facts
    assert facts["pieces"] == 3
    assert speech.samples is not None
    assert speech.samples.size == 1920 * facts["frames"]
    first = one(cut, seed=4, said=prompt("आज सुबह बारिश जल्दी थम गई।"))
    assert first.samples is not None
    assert np.array_equal(speech.samples[: first.samples.size], first.samples)
    assert one(cut, seed=4, min_new_tokens=7, max_new_tokens=7).outcome.reason == "no_frames"
    cut.close()


def test_a_text_that_the_model_can_not_hold_is_a_failed_row(system: Rumik) -> None:
    outcome = one(system, said=prompt(TEXT * 60)).outcome
    assert (outcome.status, outcome.reason) == (Status.SYNTHESIS_FAILED, "text_too_long")
    assert "system.chunk_chars=400" in str(outcome.error)
    assert outcome.final


def test_every_request_gets_one_reply_whatever_is_wrong_with_its_neighbours(system: Rumik) -> None:
    bad = [prompt("a <SEP> b"), prompt(TEXT * 60), prompt("end<audio>")]
    asked = [request(f"c{n}", seed=n, said=bad[n // 2] if n % 2 else None) for n in range(6)]
    told = {speech.clip_id: speech.outcome.reason for speech in system.synthesise(iter(asked))}
    assert told == {
        "c0": None, "c1": "breaks_format", "c2": None, "c3": "text_too_long", "c4": None, "c5": "breaks_format",
    }  # fmt: skip
    assert [speech.outcome.reason for speech in system.synthesise([request(said=bad[1])])] == ["text_too_long"]
    assert list(system.synthesise([])) == []


def test_an_engine_that_gives_up_on_a_clip_leaves_a_row_to_be_tried_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def out_of_memory(*_: Any) -> None:
        raise RuntimeError("CUDA out of memory")

    monkeypatch.setattr("kasauti.systems.rumik.board.Board.step", out_of_memory)
    outcome = one(rumik(folder)).outcome
    assert (outcome.status, outcome.reason, outcome.retryable) == (Status.SYNTHESIS_FAILED, "out_of_memory", True)


def test_what_would_break_the_format_is_refused_before_anything_is_made(system: Rumik) -> None:
    refusal = system.refuse(prompt("words <audio>"))
    assert refusal is not None
    assert (refusal.status, refusal.reason) == (Status.SYNTHESIS_FAILED, "breaks_format")
    assert system.refuse(prompt('with "quotes" & <laugh>')) is None
    assert all(system.refuse(prompt(lang=lang)) is None for lang in LANGUAGES)


# --- identity


def test_identity_holds_what_changes_the_sound_and_nothing_else(folder: Path, tmp_path: Path) -> None:
    base = rumik(folder)
    moved = shutil.copytree(folder, tmp_path / "elsewhere")
    assert rumik(moved).fingerprint() == base.fingerprint()
    assert base.fingerprint().startswith("rumik folder@")
    (moved / "README.md").write_text("not part of it")
    assert rumik(moved).fingerprint() == base.fingerprint()
    retrained = make_checkpoint(tmp_path / "retrained", seed=1)
    assert rumik(retrained).fingerprint() != base.fingerprint()

    same = rumik(folder, batch_clips=3, device="auto", chunk_chars=1000, tokenizer_sha="0123")
    assert same.settings_of(prompt()) == base.settings_of(prompt())
    changed: list[tuple[dict[str, Any], Prompt]] = [
        ({"dtype": "bfloat16"}, prompt()),
        ({"speaker": "Zoya"}, prompt()),
        ({"description": None}, prompt()),
        ({"chunk_chars": 30}, prompt()),
        ({}, prompt(tone="sad")),
    ]
    for options, said in changed:
        assert rumik(folder, **options).settings_of(said) != base.settings_of(prompt()), options
    assert base.facts.decoding_fields == ("temperature", "top_k", "seed", "min_new_tokens", "max_new_tokens")


def test_the_published_checkpoint_is_known_by_its_commit_and_needs_no_file() -> None:
    assert Rumik(RumikOptions()).fingerprint() == "rumik rumik-ai/rumik-oss-1@0ed3c98684e1, rules 1"


# --- what it lacks


def findings(system: Rumik, said: list[Prompt] | None = None) -> str:
    return "\n".join(finding.message for finding in system.check(said or [prompt()]) if finding.level == "error")


def test_a_checkpoint_that_is_whole_lacks_nothing(system: Rumik) -> None:
    assert findings(system) == ""


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda at: rewrite(at / "config.json", model_type="llama"), "model_type='llama'.*another architecture"),
        (lambda at: rewrite(at / "config.json", first_unit_id=None), "no number under first_unit_id"),
        (lambda at: rewrite(at / "config.json", codebook_size=32, last_unit_id=575), "need a mimi codec with codebook"),
        (lambda at: rewrite(at / "codec" / "config.json", model_type="encodec"), "model_type='encodec'.* need a mimi"),
        (lambda at: rewrite(at / "codec" / "config.json", num_quantizers=4), "at least 8 quantizers"),
        (lambda at: (at / "config.json").write_text("{"), r"config\.json can't be read as JSON"),
        (lambda at: (at / "config.json").write_text("[]"), "wanted a JSON object, got list"),
        (lambda at: rewrite(at / "model.safetensors.index.json", weight_map={}), "weight names and their files"),
        (lambda at: (at / "model-00002-of-00002.safetensors").unlink(), "lacks model-00002-of-00002.safetensors"),
        (lambda at: (at / "model-00002-of-00002.safetensors").write_bytes(b""), r"00002\.safetensors is empty"),
        (lambda at: cut(at / "model-00001-of-00002.safetensors"), r"00001-of.*: not all of it is there"),
        (lambda at: (at / "model.safetensors.index.json").unlink(), "lacks model.safetensors"),
        (lambda at: (at / "codec" / "model.safetensors").unlink(), "lacks codec/model.safetensors"),
        (lambda at: (at / "tokenizer.json").unlink(), r"lacks tokenizer\.json"),
        (lambda at: cut(at / "tokenizer.json"), r"tokenizer\.json can't be read as JSON"),
    ],
)
def test_what_is_wrong_with_a_folder_is_said_before_anything_is_made(
    folder: Path, tmp_path: Path, change: Callable[[Path], Any], said: str
) -> None:
    import re

    copy = shutil.copytree(folder, tmp_path / "copy")
    change(copy)
    assert re.search(said, findings(rumik(copy))), findings(rumik(copy))
    with pytest.raises(KasautiError, match=said):
        list(rumik(copy).synthesise([request()]))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-10])


def rewrite(path: Path, **changes: Any) -> None:
    held = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**held, **changes}), encoding="utf-8")


def test_speakers_are_those_of_the_checkpoint(folder: Path, system: Rumik) -> None:
    assert "speaker=Irra: did you mean 'Ira'" in findings(rumik(folder, speaker="Irra"))
    assert "speaker=Bob" in findings(system, [prompt(), prompt(speaker="Bob")])


def test_no_gpu_where_one_is_asked_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert "sees no GPU here" in findings(rumik(folder, device="cuda"))
    with pytest.raises(DeviceError, match="use device=cpu, or auto"):
        list(rumik(folder, device="cuda").synthesise([request()]))
    assert devices.choose("auto") == "cpu"


def test_no_package(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib import util

    find_spec = util.find_spec
    monkeypatch.setattr(util, "find_spec", lambda name, *a: None if name == "transformers" else find_spec(name, *a))
    (finding,) = rumik(folder).check([prompt()])
    assert (finding.level, finding.message) == ("error", "not installed: transformers.")
    assert "[judges]" in finding.remedy


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"dtype": "float8"}, "dtype=float8: did you mean 'float"),
        ({"chunk_chars": 0}, "chunk_chars=0: wanted at least 1"),
        ({"batch_clips": 0}, "batch_clips=0: wanted at least 1"),
        ({"tokenizer_sha": "0123"}, "tokenizer_sha=0123 is wanted"),
    ],
)
def test_options_that_can_not_be(folder: Path, options: dict[str, Any], said: str) -> None:
    with pytest.raises(SpeechSystemError, match=said):
        list(rumik(folder, **options).synthesise([request()]))


def test_a_decoding_that_can_not_be(system: Rumik) -> None:
    with pytest.raises(SpeechSystemError, match=r"decoding\.top_k=0"):
        list(system.synthesise([request(top_k=0)]))


def test_memory_that_is_too_small_for_the_weights_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise RuntimeError("CUDA out of memory")

    monkeypatch.setattr(system_module, "load", full)
    with pytest.raises(SpeechSystemError, match="the memory of cpu is too small for it"):
        list(rumik(folder).synthesise([request()]))


def test_the_licence_is_said_once_when_the_weights_are_loaded(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    loaded = rumik(folder)
    with caplog.at_level(logging.WARNING):
        list(loaded.synthesise([request()]))
        list(loaded.synthesise([request()]))
    told = [record.getMessage() for record in caplog.records if "CC BY-NC 4.0" in record.getMessage()]
    assert len(told) == 1
    assert "CC BY 4.0" in told[0].replace("CC BY-NC 4.0", "")


def test_closed_it_holds_nothing(folder: Path) -> None:
    import gc
    import weakref

    closed = rumik(folder)
    list(closed.synthesise([request()]))
    assert closed._engine is not None
    held = weakref.ref(closed._engine._model.backbone)
    closed.close()
    gc.collect()
    assert held() is None


def test_on_a_gpu_one_checkpoint_loads_and_speaks_at_a_time(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits has neither loaded its model nor pulled, and so claimed, a request."""
    loaded: list[str] = []
    monkeypatch.setattr(system_module, "_turn", lambda device: system_module._ON_THE_GPU)
    engine = system_module._Engine
    monkeypatch.setattr(
        system_module, "_Engine", lambda options, files: (loaded.append(options.id), engine(options, files))[1]
    )
    first, second = rumik(folder), rumik(folder, id="second")
    speaking = first.synthesise(request(f"c{n}", n) for n in range(3))
    next(iter(speaking))
    pulled: list[str] = []

    def requests() -> Iterator[SpeechRequest]:
        pulled.append("d")
        yield request("d")

    with ThreadPoolExecutor(1) as other:
        waiting = other.submit(list, second.synthesise(requests()))
        assert held(system_module._ON_THE_GPU)
        assert (loaded, pulled) == (["rumik"], [])
        speaking.close()  # type: ignore[attr-defined]
        [speech] = waiting.result(timeout=60)
    assert speech.outcome.status is Status.OK
    assert loaded == ["rumik", "second"]
    assert not held(system_module._ON_THE_GPU)


def test_the_turn_is_for_gpus(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "choose", lambda device: "cuda" if device == "auto" else device)
    assert system_module._turn("auto") is system_module._ON_THE_GPU
    assert system_module._turn("cpu") is not system_module._ON_THE_GPU
