"""How fast `system=rumik` rolls out, beside the plain loop that speaks one prompt at a time, token by token.

    python benchmarks/rollout.py [--size small|full] [--device auto|cpu|cuda] [--batches 1,8,32] [--rounds 3]

Weights are random and the work is real: prompts of 20 to 160 tokens, clips of 150 to 450 tokens that a stop head ends,
codec included. `full` has the dimensions of rumik-oss-1 (36 layers, hidden 2048, vocabulary 277,404, bfloat16, 6.8 GB)
and is for a GPU; `small` is the same shape on a small scale in float32, for the ratio on a CPU. Both ways of speaking
run in turn in one process; the best of all rounds counts. Not a test: nothing passes or fails by a clock.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from kasauti import devices  # noqa: E402 - the source tree is put on the path first
from kasauti.systems.rumik.board import Board  # noqa: E402
from kasauti.systems.rumik.codec import Codec, Decoding  # noqa: E402
from kasauti.systems.rumik.draws import Draw, uniforms  # noqa: E402
from kasauti.systems.rumik.files import CODEC, Files  # noqa: E402
from kasauti.systems.rumik.layout import PUBLISHED, Layout, parse_tokens, read_layout  # noqa: E402
from kasauti.systems.rumik.model import RumikModel, assemble, backbone_of  # noqa: E402
from kasauti.systems.rumik.rollout import Rollout, Row  # noqa: E402

DRAW = Draw(min_new_tokens=150, max_new_tokens=450)
STOP_EVERY = 150
"""Past the least length, a clip ends after so many further tokens on average."""

FULL: dict[str, Any] = {
    "model_type": "rumik_oss",
    **PUBLISHED,
    "hidden_size": 2048,
    "intermediate_size": 11008,
    "num_hidden_layers": 36,
    "num_attention_heads": 16,
    "num_key_value_heads": 4,
    "max_position_embeddings": 8192,
    "logit_scale": 0.0625,
    "tie_word_embeddings": True,
    "pad_token_id": 0,
}
"""With these, and a stop head, the parameters are as many as published: 3,381,533,697."""

SMALL: dict[str, Any] = {
    **FULL,
    "hidden_size": 256,
    "intermediate_size": 1376,
    "num_hidden_layers": 6,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "vocab_size": 6144,
    "codebook_size": 256,
    "first_unit_id": 4080,
    "last_unit_id": 6127,
    "text_start_token_id": 6128,
    "audio_start_token_id": 6129,
    "audio_end_token_id": 6130,
    "bos_token_id": 2,
    "eos_token_id": 3,
}
"""The head has about the share of all weights that it has in the real model."""

SMALL_CODEC = {"hidden_size": 64, "num_filters": 8, "num_hidden_layers": 2, "intermediate_size": 256, "head_dim": 16}


@dataclass
class Subject:
    """What is measured: one set of weights in both ways of speaking."""

    model: RumikModel
    codec: Codec
    layout: Layout
    stock: Any
    stop_head: Any


@dataclass
class Measured:
    """One run: what was made, how long it took by the wall and the processor, and what its steps had to read."""

    tokens: int
    frames: int
    wall_s: float
    processor_s: float
    bytes_read: float


class Clock:
    """Both clocks, from now on."""

    def __init__(self) -> None:
        self._began = time.perf_counter(), time.process_time()

    def read(self) -> tuple[float, float]:
        return time.perf_counter() - self._began[0], time.process_time() - self._began[1]


# --- what is measured


def rollout(subject: Subject, rows: list[Row], batch: int) -> Measured:
    """Our way: continuous batching, one draw for all rows on the device, codec beside it."""
    read = 0.0
    step = Board.step

    weights = weights_of_step(subject.model)

    def counted(board: Board, slots: int, length: int) -> None:
        nonlocal read
        read += weights + keys_of_step(subject.model, slots, length)
        step(board, slots, length)

    Board.step = counted  # type: ignore[method-assign]
    frames = 0
    clock = Clock()
    try:
        with Decoding[Row](subject.codec) as decoding:
            for ended in Rollout(subject.model, DRAW, batch).run(iter(rows)):
                for row in ended:
                    if row.error is not None:
                        raise row.error
                    decoding.put(row, parse_whole(row.tokens, subject.layout))
                frames += sum(one.samples.size for one in decoding.ready() if one.samples is not None)
            frames += sum(one.samples.size for one in decoding.rest() if one.samples is not None)
    finally:
        Board.step = step  # type: ignore[method-assign]
    return Measured(
        sum(len(row.tokens) for row in rows), frames // subject.codec.samples_per_frame, *clock.read(), read
    )


def plain_loop(subject: Subject, rows: list[Row]) -> Measured:
    """The stock way: one prompt, a cache that grows, the whole head, each token drawn by the host, then the codec."""
    import torch

    stock, layout, device = subject.stock, subject.layout, subject.model.allowed.device
    allowed = subject.model.allowed
    tokens_made = frames = 0
    read = 0.0
    whole = sum(weight.nbytes for weight in stock.parameters())
    clock = Clock()
    with torch.inference_mode():
        for row in rows:
            fed, cache, made = torch.tensor([row.ids], device=device), None, []
            while len(made) < DRAW.max_new_tokens:
                out = stock(input_ids=fed, cache=cache, use_cache=True, output_hidden_states=True, logits_to_keep=1)
                cache, late = out.cache, len(made) >= DRAW.min_new_tokens
                read += whole
                if late and torch.sigmoid(subject.stop_head(out.hidden_states[-1][:, -1])).item() > 0.5:
                    break
                scores = out.logits[:, -1].float() / DRAW.temperature
                kept = allowed if late else allowed[:-1]
                masked = torch.full_like(scores, float("-inf")).index_copy_(1, kept, scores[:, kept])
                edge = masked.topk(DRAW.top_k)[0][:, -1:]
                shares = masked.masked_fill(masked < edge, float("-inf")).softmax(-1)
                token = int(torch.multinomial(shares, 1).item())
                made.append(token)
                if token == layout.audio_end_token_id:
                    break
                fed = torch.tensor([[token]], device=device)
            sound = subject.codec.decode([parse_whole(made, layout)])[0]
            tokens_made, frames = tokens_made + len(made), frames + sound.size // subject.codec.samples_per_frame
    return Measured(tokens_made, frames, *clock.read(), read)


def parse_whole(tokens: list[int], layout: Layout) -> Any:
    """Codes of a stream of random tokens: parsed as always, then put in order, since chance makes no whole frame."""
    parse_tokens(tokens, layout)
    frames = len(tokens) // layout.num_quantizers
    codes = (np.array(tokens[: frames * layout.num_quantizers]) - layout.first_unit_id) // layout.num_quantizers
    return codes.clip(0, layout.codebook_size - 1).reshape(frames, layout.num_quantizers).T


def weights_of_step(model: RumikModel) -> float:
    """Bytes of weights that a step must read: all but the rows of the embedding, and the cut head."""
    config = model.config
    embedding = config.vocab_size * config.hidden_size
    weights = sum(weight.numel() for weight in model.backbone.parameters()) - embedding
    head = len(model.allowed) * config.hidden_size
    return float((weights + head) * model.dtype.itemsize)


def keys_of_step(model: RumikModel, rows: int, keys: int) -> float:
    """Bytes of keys and values that a step must read, those of all rows."""
    config = model.config
    cache = 2 * config.num_hidden_layers * config.num_key_value_heads * config.head_dim * rows * keys
    return float(cache * model.dtype.itemsize)


# --- the subject


def make_subject(size: str, device: str, folder: Path) -> Subject:
    """Random weights on the device, shared by both ways of speaking, and a random codec of the real shape."""
    import torch
    from transformers import Cohere2ForCausalLM

    config, dtype = (FULL, torch.bfloat16) if size == "full" else (SMALL, torch.float32)
    layout = read_layout(config)
    torch.manual_seed(0)
    backbone = backbone_of(config)
    weights = {f"model.{name}": weight.shape for name, weight in backbone.state_dict().items()}
    drawn = {name: torch.empty(shape, dtype=dtype, device=device) for name, shape in weights.items()}
    for name, weight in drawn.items():
        weight.fill_(1.0) if name.endswith("norm.weight") else weight.normal_(0, 0.02)
    stop_head = make_stop_head(int(config["hidden_size"]), device, dtype)
    drawn |= {f"stop_predictor.{name}": weight.data for name, weight in stop_head.named_parameters()}
    with torch.device("meta"):
        stock_config = type(backbone.config)(**{**backbone.config.to_dict(), "attn_implementation": "sdpa"})
        stock = Cohere2ForCausalLM(stock_config).eval()
    shared = {name: weight for name, weight in drawn.items() if name.startswith("model.")}
    stock.load_state_dict({**shared, "lm_head.weight": shared["model.embed_tokens.weight"]}, assign=True)
    stock.tie_weights()
    stock.model.rotary_emb = type(stock.model.rotary_emb)(stock_config).to(device)
    model = assemble(backbone, dict(drawn), layout)
    codec = make_codec(size, layout, folder, device)
    return Subject(model, codec, layout, stock, stop_head)


def make_stop_head(hidden: int, device: str, dtype: Any) -> Any:
    """A stop head that fires about once in `STOP_EVERY` on random states."""
    import torch

    inner = max(64, hidden // 4)
    head = torch.nn.Sequential(
        torch.nn.LayerNorm(hidden), torch.nn.Linear(hidden, inner), torch.nn.GELU(), torch.nn.Linear(inner, 1)
    )
    with torch.inference_mode():
        said = head(torch.randn(4096, hidden))[:, 0]
    head.requires_grad_(False)
    head[3].bias -= said.quantile(1 - 1 / STOP_EVERY)
    return head.to(device, dtype)


def make_codec(size: str, layout: Layout, folder: Path, device: str) -> Codec:
    """A random Mimi: of the real size, or small."""
    from transformers import MimiConfig, MimiModel

    small = {} if size == "full" else {**SMALL_CODEC, "upsample_groups": SMALL_CODEC["hidden_size"]}
    shape = {"codebook_size": layout.codebook_size, "num_quantizers": layout.num_quantizers, **small}
    MimiModel(MimiConfig(**shape)).save_pretrained(folder / CODEC)
    return Codec(Files(folder, {}, layout, 24_000, ()), device)


def make_rows(count: int, layout: Layout) -> list[Row]:
    """Prompts of 20 to 160 random tokens of text."""
    draw = np.random.default_rng(0)
    rows = []
    for seed in range(count):
        ids = [int(token) for token in draw.integers(10, layout.first_unit_id, int(draw.integers(20, 161)))]
        rows.append(Row([*ids, layout.audio_start_token_id], uniforms(seed, 0, DRAW.max_new_tokens), len(ids)))
    return rows


def bandwidth(device: str) -> float:
    """Bytes a second that the device moves when it copies (read and written), best of ten."""
    import torch

    source = torch.empty(2**30 if device == "cuda" else 2**28, dtype=torch.uint8, device=device).fill_(1)
    target = torch.empty_like(source)
    best = float("inf")
    for _ in range(10):
        clock = Clock()
        target.copy_(source)
        if device == "cuda":
            torch.cuda.synchronize()
        best = min(best, clock.read()[device == "cpu"])
    return 2 * source.numel() / best


# --- how it is measured


def variants(
    subject: Subject, batches: list[int], clips: int, stock_clips: int
) -> Iterator[tuple[str, Callable[[], Measured]]]:
    yield "plain loop, one prompt", lambda: plain_loop(subject, make_rows(stock_clips, subject.layout))
    for batch in batches:
        count = max(stock_clips, min(clips, 4 * batch))
        yield (
            f"kasauti, {batch} at once",
            lambda batch=batch, count=count: rollout(subject, make_rows(count, subject.layout), batch),
        )


def show(found: dict[str, list[Measured]], device: str, bytes_per_s: float, frame_rate_hz: float) -> None:
    """The table: the best round of each variant. On a CPU ratios are of processor time: others work there too."""

    def seconds(run: Measured) -> float:
        return run.wall_s if device == "cuda" else run.processor_s

    best = {name: min(runs, key=lambda run: seconds(run) / run.tokens) for name, runs in found.items()}
    plain = next(iter(best.values()))
    heads = f"{'tokens':>8}{'wall s':>9}{'proc. s':>9}{'tokens/s':>10}{'audio s/s':>11}"
    print(f"\n{'':26}{heads}{'of the loop':>13}{'of bandwidth':>14}")
    for name, run in best.items():
        rate = run.tokens / seconds(run)
        ratio = rate / (plain.tokens / seconds(plain))
        audio = run.frames / frame_rate_hz / seconds(run)
        share = run.bytes_read / seconds(run) / bytes_per_s
        print(
            f"{name:26}{run.tokens:8}{run.wall_s:9.2f}{run.processor_s:9.2f}{rate:10.0f}"
            f"{audio:11.2f}{ratio:12.1f}x{share:13.0%}"
        )


def main() -> None:
    """Makes the subject, measures the variants in turn, prints the table."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=("small", "full"), default="small")
    parser.add_argument("--device", choices=devices.DEVICES, default="auto")
    parser.add_argument("--batches", default="1,8,32", help="clips at once, several with commas between")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--clips", type=int, default=512, help="at most so many clips a round, 4 a slot")
    parser.add_argument("--stock-clips", type=int, default=4, help="clips of the plain loop")
    options = parser.parse_args()
    device = devices.choose(options.device)
    batches = [int(batch) for batch in options.batches.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        subject = make_subject(options.size, device, Path(folder))
    named = torch.cuda.get_device_name() if device == "cuda" else f"{torch.get_num_threads()} threads"
    count = sum(weight.numel() for weight in subject.stock.parameters())
    bytes_per_s = bandwidth(device)
    print(
        f"{options.size}: {count:,} parameters, {subject.model.dtype}, {device} ({named}), {bytes_per_s / 1e9:.0f} GB/s"
    )
    found: dict[str, list[Measured]] = {}
    for round_number in range(options.rounds):
        print(f"round {round_number + 1}: load {os.getloadavg()[0]:.1f}", flush=True)
        for name, measure in variants(subject, batches, options.clips, options.stock_clips):
            found.setdefault(name, []).append(measure())
    show(found, device, bytes_per_s, subject.layout.frame_rate_hz)


if __name__ == "__main__":
    main()
