"""Work on a Ray cluster: actors that hold one copy of a part each get shards of tasks as they become free.

Only the process that began the run reads and writes the store. Sounds come back to it, and the clips that a judge hears
are sent along as bytes, so the machines of a cluster need no folder in common. What they do need is the same kasauti
and the same models: an actor that is not what it is taken for here is refused.

An actor is not restarted by Ray, which would bring it back without its model and without a word: when one dies, what it
had in hand is tried again, task by task, each alone on an actor, and a new actor takes its seat.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kasauti.errors import KasautiError
from kasauti.parts import build
from kasauti.pipeline.executors import Executor, Job, not_built, run_here
from kasauti.records import Finding
from kasauti.settings import ExecutorSettings
from kasauti.systems.base import System

_START_S = 600.0
"""How long no actor at all may be up: a cluster that grows on demand takes minutes to bring a machine."""

_FETCH_S = 120.0
"""How long replies that are ready may take to come over."""

_ANSWER_S = 10.0

_START_ONE = "Start a cluster with `ray start --head`, or leave executor.address out for one of this machine alone."

_SHARD, _SHARD_ON_GPU = 8, 64


class ClusterError(KasautiError):
    """A cluster can't be reached, has no room, or holds other models than this machine."""


@dataclass
class RayOptions(ExecutorSettings):
    """Options of `executor=ray`.

    Attributes:
        workers: Actors for a part that can be copied or that holds a model on a device; 0 = as many as the cluster has
            room for.
        address: `auto` or `HOST:PORT` of a cluster that is up; null = one of this machine alone, for this run.
        gpus_per_actor: Share of a GPU that a part with a `device` gets; null = a whole one where the cluster has any.
        shard: Tasks an actor gets at once, two shards ahead; null = 8, with a GPU 64. What a death may cost.
    """

    _target_: str = "kasauti.pipeline.ray_executor.RayExecutor"
    address: str | None = None
    gpus_per_actor: float | None = None
    shard: int | None = None


