"""The model: transformers' cohere2 decoder, an output head cut to the ids that may be drawn, and a stop head.

No code of the checkpoint is run: its class is cohere2 plus `stop_predictor` (LayerNorm, Linear, GELU, Linear), which
reads the same last hidden state as the output head. Weights are matched by name; a name too many or too few is an
error. The tied embedding has 277,404 rows, and 16,385 of them are all that a step reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kasauti.errors import SpeechSystemError
from kasauti.systems.rumik.attention import NAME, register
from kasauti.systems.rumik.files import Files
from kasauti.systems.rumik.layout import Layout

DTYPES = ("bfloat16", "float16", "float32")

_NOT_OF_COHERE2 = ("model_type", "auto_map", "architectures", "torch_dtype", "dtype", "transformers_version")
_STOP = {
    "stop_predictor.0.weight": "norm_weight",
    "stop_predictor.0.bias": "norm_bias",
    "stop_predictor.1.weight": "inner_weight",
    "stop_predictor.1.bias": "inner_bias",
    "stop_predictor.3.weight": "outer_weight",
    "stop_predictor.3.bias": "outer_bias",
}
_MOST_NAMES = 5
_NORM_EPS = 1e-5


class RumikModel:
    """The decoder and its two heads on one device.

    Args:
        backbone: A `Cohere2Model`, its weights in place.
        head: [units + 1, hidden]: rows of the output head for `Layout.allowed()`.
        stop: Weights of the stop head by the names in `_STOP`.
        layout: Where sound lies in the vocabulary.
    """

    def __init__(self, backbone: Any, head: Any, stop: Mapping[str, Any], layout: Layout) -> None:
        import torch

        self.backbone = backbone
        self.layout = layout
        self.device: str = head.device.type
        self.allowed = torch.from_numpy(layout.allowed()).to(head.device)
        self._head = head
        self._stop = dict(stop)
        self._scale = float(backbone.config.logit_scale)

    @property
    def config(self) -> Any:
        """The `Cohere2Config`."""
        return self.backbone.config

    @property
    def dtype(self) -> Any:
        """Arithmetic of the decoder."""
        return self._head.dtype

    def hidden(self, ids: Any, positions: Any, cache: Any, masks: Mapping[str, Any]) -> Any:
        """Last hidden states [rows, tokens, hidden].

        Args:
            ids: [rows, tokens].
            positions: Place of each in its row [rows, tokens].
            cache: Where keys and values go (`slots.SlotCache`).
            masks: By kind of layer what is added to its attention [rows, 1, tokens, keys].
        """
        out = self.backbone(
            input_ids=ids, attention_mask=masks, position_ids=positions, cache=cache, use_cache=True, return_dict=True
        )
        return out.last_hidden_state

    def logits(self, hidden: Any) -> Any:
        """Of the allowed ids, float32 [rows, units + 1], for hidden states [rows, hidden]."""
        return (hidden @ self._head.T * self._scale).float()

    def stops(self, hidden: Any) -> Any:
        """Whether the stop head ends each row, for hidden states [rows, hidden]."""
        from torch.nn import functional

        stop = self._stop
        normed = functional.layer_norm(hidden, hidden.shape[-1:], stop["norm_weight"], stop["norm_bias"], _NORM_EPS)
        inner = functional.gelu(functional.linear(normed, stop["inner_weight"], stop["inner_bias"]))
        said = functional.linear(inner, stop["outer_weight"], stop["outer_bias"])
        return said[:, 0].float().sigmoid() > 0.5


def backbone_of(config: Mapping[str, Any]) -> Any:
    """A `Cohere2Model` without storage, on the meta device.

    Raises:
        SpeechSystemError: transformers can't make a model of this config.
    """
    import torch
    from transformers import Cohere2Config, Cohere2Model

    register()
    kept = {name: value for name, value in config.items() if name not in _NOT_OF_COHERE2}
    try:
        cohere2 = Cohere2Config(**kept)
        cohere2._attn_implementation = NAME
        with torch.device("meta"):
            return Cohere2Model(cohere2).eval()
    except Exception as error:  # whatever is wrong with the fields, transformers and torch raise many kinds
        raise SpeechSystemError(
            f"config.json: no cohere2 model can be made of it ({type(error).__name__}: {error})"
        ) from error


def load(files: Files, device: str, dtype: str) -> RumikModel:
    """Loads a checkpoint.

    Raises:
        SpeechSystemError: weights are missing, unknown, of another shape, or can't be read.
    """
    backbone = backbone_of(files.config)
    wanted = {f"model.{name}": tuple(weight.shape) for name, weight in backbone.state_dict().items()}
    hidden = int(backbone.config.hidden_size)
    wanted |= _stop_shapes(hidden)
    weights = _read(files.shards, wanted, tied=bool(backbone.config.tie_word_embeddings), device=device, dtype=dtype)
    return assemble(backbone, weights, files.layout)


def assemble(backbone: Any, weights: dict[str, Any], layout: Layout) -> RumikModel:
    """Puts weights, by the names of a checkpoint, into a backbone without storage. It takes them out of `weights`."""
    stop = {role: weights.pop(name) for name, role in _STOP.items()}
    embedding = weights["model.embed_tokens.weight"]
    whole = weights.pop("lm_head.weight", embedding)
    import torch

    head = whole[torch.from_numpy(layout.allowed()).to(whole.device)].contiguous()
    backbone.load_state_dict({name.removeprefix("model."): weight for name, weight in weights.items()}, assign=True)
    # Its tables are no weights, and on the meta device they hold nothing.
    backbone.rotary_emb = type(backbone.rotary_emb)(backbone.config).to(head.device)
    backbone.requires_grad_(False)
    return RumikModel(backbone, head, stop, layout)


def _stop_shapes(hidden: int) -> dict[str, tuple[int, ...]]:
    inner = max(64, hidden // 4)
    shapes = ((hidden,), (hidden,), (inner, hidden), (inner,), (1, inner), (1,))
    return dict(zip(_STOP, shapes, strict=True))


def _read(
    shards: Sequence[Path], wanted: Mapping[str, tuple[int, ...]], *, tied: bool, device: str, dtype: str
) -> dict[str, Any]:
    """Weights by name, on the device; an output head is read only where it is not the embedding."""
    import torch
    from safetensors import SafetensorError, safe_open

    found: dict[str, Any] = {}
    shapes = dict(wanted)
    head = {"lm_head.weight": shapes["model.embed_tokens.weight"]}
    if not tied:
        shapes |= head
    names: list[str] = []
    try:
        opened: list[Any] = [safe_open(path, framework="pt", device=device) for path in shards]
        names = [name for file in opened for name in file.keys()]  # noqa: SIM118 - it has no other way
        _same_names(shards[0].parent, shapes, names, set() if not tied else set(head))
        for file in opened:
            for name in file.keys():  # noqa: SIM118
                if name in shapes:
                    found[name] = file.get_tensor(name).to(getattr(torch, dtype))
    except (SafetensorError, OSError) as error:
        raise SpeechSystemError(f"{shards[0].parent}: its weights can't be read ({error})") from error
    for name, weight in found.items():
        if tuple(weight.shape) != shapes[name]:
            raise SpeechSystemError(
                f"{shards[0].parent}: {name} is {tuple(weight.shape)}, and config.json asks for {shapes[name]}"
            )
    return found


def _same_names(folder: Path, wanted: Iterable[str], names: Sequence[str], ignored: set[str]) -> None:
    missing = sorted(set(wanted) - set(names))
    unknown = sorted(set(names) - set(wanted) - ignored)
    told = [
        f"{word} {', '.join(some[:_MOST_NAMES])}" + (f" and {len(some) - _MOST_NAMES} more" * (len(some) > _MOST_NAMES))
        for word, some in (("lacks", missing), ("has the unknown", unknown))
        if some
    ]
    if told:
        raise SpeechSystemError(
            f"{folder}: its weights are not those of this architecture: it {'; it '.join(told)}. Wanted cohere2 with "
            "stop_predictor"
        )
