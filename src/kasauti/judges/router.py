"""The router: sends each clip to the judge that its table names for the prompt's language and the script of its text.

A table, not a guess: the language comes from the prompt, since eight of these languages share Devanagari. A pair that
has no row is refused, not tried. What a member hears is the member's judgment, with the id that it has when the member
is asked without a router, so nothing is heard twice.

Tasks come one member after another (the pipeline sorts them), so only one model is loaded at a time; it stays from one
stream of tasks to the next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter
from typing import Any

from kasauti.errors import JudgeError, TextError
from kasauti.identity import digest
from kasauti.judges.base import Answer, Asked, Judge, JudgeFacts, JudgeOptions, JudgeTask
from kasauti.parts import build
from kasauti.records import Finding, Outcome, Prompt, Status
from kasauti.text.languages import language

RANKS = ("first", "second")


@dataclass
class Route:
    """One row of the table.

    Attributes:
        first: Judge that hears these prompts.
        second: A judge of another family; null = there is none to be trusted.
        code: Language code that they are asked for; null = the prompt's own.
    """

    first: str = "???"
    second: str | None = None
    code: str | None = None


@dataclass
class RouterOptions(JudgeOptions):
    """Options of the router.

    Attributes:
        rank: `first`, or `second` for the second judge of each row. A config may say `both`: two judges, the second
            under the id `ID_second`.
        table: `LANG_SCRIPT` (`hi_Deva`: language of the prompt, script of most letters of its text) -> who hears it.
        members: Options of the judges, by the names of the table. In a config what differs from their files.
    """

    _target_: str = "kasauti.judges.router.Router"
    id: str = "router"
    rank: str = "first"
    table: dict[str, Route] = field(default_factory=dict)
    members: dict[str, Any] = field(default_factory=dict)


class Router(Judge):
    """Sends prompts on."""

    options_type = RouterOptions

    def __init__(self, options: RouterOptions) -> None:
        self._options = options
        self._subject = f"judge {options.id}"
        self._check_table()
        self._asked: str | None = None
        self._members: dict[str, Judge] = {name: self._built(name) for name in members_of(options)}
        table = {pair: [getattr(route, options.rank), route.code] for pair, route in options.table.items()}
        members = {name: [self._target(name), judge.facts.signature] for name, judge in self._members.items()}
        self.facts = JudgeFacts(revision=f"router@{digest({'table': table, 'members': members}, 12)}")

    def check(self, prompts: Sequence[Prompt]) -> list[Finding]:
        """What the members say that these prompts go to, and which rows stand on one judge or on sound alone."""
        found: list[Finding] = []
        for name, member in self._members.items():
            mine = [self._as_asked(prompt) for prompt in prompts if self._member(prompt) == name]
            found += member.check(mine) if mine else []
        return [*found, *self._notes(prompts)]

    def refuse(self, prompt: Prompt) -> Outcome | None:
        if self._route(prompt) is None:
            return Outcome(Status.UNSUPPORTED_LANGUAGE, "no_route")
        name = self._member(prompt)
        if name is None:
            return Outcome(Status.UNSUPPORTED_LANGUAGE, "single_judge")
        return self._members[name].refuse(self._as_asked(prompt))

    def asks(self, prompt: Prompt) -> Asked:
        name = self._member(prompt)
        assert name is not None, f"{prompt.id}: asked about a prompt that is refused"
        return replace(self._members[name].asks(self._as_asked(prompt)), member=name, target=self._target(name))

    def judge(self, tasks: Iterable[JudgeTask]) -> Iterator[Answer]:
        for name, group in groupby(tasks, key=attrgetter("member")):
            if name != self._asked:
                self.close()
            self._asked = name
            yield from self._members[name].judge(replace(task, member="") for task in group)

    def close(self) -> None:
        if self._asked is not None:
            self._members[self._asked].close()
            self._asked = None

    def _route(self, prompt: Prompt) -> Route | None:
        return self._options.table.get(f"{prompt.lang}_{prompt.script}")

    def _member(self, prompt: Prompt) -> str | None:
        route = self._route(prompt)
        return None if route is None else getattr(route, self._options.rank)

    def _as_asked(self, prompt: Prompt) -> Prompt:
        route = self._route(prompt)
        return prompt if route is None or route.code is None else replace(prompt, lang=route.code)

    def _target(self, name: str) -> str:
        return str(self._options.members[name]._target_)

    def _notes(self, prompts: Sequence[Prompt]) -> Iterator[Finding]:
        counted = Counter((prompt.lang, prompt.script) for prompt in prompts if self._route(prompt) is None)
        if counted:
            told = ", ".join(f"{lang} in {script} ({count} prompts)" for (lang, script), count in counted.items())
            message = f"no route for {told}; these rows will be unsupported_language."
            remedy = "To send them: '+judge.router.table.LANG_SCRIPT={first: NAME}'"
            yield Finding("warning", self._subject, message, remedy)
        heard = [prompt for prompt in prompts if self.refuse(prompt) is None]
        alone = dict.fromkeys(p.lang for p in heard if (route := self._route(p)) is not None and route.second is None)
        if alone and self._options.rank == "first":
            message = f"single judge: for {', '.join(alone)} there is no second one to be trusted."
            yield Finding("warning", self._subject, message, "Report these languages apart.")
        latin = dict.fromkeys(p.lang for p in heard if p.script not in language(p.lang).scripts)
        if latin:
            message = (
                f"texts of {', '.join(latin)} in Latin letters: no judge writes them so, pcer alone compares them."
            )
            yield Finding("warning", self._subject, message)

    def _built(self, name: str) -> Judge:
        if name not in self._options.members:
            raise JudgeError(f"{self._subject}: the table names {name!r}, and there are no options for it in members")
        member: Judge = build(self._options.members[name])
        if member.facts.compares or not member.facts.needs_audio:
            raise JudgeError(f"{self._subject}: {name} does not hear single clips, so none can be sent to it")
        return member

    def _check_table(self) -> None:
        if self._options.rank not in RANKS:
            raise JudgeError(f"{self._subject}: rank={self._options.rank}: wanted one of {', '.join(RANKS)}")
        for pair, route in self._options.table.items():
            lang, _, script = pair.rpartition("_")
            try:
                entry, asked = language(lang), language(route.code or lang)
            except TextError as error:
                raise JudgeError(f"{self._subject}: table: {pair}: {error}") from error
            if entry.code != lang or asked.code != (route.code or lang):
                wanted = f"{entry.code}_{script}, code {asked.code}"
                raise JudgeError(f"{self._subject}: table: {pair}: wanted codes as in prompt files ({wanted})")
            if script not in (*entry.scripts, "Latn"):
                written = " or ".join([*entry.scripts, "Latn"])
                raise JudgeError(f"{self._subject}: table: {pair}: no script {script!r} of {lang}; wanted {written}")


def members_of(options: RouterOptions) -> list[str]:
    """Names of the judges that a rank of the table sends to, in order of their first rows."""
    named = (getattr(route, options.rank) for route in options.table.values())
    return list(dict.fromkeys(name for name in named if name is not None))
