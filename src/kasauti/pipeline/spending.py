"""Whether the next call may begin: the budget, and Ctrl-C."""

from __future__ import annotations

import threading

from kasauti.pipeline.stage import Interrupt
from kasauti.settings import BudgetSettings


class Spending:
    """Adds up what the calls of a run have cost; safe for systems that work side by side."""

    def __init__(self, budget: BudgetSettings, interrupt: Interrupt) -> None:
        self._max_usd = budget.max_usd
        self._interrupt = interrupt
        self._mutex = threading.Lock()
        self.spent_usd = 0.0
        self.stopped_by: str | None = None
        """Why work was left: `budget` or `interrupted`; None while nothing was."""

    def add(self, cost_usd: float | None) -> None:
        """Counts the cost of a call that was made."""
        with self._mutex:
            self.spent_usd += cost_usd or 0.0

    def may_spend(self, price_usd: float | None) -> bool:
        """Whether a call of about this price may begin. A price that isn't known counts as nothing."""
        with self._mutex:
            if self._interrupt.requested:
                self.stopped_by = "interrupted"
            elif self._max_usd is not None and self.spent_usd + (price_usd or 0.0) > self._max_usd:
                self.stopped_by = "budget"
            else:
                return True
            return False
