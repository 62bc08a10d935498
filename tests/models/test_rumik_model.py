"""The model against transformers' own class and a loop that samples token by token; weights and tokenizer that lie."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kasauti.errors import KasautiError, SpeechSystemError
from kasauti.systems.base import SpeechFailed
from kasauti.systems.rumik.attention import SlotCache
from kasauti.systems.rumik.board import pick
from kasauti.systems.rumik.draws import Draw, uniforms
from kasauti.systems.rumik.files import examine
from kasauti.systems.rumik.model import RumikModel, load
from kasauti.systems.rumik.prompt import Delivery, wire
from kasauti.systems.rumik.rollout import Rollout, Row
from kasauti.systems.rumik.tokenizer import WireTokenizer
from rumik_checkpoint import AUDIO, BOS, CONFIG, END, FIRST_UNIT, LAST_UNIT, TEXT, VOCABULARY, make_checkpoint

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

PROMPT = [BOS, TEXT, *range(40, 90), AUDIO]
"""Longer than the sliding window of the tiny model, which is 48."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_checkpoint(tmp_path_factory.mktemp("rumik"))


@pytest.fixture(scope="module")
def model(folder: Path) -> RumikModel:
    return load(examine(folder), "cpu", "float32")


@pytest.fixture(scope="module")
def stock(folder: Path) -> Any:
    """The same weights in the class of transformers, whole head, its own attention and cache."""
    from safetensors.torch import load_file
    from transformers import Cohere2Config, Cohere2ForCausalLM

    foreign = ("model_type", "auto_map", "architectures", "dtype", "transformers_version")
    config = Cohere2Config(**{name: value for name, value in CONFIG.items() if name not in foreign})
    stock = Cohere2ForCausalLM(config).eval()
    weights = {name: w.float() for path in sorted(folder.glob("*.safetensors")) for name, w in load_file(path).items()}
    stop = {name: weights.pop(name) for name in list(weights) if name.startswith("stop_predictor.")}
    found = stock.load_state_dict(weights, strict=False)
    assert found.missing_keys == ["lm_head.weight"]
    assert not found.unexpected_keys
    stock.tie_weights()
    head = torch.nn.Sequential(torch.nn.LayerNorm(96), torch.nn.Linear(96, 64), torch.nn.GELU(), torch.nn.Linear(64, 1))
    head.load_state_dict({name.removeprefix("stop_predictor."): weight for name, weight in stop.items()})
    return stock, head


def plain_loop(stock: Any, ids: list[int], draw: Draw, chance: np.ndarray[Any, Any]) -> tuple[list[int], str]:
    """One clip, one token at a time: whole head, dynamic cache, Python for every rule."""
    model, stop_head = stock
    allowed = [*range(FIRST_UNIT, LAST_UNIT + 1), END]
    tokens: list[int] = []
    cache = None
    fed = torch.tensor([ids])
    with torch.inference_mode():
        while len(tokens) < draw.max_new_tokens:
            out = model.model(input_ids=fed, cache=cache, use_cache=True)
            cache, hidden = out.cache, out.last_hidden_state[0, -1]
            early = len(tokens) < draw.min_new_tokens
            if not early and 1 / (1 + math.exp(-stop_head(hidden).item())) > 0.5:
                return tokens, "stop_head"
            logits = (model.lm_head(hidden) * model.logit_scale).tolist()
            ranked = sorted(allowed[: len(allowed) - early], key=lambda token: -logits[token])[: draw.among]
            token = ranked[0]
            if draw.among > 1:
                weights = [math.exp((logits[one] - logits[token]) / draw.temperature) for one in ranked]
                left = float(chance[len(tokens)]) * sum(weights)
                for token, weight in zip(ranked, weights, strict=True):  # noqa: B007 - the last one where rounding asks
                    left -= weight
                    if left < 0:
                        break
            tokens.append(token)
            if token == END:
                return tokens, "end_token"
            fed = torch.tensor([[token]])
    return tokens, "token_cap"


