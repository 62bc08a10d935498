"""How much of a plan is left: clips, calls, time and money. For `dry_run`, and for the line before the work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

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


def estimate(plan: Plan, store: Store, cores: int) -> Estimate:
    """Counts what is left to do; touches nothing."""
    to_make = plan.clips_to_make(store)
    make = {name: len(takes) for name, takes in to_make.items()}
    all_clips = {name: {t.clip_id for t in plan.takes if t.system == name and t.clip_id} for name in plan.systems}
    asked, judged = _calls(plan, store)
    seconds: dict[str, float] = {}
    usd: dict[str, float | None] = {}
    for name, system in plan.systems.items():
        chars = sum(len(take.prompt.text) for take in to_make[name])
        side_by_side = min(system.facts.workers or cores, cores)
        seconds[f"system {name}"] = system.facts.seconds_per_char * chars / side_by_side
        usd[f"system {name}"] = _price(system.facts.usd_per_1k_chars, chars / 1000)
    for name, calls in asked.items():
        seconds[f"judge {name}"] = sum(facts.seconds_per_clip for facts in calls)
        prices = [facts.usd_per_call for facts in calls]
        usd[f"judge {name}"] = None if None in prices else sum(price or 0.0 for price in prices)
    return Estimate(
        make=make,
        stored={name: len(all_clips[name]) - make[name] for name in plan.systems},
        refused=Counter(take.system for take in plan.takes if take.refusal is not None),
        call={name: len(calls) for name, calls in asked.items()},
        judged=judged,
        seconds=seconds,
        usd=usd,
    )


def spent_so_far(plan: Plan, store: Store) -> float:
    """What the clips and judgments of a plan have cost so far, in US dollars, failed calls among them."""
    clips = {take.clip_id: store.clips.get(take.clip_id) for take in plan.takes if take.clip_id is not None}
    judgments = [store.judgments.get(task.judgment_id) for name in plan.judges for task in tasks_of(plan, name, store)]
    return sum(record.outcome.cost_usd or 0.0 for record in (*clips.values(), *judgments) if record is not None)


def _price(each: float | None, count: float) -> float | None:
    if count == 0:
        return 0.0
    return None if each is None else each * count


def _calls(plan: Plan, store: Store) -> tuple[dict[str, list[JudgeFacts]], dict[str, int]]:
    """By judge: of whom each call that is left is asked, and how many calls are in the store."""
    asked: dict[str, list[JudgeFacts]] = {}
    judged: dict[str, int] = {}
    for name, judge in plan.judges.items():
        known = hearings_once(plan, name, store)
        new = [hearing.facts for hearing in known if judgment_needed(store, hearing.task.judgment_id)]
        unmade = {
            (take.prompt.id, take.repeat) if judge.facts.compares else take.clip_id: judge.asks(take.prompt).facts
            for take in plan.takes
            if take.clip_id is not None and hears(judge, take) and clip_needed(store, take.clip_id)
        }
        asked[name] = new + [facts for facts in unmade.values() for _ in range(plan.settings.rejudges)]
        judged[name] = len(known) - len(new)
    return asked, judged
