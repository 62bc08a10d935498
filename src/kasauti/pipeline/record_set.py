"""After a run on the smoke prompts: which prompts a number of record needs, and how long they would take here."""

from __future__ import annotations

from kasauti.datasets.fleurs import CONFIGS
from kasauti.pipeline.plan import Plan
from kasauti.pipeline.progress import duration

SENTENCES = 350
"""Of each language in the test part of FLEURS, at most. Source: Conneau et al. 2022 (arXiv 2205.12446), section 3."""

CHARS = 130
"""About as long is a sentence of FLEURS, in characters of the text."""


def record_seconds(plan: Plan, cores: int) -> float | None:
    """How long the same systems and judges would take over the languages that FLEURS has, about.

    Returns:
        None where the run is not one on the smoke prompts, or FLEURS has none of its languages.
    """
    if plan.settings.promptset.name != "smoke":
        return None
    langs = {prompt.lang: prompt for prompt in plan.prompts if prompt.lang in CONFIGS}
    takes = {options.id: options.repeats for options in plan.settings.systems}
    seconds = 0.0
    for name, system in plan.systems.items():
        spoken = [prompt for prompt in langs.values() if system.refuse(prompt) is None and system.facts.speaks]
        each = system.facts.seconds_per_char * CHARS / min(system.facts.workers or cores, cores)
        for judge in plan.judges.values():
            asked = [judge.asks(prompt).facts for prompt in spoken if judge.refuse(prompt) is None]
            seconds += SENTENCES * takes[name] * plan.settings.rejudges * sum(f.seconds_per_clip for f in asked)
        seconds += SENTENCES * takes[name] * len(spoken) * each
    return seconds if langs else None


def record_hint(seconds: float) -> str:
    """What to say, in one line."""
    return (
        "These prompts show that everything works. Numbers of record need promptset=fleurs "
        f"(up to {SENTENCES} sentences a language): about {duration(seconds)} here, what it fetches aside."
    )
