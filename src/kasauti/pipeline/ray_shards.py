"""Shards of a job's tasks on the actors of a Ray cluster, handed out as actors become free.

An actor is not restarted by Ray, which would bring it back without its model and without a word: when one dies, what it
had in hand is tried again, task by task, each alone on an actor, and a new actor takes its seat.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from kasauti.errors import KasautiError
from kasauti.parts import build
from kasauti.pipeline.executors import Job, not_built
from kasauti.pipeline.ray_worker import Packed, Said, Worker, identity_of

_START_S = 600.0
"""How long no actor at all may be up: a cluster that grows on demand takes minutes to bring a machine."""

_FETCH_S = 120.0
"""How long replies that are ready may take to come over."""

_CLOSE_S = 30.0
"""How long actors may take to give back what they hold before they are ended."""

_STILLBORN = 3
"""So many actors in a row may die before they have begun."""


class ClusterError(KasautiError):
    """A cluster can't be reached, has no room, or holds other models than this machine."""


def cluster_resources() -> dict[str, float]:
    """What the cluster has in all."""
    import ray

    found: dict[str, float] = ray.cluster_resources()
    return found


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


class Shards:
    """Seats for one job: hands out shards, takes replies, fills the seat of an actor that died."""

    def __init__(self, job: Job, seats: int, gpus: float, shard: int) -> None:
        self._job = job
        self._most = seats
        self._gpus = gpus
        self._shard = shard
        self._expected: str | None = None
        self._broken: str | None = None
        self._stillborn = 0
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
                    self._close()
                    return
                yield from self._come_back()
        finally:
            import ray

            for seat in self._seats:
                ray.kill(seat.actor)

    def _close(self) -> None:
        """Lets actors end the processes that they began."""
        import ray

        calls = [seat.actor.close.remote() for seat in self._seats if seat.ready]
        if calls:
            ray.wait(calls, num_returns=len(calls), timeout=_CLOSE_S)

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

        actor = ray.remote(Worker).options(num_cpus=1, num_gpus=self._gpus, max_restarts=0)
        seat.actor, seat.ready, seat.in_hand = actor.remote(self._job.options), False, 0
        self._flights[seat.actor.begin.remote()] = _Flight(seat, [])
        return seat

    def _send(self, seat: _Seat, tasks: list[Any], retried: bool = False) -> None:
        call = seat.actor.work.remote(self._job.method, [Packed.of(task) for task in tasks])
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
                said: Said = ray.get(call, timeout=_FETCH_S)
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
                there = {name: count for name, count in cluster_resources().items() if name in ("CPU", "GPU")}
                raise ClusterError(
                    f"no actor has come up in {_START_S:.0f} s. One asks for 1 CPU and {self._gpus:g} GPU; the cluster "
                    f"has {there or 'neither'}. Lower executor.workers or executor.gpus_per_actor, add machines, "
                    "or stop what else runs there; the same command goes on from here."
                )

    def _welcome(self, seat: _Seat, said: Said) -> None:
        """Lets an actor begin, once it is seen to hold what this process takes it for."""
        if self._expected is None:
            self._expected = identity_of(build(self._job.options))
        if said.identity != self._expected:
            raise ClusterError(
                f"{self._job.options.id} is another one on {said.node}: there it is {said.identity}, here "
                f"{self._expected}. Put the same files, packages and kasauti on every machine of the cluster."
            )
        seat.ready = True
        self._stillborn = 0

    def _dead(self, flight: _Flight) -> Iterator[Any]:
        """Takes the work of an actor that died, and fills its seat; a task that was tried before is given up.

        Raises:
            ClusterError: actors die one after the other before they have begun.
        """
        import ray

        if not flight.seat.ready:
            self._stillborn += 1
            if self._stillborn > _STILLBORN:
                raise ClusterError(
                    f"{self._stillborn} actors in a row died while they set up {self._job.options.id}. Ray's logs say "
                    "why; mostly it is memory that ended: lower executor.workers. The same command goes on from here."
                )
        ray.kill(flight.seat.actor)  # it lives, if only its answer was lost
        lost = [other for other in self._flights.values() if other.seat is flight.seat]
        self._flights = {call: other for call, other in self._flights.items() if other.seat is not flight.seat}
        for each in [flight, *lost]:
            if each.retried:
                yield from map(self._job.lost, each.tasks)
            else:
                self._suspects.extend(each.tasks)
        self._fill(flight.seat)