class RayExecutor(Executor):
    """A Ray cluster. A part that is one of its kind (files of the user, a key with a limit) works in this process."""

    options_type = RayOptions
    options: RayOptions

    def __init__(self, options: RayOptions) -> None:
        super().__init__(options)
        self._mutex = threading.Lock()
        self._keeper: ThreadPoolExecutor | None = None

    def check(self) -> list[Finding]:
        if find_spec("ray") is None:
            return [Finding("error", "executor ray", "Ray is not installed.", "pip install -e '.[cluster]'")]
        host, _, port = (self.options.address or "").rpartition(":")
        if not host:
            return []
        try:  # Ray itself tries for minutes before it says so
            socket.create_connection((host, int(port)), timeout=_ANSWER_S).close()
        except (OSError, ValueError) as error:
            return [
                Finding("error", "executor ray", f"nobody answers at {self.options.address} ({error}).", _START_ONE)
            ]
        return []

    def run(self, job: Job, tasks: Iterable[Any], share: int = 1) -> Iterator[Any]:
        if job.copies == 1 and not has_device(job.options):
            yield from run_here(job, tasks)
            return
        self._connect()
        gpus = self._gpus(job)
        seats = max(1, (self.options.workers or self._room(gpus)) // share)
        if not has_device(job.options):
            seats = min(seats, job.copies or seats)
        shard = self.options.shard or (_SHARD_ON_GPU if gpus else _SHARD)
        yield from _Office(job, seats, gpus, shard).run(tasks)

    def close(self) -> None:
        if self._keeper is not None:
            import ray

            ray.shutdown()
            self._keeper.shutdown()
            self._keeper = None

    def _connect(self) -> None:
        import ray

        with self._mutex:
            if ray.is_initialized():  # by the launcher of a sweep, or for the stage before
                return
            # Ray sends figures on its use to its makers unless it is told not to.
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            address = self.options.address
            alone: dict[str, Any] = {} if address else {"include_dashboard": False}
            # Linux ends a local cluster with the thread that began it, and systems speak in threads that come and go.
            self._keeper = ThreadPoolExecutor(1)
            begun = self._keeper.submit(ray.init, address=address or "local", logging_level=logging.ERROR, **alone)
            try:
                begun.result()
            except (ConnectionError, ValueError, RuntimeError, TimeoutError) as error:
                raise ClusterError(
                    f"executor.address={address}: no Ray cluster answers there ({_first_line(error)}). {_START_ONE}"
                ) from error

    def _gpus(self, job: Job) -> float:
        """GPUs that an actor asks for."""
        if not has_device(job.options) or getattr(job.options, "device", "auto") == "cpu":
            return 0
        if self.options.gpus_per_actor is not None:
            return self.options.gpus_per_actor
        return 1 if _resources().get("GPU", 0) >= 1 else 0

    @staticmethod
    def _room(gpus: float) -> int:
        """How many actors the cluster holds."""
        there = _resources()
        cpus = int(there.get("CPU", 0))
        return max(1, min(cpus, int(there.get("GPU", 0) / gpus)) if gpus else cpus)


def _resources() -> dict[str, float]:
    """What the cluster has in all."""
    import ray

    found: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    return found


def has_device(options: Any) -> bool:
    """Whether a part holds a model on a device, so that each device of a cluster can hold one.

    For one machine such a part says that it is the only one (`facts.workers`); it has the option `device`, or is a
    router to one that has.
    """
    members = getattr(options, "members", {})
    return hasattr(options, "device") or any(has_device(member) for member in members.values())


@dataclass
class _Packed:
    """A task on its way, with the bytes of the clips that it hears; None for one that can't be read."""

    task: Any
    sounds: list[bytes | None]

    @classmethod
    def of(cls, task: Any) -> _Packed:
        return cls(task, [_content(clip.path) for clip in getattr(task, "clips", ())])

    def unpacked(self, folder: Path) -> Any:
        """The task, its clips in `folder`; a clip that could not be read is missing here too."""
        if not self.sounds:
            return self.task
        clips = []
        for place, (clip, sound) in enumerate(zip(self.task.clips, self.sounds, strict=True)):
            path = folder / f"{self.task.judgment_id}-{place}{clip.path.suffix}"
            if sound is not None:
                path.write_bytes(sound)
            clips.append(replace(clip, path=path))
        return replace(self.task, clips=tuple(clips))


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


@dataclass
class _Said:
    """What an actor answers. An exception that ends the run travels as a value: Ray would bury its words."""

    replies: list[Any] = field(default_factory=list)
    identity: str = ""
    node: str = ""
    ends: KasautiError | None = None
    broken: str | None = None


class _Worker:
    """Lives in an actor: one copy of a part."""

    def __init__(self, options: Any) -> None:
        self._options = options
        self._part: Any = None

    def begin(self) -> _Said:
        """Builds the part and says what it is."""
        try:
            self._part = build(self._options)
            return _Said(identity=_identity(self._part), node=socket.gethostname())
        except KasautiError as error:
            return _Said(ends=error)
        except Exception as error:
            return _Said(broken=f"{type(error).__name__}: {error}")

    def work(self, method: str, shard: list[_Packed]) -> _Said:
        """The replies to a shard."""
        with TemporaryDirectory(prefix="kasauti-") as folder:
            tasks = [packed.unpacked(Path(folder)) for packed in shard]
            try:
                return _Said(list(getattr(self._part, method)(tasks)))
            except KasautiError as error:
                return _Said(ends=error)


def _identity(part: Any) -> str:
    """What makes a part's clips or judgments its own; the same model elsewhere has the same."""
    return part.fingerprint() if isinstance(part, System) else part.facts.signature


@dataclass
class _Seat:
    """A place for an actor."""

    actor: Any = None
    ready: bool = False
    in_hand: int = 0


@dataclass
class _Flight:
    """A call that has not come back; without tasks it is the actor's first."""

    seat: _Seat
    tasks: list[Any]
    retried: bool = False


class _Office:
    """Seats for one job: hands out shards, takes replies, fills the seat of an actor that died."""

    def __init__(self, job: Job, seats: int, gpus: float, shard: int) -> None:
        self._job = job
        self._most = seats
        self._gpus = gpus
        self._shard = shard
        self._expected: str | None = None
        self._broken: str | None = None
        self._seats: list[_Seat] = []
        self._flights: dict[Any, _Flight] = {}
        self._waiting: deque[list[Any]] = deque()
        self._suspects: deque[Any] = deque()

    def run(self, tasks: Iterable[Any]) -> Iterator[Any]:
        stream = iter(tasks)
        try:
            while True:
                if self._broken is not None:
                    in_hand = [task for flight in self._flights.values() for task in flight.tasks]
                    for task in chain(in_hand, self._suspects, *self._waiting, stream):
                        yield not_built(self._job, task, self._broken)
                    return
                self._hand_out(stream)
                if not self._waiting and not self._suspects and not any(f.tasks for f in self._flights.values()):
                    return
                yield from self._come_back()
        finally:
            import ray

            for seat in self._seats:
                ray.kill(seat.actor)

    def _hand_out(self, stream: Iterator[Any]) -> None:
        """Gives every seat that is up two shards, and fills empty places while there are tasks."""
        for seat in self._seats:
            while seat.ready and self._suspects and not seat.in_hand:
                self._send(seat, [self._suspects.popleft()], retried=True)
            # What is suspected of killing an actor shares one with nothing.
            while seat.ready and not self._suspects and seat.in_hand < 2 and (shard := self._next(stream)):
                self._send(seat, shard)
        while len(self._seats) < self._most and (shard := self._fresh(stream)):
            self._waiting.append(shard)
            self._seats.append(self._fill(_Seat()))

    def _next(self, stream: Iterator[Any]) -> list[Any]:
        return self._waiting.popleft() if self._waiting else self._fresh(stream)

    def _fresh(self, stream: Iterator[Any]) -> list[Any]:
        return list(islice(stream, self._shard))

    def _fill(self, seat: _Seat) -> _Seat:
        import ray

        actor = ray.remote(_Worker).options(num_cpus=1, num_gpus=self._gpus, max_restarts=0)
        seat.actor, seat.ready, seat.in_hand = actor.remote(self._job.options), False, 0
        self._flights[seat.actor.begin.remote()] = _Flight(seat, [])
        return seat

    def _send(self, seat: _Seat, tasks: list[Any], retried: bool = False) -> None:
        call = seat.actor.work.remote(self._job.method, [_Packed.of(task) for task in tasks])
        seat.in_hand += 1
        self._flights[call] = _Flight(seat, tasks, retried)

    def _come_back(self) -> Iterator[Any]:
        """Waits for a call, and yields the replies that it brought."""
        import ray

        calls = self._wait()
        for call in calls:
            flight = self._flights.pop(call, None)
            if flight is None:  # its actor's death was seen in another call
                continue
            try:
                said: _Said = ray.get(call, timeout=_FETCH_S)
            except ray.exceptions.RayTaskError:
                raise
            except ray.exceptions.RayError:
                yield from self._dead(flight)
                continue
            if said.ends is not None:
                raise said.ends
            if flight.tasks:
                flight.seat.in_hand -= 1
                yield from said.replies
            elif said.broken is None:
                self._welcome(flight.seat, said)
            else:
                self._broken = said.broken

    def _wait(self) -> list[Any]:
        """Calls that have come back, at least one."""
        import ray

        began = time.monotonic()
        while True:
            done, _ = ray.wait(list(self._flights), num_returns=1, timeout=min(5.0, _START_S))
            if done:
                return list(done)
            if not any(seat.ready for seat in self._seats) and time.monotonic() - began > _START_S:
                there = {name: count for name, count in _resources().items() if name in ("CPU", "GPU")}
                raise ClusterError(
                    f"no actor has come up in {_START_S:.0f} s. One asks for 1 CPU and {self._gpus:g} GPU; the cluster "
                    f"has {there or 'neither'}. Lower executor.workers or executor.gpus_per_actor, add machines, "
                    "or stop what else runs there; the same command goes on from here."
                )

    def _welcome(self, seat: _Seat, said: _Said) -> None:
        """Lets an actor begin, once it is seen to hold what this process takes it for."""
        if self._expected is None:
            self._expected = _identity(build(self._job.options))
        if said.identity != self._expected:
            raise ClusterError(
                f"{self._job.options.id} is another one on {said.node}: there it is {said.identity}, here "
                f"{self._expected}. Put the same files, packages and kasauti on every machine of the cluster."
            )
        seat.ready = True

    def _dead(self, flight: _Flight) -> Iterator[Any]:
        """Takes the work of an actor that died, and fills its seat; a task that was tried before is given up."""
        lost = [other for other in self._flights.values() if other.seat is flight.seat]
        self._flights = {call: other for call, other in self._flights.items() if other.seat is not flight.seat}
        for each in [flight, *lost]:
            if each.retried:
                yield from map(self._job.lost, each.tasks)
            else:
                self._suspects.extend(each.tasks)
        self._fill(flight.seat)


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
