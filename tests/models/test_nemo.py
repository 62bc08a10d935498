"""NeMo as it is installed, on tiny checkpoints that it saved itself: what is heard, and what is refused and why."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from hearing import answers, clip, clips, noise, texts
from kasauti.errors import JudgeError
from kasauti.identity import file_sha256
from kasauti.judges.base import JudgeTask
from kasauti.judges.nemo import Nemo, NemoOptions
from kasauti.judges.sound import samples_of
from kasauti.records import Prompt, SampleRow, Status
from kasauti.report.tables import read_records
from nemo_checkpoints import LETTERS, config_of, write_archive, write_ctc, write_hybrid
from runs import run_apart, words

pytest.importorskip("nemo")
# NeMo and what it brings warn of their own future on import and with each transcript.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


@pytest.fixture(scope="session")
def ctc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_ctc(tmp_path_factory.mktemp("nemo") / "ctc.nemo")


@pytest.fixture(scope="session")
def hybrid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hybrid")
    return write_hybrid(folder / "hybrid.nemo", folder)


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> list[JudgeTask]:
    return clips(tmp_path_factory.mktemp("clips"))


def judge(path: Path, **options: object) -> Nemo:
    return Nemo(NemoOptions(**{"model": str(path), "langs": ["hi"], "device": "cpu", **options}))


def best_path(model: Nemo, task: JudgeTask) -> str:
    """The slow reference: the model's own log probabilities of one clip, best letter a frame, repeats once, no blanks.

    NeMo fills a clip up to one second with silence on both sides; its last class is the blank.
    """
    import torch

    samples = samples_of(task.clips[0], 16_000)
    short = max(0, 16_000 - samples.size)
    samples = np.pad(samples, (short // 2, short - short // 2))
    inner = model._model.eval()
    inner.preprocessor.featurizer.dither, inner.preprocessor.featurizer.pad_to = 0.0, 0
    with torch.inference_mode():
        logprobs, lengths, _ = inner(
            input_signal=torch.from_numpy(samples)[None], input_signal_length=torch.tensor([samples.size])
        )
    written, before = "", None
    for frame in logprobs[0, : int(lengths[0])].tolist():
        letter = max(range(len(frame)), key=frame.__getitem__)
        if letter != before and letter != len(LETTERS):
            written += LETTERS[letter]
        before = letter
    return written.strip()


def test_ctc_is_the_best_path_through_the_models_own_probabilities(ctc: Path, tasks: list[JudgeTask]) -> None:
    model = judge(ctc)
    heard = texts(model, tasks)
    assert heard == {task.judgment_id: best_path(model, task) for task in tasks}
    assert len(set(heard.values())) == len(tasks), "a model that writes the same for every clip shows nothing"


@pytest.mark.parametrize("decoder", ["ctc", "rnnt"])
def test_a_hybrid_hears_the_same_in_any_batch(hybrid: Path, tasks: list[JudgeTask], decoder: str) -> None:
    together = texts(judge(hybrid, decoder=decoder), tasks)
    one_by_one = judge(hybrid, decoder=decoder, batch_clips=1)
    assert together == texts(one_by_one, tasks)
    assert len(set(together.values())) > 1


def test_decoders_of_a_hybrid_are_two_judges(hybrid: Path, tasks: list[JudgeTask]) -> None:
    ctc, rnnt, plain = (judge(hybrid, decoder=decoder) for decoder in ("ctc", "rnnt", None))
    assert plain.facts == rnnt.facts
    assert ctc.facts.settings != rnnt.facts.settings
    assert texts(ctc, tasks) != texts(rnnt, tasks) == texts(plain, tasks)


def test_ctc_hears_the_same_in_any_batch_and_a_batch_is_no_part_of_it(ctc: Path, tasks: list[JudgeTask]) -> None:
    wide, narrow = judge(ctc, batch_clips=8), judge(ctc, batch_clips=1)
    assert wide.facts == narrow.facts
    assert texts(wide, tasks) == texts(narrow, tasks)


def test_the_file_is_the_judge(ctc: Path, tmp_path: Path) -> None:
    other = tmp_path / "copy.nemo"
    other.write_bytes(ctc.read_bytes())
    assert judge(other).facts == judge(ctc).facts
    assert judge(ctc).facts.revision == f"nemo@{file_sha256(ctc)[:12]}"


def test_languages_are_those_that_are_given(ctc: Path) -> None:
    model = judge(ctc, langs=["Hindi", "mar"])
    assert model.facts.languages == {"hi", "mr"}
    refused = model.refuse(Prompt("p", "ta", "x", "Taml"))
    assert refused is not None
    assert refused.status is Status.UNSUPPORTED_LANGUAGE
    assert model.check([]) == []


def test_any_sound_is_heard_or_a_failed_row(ctc: Path, tmp_path: Path) -> None:
    model = judge(ctc)
    speech = noise(2.0, 3)
    wide = np.repeat(speech[:, None], 2, 1)
    telephone = noise(2.0, 3, 8_000)
    given = [
        clip(tmp_path / "mono.wav", speech),
        clip(tmp_path / "stereo.wav", wide),
        clip(tmp_path / "8k.wav", telephone, rate_hz=8_000),
        clip(tmp_path / "long.wav", noise(180.0)),
        clip(tmp_path / "one.wav", np.full(1, 0.5, np.float32)),
        clip(tmp_path / "none.wav", speech),
        clip(tmp_path / "page.wav", speech),
    ]
    (tmp_path / "none.wav").write_bytes(_wav_without_samples())
    (tmp_path / "page.wav").write_bytes(b"<!doctype html>" * 20)
    found = answers(model, given)
    assert {name for name, answer in found.items() if answer.outcome.status is not Status.OK} == {"none", "page"}
    assert found["none"].outcome.reason == "no_samples"
    assert found["none"].transcript is found["page"].transcript is None
    assert found["stereo"].transcript == found["mono"].transcript
    assert found["long"].transcript


def _wav_without_samples() -> bytes:
    from audio_files import wav

    return wav(b"")


def test_a_checkpoint_at_another_rate_gets_that_rate(tmp_path: Path) -> None:
    model = judge(write_ctc(tmp_path / "8k.nemo", rate_hz=8_000))
    assert texts(model, [clip(tmp_path / "a.wav", noise(1.5))])["a"]
    assert model.rate_hz == 8_000


def test_nothing_is_left_behind(
    ctc: Path, tasks: list[JudgeTask], tmp_path: Path, capfd: pytest.CaptureFixture
) -> None:
    before = {
        path: path.stat().st_mtime_ns
        for folder in (ctc.parent, tasks[0].clips[0].path.parent)
        for path in folder.rglob("*")
    }
    here = os.getcwd()
    os.chdir(tmp_path)
    try:
        texts(judge(ctc), tasks)
    finally:
        os.chdir(here)
    after = {
        path: path.stat().st_mtime_ns
        for folder in (ctc.parent, tasks[0].clips[0].path.parent)
        for path in folder.rglob("*")
    }
    assert after == before
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")


# --- what is refused, before anything is made


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"langs": []}, "the languages that it hears"),
        ({"model": None}, "judge.model=MY.nemo"),
        ({"batch_clips": 0}, "at least 1 clip"),
        ({"decoder": "rnnt"}, "decoder=rnnt: .* has ctc"),
        ({"decoder": "beam"}, "decoder=beam"),
    ],
)
def test_impossible_options_are_refused(ctc: Path, options: dict[str, object], said: str) -> None:
    with pytest.raises(JudgeError, match=said):
        judge(ctc, **options)


FORK = "docs/add-a-judge.md"


def test_an_archive_whose_weights_are_none_stops_the_run_by_name(tmp_path: Path, ctc: Path) -> None:
    model = judge(write_archive(tmp_path / "a.nemo", config_of(ctc), b"no weights"))
    with pytest.raises(JudgeError, match=r"a\.nemo can't be restored"):
        texts(model, [clip(tmp_path / "a.wav", noise(1.0))])


def test_a_config_that_stock_nemo_can_not_build_says_why(tmp_path: Path, ctc: Path) -> None:
    config = config_of(ctc).replace("n_layers: 1", "n_layers: 1\n  unheard_of: 3")
    model = judge(write_archive(tmp_path / "a.nemo", config, b""))
    with pytest.raises(JudgeError, match="unheard_of"):
        texts(model, [clip(tmp_path / "a.wav", noise(1.0))])


def test_the_tokenizer_of_the_fork_is_told_from_its_error(tmp_path: Path, hybrid: Path) -> None:
    # A config of the fork that names nothing that only the fork has: stock NeMo ends in KeyError: 'dir'.
    config = config_of(hybrid).replace("  dir: ", "  folder: ")
    model = judge(write_archive(tmp_path / "a.nemo", config, b""))
    with pytest.raises(JudgeError, match=FORK):
        texts(model, [clip(tmp_path / "a.wav", noise(1.0))])


def test_no_gpu_where_one_is_asked_for_is_said_before_the_run(ctc: Path) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    (finding,) = judge(ctc, device="cuda").check([])
    assert finding.level == "error"
    assert "sees no GPU" in finding.message


def test_scores_that_are_no_numbers_are_no_transcript(hybrid: Path, ctc: Path, tasks: list[JudgeTask]) -> None:
    for model in (judge(ctc), judge(hybrid, decoder="ctc"), judge(hybrid, decoder="rnnt")):
        model.load()
        for parameter in model._model.encoder.parameters():
            parameter.data.mul_(float("nan"))
        found = answers(model, tasks[:2]).values()
        assert {(one.outcome.status, one.outcome.reason, one.transcript) for one in found} == {
            (Status.JUDGE_FAILED, "not_a_number", None)
        }


def test_the_command_judges_with_it_and_leaves_the_home_alone(
    ctc: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    words_of_a_run = words(
        tmp_path,
        f"judge.model={ctc}",
        "judge.langs=[hi]",
        "promptset=smoke",
        "promptset.limit=1",
        "promptset.langs=[hi,ta]",
        system="espeak",
        judge="nemo",
    )
    done = run_apart(*words_of_a_run)
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "runs").iterdir()
    rows = {row.lang: row for row in read_records(folder / "per_sample.tsv", SampleRow)}
    assert rows["hi"].status is Status.OK
    assert rows["hi"].hypothesis
    assert rows["hi"].judge_revision.startswith(f"nemo@{file_sha256(ctc)[:12]}+")
    assert rows["ta"].status is Status.UNSUPPORTED_LANGUAGE
    assert "NeMo" not in done.stdout + done.stderr
    assert list(home.iterdir()) == []
