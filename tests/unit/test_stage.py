"""One stage of work over the store: each task once, whoever does it; claims are given back, spending stops."""

from __future__ import annotations

import io
import os
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from kasauti.pipeline.progress import Progresses, duration
from kasauti.pipeline.progress import Stage as Progress
from kasauti.pipeline.spending import Spending
from kasauti.pipeline.stage import Interrupt, Work, run_stage
from kasauti.settings import BudgetSettings
from kasauti.store.claims import Claims
from kasauti.store.jsonl import JsonlLog
from processes import output, start, until

IDS = ["aaa111", "aaa222", "bbb333", "ccc444"]


def open_log(folder: Path) -> JsonlLog[str]:
    return JsonlLog(folder / "log.jsonl", lambda record: {"id": record}, lambda value: str(value["id"]))


def nothing_to_see() -> Progress:
    return Progresses(Console(file=io.StringIO())).stage("work", len(IDS))


@dataclass
class Bench:
    """A stage over ids: `done` lists what was worked on, in order."""

    folder: Path
    fails: str = ""
    done: list[str] = field(default_factory=list)
    begun: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.log = open_log(self.folder)
        self.claims = Claims(self.folder / "locks")

    def work(self, **changes: Any) -> Work[str, str]:
        def execute(tasks: Iterator[str]) -> Iterator[str]:
            for task in tasks:
                if task == self.fails:
                    raise RuntimeError(task)
                self.done.append(task)
                yield task

        def may_begin(task: str) -> bool:
            self.begun.append(task)
            return True

        given: dict[str, Any] = {
            "tasks": IDS,
            "task_id": str,
            "reply_id": str,
            "needed": lambda task: task not in self.log,
            "may_begin": may_begin,
            "give_up": lambda: False,
            "execute": execute,
            "keep": lambda _task, reply: self.log.put(reply),
        }
        return Work(**{**given, **changes})

    def run(self, **changes: Any) -> None:
        run_stage(self.work(**changes), self.log, self.claims, nothing_to_see())

    def free(self) -> list[str]:
        """Ids that somebody else could claim now."""
        others = Claims(self.folder / "locks")
        free = [identity for identity in IDS if others.try_claim(identity)]
        for identity in free:
            others.release(identity)
        return free


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_every_task_is_done_once_and_every_claim_given_back(bench: Bench) -> None:
    bench.run()
    assert bench.done == bench.begun == list(bench.log) == IDS
    assert bench.free() == IDS
    bench.run()
    assert bench.done == IDS


def test_what_another_has_recorded_meanwhile_is_left_alone_and_costs_nothing(bench: Bench) -> None:
    other = open_log(bench.folder)
    other.put(IDS[1])
    assert IDS[1] not in bench.log  # this process has not looked since
    bench.run()
    assert bench.done == bench.begun == [IDS[0], *IDS[2:]]


def test_a_task_is_claimed_while_it_is_worked_on_and_not_before(bench: Bench) -> None:
    seen = []
    real = bench.work().keep
    bench.run(keep=lambda task, reply: (seen.append(set(IDS) - set(bench.free())), real(task, reply)))
    assert [IDS[place] in held for place, held in enumerate(seen)] == [True] * 4
    assert seen[0] == {"aaa111", "aaa222"}  # the two share a lock


@pytest.mark.parametrize("where", ["execute", "keep"])
def test_an_error_gives_all_claims_back(bench: Bench, where: str) -> None:
    def keep(_task: str, reply: str) -> None:
        if reply == IDS[2]:
            raise RuntimeError(reply)
        bench.log.put(reply)

    bench.fails = IDS[2] if where == "execute" else ""
    with pytest.raises(RuntimeError, match=IDS[2]):
        bench.run(**({"keep": keep} if where == "keep" else {}))
    assert list(bench.log) == IDS[:2]
    assert bench.free() == IDS


def test_a_system_may_take_many_tasks_before_it_answers_in_any_order(bench: Bench) -> None:
    def batched(tasks: Iterator[str]) -> Iterator[str]:
        yield from reversed(list(tasks))

    bench.run(execute=batched)
    assert sorted(bench.log) == IDS
    assert bench.free() == IDS


