"""The step that a GPU captures, traced on the device `cuda` without one: no host sync, no tensor on another device.

Fake tensors have shapes, types and devices, and no numbers: whatever asks for a number (`.item()`, `bool(...)`,
`nonzero`) raises, and so does an operation on tensors of two devices. Copies between host and device do not raise by
themselves; `Captured` looks for them. Nothing is computed, and no kernel is known to be one that can be captured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kasauti.systems.rumik import board as board_module
from kasauti.systems.rumik.board import Board, Start
from kasauti.systems.rumik.draws import Draw, uniforms
from kasauti.systems.rumik.files import Files, examine
from kasauti.systems.rumik.model import _STOP, RumikModel, assemble, backbone_of, load
from rumik_checkpoint import AUDIO, BOS, TEXT, make_checkpoint

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from torch._subclasses import fake_tensor  # noqa: E402
from torch.overrides import TorchFunctionMode  # noqa: E402

SLOTS, LENGTH = 4, 256
DRAW = Draw(max_new_tokens=64)


class HostWaitsError(AssertionError):
    """Something in a step would make the host wait, or copy between host and device."""


class Captured(TorchFunctionMode):  # type: ignore[misc]
    """Raises for what can't be in a capture and what fake tensors let pass: copies, masks and host tensors as indices.

    A build of torch for CPUs has no guard for the device `cuda`, which `tensor[...]`, `~` and some methods take; here
    they go to the operators that they stand for.
    """

    within = False
    """Whether a step is being taken; before it, copies to the device are as they should be."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        aten = torch.ops.aten
        if func is torch.Tensor.__getitem__:
            held, tensors = self._parts(*args)
            return aten.index.Tensor(held, tensors) if tensors else held
        if func is torch.Tensor.__setitem__:
            held, tensors = self._parts(args[0], args[1])
            value = args[2] if isinstance(args[2], torch.Tensor) else held.new_full((), args[2])
            return aten.index_put_(held, tensors, value) if tensors else aten.copy_(held, value)
        if self.within and func is torch.tensor:
            raise HostWaitsError("torch.tensor in a step is a copy from the host")
        method = torch.Tensor
        plain = {method.__invert__: aten.bitwise_not, method.copy_: aten.copy_, method.nonzero: aten.nonzero}
        out = plain.get(func, func)(*args, **(kwargs or {}))
        if self.within and isinstance(out, torch.Tensor):
            for one in args:
                if isinstance(one, torch.Tensor) and one.device != out.device and one.dim() + out.dim() > 0:
                    raise HostWaitsError(f"{func.__name__}: from {one.device} to {out.device} in a step")
        return out

    def _parts(self, held: Any, index: Any) -> tuple[Any, list[Any]]:
        """The view that numbers and slices make, and the tensors that are then looked up in it, one a dimension."""
        index = list(index) if isinstance(index, tuple) else [index]
        for place, one in enumerate(index):
            if one is Ellipsis:
                taken = sum(other is not None for other in index) - 1
                index[place : place + 1] = [slice(None)] * (held.dim() - taken)
        dim, tensors = 0, []
        for one in index:
            if isinstance(one, torch.Tensor):
                if one.device != held.device or one.dtype == torch.bool:
                    raise HostWaitsError(f"an index of {one.dtype} on {one.device} for a tensor on {held.device}")
                tensors += [None] * (dim - len(tensors)) + [one]
                dim += 1
            elif one is None:
                held, dim = held.unsqueeze(dim), dim + 1
            elif isinstance(one, slice):
                held = torch.ops.aten.slice.Tensor(held, dim, one.start, one.stop, one.step or 1)
                dim += 1
            else:
                held = torch.ops.aten.select.int(held, dim, one)
        return held, tensors


class Plainly:
    """Stands in for `Graphs`: takes each step as it is, and says when."""

    def __init__(self, mode: Captured) -> None:
        self._mode = mode

    def run(self, shape: tuple[int, int], step: Callable[[], None]) -> None:
        self._mode.within = True
        try:
            step()
        finally:
            self._mode.within = False


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return examine(make_checkpoint(tmp_path_factory.mktemp("rumik")))


