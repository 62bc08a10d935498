"""Tiny random recognisers of NeMo, saved as `.nemo` files by NeMo itself: CTC over letters, RNNT/CTC over pieces."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Any

from kasauti.judges.quiet import quiet

LETTERS = [" ", *"कखगचजटतदनपमरसा"]
SENTENCES = ["नमक खाना मत", "काम का नाम", "सागर की नाव", "रात मन जप", "पतन गगन चमक"]
MELS = 16


def write_ctc(path: Path, rate_hz: int = 16_000, normalize: str = "per_feature") -> Path:
    """One conformer layer and a CTC head over letters."""
    with quiet():
        import torch
        from nemo.collections.asr.models import EncDecCTCModel

        torch.manual_seed(0)
        model = EncDecCTCModel(
            cfg=_config(
                "ctc_models.EncDecCTCModel",
                rate_hz,
                labels=LETTERS,
                decoder=_ctc_head(len(LETTERS), LETTERS),
                preprocessor=_front_end(rate_hz, normalize),
            )
        )
        model.eval().save_to(str(path))
    return path


def write_hybrid(path: Path, folder: Path) -> Path:
    """A transducer and a CTC head over pieces of a BPE that is trained on `SENTENCES` into `folder`."""
    with quiet():
        import torch
        from nemo.collections.asr.models import EncDecHybridRNNTCTCBPEModel

        torch.manual_seed(1)
        model = EncDecHybridRNNTCTCBPEModel(
            cfg=_config(
                "hybrid_rnnt_ctc_bpe_models.EncDecHybridRNNTCTCBPEModel",
                16_000,
                model_defaults={"enc_hidden": 16, "pred_hidden": 16, "joint_hidden": 16},
                tokenizer={"dir": str(_bpe(folder)), "type": "bpe"},
                decoder={
                    "_target_": "nemo.collections.asr.modules.RNNTDecoder",
                    "normalization_mode": None,
                    "random_state_sampling": False,
                    "blank_as_pad": True,
                    "prednet": {"pred_hidden": 16, "pred_rnn_layers": 1, "t_max": None, "dropout": 0.0},
                },
                joint={
                    "_target_": "nemo.collections.asr.modules.RNNTJoint",
                    "log_softmax": None,
                    "preserve_memory": False,
                    "fuse_loss_wer": False,
                    "jointnet": {"joint_hidden": 16, "activation": "relu", "dropout": 0.0},
                },
                decoding={"strategy": "greedy_batch", "greedy": {"max_symbols": 3}},
                loss={"loss_name": "default"},
                aux_ctc={
                    "ctc_loss_weight": 0.3,
                    "decoder": _ctc_head(-1, []),
                    "decoding": {"strategy": "greedy_batch"},
                },
            )
        )
        with torch.no_grad():  # the usual small weights would write one letter all the time
            for parameter in (*model.joint.parameters(), *model.decoder.parameters()):
                parameter.mul_(4)
            model.joint.joint_net[-1].bias[-1] += 2.0  # and not so often nothing but blanks
        model.eval().save_to(str(path))
    return path


def write_archive(path: Path, config: str | None, weights: bytes | None = b"", compression: str = "") -> Path:
    """A tar archive with the names of a checkpoint's parts and these contents; None leaves the part out."""
    folder = path.parent / f"{path.name}.parts"
    folder.mkdir()
    with tarfile.open(path, f"w:{compression}") as archive:
        for name, content in (("model_config.yaml", config), ("model_weights.ckpt", weights)):
            if content is not None:
                (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
                archive.add(folder / name, f"./{name}")
    return path


def config_of(path: Path) -> str:
    """The config in an archive."""
    with tarfile.open(path) as archive:
        member = archive.extractfile("./model_config.yaml")
        assert member is not None
        return member.read().decode()


def _config(target: str, rate_hz: int, **parts: Any) -> Any:
    from omegaconf import OmegaConf

    return OmegaConf.create(
        {
            "sample_rate": rate_hz,
            "target": f"nemo.collections.asr.models.{target}",
            "preprocessor": _front_end(rate_hz, "per_feature"),
            "encoder": {
                "_target_": "nemo.collections.asr.modules.ConformerEncoder",
                "feat_in": MELS,
                "n_layers": 1,
                "d_model": 16,
                "subsampling": "striding",
                "subsampling_factor": 4,
                "subsampling_conv_channels": 16,
                "n_heads": 2,
                "conv_kernel_size": 5,
                "ff_expansion_factor": 2,
            },
            "optim": {"name": "adamw", "lr": 1e-3},
            **parts,
        }
    )


def _front_end(rate_hz: int, normalize: str) -> dict[str, Any]:
    return {
        "_target_": "nemo.collections.asr.modules.AudioToMelSpectrogramPreprocessor",
        "sample_rate": rate_hz,
        "normalize": normalize,
        "window_size": 0.025,
        "window_stride": 0.01,
        "window": "hann",
        "features": MELS,
        "n_fft": 512,
        "dither": 1e-5,
        "pad_to": 16,
    }


def _ctc_head(classes: int, letters: list[str]) -> dict[str, Any]:
    return {
        "_target_": "nemo.collections.asr.modules.ConvASRDecoder",
        "feat_in": 16,
        "num_classes": classes,
        "vocabulary": letters,
    }


def _bpe(folder: Path) -> Path:
    import sentencepiece

    (folder / "text.txt").write_text("\n".join(SENTENCES * 20), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(folder / "text.txt"),
        model_prefix=str(folder / "tokenizer"),
        vocab_size=32,
        model_type="bpe",
        character_coverage=1.0,
        minloglevel=2,
    )
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "tokenizer.model"))
    names = [pieces.id_to_piece(n) for n in range(pieces.get_piece_size())]
    (folder / "vocab.txt").write_text("\n".join(names), encoding="utf-8")
    return folder