def test_a_stage_that_may_not_go_on_ends_and_leaves_no_claim(bench: Bench) -> None:
    bench.run(may_begin=lambda task: task != IDS[2])
    assert bench.done == IDS[:2]
    assert bench.free() == IDS


HOLDER = """
import sys
from pathlib import Path
from kasauti.store.claims import Claims
from kasauti.store.jsonl import JsonlLog
folder, identity = Path(sys.argv[1]), sys.argv[2]
claims = Claims(folder / "locks")
assert claims.try_claim(identity)
print("claimed", flush=True)
if sys.stdin.readline() == "record\\n":
    JsonlLog(folder / "log.jsonl", lambda record: {"id": record}, lambda value: value["id"]).put(identity)
"""


def held_elsewhere(bench: Bench, identity: str, then: str) -> Callable[[Any], bool]:
    """Another process claims a task; `then` happens when we are about to wait for it."""
    holder = start(HOLDER, bench.folder, identity)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "claimed\n"

    def go_on(_message: Any = None) -> bool:
        if holder.returncode is None:
            holder.communicate(f"{then}\n")
        return False

    return go_on


@pytest.mark.parametrize(("then", "ours"), [("record", [IDS[0], *IDS[2:]]), ("die", [IDS[0], *IDS[2:], IDS[1]])])
def test_what_another_is_doing_is_put_off_and_looked_at_again(bench: Bench, then: str, ours: list[str]) -> None:
    bench.claims = Claims(bench.folder / "locks")
    identities = ["aaa111", "ddd222", "bbb333", "ccc444"]
    ours = [identities[IDS.index(task)] for task in ours]
    go_on = held_elsewhere(bench, "ddd222", then)
    progress = nothing_to_see()
    progress.say = go_on  # type: ignore[assignment]
    run_stage(bench.work(tasks=identities), bench.log, bench.claims, progress)
    assert bench.done == ours
    assert sorted(open_log(bench.folder)) == sorted(identities)