@pytest.fixture
def model(files: Files, monkeypatch: pytest.MonkeyPatch) -> Iterator[RumikModel]:
    """The tiny model in bfloat16, its weights on `cuda` and without content; a test runs with all modes on."""
    real, backbone, mode = load(files, "cpu", "bfloat16"), backbone_of(files.config), Captured()
    shapes = {f"model.{name}": weight.shape for name, weight in real.backbone.state_dict().items()}
    shapes |= {name: real._stop[role].shape for name, role in _STOP.items()}
    monkeypatch.setattr(board_module, "Graphs", lambda: Plainly(mode))
    with fake_tensor.FakeTensorMode(), mode, torch.inference_mode():
        weights = {name: torch.empty(shape, dtype=torch.bfloat16, device="cuda") for name, shape in shapes.items()}
        yield assemble(backbone, weights, files.layout)


def started(model: RumikModel, draw: Draw = DRAW) -> Board:
    """A board whose rows have read prompts of 5 to 8 tokens."""
    board = Board(model, draw, SLOTS, LENGTH)
    prompts = [[BOS, TEXT, *range(20, 22 + slot), AUDIO] for slot in range(SLOTS)]
    board.start([Start(slot, ids, uniforms(slot, 0, draw.max_new_tokens)) for slot, ids in enumerate(prompts)])
    return board


@pytest.mark.parametrize("draw", [DRAW, Draw(temperature=0, max_new_tokens=64)], ids=["drawn", "greedy"])
@pytest.mark.parametrize("rows", [1, SLOTS])
def test_a_step_stays_on_the_device(model: RumikModel, draw: Draw, rows: int) -> None:
    board = started(model, draw)
    assert model.device == "cuda"
    held = {name: value for name, value in vars(board).items() if isinstance(value, torch.Tensor)}
    held |= {f"cache {n}": value for n, value in enumerate([*board._cache._keys, *board._cache._values])}
    board.step(rows, 64)
    board.move(SLOTS - 1, 0, 9)
    assert {value.device.type for value in held.values()} == {"cuda"}
    # A graph writes where it wrote when it was captured: no tensor may be replaced by another one.
    now = [*vars(board).values(), *board._cache._keys, *board._cache._values]
    assert all(any(value is other for other in now) for value in held.values())


SEEN = (
    HostWaitsError,
    fake_tensor.DataDependentOutputException,
    fake_tensor.DynamicOutputShapeException,
    fake_tensor.FakeTensorDeviceMismatchError,
)


def test_the_host_looks_at_the_device_only_between_steps(model: RumikModel) -> None:
    """Where it is meant to, it can't here; so it did not in a step."""
    board = started(model)
    for look in (board.standing, lambda: board.tokens(0, 3)):
        with pytest.raises(SEEN):
            look()


@pytest.mark.parametrize(
    "spoilt",
    [
        lambda hidden: bool((hidden > 0).any()),
        lambda hidden: hidden.sum().item(),
        lambda hidden: hidden[hidden > 0],
        lambda hidden: (hidden > 0).nonzero(),
        lambda hidden: hidden + torch.ones(hidden.shape[-1], dtype=hidden.dtype),
        lambda hidden: hidden[:, torch.arange(2)],
        lambda hidden: hidden.cpu(),
        lambda hidden: torch.ones(2).to(hidden.device),
        lambda hidden: torch.tensor([1, 2], device=hidden.device),
    ],
    ids=["bool", "item", "mask", "nonzero", "two-devices", "host-index", "to-host", "from-host", "list"],
)
def test_what_must_not_be_in_a_step_is_seen(
    model: RumikModel, monkeypatch: pytest.MonkeyPatch, spoilt: Callable[[Any], Any]
) -> None:
    board = started(model)
    stops = RumikModel.stops
    monkeypatch.setattr(RumikModel, "stops", lambda self, hidden: (spoilt(hidden), stops(self, hidden))[1])
    with pytest.raises(SEEN):
        board.step(SLOTS, 64)
