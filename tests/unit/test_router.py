"""The router: who hears what, what is refused, and that nothing is heard twice. Its own table: tests/config."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from kasauti.errors import JudgeError
from kasauti.judges.base import Answer, Judge, JudgeTask
from kasauti.judges.fake import FakeJudge, FakeJudgeOptions
from kasauti.judges.router import Route, Router, RouterOptions, members_of
from kasauti.metrics.score import score_pair
from kasauti.pipeline.estimate import estimate
from kasauti.pipeline.executors import LocalExecutor
from kasauti.pipeline.judging import hearings_once, judge_clips, tasks_of
from kasauti.pipeline.plan import Plan
from kasauti.pipeline.progress import Progresses
from kasauti.pipeline.spending import Spending
from kasauti.pipeline.stage import Interrupt
from kasauti.records import Finding, Outcome, Prompt, Status
from kasauti.settings import BudgetSettings, ExecutorSettings
from kasauti.store.library import Store
from kasauti.text.languages import LANGUAGES
from kasauti.text.scripts import dominant_script
from plans import listener, plan_for, put_clip, store_of, voice

TARGET = "kasauti.judges.router.Router"

TABLE = {
    "en_Latn": Route("a", "b"),
    "hi_Deva": Route("b", "a"),
    "hi_Latn": Route("b"),
    "ta_Taml": Route("a"),
    "ks-Deva_Deva": Route("a", code="ks"),
}


def options(
    table: dict[str, Route] | None = None, rank: str = "first", name: str = "router", **members: Any
) -> RouterOptions:
    """A router to two fake judges, `a` and `b`, which differ in their settings."""
    given = {"a": listener("a"), "b": listener("b", slip_rate=0.25), **members}
    return RouterOptions(TARGET, name, rank, TABLE if table is None else table, given)


def prompt(lang: str, text: str) -> Prompt:
    return Prompt("p", lang, text, dominant_script(text) or "Zzzz")


HI, HI_LATN, TA, EN = prompt("hi", "मेरा घर"), prompt("hi", "mera ghar"), prompt("ta", "வீடு"), prompt("en", "home")


# --- where a prompt goes


def test_a_prompt_goes_by_its_language_and_the_script_of_its_text() -> None:
    router = Router(options())
    asked = {name: router.asks(one) for name, one in {"hi": HI, "latn": HI_LATN, "ta": TA, "en": EN}.items()}
    assert {name: (one.member, one.lang) for name, one in asked.items()} == {
        "hi": ("b", "hi"),
        "latn": ("b", "hi"),
        "ta": ("a", "ta"),
        "en": ("a", "en"),
    }
    assert asked["hi"].facts == FakeJudge(listener("b", slip_rate=0.25)).facts
    assert asked["hi"].target == "kasauti.judges.fake.FakeJudge"


def test_a_pair_that_is_not_in_the_table_is_refused() -> None:
    router = Router(options())
    refused = Outcome(Status.UNSUPPORTED_LANGUAGE, "no_route")
    for one in (prompt("hi", "வீடு"), prompt("ta", "मेरा घर"), prompt("en", "मेरा घर"), prompt("ur", "گھر")):
        assert router.refuse(one) == refused
    assert [router.refuse(one) for one in (HI, HI_LATN, TA, EN)] == [None] * 4


def test_no_language_is_taken_from_the_script() -> None:
    # Rule 1: ten codes are written in Devanagari. A table of one of them says nothing of the other nine.
    written = [code for code, entry in LANGUAGES.items() if entry.script == "Deva"]
    assert len(written) == 10
    router = Router(options({"mr_Deva": Route("a")}))
    assert [code for code in written if router.refuse(prompt(code, "घर")) is None] == ["mr"]


def test_a_language_that_the_judge_lacks_is_refused_as_the_judge_does() -> None:
    router = Router(options(b=listener("b", langs=["mr"])))
    assert router.refuse(HI) == Outcome(Status.UNSUPPORTED_LANGUAGE, "judge")
    # With a code of its own: what counts is the code that the judge is asked for.
    deva = prompt("ks-Deva", "घर")
    assert Router(options(a=listener("a", langs=["ks"]))).refuse(deva) is None
    assert Router(options(a=listener("a", langs=["ks-Deva"]))).refuse(deva) is not None
    assert Router(options()).asks(deva).lang == "ks"


def test_a_text_in_latin_letters_is_compared_by_sound() -> None:
    # Rules 2 and 3: no open judge writes Latin, so the row is wrong_script, has a pcer, and no part in the mean of cer.
    score = score_pair(HI_LATN.text, HI.text, "hi")
    assert (score.status, score.pcer) == ("wrong_script", 0.0)
    [note] = [one for one in Router(options()).check([HI, HI_LATN]) if "Latin" in one.message]
    assert note.message == "texts of hi in Latin letters: no judge writes them so, pcer alone compares them."


def test_the_second_judge() -> None:
    router = Router(options(rank="second"))
    assert router.asks(HI).member == "a"
    assert router.asks(EN).member == "b"
    assert router.refuse(TA) == Outcome(Status.UNSUPPORTED_LANGUAGE, "single_judge")
    assert router.refuse(prompt("ur", "گھر")) == Outcome(Status.UNSUPPORTED_LANGUAGE, "no_route")


# --- what is said before the run


class Lacking(FakeJudge):
    """A judge whose weights are not here."""

    def check(self, prompts: Any) -> list[Finding]:
        return [
            Finding("error", "judge lacking", f"not here, for {len(prompts)} of {sorted({p.lang for p in prompts})}")
        ]


def lacking() -> FakeJudgeOptions:
    Lacking.__module__ = "kasauti.judges.fake"  # parts may only be classes of this package
    return FakeJudgeOptions("kasauti.judges.fake.Lacking", "lacking")


def test_a_judge_that_is_not_installed_is_told_for_the_prompts_that_go_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kasauti.judges.fake.Lacking", Lacking, raising=False)
    router = Router(options(b=lacking()))
    assert [one.level for one in router.check([EN, TA])] == ["warning"]
    errors = [one.message for one in router.check([EN, TA, HI, HI_LATN]) if one.level == "error"]
    assert errors == ["not here, for 2 of ['hi']"]


def test_a_single_judge_is_marked() -> None:
    [note] = Router(options()).check([HI, TA, EN])
    assert note == Finding(
        "warning",
        "judge router",
        "single judge: for ta there is no second one to be trusted.",
        "Report these languages apart.",
    )
    assert Router(options()).check([HI, EN]) == []
    assert Router(options(rank="second")).check([HI, EN]) == []


def test_prompts_without_a_row_are_told_with_the_way_to_send_them() -> None:
    [note] = Router(options()).check([HI, prompt("ur", "گھر"), prompt("ur", "شہر"), prompt("hi", "வீடு")])
    assert note.message == (
        "no route for ur in Arab (2 prompts), hi in Taml (1 prompts); these rows will be unsupported_language."
    )
    assert note.remedy == "To send them: '+judge.router.table.LANG_SCRIPT={first: NAME}'"


# --- what it is


def test_the_revision_is_the_table_and_whom_it_sends_to() -> None:
    plain = Router(options()).facts.revision
    assert plain.startswith("router@")
    same = [
        Router(options(name="other")),
        Router(options(b=listener("b", slip_rate=0.25, workers=2))),
        Router(options({**TABLE, "hi_Deva": Route("b", "b")})),  # of the other rank
        Router(options(c=listener("c"))),  # nobody is sent to it
    ]
    others = [
        Router(options(b=listener("b", slip_rate=0.5))),
        Router(options({**TABLE, "hi_Deva": Route("a", "a")})),
        Router(options({**TABLE, "mr_Deva": Route("a")})),
        Router(options({**TABLE, "ks-Deva_Deva": Route("a")})),
        Router(options(rank="second")),
    ]
    assert {router.facts.revision for router in same} == {plain}
    assert len({plain, *(router.facts.revision for router in others)}) == 1 + len(others)


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ({"xx_Deva": Route("a")}, "table: xx_Deva: unknown language 'xx'"),
        ({"hin_Deva": Route("a")}, "table: hin_Deva: wanted codes as in prompt files (hi_Deva"),
        ({"hi_Taml": Route("a")}, "table: hi_Taml: no script 'Taml' of hi; wanted Deva or Latn"),
        ({"hi": Route("a")}, "table: hi: unknown language ''"),
        ({"hi_Deva": Route("a", code="Hindi")}, "wanted codes as in prompt files (hi_Deva, code hi)"),
        ({"hi_Deva": Route("nobody")}, "the table names 'nobody', and there are no options for it in members"),
        ({"hi_Deva": Route("panel")}, "panel does not hear single clips"),
    ],
)
def test_a_table_that_can_not_be_meant(table: dict[str, Route], told: str) -> None:
    with pytest.raises(JudgeError) as error:
        Router(options(table, panel=FakeJudgeOptions("kasauti.judges.fake.FakePanel", "panel")))
    assert told in str(error.value)


def test_a_rank_that_does_not_exist() -> None:
    with pytest.raises(JudgeError, match="judge router: rank=third: wanted one of first, second"):
        Router(options(rank="third"))
    assert members_of(options()) == ["a", "b"]
    assert members_of(options(rank="second")) == ["b", "a"]


# --- nothing is heard twice, and one model is loaded at a time

ROWS = [
    {"id": f"{lang}{n}", "lang": lang, "text": f"{word} {n}"}
    for n in ("x", "y")
    for lang, word in (("hi", "घर"), ("en", "home"), ("ta", "வீடு"), ("ur", "گھر"))
]


def planned(folder: Path, *judges: Any) -> tuple[Plan, Store]:
    plan = plan_for(folder, voice(), judges=list(judges), rows=ROWS)
    store = store_of(folder)
    for take in plan.takes:
        put_clip(store, take)
    return plan, store


def heard(plan: Plan, judge: str, store: Store) -> None:
    spending = Spending(BudgetSettings(), Interrupt())
    executor = LocalExecutor(ExecutorSettings("x", 1))
    judge_clips(plan, judge, store, executor, spending, Progresses(Console(file=io.StringIO())).stage(judge, 1))


def test_a_row_has_the_judgment_that_its_judge_gives_without_a_router(tmp_path: Path) -> None:
    plan, store = planned(tmp_path, options(), listener("a"), listener("b", slip_rate=0.25))
    routed = {one.task.judgment_id: one.task.member for one in hearings_once(plan, "router", store)}
    alone = {name: {task.judgment_id: task.lang for task in tasks_of(plan, name, store)} for name in ("a", "b")}
    assert sorted(routed.values()) == ["a"] * 4 + ["b"] * 2
    for identity, member in routed.items():
        assert alone[member][identity] in {"a": ("en", "ta"), "b": ("hi",)}[member]


def test_a_code_of_the_row_s_own_is_what_the_judge_is_asked_for(tmp_path: Path) -> None:
    rows = [{"id": "p", "lang": "ks-Deva", "text": "घर"}]
    plan = plan_for(tmp_path, voice(), judges=[options()], rows=rows)
    other = plan_for(tmp_path, voice(), judges=[listener("a")], rows=[{**rows[0], "lang": "ks"}])
    store = store_of(tmp_path)
    for take in (*plan.takes, *other.takes):
        put_clip(store, take)
    [mine], [theirs] = tasks_of(plan, "router", store), tasks_of(other, "a", store)
    assert (mine.judgment_id, mine.lang) == (theirs.judgment_id, "ks")


def test_a_judgment_of_the_judge_alone_is_found_by_the_router(tmp_path: Path) -> None:
    plan, store = planned(tmp_path, listener("b", slip_rate=0.25), options())
    assert estimate(plan, store, 1).call == {"b": 8, "router": 6}
    heard(plan, "b", store)
    assert estimate(plan, store, 1).call == {"b": 0, "router": 4}  # its two Hindi rows are there
    heard(plan, "router", store)
    assert estimate(plan, store, 1).call == {"b": 0, "router": 0}
    records = [store.judgments.get(identity) for identity in store.judgments]
    assert {(one.judge, one.judge_revision) for one in records if one is not None} == {
        ("b", FakeJudge(listener("b", slip_rate=0.25)).facts.signature),
        ("a", FakeJudge(listener("a")).facts.signature),
    }


def test_price_and_time_are_those_of_who_is_asked(tmp_path: Path) -> None:
    plan, store = planned(tmp_path, options(a=listener("a", usd_per_call=0.5)))
    left = estimate(plan, store, 1)
    assert left.usd["judge router"] == 4 * 0.5
    assert left.seconds["judge router"] == pytest.approx(6 * 0.002)


def test_one_member_after_the_other_and_tasks_as_they_are_pulled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, store = planned(tmp_path, options())
    events: list[str] = []
    router = Router(options())
    name_of = {id(judge): name for name, judge in router._members.items()}
    real = Judge.judge

    def judged(judge: Judge, tasks: Iterator[JudgeTask]) -> Iterator[Answer]:
        events.append(f"{name_of[id(judge)]} begins")
        yield from real(judge, tasks)

    def pulled() -> Iterator[JudgeTask]:
        for task in tasks_of(plan, "router", store):
            events.append(f"{task.lang}")
            yield task

    monkeypatch.setattr(FakeJudge, "judge", judged)
    monkeypatch.setattr(FakeJudge, "close", lambda judge: events.append(f"{name_of[id(judge)]} closes"))
    answers = []
    for answer in router.judge(pulled()):
        events.append("answer")
        answers.append(answer)
    assert {answer.outcome.status for answer in answers} == {Status.OK}
    assert len(answers) == 6
    assert [event for event in events if event != "answer"] == [
        *["en", "a begins", "ta", "en", "ta"],
        *["hi", "a closes", "b begins", "hi"],
    ]
    assert events.index("answer") == 2, "the first was answered before the second was pulled"
    again = [task for task in tasks_of(plan, "router", store) if task.member == "b"]
    assert len(list(router.judge(again))) == 2
    router.close()
    router.close()
    assert events[-2:] == ["b begins", "b closes"], "who was asked last is still there for the next stream"
