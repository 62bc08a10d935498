"""Whether the next call may begin: the budget, and Ctrl-C."""

from __future__ import annotations

import threading

from kasauti.pipeline.stage import Interrupt
from kasauti.settings import BudgetSettings

_ROUNDING_USD = 1e-9
"""Sums of prices are a little off: what fits exactly must fit."""


class Spending:
    """Adds up what the calls of a run cost; safe for calls and systems that work side by side."""

    def __init__(self, budget: BudgetSettings, interrupt: Interrupt) -> None:
        self._max_usd = budget.max_usd
        self._interrupt = interrupt
        self._mutex = threading.Lock()
        self._promised_usd = 0.0
        self.spent_usd = 0.0
        self.stopped_by: str | None = None
        """Why work was left: `budget` or `interrupted`; None while nothing was."""

    def begin(self, price_usd: float | None) -> bool:
        """Whether a call of about this price may begin; if so, the price is set aside until the call has ended.

        A price that isn't known counts as nothing.
        """
        price_usd = price_usd or 0.0
        with self._mutex:
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
