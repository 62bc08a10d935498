"""`executor=ray`: a part works on a Ray cluster, in actors that hold one copy of it each (`pipeline.ray_shards`).

Only the process that began the run reads and writes the store. Sounds come back to it, and the clips that a judge hears
are sent along as bytes, so the machines of a cluster need no folder in common. What they do need is the same kasauti
and the same models: an actor that is not what it is taken for here is refused.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from kasauti.pipeline.executors import Executor, Job, run_here
from kasauti.pipeline.ray_shards import ClusterError, Shards, cluster_resources
from kasauti.records import Finding
from kasauti.settings import ExecutorSettings

_ANSWER_S = 10.0

_START_ONE = "Start a cluster with `ray start --head`, or leave executor.address out for one of this machine alone."

_SHARD, _SHARD_ON_GPU = 8, 128


@dataclass
class RayOptions(ExecutorSettings):
    """Options of `executor=ray`.

    Attributes:
        workers: Actors for a part that can be copied or that holds a model on a device; 0 = as many as the cluster has
            room for.
        address: `auto` or `HOST:PORT` of a cluster that is up; null = one of this machine alone, for this run.
        gpus_per_actor: Share of a GPU that a part with a `device` gets; null = a whole one where the cluster has any.
        shard: Tasks an actor gets at once, two shards ahead; null = 8, with a GPU 128. What a death may cost.
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
        yield from Shards(job, seats, gpus, shard).run(tasks)

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
        return 1 if cluster_resources().get("GPU", 0) >= 1 else 0

    @staticmethod
    def _room(gpus: float) -> int:
        """How many actors the cluster holds."""
        there = cluster_resources()
        cpus = int(there.get("CPU", 0))
        return max(1, min(cpus, int(there.get("GPU", 0) / gpus)) if gpus else cpus)


def has_device(options: Any) -> bool:
    """Whether a part holds a model on a device, so that each device of a cluster can hold one.

    For one machine such a part says that it is the only one (`facts.workers`); it has the option `device`, or is a
    router to one that has.
    """
    members = getattr(options, "members", {})
    return hasattr(options, "device") or any(has_device(member) for member in members.values())


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
