"""The published IndicEmo bundle, verified: what `reproduce` does once it has the folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from rich.console import Console
from rich.text import Text

from kasauti.errors import ExitCode, KasautiError
from kasauti.panel.cases import Panel
from kasauti.panel.checks import (
    Check,
    check_checksums,
    check_judgments,
    check_leaderboard,
    check_prompts,
    check_requests,
    check_table,
    published_facts,
)
from kasauti.panel.indicemo import CAPPED_SYSTEM, FACTS, TABLE_ORDER
from kasauti.panel.published import (
    JUDGMENTS,
    PROMPTS,
    Judgment,
    PublishedPrompt,
    Request,
    published_panel,
    read_judgments,
    read_prompts,
    read_requests,
)
from kasauti.panel.tables import (
    CONSENSUS,
    LEADERBOARD,
    PAIRWISE,
    SENSITIVITY,
    Row,
    Source,
    consensus_rows,
    pairwise_rows,
    sensitivity_rows,
)

_SHOWN_FAULTS = 5

_TABLES: dict[str, Callable[[Source], list[Row]]] = {
    CONSENSUS: consensus_rows,
    SENSITIVITY: sensitivity_rows,
    PAIRWISE: pairwise_rows,
}

_T = TypeVar("_T")


def verify(folder: Path, checksums_sha256: str, console: Console) -> ExitCode:
    """Verifies every checksum, blind label and cell; prints what holds and what not, and PASS or FAIL in one line.

    Args:
        folder: The bundle, as it is.
        checksums_sha256: SHA-256 of its list of checksums.
        console: Where to print.

    Returns:
        `COMPLETE` for PASS, `INCOMPLETE` for FAIL.
    """
    checks = {check.file: check for check in check_checksums(folder, checksums_sha256)}
    facts = _Content(folder, checks).verify()
    _show(facts, list(checks.values()), console)
    return ExitCode.INCOMPLETE if any(check.faults for check in checks.values()) else ExitCode.COMPLETE


class _Content:
    """Verifies what the files hold; adds to the checks of the files."""

    def __init__(self, folder: Path, checks: dict[str, Check]) -> None:
        self._folder = folder
        self._checks = checks

    def verify(self) -> dict[str, str]:
        """Goes on as far as it can and returns the facts that the data show."""
        prompts = self._read(PROMPTS, partial(read_prompts, self._folder)) or []
        self._add(check_prompts(prompts))
        requests = self._requests(prompts)
        judgments = self._read(JUDGMENTS, partial(read_judgments, self._folder))
        panel = self._read(JUDGMENTS, partial(published_panel, judgments)) if judgments else None
        if judgments is None or panel is None:
            for name in (*_TABLES, LEADERBOARD):
                self._add(Check(name, faults=[f"not recomputed: {JUDGMENTS} can't be used"]))
            return {}
        self._add(check_judgments(judgments, panel, prompts))
        self._tables(judgments, panel)
        facts = published_facts(panel, requests)
        wrong = [f"{name}: {facts[name]}; published {value}" for name, value in FACTS.items() if facts[name] != value]
        self._add(Check(JUDGMENTS, f"{len(FACTS)} published facts", wrong))
        return facts

    def _requests(self, prompts: Sequence[PublishedPrompt]) -> list[Request]:
        """Verifies all requests and returns those of the system with a cap."""
        by_system = {}
        for system in TABLE_ORDER:
            found = self._read(f"requests/{system}.jsonl", partial(read_requests, self._folder, system))
            by_system[system] = found or []
            self._add(check_requests(system, by_system[system], prompts))
        return by_system[CAPPED_SYSTEM]

    def _tables(self, judgments: Sequence[Judgment], panel: Panel) -> None:
        source = Source(
            panel.common(),
            {judgment.rating.system: judgment.system_name for judgment in judgments},
            {judgment.rating.judge: judgment.judge_model for judgment in judgments},
        )
        for name, compute in _TABLES.items():
            check = self._read(name, partial(check_table, self._folder, name, compute, source))
            if check is not None:
                self._add(check)
        board = self._read(LEADERBOARD, partial(check_leaderboard, self._folder, source))
        if board is not None:
            self._add(board)

    def _read(self, name: str, read: Callable[[], _T]) -> _T | None:
        """What `read` returns; None, and a fault of the file, where it can't."""
        try:
            return read()
        except (KasautiError, OSError) as error:
            self._add(Check(name, faults=[str(error)]))
            return None

    def _add(self, found: Check) -> None:
        check = self._checks.setdefault(found.file, Check(found.file, faults=["is not in the list of checksums"]))
        check.held = ", ".join(filter(None, [check.held, found.held]))
        check.faults += found.faults


def _show(facts: dict[str, str], checks: Sequence[Check], console: Console) -> None:
    def say(text: str, style: str = "") -> None:
        console.print(Text(text, style=style), soft_wrap=True)

    say("IndicEmo 1.0.0, recomputed from its judgments", "bold")
    for name, value in facts.items():
        say(f"  {name}: {value}")
    for check in checks:
        if not check.faults:
            say(f"  ok    {check.file}: {check.held}")
        for fault in check.faults[:_SHOWN_FAULTS]:
            say(f"  fault {check.file}: {fault}", "red")
        if len(check.faults) > _SHOWN_FAULTS:
            say(f"  fault {check.file}: {len(check.faults) - _SHOWN_FAULTS} more", "red")
    failed = [check for check in checks if check.faults]
    if failed:
        say("FAIL " + "; ".join(f"{check.file}: {check.faults[0]}" for check in failed), "bold red")
    else:
        say("PASS " + ", ".join(check.file for check in checks), "bold green")
