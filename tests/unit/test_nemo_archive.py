"""What a `.nemo` archive says of itself, and which archives are refused, without NeMo."""

from __future__ import annotations

from pathlib import Path

import pytest

from kasauti.errors import JudgeError
from kasauti.identity import file_sha256
from kasauti.judges.nemo_archive import read_archive
from nemo_checkpoints import write_archive

FORK = "docs/add-a-judge.md"


@pytest.mark.parametrize(
    ("config", "weights", "said"),
    [
        (None, b"", "lacks model_config.yaml"),
        ("target: nemo.collections.asr.models.EncDecCTCModel\n", None, "lacks model_weights.ckpt"),
        ("target: nemo.collections.tts.models.FastPitchModel\n", b"", "holds nemo.collections.tts.models.FastPitch"),
        ("target: nemo.collections.asr.models.aed_multitask_models.EncDecMultiTaskModel\n", b"", "nothing but sound"),
        ("target: os.EncDecCTCModel\n", b"", "holds os.EncDecCTCModel"),
        ("labels: []\n", b"", "holds no class"),
        # As the fork's configs have it: https://github.com/AI4Bharat/IndicConformerASR/issues/8
        ("target: x\ndecoder:\n  multisoftmax: true\n", b"", FORK),
        ("joint:\n  language_keys: [as, bn]\n", b"", FORK),
        ("tokenizer:\n  type: multilingual\n  langs: {hi: {dir: a}}\n", b"", FORK),
    ],
)
def test_other_archives_are_refused_by_name(
    tmp_path: Path, config: str | None, weights: bytes | None, said: str
) -> None:
    with pytest.raises(JudgeError, match=said):
        read_archive(write_archive(tmp_path / "a.nemo", config, weights))


def test_other_files_are_refused_by_name(tmp_path: Path) -> None:
    whole = write_archive(tmp_path / "whole.nemo", "target: x\n", b"weights" * 3_000)
    (tmp_path / "text.nemo").write_text("not a model")
    (tmp_path / "cut.nemo").write_bytes(whole.read_bytes()[:2_000])
    for name, said in [
        ("gone.nemo", "no such file"),
        ("text.nemo", "no .nemo archive"),
        ("cut.nemo", "fetch it again"),
    ]:
        with pytest.raises(JudgeError, match=said):
            read_archive(tmp_path / name)
    with pytest.raises(JudgeError, match="is a folder"):
        read_archive(tmp_path)


@pytest.mark.parametrize(
    ("name", "decoders"),
    [
        ("ctc_models.EncDecCTCModel", ("ctc",)),
        ("rnnt_bpe_models.EncDecRNNTBPEModel", ("rnnt",)),
        ("hybrid_rnnt_ctc_bpe_models.EncDecHybridRNNTCTCBPEModel", ("rnnt", "ctc")),
    ],
)
@pytest.mark.parametrize("compression", ["", "gz"])
def test_an_archive_says_what_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, decoders: tuple[str, ...], compression: str
) -> None:
    monkeypatch.setenv("KASAUTI_CACHE", str(tmp_path / "cache"))
    target = f"nemo.collections.asr.models.{name}"
    path = write_archive(tmp_path / "a.nemo", f"sample_rate: 16000\ntarget: {target}\n", compression=compression)
    found = read_archive(path)
    assert (found.target, found.decoders, found.sha256) == (target, decoders, file_sha256(path))
