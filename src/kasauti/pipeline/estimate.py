"""How much of a plan is left: clips, calls, time and money. For `dry_run`, and for the line before the work."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from kasauti.identity import digest
from kasauti.judges.base import JudgeFacts
from kasauti.pipeline.judging import hearings_once, hears, tasks_of
from kasauti.pipeline.plan import Plan, clip_needed, judgment_needed
from kasauti.store.library import Store


@dataclass(frozen=True)
class Estimate:
    """What is left to do, by system and judge id.

    Attributes:
        make: Clips to make. `stored`: clips in the store. `refused`: takes that can't be spoken.
        call: Judge calls to make; a clip that isn't made yet counts as heard. `judged`: calls in the store.
        seconds: `system NAME` or `judge NAME` -> estimated time on this machine.
        usd: The same -> estimated money; None where a part's price is not known.
    """

    make: Mapping[str, int]
    stored: Mapping[str, int]
    refused: Mapping[str, int]
    call: Mapping[str, int]
    judged: Mapping[str, int]
    seconds: Mapping[str, float]
    usd: Mapping[str, float | None]

    @property
    def nothing_to_do(self) -> bool:
        """Whether every clip and every judgment is in the store."""
        return not any(self.make.values()) and not any(self.call.values())


@dataclass(frozen=True)
class Call:
    """One synthesis or one judgment that is left to do.

    Attributes:
        part: `system NAME` or `judge NAME`.
        key: What it is the same by in every run: id of the clip or judgment; of a clip that is not made yet, who is to
            hear it.
        seconds, usd: As in `Estimate`.
    """

    part: str
    key: str
    seconds: float
    usd: float | None


def estimate(plan: Plan, store: Store, cores: int) -> Estimate:
    """Counts what is left to do; touches nothing."""
    parts = [*(f"system {name}" for name in plan.systems), *(f"judge {name}" for name in plan.judges)]
    count = dict.fromkeys(parts, 0)
    seconds = dict.fromkeys(parts, 0.0)
    usd: dict[str, float | None] = dict.fromkeys(parts, 0.0)
    for call in calls_left(plan, store, cores):
        count[call.part] += 1
        seconds[call.part] += call.seconds
        usd[call.part] = sum_of_known([usd[call.part], call.usd])
    all_clips = {name: {t.clip_id for t in plan.takes if t.system == name and t.clip_id} for name in plan.systems}
    make = {name: count[f"system {name}"] for name in plan.systems}
    return Estimate(
        make=make,
        stored={name: len(all_clips[name]) - make[name] for name in plan.systems},
        refused=Counter(take.system for take in plan.takes if take.refusal is not None),
        call={name: count[f"judge {name}"] for name in plan.judges},
        judged={name: _judged(plan, name, store) for name in plan.judges},
        seconds=seconds,
        usd=usd,
    )


def calls_left(plan: Plan, store: Store, cores: int) -> Iterator[Call]:
    """Every synthesis and every judgment that is left to do, each once."""
    for name, takes in plan.clips_to_make(store).items():
        facts = plan.systems[name].facts
        side_by_side = min(facts.workers or cores, cores)
        for take in takes:
            chars = len(take.prompt.text)
            seconds = facts.seconds_per_char * chars / side_by_side
            usd = None if facts.usd_per_1k_chars is None else facts.usd_per_1k_chars * chars / 1000
            yield Call(f"system {name}", str(take.clip_id), seconds, usd)
    for name in plan.judges:
        for key, asked in _judgments_left(plan, name, store):
            yield Call(f"judge {name}", key, asked.seconds_per_clip, asked.usd_per_call)


def sum_of_known(amounts: Iterable[float | None]) -> float | None:
    """The sum; None if one of the amounts is not known."""
    amounts = list(amounts)
    return None if None in amounts else sum(amount or 0.0 for amount in amounts)


def spent_so_far(plan: Plan, store: Store) -> float:
    """What the clips and judgments of a plan have cost so far, in US dollars, failed calls among them."""
    clips = {take.clip_id: store.clips.get(take.clip_id) for take in plan.takes if take.clip_id is not None}
    judgments = [store.judgments.get(task.judgment_id) for name in plan.judges for task in tasks_of(plan, name, store)]
    return sum(record.outcome.cost_usd or 0.0 for record in (*clips.values(), *judgments) if record is not None)


def _judged(plan: Plan, judge_id: str, store: Store) -> int:
    """How many calls of a judge are in the store."""
    known = hearings_once(plan, judge_id, store)
    return sum(not judgment_needed(store, hearing.task.judgment_id) for hearing in known)


def _judgments_left(plan: Plan, judge_id: str, store: Store) -> Iterator[tuple[str, JudgeFacts]]:
    """What a judge is to hear, and of whom it is asked: clips that are there, and clips that are not made yet."""
    judge = plan.judges[judge_id]
    for hearing in hearings_once(plan, judge_id, store):
        if judgment_needed(store, hearing.task.judgment_id):
            yield hearing.task.judgment_id, hearing.facts
    line_ups: dict[tuple[str, int], list[str]] = defaultdict(list)
    for take in plan.takes if judge.facts.compares else ():
        line_ups[take.prompt.id, take.repeat].append(str(take.clip_id))
    unmade: dict[str, JudgeFacts] = {}
    for take in plan.takes:
        if take.clip_id is not None and hears(judge, take) and clip_needed(store, take.clip_id):
            facts = judge.asks(take.prompt).facts
            together = line_ups.get((take.prompt.id, take.repeat), [take.clip_id])
            unmade[f"{facts.signature} {digest(sorted(together))}"] = facts
    for key, facts in unmade.items():
        for rejudge in range(plan.settings.rejudges):
            yield f"{key} {rejudge}", facts