def test_prompts_are_read_as_transformers_reads_them(model: RumikModel, stock: Any) -> None:
    ids = torch.tensor([PROMPT])
    positions = torch.arange(len(PROMPT))[None]
    cache = SlotCache(model.config, 1, 64, model.logits(torch.zeros(1, 96)))
    with torch.inference_mode():
        cache.write(torch.tensor([0]), positions)
        hidden = model.hidden(ids, positions, cache, cache.masks(positions, len(PROMPT), torch.float32))[0]
        reference = stock[0].model(input_ids=ids).last_hidden_state[0]
        torch.testing.assert_close(hidden, reference, rtol=1e-4, atol=1e-4)
        logits = stock[0](input_ids=ids).logits[0]
        torch.testing.assert_close(model.logits(hidden), logits[:, model.allowed], rtol=1e-4, atol=1e-4)
        probes = 3 * torch.randn(500, 96, generator=torch.Generator().manual_seed(0))
        fires = stock[1](probes)[:, 0].sigmoid() > 0.5
        assert model.stops(probes).tolist() == fires.tolist()
        assert 0 < sum(fires.tolist()) < 500


@pytest.mark.parametrize(
    "draw",
    [
        Draw(max_new_tokens=120),
        Draw(temperature=1.3, top_k=600, max_new_tokens=120),
        Draw(temperature=0, max_new_tokens=60),
        Draw(top_k=1, max_new_tokens=60),
        Draw(min_new_tokens=60, max_new_tokens=80),
    ],
    ids=["published", "hot", "temperature-0", "top-1", "late"],
)
def test_tokens_are_those_of_a_loop_that_draws_one_at_a_time(model: RumikModel, stock: Any, draw: Draw) -> None:
    rows = [
        Row(PROMPT[:3] + PROMPT[-1 - 7 * seed :], uniforms(seed, 0, draw.max_new_tokens), seed) for seed in range(7)
    ]
    for _ in Rollout(model, draw, 3).run(iter(rows)):
        pass
    told = [(row.tokens, row.end) for row in rows]
    assert told == [plain_loop(stock, row.ids, draw, row.chance) for row in rows]
    assert len({tuple(tokens) for tokens, _ in told}) > 1


@given(st.lists(st.integers(-40, 40), min_size=1, max_size=12), st.integers(1, 14), st.floats(0, 1, exclude_max=True))
@settings(max_examples=200)
def test_a_column_is_drawn_by_its_share(scores: list[int], top_k: int, chance: float) -> None:
    """Against the definition in float64, wherever the number is not within rounding of an edge."""
    draw = Draw(temperature=0.7, top_k=top_k)
    column, best = pick(torch.tensor([scores], dtype=torch.float32), draw, torch.tensor([chance], dtype=torch.float32))
    ranked = sorted(range(len(scores)), key=lambda place: -scores[place])[:top_k]
    shares = np.exp((np.array([scores[place] for place in ranked], float) - max(scores)) / 0.7)
    edges = np.cumsum(shares) / shares.sum()
    place = min(int((edges <= chance).sum()), len(ranked) - 1)
    assert best.item() == max(scores)
    if draw.among == 1:
        assert scores[column.item()] == max(scores)
    elif np.abs(edges - chance).min() > 1e-5:
        assert scores[column.item()] == scores[ranked[place]]


def test_shares_come_out_as_often_as_they_should() -> None:
    """20,000 draws of three columns with shares 0.665, 0.245, 0.090: each within 5 standard deviations."""
    chance = torch.from_numpy(uniforms(1, 0, 20_000))
    logits = torch.tensor([[2.0, 1.0, 0.0, -9.0]]).expand(20_000, 4)
    column, _ = pick(logits, Draw(temperature=1.0, top_k=3), chance)
    shares = np.exp([2.0, 1.0, 0.0]) / np.exp([2.0, 1.0, 0.0]).sum()
    counts = np.bincount(column.numpy(), minlength=4)
    assert counts[3] == 0
    assert (np.abs(counts[:3] - 20_000 * shares) < 5 * np.sqrt(20_000 * shares * (1 - shares))).all()


# --- weights