def test_waiting_for_another_can_be_given_up(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kasauti.pipeline.stage._WAIT_S", 0.01)
    asked = []
    go_on = held_elsewhere(bench, IDS[2], "die")
    bench.run(give_up=lambda: asked.append(1) or len(asked) == 3)
    assert bench.done == [IDS[0], IDS[1], IDS[3]]
    assert len(asked) == 3
    go_on()


SHARER = """
import io, sys
from pathlib import Path
from rich.console import Console
from kasauti.pipeline.progress import Progresses
from kasauti.pipeline.stage import Work, run_stage
from kasauti.store.claims import Claims
from kasauti.store.jsonl import JsonlLog
folder = Path(sys.argv[1])
log = JsonlLog(folder / "log.jsonl", lambda record: {"id": record}, lambda value: value["id"])
def execute(tasks):
    for task in tasks:
        print(task, flush=True)
        yield task
ids = [f"{n * 7919 % 65536:04x}" for n in range(60)]
work = Work(ids, str, str, lambda i: i not in log, lambda i: True, lambda: False, execute, lambda t, r: log.put(r))
print("ready", flush=True)
sys.stdin.readline()
run_stage(work, log, Claims(folder / "locks"), Progresses(Console(file=io.StringIO())).stage("x", 60))
"""


def test_two_processes_share_the_work_and_do_nothing_twice(tmp_path: Path) -> None:
    sharers = [start(SHARER, tmp_path) for _ in range(2)]
    for sharer in sharers:
        assert sharer.stdout is not None
        assert sharer.stdout.readline() == "ready\n"
    for sharer in sharers:
        assert sharer.stdin is not None
        sharer.stdin.write("go\n")
        sharer.stdin.flush()
    said = [sharer.communicate() for sharer in sharers]
    assert [complaints for _, complaints in said] == ["", ""]
    done = [line for lines, _ in said for line in lines.split()]
    assert len(done) == len(set(done)) == 60
    assert set(open_log(tmp_path)) == set(done)


# --- spending


def spending(max_usd: float | None = None) -> tuple[Spending, Interrupt]:
    interrupt = Interrupt()
    return Spending(BudgetSettings(max_usd), interrupt), interrupt


def test_spending_stops_before_the_budget_is_passed() -> None:
    purse, _ = spending(1.0)
    for _ in range(10):  # ten times 0.1 is a little less than 1.0 to a computer, and must fit
        assert purse.begin(0.1)
        purse.end(0.1, 0.1)
    assert purse.stopped_by is None
    assert not purse.begin(0.1)
    assert purse.stopped_by == "budget"
    assert purse.spent_usd == pytest.approx(1.0)


def test_calls_in_flight_count_at_their_price() -> None:
    purse, _ = spending(1.0)
    assert [purse.begin(0.4) for _ in range(4)] == [True, True, False, False]
    purse.end(0.4, 0.1)  # it came cheaper
    assert purse.begin(0.4)
    assert not purse.begin(0.4)
    purse.end(0.4, None)  # it cost nothing, as far as anybody knows
    purse.end(0.4, 0.9)  # it cost more than it should
    assert purse.spent_usd == pytest.approx(1.0)
    assert not purse.begin(0.01)
    assert purse.begin(0.0)


def test_prices_that_are_not_known_and_budgets_that_are_not_set() -> None:
    purse, _ = spending(0.0)
    assert purse.begin(None)
    assert purse.begin(0.0)
    assert not purse.begin(0.01)
    endless, _ = spending(None)
    assert all(endless.begin(1e9) for _ in range(3))
    assert not endless.interrupted()


def test_an_interrupt_comes_before_the_budget() -> None:
    purse, interrupt = spending(0.0)
    interrupt.requested = True
    assert not purse.begin(5.0)
    assert purse.stopped_by == "interrupted"
    other, interrupt = spending()
    interrupt.requested = True
    assert other.interrupted()
    assert other.stopped_by == "interrupted"


def test_threads_can_not_overspend_together() -> None:
    purse, _ = spending(100.0)
    begun: list[bool] = []

    def call() -> None:
        for _ in range(50):
            begun.append(purse.begin(1.0))
            if begun[-1]:
                purse.end(1.0, 1.0)

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert purse.spent_usd <= 100.0 + 1e-9
    assert 0 < begun.count(True) <= 100


# --- Ctrl-C


def test_ctrl_c_asks_first_and_stops_the_second_time() -> None:
    interrupt, said = Interrupt(), []
    before = signal.getsignal(signal.SIGINT)
    with interrupt.watched(said.append):
        os.kill(os.getpid(), signal.SIGINT)
        until(lambda: interrupt.requested, "the signal has come")
        assert len(said) == 1
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_another_thread_than_the_main_one_can_not_watch_and_goes_on() -> None:
    entered = []

    def watch() -> None:
        with Interrupt().watched(print):
            entered.append(True)

    thread = threading.Thread(target=watch)
    thread.start()
    thread.join()
    assert entered == [True]


# --- progress


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min 00 s"),
        (200, "3 min 20 s"),
        (3599.4, "59 min 59 s"),
        (3599.6, "1 h 00 min"),
        (7500, "2 h 05 min"),
    ],
)
def test_durations_in_words(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_a_log_gets_a_line_at_the_end_and_no_bars() -> None:
    file = io.StringIO()
    progresses = Progresses(Console(file=file, width=100))
    with progresses.shown():
        stage = progresses.stage("[bold] fake speaks", 3)
        for _ in range(3):
            stage.advance()
        stage.say("waiting [for] another")
    lines = file.getvalue().splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("[bold] fake speaks: 3/3, ")
    assert lines[1] == "[bold] fake speaks: waiting [for] another"


def test_a_terminal_gets_bars_with_rate_and_time_left() -> None:
    file = io.StringIO()
    progresses = Progresses(Console(file=file, force_terminal=True, width=120))
    with progresses.shown():
        stage = progresses.stage("[/bold] fake speaks", 3)
        for _ in range(3):
            stage.advance()
    assert "[/bold] fake speaks" in file.getvalue()
    assert "3/3" in file.getvalue()
    assert "/s" in file.getvalue()


def test_snippets_say_what_went_wrong() -> None:
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        output("1 / 0")
