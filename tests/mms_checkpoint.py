"""A tiny random MMS: a folder with the files and names of `facebook/mms-1b-all`, and two languages' adapters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

LETTERS = {"eng": "abcdefgh", "hin": "अकखगचजटतदनपमय", "tam": "அகசடதநபமயர"}


def vocabulary(code: str) -> dict[str, int]:
    """Token -> row, in the order of the published vocabularies: blank, ends, unknown, bar, letters."""
    return {token: n for n, token in enumerate(["<pad>", "<s>", "</s>", "<unk>", "|", *LETTERS[code]])}


def write_mms(folder: Path, codes: tuple[str, ...] = ("eng", "hin", "tam"), **changes: Any) -> Path:
    """Writes a checkpoint.

    Args:
        codes: Languages in `vocab.json`; each has an adapter.
        changes: Other values of the config (`feat_extract_norm="group"`).
    """
    import torch
    from safetensors.torch import save_file
    from transformers import Wav2Vec2Config, Wav2Vec2FeatureExtractor, Wav2Vec2ForCTC

    config = {
        "vocab_size": len(vocabulary("eng")),
        "hidden_size": 32,
        "output_hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 48,
        "conv_dim": (24, 24, 24, 24, 24, 24, 24),
        "conv_bias": True,
        "num_conv_pos_embeddings": 16,
        "num_conv_pos_embedding_groups": 4,
        "feat_extract_norm": "layer",
        "do_stable_layer_norm": True,
        "adapter_attn_dim": 4,
        "pad_token_id": 0,
        **changes,
    }
    torch.manual_seed(3)
    model = Wav2Vec2ForCTC(Wav2Vec2Config(**config)).eval()
    with torch.no_grad():  # the usual small weights would write the same letter all the time
        for name, parameter in model.named_parameters():
            if parameter.dim() > 1 and "conv" not in name:
                parameter.mul_(8)
    model.save_pretrained(folder)
    Wav2Vec2FeatureExtractor(return_attention_mask=True).save_pretrained(folder)
    (folder / "vocab.json").write_text(json.dumps({code: vocabulary(code) for code in codes}), encoding="utf-8")
    for seed, code in enumerate(codes):
        torch.manual_seed(seed)
        names = model._get_adapters() if config["adapter_attn_dim"] is not None else {}
        adapter = {name: torch.randn_like(value) for name, value in names.items()}
        adapter["lm_head.weight"] = torch.randn(len(LETTERS[code]) + 5, 32)
        adapter["lm_head.bias"] = torch.randn(len(LETTERS[code]) + 5)
        save_file(adapter, folder / f"adapter.{code}.safetensors")
    return folder