def edited(folder: Path, target: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """A copy of a checkpoint with other weights, in one file without an index."""
    from safetensors.torch import load_file, save_file

    shutil.copytree(folder, target)
    weights: dict[str, Any] = {}
    for path in sorted(target.glob("model-*.safetensors")):
        weights |= load_file(path)
        path.unlink()
    (target / "model.safetensors.index.json").unlink()
    change(weights)
    save_file({name: weight.contiguous() for name, weight in weights.items()}, target / "model.safetensors")
    return target


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda w: w.pop("stop_predictor.3.bias"), "lacks stop_predictor.3.bias"),
        (lambda w: w.pop("model.layers.2.mlp.up_proj.weight"), r"lacks model\.layers\.2\.mlp\.up_proj\.weight"),
        (lambda w: w.update({"model.layers.9.extra": torch.ones(2)}), r"has the unknown model\.layers\.9\.extra"),
        (lambda w: [w.pop(name) for name in list(w) if "layers.0" in name], "lacks .* and 3 more"),
        (
            lambda w: w.update({"model.norm.weight": torch.ones(95)}),
            r"model.norm.weight is \(95,\), .* asks for \(96,\)",
        ),
        (lambda w: w.update({"stop_predictor.1.bias": torch.ones(24)}), r"stop_predictor.1.bias is \(24,\)"),
    ],
)
def test_weights_of_another_model_are_refused_by_name(
    folder: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None], said: str
) -> None:
    with pytest.raises(SpeechSystemError, match=said):
        load(examine(edited(folder, tmp_path / "other", change)), "cpu", "float32")


def test_one_file_and_a_head_of_its_own_copy_are_read_too(folder: Path, tmp_path: Path, model: RumikModel) -> None:
    """A tied checkpoint may hold its head a second time; it is the embedding and is not read."""

    def tie(weights: dict[str, Any]) -> None:
        weights["lm_head.weight"] = weights["model.embed_tokens.weight"].clone()

    other = load(examine(edited(folder, tmp_path / "one", tie)), "cpu", "float32")
    probe = torch.linspace(-1, 1, 96)[None]
    assert torch.equal(other.logits(probe), model.logits(probe))


def test_an_untied_head_is_the_one_that_is_used(folder: Path, tmp_path: Path, model: RumikModel) -> None:
    def untie(weights: dict[str, Any]) -> None:
        weights["lm_head.weight"] = 2 * weights["model.embed_tokens.weight"]

    other = edited(folder, tmp_path / "untied", untie)
    config = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps({**config, "tie_word_embeddings": False}))
    probe = torch.linspace(-1, 1, 96)[None]
    torch.testing.assert_close(load(examine(other), "cpu", "float32").logits(probe), 2 * model.logits(probe))


def test_broken_files_say_so(folder: Path, tmp_path: Path) -> None:
    broken = shutil.copytree(folder, tmp_path / "broken")
    (broken / "model-00001-of-00002.safetensors").write_bytes(b"not weights")
    with pytest.raises(KasautiError, match="not all of it is there, or it is no safetensors file"):
        load(examine(broken), "cpu", "float32")


def test_a_config_that_is_no_cohere2_says_so(folder: Path, tmp_path: Path) -> None:
    other = shutil.copytree(folder, tmp_path / "other")
    (other / "config.json").write_text(json.dumps({**CONFIG, "num_attention_heads": "many"}))
    with pytest.raises(SpeechSystemError, match="no cohere2 model can be made of it"):
        load(examine(other), "cpu", "float32")


# --- tokenizer


def wired(folder: Path, expected: str | None = None) -> WireTokenizer:
    files = examine(folder)
    return WireTokenizer(files.folder, files.config, files.layout, expected)


def retold(folder: Path, target: Path, change: Callable[[dict[str, Any]], Any]) -> Path:
    """A copy of a checkpoint with another `tokenizer.json`."""
    shutil.copytree(folder, target)
    told = json.loads((target / "tokenizer.json").read_text(encoding="utf-8"))
    change(told)
    (target / "tokenizer.json").write_text(json.dumps(told), encoding="utf-8")
    return target


def test_one_bos_and_one_mark_at_each_end(folder: Path) -> None:
    ids = wired(folder).encode(wire("नमस्ते <laugh> 12", Delivery("Ira", "happy")))
    assert ids[:2] == [BOS, TEXT]
    assert ids[-1] == AUDIO
    assert [ids.count(mark) for mark in (BOS, TEXT, AUDIO)] == [1, 1, 1]


def test_a_file_that_adds_no_bos_gets_one(folder: Path, tmp_path: Path) -> None:
    bare = retold(folder, tmp_path / "bare", lambda told: told.update(post_processor=None))
    line = wire("words", Delivery("Ira", None))
    assert wired(bare).encode(line) == wired(folder).encode(line)
    assert wired(bare).sha == wired(folder).sha


