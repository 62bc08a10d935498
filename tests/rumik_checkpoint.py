"""Tiny random checkpoints with the architecture and the files of rumik-oss-1, for tests: they babble in whole frames.

Weights are random but for what makes the babble usable: one layer's MLP turns "this was quantizer q" into "next is
q + 1", `<audio>` counts as the last quantizer, `</audio>` as one more code of the first, and the stop head fires now
and then. So clips have whole frames, lost tokens now and then, and all three ways to end.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

QUANTIZERS, CODES, FIRST_UNIT = 8, 64, 320
LAST_UNIT = FIRST_UNIT + QUANTIZERS * CODES - 1
TEXT, AUDIO, END = range(LAST_UNIT + 1, LAST_UNIT + 4)
VOCABULARY = LAST_UNIT + 16
SPECIAL = ("<PAD>", "<UNK>", "<CLS>", "<SEP>", "<MASK_TOKEN>", "<BOS_TOKEN>", "<EOS_TOKEN>", "<|END_OF_TURN_TOKEN|>")
BOS = SPECIAL.index("<BOS_TOKEN>")
HIDDEN = 96
MERGES = (("à", "¤"), ("à¤", "¬"), ("à¤", "¾"), ("à¤¬", "à¤¾"))
"""Bytes of Devanagari, up to one syllable: a pre-tokenizer that parts signs from letters leaves it in pieces."""

CONFIG: Mapping[str, Any] = {
    "architectures": ["RumikOSSForCausalLM"],
    "auto_map": {"AutoModelForCausalLM": "modeling_rumik_oss.RumikOSSForCausalLM"},
    "model_type": "rumik_oss",
    "transformers_version": "4.57.6",
    "dtype": "bfloat16",
    "vocab_size": VOCABULARY,
    "hidden_size": HIDDEN,
    "intermediate_size": 128,
    "num_hidden_layers": 4,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "hidden_act": "silu",
    "layer_norm_eps": 1e-5,
    "layer_types": ["sliding_attention"] * 3 + ["full_attention"],
    "sliding_window": 48,
    "rope_theta": 50_000,
    "rope_scaling": None,
    "attention_bias": False,
    "attention_dropout": 0.0,
    "logit_scale": 0.5,
    "max_position_embeddings": 4096,
    "tie_word_embeddings": True,
    "bos_token_id": BOS,
    "eos_token_id": 7,
    "pad_token_id": 0,
    "use_cache": True,
    "num_quantizers": QUANTIZERS,
    "codebook_size": CODES,
    "frame_rate_hz": 12.5,
    "first_unit_id": FIRST_UNIT,
    "last_unit_id": LAST_UNIT,
    "text_start_token_id": TEXT,
    "audio_start_token_id": AUDIO,
    "audio_end_token_id": END,
    "speakers": ["Ira", "Aisha", "Siya", "Zoya"],
}
"""As transformers 4.57 wrote it."""

CODEC: Mapping[str, Any] = {
    "hidden_size": 32,
    "num_filters": 4,
    "num_hidden_layers": 1,
    "intermediate_size": 32,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "codebook_dim": 16,
    "codebook_size": CODES,
    "vector_quantization_hidden_dimension": 16,
    "num_quantizers": QUANTIZERS,
    "upsample_groups": 32,
}


def make_checkpoint(folder: Path, *, seed: int = 0, stop_bias: float = -1.4, **changes: Any) -> Path:
    """Writes a checkpoint.

    Args:
        folder: Where; made if it isn't there.
        seed: Of the weights: another one speaks otherwise.
        stop_bias: The higher, the sooner the stop head fires; in most clips within 200 tokens at -1.4, never at -9.
        changes: Fields of `config.json` that differ.
    """
    folder.mkdir(parents=True, exist_ok=True)
    config = {**CONFIG, **changes}
    (folder / "config.json").write_text(json.dumps(config, indent=2), encoding="utf-8")
    _write_tokenizer(folder)
    _write_weights(folder, config, seed, stop_bias)
    _write_codec(folder / "codec", seed)
    return folder


def _write_tokenizer(folder: Path) -> None:
    """Bytes, special tokens and marks: the pre-tokenizer splits off digits, as Cohere's does."""
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, processors

    units = [f"<{code}_{quantizer}>" for code in range(CODES) for quantizer in range(QUANTIZERS)]
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    joined = ["".join(pair) for pair in MERGES]
    fill = [f"<unused_{n}>" for n in range(FIRST_UNIT - len(SPECIAL) - len(letters) - len(joined))]
    names = [
        *SPECIAL,
        *letters,
        *joined,
        *fill,
        *units,
        "<text>",
        "<audio>",
        "</audio>",
        "<laugh>",
        "<chuckle>",
        "<sigh>",
    ]
    ids = {name: place for place, name in enumerate(names)}
    tokenizer = Tokenizer(models.BPE(ids, list(MERGES), unk_token="<UNK>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r"\d"), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    marks = [*SPECIAL, *units, *names[-6:]]
    tokenizer.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in marks])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<BOS_TOKEN> $A", special_tokens=[("<BOS_TOKEN>", BOS)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    told = {"tokenizer_class": "CohereTokenizer", "bos_token": "<BOS_TOKEN>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(told), encoding="utf-8")


