"""Small tables of an expression panel, as `+experiment=indicemo_beyond` writes them, for tests of figures."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

from kasauti.report.tables import write_table

SYSTEMS = ("gemini", "rumik_oss_1", "cartesia_sonic_preview")
JUDGES = ("gemini", "qwen", "openai")
DELIVERIES = ("happy", "sad")
SIGNATURE = "metric:expression|scale:1-5"


def write_panel(folder: Path) -> Path:
    """Writes the four tables that figures are drawn from; no number is like another."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in _tables().items():
        write_table(folder / f"{name}.tsv", [*rows[0], "signature"], [{**row, "signature": SIGNATURE} for row in rows])
    return folder


def _tables() -> dict[str, list[dict[str, Any]]]:
    standings = [
        {"scope": scope, "system": system, **_interval("score", 4.5 - 0.9 * place - 0.07 * number, 0.11 + 0.02 * place)}
        | {"place_low": float(max(1, place)), "place_high": float(place + 1), "n_tasks": 40 if number == 0 else 20}
        for number, scope in enumerate(("all_deliveries", "emotion_only", *DELIVERIES))
        for place, system in enumerate(SYSTEMS)
    ]
    gaps = [
        {"scope": scope, "upper": upper, "lower": lower, **_interval("difference", 0.9 - 0.6 * place, 0.4)}
        | {"separated": place == 0, "neighbours": True}
        for scope in ("all_deliveries", "happy")
        for place, (upper, lower) in enumerate(pairwise(SYSTEMS))
    ]
    gaps.append({**gaps[0], "lower": SYSTEMS[2], "neighbours": False})
    positions = [
        {"judge": judge, "on": on, "effect_A": 0.31 - 0.2 * number, "effect_B": -0.12, "effect_C": 0.05 * number}
        | {"p_value": 10.0 ** -(number + 1), "n_cases": 40 - number}
        for on in ("score", "rank")
        for number, judge in enumerate(JUDGES)
    ]
    panel = " + ".join(JUDGES)
    agreement = [
        {"scope": scope, "judges": judges, **_interval("alpha", 0.4 - 0.05 * number, 0.06), "n_units": 120 - number}
        for number, (scope, judges) in enumerate(
            [("all_deliveries", panel), ("Happy", panel), ("all_deliveries", "gemini + qwen")]
        )
    ]
    return {"standings": standings, "gaps": gaps, "positions": positions, "agreement": agreement}


def _interval(key: str, value: float, reach: float) -> dict[str, float]:
    return {key: value, f"{key}_low": value - reach, f"{key}_high": value + 0.5 * reach}
