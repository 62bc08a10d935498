"""Whether the next call may begin: the budget, and Ctrl-C."""

from __future__ import annotations

import threading
from dataclasses import replace

from kasauti.pipeline.stage import Interrupt
from kasauti.records import Clip, Judgment, Outcome
from kasauti.settings import BudgetSettings

_ROUNDING_USD = 1e-9
"""Sums of prices are a little off: what fits exactly must fit."""


def with_cost_so_far(outcome: Outcome, before: Clip | Judgment | None) -> Outcome:
    """The outcome of a call, the cost of earlier calls for the same thing added: a failed call is paid for too."""
    if before is None or before.outcome.cost_usd is None:
        return outcome
    return replace(outcome, cost_usd=(outcome.cost_usd or 0.0) + before.outcome.cost_usd)


class Spending:
    """Adds up what the calls of a run cost; safe for calls and systems that work side by side.

    Args:
        budget: Where spending stops.
        interrupt: Ctrl-C.
        spent_usd: What the run's clips and judgments that are in the store have cost.
    """

    def __init__(self, budget: BudgetSettings, interrupt: Interrupt, spent_usd: float = 0.0) -> None:
        self._max_usd = budget.max_usd
        self._interrupt = interrupt
        self._mutex = threading.Lock()
        self._promised_usd = 0.0
        self._failed = False
        self.spent_usd = spent_usd
        self.stopped_by: str | None = None
        """Why work was left: `budget` or `interrupted`; None while nothing was."""

    def stop(self) -> None:
        """Lets no further call begin: another part of the run has failed for good."""
        with self._mutex:
            self._failed = True

    def begin(self, price_usd: float | None) -> bool:
        """Whether a call of about this price may begin; if so, the price is set aside until the call has ended.

        A price that isn't known counts as nothing.
        """
        price_usd = price_usd or 0.0
        with self._mutex:
            if self._failed:
                return False
            if self._interrupt.requested:
                self.stopped_by = "interrupted"
                return False
            total_usd = self.spent_usd + self._promised_usd + price_usd
            if self._max_usd is not None and total_usd > self._max_usd + _ROUNDING_USD:
                self.stopped_by = "budget"
                return False
            self._promised_usd += price_usd
            return True

    def end(self, price_usd: float | None, cost_usd: float | None) -> None:
        """Counts the cost of a call in the place of the price that was set aside for it."""
        with self._mutex:
            self._promised_usd -= price_usd or 0.0
            self.spent_usd += cost_usd or 0.0

    def interrupted(self) -> bool:
        """Whether to stop waiting for the work of others."""
        with self._mutex:
            if self._interrupt.requested:
                self.stopped_by = "interrupted"
            return self._interrupt.requested