@pytest.mark.parametrize("text", ["<SEP>", "a <3_1>", "<CLS> b"])
def test_what_the_tokenizer_takes_for_structure_is_refused(folder: Path, text: str) -> None:
    with pytest.raises(SpeechFailed, match="the tokenizer reads <") as caught:
        wired(folder).encode(f"<text>Ira: {text}<audio>")
    assert caught.value.outcome.reason == "breaks_format"


def test_a_mark_for_the_description_is_part_of_the_form(folder: Path, tmp_path: Path) -> None:
    """Of a dozen tokens that the model added to its base, the config names three."""

    def mark(told: dict[str, Any]) -> None:
        [unused] = [one for one in told["added_tokens"] if one["content"] == "<MASK_TOKEN>"]
        unused["content"] = "<description="
        told["model"]["vocab"]["<description="] = told["model"]["vocab"].pop("<MASK_TOKEN>")

    marked = wired(retold(folder, tmp_path / "marked", mark))
    assert len(marked.encode(wire("a", Delivery("Ira", "happy")))) < len(
        wired(folder).encode(wire("a", Delivery("Ira", "happy")))
    )
    with pytest.raises(SpeechFailed, match="the tokenizer reads <SEP> in this text"):
        marked.encode('<text>Ira: <description="happy"> a <SEP><audio>')


def test_the_hash_is_of_what_is_read_and_is_held_to(folder: Path, tmp_path: Path) -> None:
    sha = wired(folder).sha
    assert wired(folder, expected=sha).sha == sha
    with pytest.raises(SpeechSystemError, match=rf"hash to {sha}, and tokenizer_sha=0123 is wanted"):
        wired(folder, expected="0123")


def test_another_pre_tokenizer_is_noticed(folder: Path, tmp_path: Path) -> None:
    """The trap: the same vocabulary, other pieces. Indic text falls into more tokens, and English does not."""

    def part_signs_from_letters(told: dict[str, Any]) -> None:
        told["pre_tokenizer"]["pretokenizers"][1]["use_regex"] = True

    right, wrong = wired(folder), wired(retold(folder, tmp_path / "other", part_signs_from_letters))
    more = {
        text: len(wrong.encode(wire(text, Delivery("Ira", None))))
        - len(right.encode(wire(text, Delivery("Ira", None))))
        for text in ("बाज़ार", "market")
    }
    assert more == {"बाज़ार": 1, "market": 0}
    assert wrong.sha != right.sha


def test_ids_that_the_model_has_no_row_for_are_refused(folder: Path, tmp_path: Path) -> None:
    """As the class named in `tokenizer_config.json` gives them to `<SEP>` and `<CLS>`."""

    def grow(told: dict[str, Any]) -> None:
        told["model"]["vocab"]["à"] = CONFIG["vocab_size"] + 3
        told["model"]["merges"] = []

    with pytest.raises(
        SpeechSystemError, match=rf"gives the id {VOCABULARY + 3}, .* vocabulary ends at {VOCABULARY - 1}"
    ):
        wired(retold(folder, tmp_path / "grown", grow))


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("text_start_token_id", "<text> is token"),
        ("audio_start_token_id", "<audio> is token"),
        ("bos_token_id", "<BOS"),
    ],
)
def test_marks_must_have_the_ids_of_the_config(folder: Path, field: str, said: str) -> None:
    from dataclasses import replace

    files = examine(folder)
    config = {**files.config, field: 3}
    layout = files.layout if field == "bos_token_id" else replace(files.layout, **{field: 3})
    with pytest.raises(SpeechSystemError, match=rf"{said}.*config.json says 3"):
        WireTokenizer(files.folder, config, layout)


def test_a_tokenizer_without_the_marks_is_not_this_models(folder: Path, tmp_path: Path) -> None:
    def lose(told: dict[str, Any]) -> None:
        told["added_tokens"] = [one for one in told["added_tokens"] if one["content"] != "<audio>"]
        told["model"]["vocab"]["<other>"] = told["model"]["vocab"].pop("<audio>")

    with pytest.raises(SpeechSystemError, match="<audio> is no token"):
        wired(retold(folder, tmp_path / "lost", lose))
    (tmp_path / "lost" / "tokenizer.json").write_text("{}")
    with pytest.raises(SpeechSystemError, match=r"tokenizer\.json: can't be read"):
        wired(tmp_path / "lost")
