"""A tiny random Whisper: files, names and tokens of `openai/whisper-large-v3`, over an alphabet of bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SPECIAL = ("<|startoftranscript|>", "<|en|>", "<|hi|>", "<|ta|>", "<|bn|>", "<|te|>", "<|mr|>", "<|gu|>", "<|kn|>")
SPECIAL += ("<|ml|>", "<|pa|>", "<|as|>", "<|ne|>", "<|sa|>", "<|sd|>", "<|ur|>", "<|translate|>", "<|transcribe|>")
SPECIAL += ("<|startoflm|>", "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>")
"""After `<|endoftext|>`, in the order of the published tokens."""

WRITTEN = frozenset("abcdefghijklmnopqrstuvwxyzĠ") | {"<|endoftext|>"}
"""All that it may write, so that its bytes are text."""


def write_whisper(folder: Path, leaning: float = 0.0, **changes: Any) -> Path:
    """Writes a checkpoint.

    Args:
        leaning: Added to the score of the end of text: more makes shorter transcripts.
        changes: Other values of the config.
    """
    import torch
    from transformers import GenerationConfig, WhisperConfig, WhisperFeatureExtractor, WhisperForConditionalGeneration

    tokens = write_tokenizer(folder)
    end = tokens["<|endoftext|>"]
    config = {
        "vocab_size": len(tokens),
        "num_mel_bins": 16,
        "d_model": 32,
        "encoder_layers": 1,
        "decoder_layers": 2,
        "encoder_attention_heads": 2,
        "decoder_attention_heads": 2,
        "encoder_ffn_dim": 48,
        "decoder_ffn_dim": 48,
        "max_source_positions": 1500,
        "max_target_positions": 448,
        "pad_token_id": end,
        "bos_token_id": end,
        "eos_token_id": end,
        "decoder_start_token_id": tokens["<|startoftranscript|>"],
        **changes,
    }
    torch.manual_seed(5)
    model = WhisperForConditionalGeneration(WhisperConfig(**config)).eval()
    with torch.no_grad():  # the usual small weights would neither listen nor go on
        for name, parameter in model.named_parameters():
            if "decoder.embed_positions" in name:
                parameter.mul_(60)
            elif parameter.dim() > 1 and "embed_positions" not in name:
                parameter.mul_(40 if "encoder_attn" in name else 12)
        model.model.decoder.layer_norm.bias[0] = 1.0
        model.model.decoder.embed_tokens.weight[end, 0] += leaning
    model.generation_config = GenerationConfig(
        suppress_tokens=[n for name, n in tokens.items() if name not in WRITTEN],
        begin_suppress_tokens=[tokens["Ġ"], end],
        eos_token_id=end,
        pad_token_id=end,
        bos_token_id=end,
        decoder_start_token_id=tokens["<|startoftranscript|>"],
        no_timestamps_token_id=tokens["<|notimestamps|>"],
        lang_to_id={name: tokens[name] for name in SPECIAL[1:16]},
        task_to_id={"transcribe": tokens["<|transcribe|>"], "translate": tokens["<|translate|>"]},
        is_multilingual=True,
    )
    model.save_pretrained(folder)
    WhisperFeatureExtractor(feature_size=config["num_mel_bins"]).save_pretrained(folder)
    return folder


def write_tokenizer(folder: Path) -> dict[str, int]:
    """Writes the tokenizer's files: one token a byte, then the special ones and ten timestamps. Token -> id."""
    from transformers import AddedToken, WhisperTokenizer
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    letters = {letter: n for n, letter in enumerate(bytes_to_unicode().values())}
    tokenizer = WhisperTokenizer(vocab={**letters, "<|endoftext|>": len(letters)}, merges=[])
    tokenizer.add_tokens([AddedToken(name, special=True) for name in SPECIAL], special_tokens=True)
    tokenizer.add_tokens([f"<|{n * 0.02:.2f}|>" for n in range(10)])
    tokenizer.save_pretrained(folder)
    read = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    return {**read["model"]["vocab"], **{token["content"]: token["id"] for token in read["added_tokens"]}}