def _write_weights(folder: Path, config: Mapping[str, Any], seed: int, stop_bias: float) -> None:
    import torch
    from safetensors.torch import save_file
    from transformers import Cohere2Config, Cohere2Model

    torch.manual_seed(seed)
    model = Cohere2Model(Cohere2Config(**{k: v for k, v in config.items() if k not in ("model_type", "auto_map")}))
    weights = {f"model.{name}": torch.randn(w.shape) * 0.07 for name, w in model.state_dict().items()}
    weights |= {name: torch.ones_like(w) for name, w in weights.items() if name.endswith("norm.weight")}
    _speak_in_order(weights, int(config["num_hidden_layers"]) - 1)
    hidden = int(config["hidden_size"])
    inner = max(64, hidden // 4)
    weights |= {
        "stop_predictor.0.weight": torch.ones(hidden),
        "stop_predictor.0.bias": torch.zeros(hidden),
        "stop_predictor.1.weight": torch.randn(inner, hidden) / hidden**0.5,
        "stop_predictor.1.bias": torch.randn(inner) * 0.1,
        "stop_predictor.3.weight": torch.randn(1, inner) / (0.4 * inner) ** 0.5,
        "stop_predictor.3.bias": torch.tensor([stop_bias]),
    }
    weights = {name: weight.to(torch.bfloat16) for name, weight in weights.items()}
    names = sorted(weights)
    placed = {}
    for number, part in enumerate((names[: len(names) // 2], names[len(names) // 2 :]), 1):
        file = f"model-0000{number}-of-00002.safetensors"
        save_file({name: weights[name].contiguous() for name in part}, folder / file, {"format": "pt"})
        placed |= dict.fromkeys(part, file)
    index = {"metadata": {}, "weight_map": placed}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")


def _speak_in_order(weights: dict[str, Any], last_layer: int) -> None:
    """Gives each quantizer a place of its own in the embedding, and turns each place into the next one."""
    import torch

    embedding = weights["model.embed_tokens.weight"]
    embedding[:, :QUANTIZERS] = 0.0
    embedding *= 4.0
    for name, weight in weights.items():
        if name.endswith(("o_proj.weight", "down_proj.weight")):
            weight[:QUANTIZERS] = 0.0
    for code in range(CODES):
        for quantizer in range(QUANTIZERS):
            embedding[FIRST_UNIT + QUANTIZERS * code + quantizer, quantizer] = 4.0
    embedding[AUDIO, QUANTIZERS - 1] = 4.0
    embedding[END, 0] = 4.5
    mlp = f"model.layers.{last_layer}.mlp"
    for name in ("gate_proj", "up_proj"):
        weights[f"{mlp}.{name}.weight"][:QUANTIZERS] = 0.0
        weights[f"{mlp}.{name}.weight"][:QUANTIZERS, :QUANTIZERS] = 1.5 * torch.eye(QUANTIZERS)
    down = weights[f"{mlp}.down_proj.weight"]
    down[:, :QUANTIZERS] = 0.0
    for quantizer in range(QUANTIZERS):
        down[(quantizer + 1) % QUANTIZERS, quantizer] = 0.1
        down[quantizer, quantizer] = -0.07


def _write_codec(folder: Path, seed: int) -> None:
    import torch
    from transformers import MimiConfig, MimiModel

    torch.manual_seed(seed)
    model = MimiModel(MimiConfig(**CODEC))
    with torch.no_grad():
        for name, held in model.state_dict().items():
            if name.endswith("embed_sum"):
                held.normal_(0.0, 0.03)
    model.save_pretrained(folder)
