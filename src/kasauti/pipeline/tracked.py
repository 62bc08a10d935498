"""A run under the eyes of a tracker: told of its start and its end, and never able to cost the run anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from kasauti.errors import ExitCode, KasautiError
from kasauti.pipeline.estimate import Estimate
from kasauti.pipeline.folder import RunFolder
from kasauti.pipeline.plan import Plan
from kasauti.tracking.base import End, Start, Tracker


@contextmanager
def tracked(tracker: Tracker, start: Start, finished: bool, console: Console) -> Iterator[End]:
    """Runs the body under a tracker; the body fills in how the run ended.

    Args:
        tracker: Where the run is shown.
        start: What the run is.
        finished: It was finished before.
        console: Where a failure of the tracker is told, once.
    """
    end, begun = End(), False
    if tracker.follows(finished):
        with _harmless(console):
            tracker.begin(start)
            begun = True
    try:
        yield end
    except BaseException as error:
        end.exit_code, end.error = _exit_code(error), f"{type(error).__name__}: {error}"
        raise
    finally:
        if begun:
            with _harmless(console):
                told = tracker.finish(end)
                if told:
                    console.print(told, markup=False, highlight=False, soft_wrap=True)


def start_of(plan: Plan, folder: RunFolder, left: Estimate, spent_usd: float) -> Start:
    """What a tracker is told of a plan before its work."""
    return Start(
        run_id=plan.run_id,
        folder=folder.path.resolve(),
        settings=plan.settings,
        prompts=Counter(prompt.lang for prompt in plan.prompts),
        planned_s={} if left.nothing_to_do else left.seconds,
        planned_usd={} if left.nothing_to_do else left.usd,
        spent_usd=spent_usd,
    )


@contextmanager
def _harmless(console: Console) -> Iterator[None]:
    """Tells of whatever a client or a network does; the products of a run don't depend on it."""
    try:
        yield
    except Exception as error:
        again = "The run itself is not affected; show it later with tracking.again=true"
        text = f"Not tracked: {type(error).__name__}: {str(error).rstrip('.')}. {again}"
        console.print(text, style="yellow", markup=False, highlight=False)


def _exit_code(error: BaseException) -> int:
    if isinstance(error, KeyboardInterrupt):
        return int(ExitCode.INTERRUPTED)
    return int(error.exit_code if isinstance(error, KasautiError) else ExitCode.INCOMPLETE)
