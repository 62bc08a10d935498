"""Preflight: what would go wrong later is said before the first clip is paid for."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from kasauti.errors import PreflightError
from kasauti.parts import build
from kasauti.paths import ROOT
from kasauti.pipeline.estimate import Estimate
from kasauti.pipeline.plan import Plan, decoding_of, unused_decoding
from kasauti.records import NOT_FETCHED, Finding, Status
from kasauti.text.languages import language
from kasauti.text.levels import normalize


def preflight(plan: Plan, left: Estimate) -> list[Finding]:
    """Everything there is to say about a plan, errors first. A part that has nothing left to do needs nothing."""
    found = [*_prompts(plan), *_recordings(plan), *_parts(plan, left), *_decoding(plan), *_together(plan), *_env_file()]
    if not left.nothing_to_do:
        found += build(plan.settings.executor).check()
    found += _tracking(plan, left)
    return sorted(found, key=lambda finding: finding.level != "error")


def refuse_errors(findings: list[Finding]) -> None:
    """Stops the run if preflight found an error.

    Raises:
        PreflightError: with every error and what to do about it.
    """
    errors = [finding for finding in findings if finding.level == "error"]
    if errors:
        lines = "\n".join(f"  {e.subject}: {e.message}{f' {e.remedy}' if e.remedy else ''}" for e in errors)
        raise PreflightError(
            f"preflight found {len(errors)} problem(s); nothing was made and nothing was spent:\n{lines}"
        )


def _prompts(plan: Plan) -> Iterator[Finding]:
    for prompt in plan.prompts:
        if prompt.script not in (*language(prompt.lang).scripts, "Latn"):
            yield Finding(
                "warning",
                f"prompt {prompt.id}",
                f"the text is mainly in {prompt.script}, which {prompt.lang} is not written in.",
                "Check its language.",
            )
        if not normalize(prompt.text, prompt.lang, "strict", ladder=plan.ladder):
            yield Finding(
                "warning",
                f"prompt {prompt.id}",
                "nothing of the text is left once punctuation is taken out; it will count no reference units.",
            )


def _recordings(plan: Plan) -> Iterator[Finding]:
    """What a dry run can't know: recordings are part of a run's id, and it fetches none."""
    waiting = dict.fromkeys(prompt.lang for prompt in plan.prompts if (prompt.audio or "").startswith(NOT_FETCHED))
    if waiting and any(system.facts.plays_recordings for system in plan.systems.values()):
        message = f"the recordings of {', '.join(waiting)} will be fetched by the run (some hundred MB a language)."
        yield Finding("warning", f"prompts {plan.settings.promptset.name}", message, "The run's id depends on them.")


def _parts(plan: Plan, left: Estimate) -> Iterator[Finding]:
    langs = dict.fromkeys(prompt.lang for prompt in plan.prompts)
    for name, system in plan.systems.items():
        spoken = [prompt for prompt in plan.prompts if system.refuse(prompt) is None]
        if left.make[name] or not spoken:
            yield from system.check(plan.prompts)
        refusals = [system.refuse(prompt) for prompt in plan.prompts]
        if all(refusal is not None and refusal.status is Status.MISSING for refusal in refusals):
            remedy = "Give system.path a folder of them, or prompts with an `audio` field."
            yield Finding("error", f"system {name}", "there is no recording of any of these prompts.", remedy)
        elif not spoken:
            yield Finding("warning", f"system {name}", f"it can speak none of these prompts ({', '.join(langs)}).")
    for name, judge in plan.judges.items():
        if left.call[name]:
            yield from judge.check(plan.prompts)
        deaf = [lang for lang in langs if all(judge.refuse(p) for p in plan.prompts if p.lang == lang)]
        if deaf:
            yield Finding(
                "warning",
                f"judge {name}",
                f"it can't judge {', '.join(deaf)}; these rows will be unsupported_language.",
            )


def _decoding(plan: Plan) -> Iterator[Finding]:
    for name, keys in unused_decoding(plan).items():
        yield Finding("warning", f"system {name}", f"it does not use {', '.join(keys)}: no clip differs by it.")
    for name, system in plan.systems.items():
        used = decoding_of(plan.settings, system)
        least, most = used.get("min_new_tokens"), used.get("max_new_tokens")
        if least is not None and most is not None and least > most:
            told = f"decoding.min_new_tokens={least} is more than decoding.max_new_tokens={most}."
            yield Finding("error", f"system {name}", told)


def _together(plan: Plan) -> Iterator[Finding]:
    silent = [name for name, system in plan.systems.items() if not system.facts.speaks]
    takes = {options.id: options.repeats for options in plan.settings.systems}
    for name in silent:
        if takes[name] > 1:
            yield Finding("error", f"system {name}", "it has no audio, so there are no takes.", "Leave repeats at 1.")
    for name, judge in plan.judges.items():
        subject = f"judge {name}"
        if judge.facts.needs_audio and silent:
            message = f"it has to hear audio, and {', '.join(silent)} has none."
            yield Finding(
                "error", subject, message, "Give system.path a folder of WAV or FLAC files named by prompt id."
            )
        if not judge.facts.needs_audio and len(plan.systems) > 1:
            message = "it has one answer per prompt and can't tell several systems apart."
            yield Finding("error", subject, message, "Run one system at a time with it.")
        if not judge.facts.needs_audio and (plan.settings.rejudges > 1 or max(takes.values()) > 1):
            message = "it has one answer per prompt; more of the same would pass for a noise floor of 0."
            yield Finding("error", subject, message, "Leave repeats and rejudges at 1.")
        if judge.facts.compares:
            yield from _line_up(plan, subject, takes)


def _line_up(plan: Plan, subject: str, takes: Mapping[str, int]) -> Iterator[Finding]:
    if not 2 <= len(plan.systems) <= 8:
        message = f"it compares 2 to 8 systems, and there is {len(plan.systems)}."
        yield Finding("error", subject, message, "Choose a line-up: system=lineup system.members=[A,B]")
    if len(set(takes.values())) > 1:
        told = ", ".join(f"{name} {count}" for name, count in takes.items())
        message = f"it compares take by take, and members have different numbers of takes ({told})."
        yield Finding("error", subject, message, "Give all the same: repeats=1")


def _tracking(plan: Plan, left: Estimate) -> Iterator[Finding]:
    tracker = build(plan.settings.tracking)
    if tracker.follows(finished=left.nothing_to_do):
        yield from tracker.check()


def _env_file() -> Iterator[Finding]:
    """A `.env` file is never read: keys come from the environment alone. Say so where somebody expects otherwise."""
    for folder in dict.fromkeys((Path.cwd(), ROOT)):
        path = folder / ".env"
        try:
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue
        names = [line.removeprefix("export ").partition("=")[0].strip() for line in lines if "=" in line]
        unset = [name for name in names if name.isidentifier() and name not in os.environ]
        if unset:
            yield Finding(
                "warning",
                str(path),
                f"this file is not read, and {', '.join(unset)} is not set.",
                f"To use it: set -a; . {path}; set +a   (or: export {unset[0]}=...)",
            )
