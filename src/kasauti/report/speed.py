"""How fast and how dear each system was, from `clips.tsv`.

Times are those of the call that made a clip, be it in an earlier run; a clip that failed has a cost but no speed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from kasauti.records import Status
from kasauti.report.loading import RunTables
from kasauti.report.table_rows import ClipRow


@dataclass(frozen=True)
class Speed:
    """One system.

    Attributes:
        n_clips: Clips with sound.
        audio_s: Their length together.
        wall_median_s: Median time of a call; `wall_p95_s`: 95 of 100 calls are no slower.
        ttfb_median_s: Median time to the first sound, where the system streams.
        real_time_factor: Time of all calls over the length of what they made; below 1 is faster than speech.
        cost_usd: What the clips cost together; None where no cost is known. A clip's cost holds every call for
            it, failed ones included.
        usd_per_1k_chars: The same per thousand characters of text; where unknown, the list price.
    """

    system: str
    n_clips: int
    audio_s: float
    wall_median_s: float | None
    wall_p95_s: float | None
    ttfb_median_s: float | None
    real_time_factor: float | None
    cost_usd: float | None
    usd_per_1k_chars: float | None


def speeds(tables: RunTables) -> list[Speed]:
    """One entry per system, in the order of the line-up."""
    by_system: dict[str, dict[str, ClipRow]] = {name: {} for name in tables.systems}
    for clip in tables.clips:
        if clip.clip_id is not None:
            by_system[clip.system][clip.clip_id] = clip
    return [
        _speed(name, list(clips.values()), tables.systems[name].usd_per_1k_chars) for name, clips in by_system.items()
    ]


def _speed(system: str, clips: Sequence[ClipRow], list_price: float | None) -> Speed:
    spoken = [clip for clip in clips if clip.status is Status.OK]
    wall = sorted(clip.wall_s for clip in spoken if clip.wall_s is not None)
    ttfb = [clip.ttfb_s for clip in spoken if clip.ttfb_s is not None]
    timed = [(c.wall_s, c.duration_s) for c in spoken if c.wall_s is not None and c.duration_s is not None]
    made_s = sum(duration for _, duration in timed)
    billed = [(clip.cost_usd, clip.chars or 0) for clip in clips if clip.cost_usd is not None]
    chars = sum(count for _, count in billed)
    cost_usd = sum(cost for cost, _ in billed) if billed else None
    return Speed(
        system=system,
        n_clips=len(spoken),
        audio_s=sum(clip.duration_s or 0.0 for clip in spoken),
        wall_median_s=median(wall) if wall else None,
        wall_p95_s=wall[max(0, -(-95 * len(wall) // 100) - 1)] if wall else None,
        ttfb_median_s=median(ttfb) if ttfb else None,
        real_time_factor=sum(wall_s for wall_s, _ in timed) / made_s if made_s else None,
        cost_usd=cost_usd,
        usd_per_1k_chars=1000 * cost_usd / chars if cost_usd is not None and chars else list_price,
    )
