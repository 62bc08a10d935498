"""The router's own table, and how a command line changes it and its members.

Source of who is first and second for which language: the coverage that publishers state (IndicConformer: 22 languages,
no English; Omnilingual: its results table; Whisper: its tokens). The expectations are written out, not derived.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra

from kasauti.config import CONF, register, run_settings
from kasauti.errors import ConfigError
from kasauti.identity import run_id
from kasauti.judges.router import Router, RouterOptions
from kasauti.judges.whisper import LANGUAGES as OF_WHISPER
from kasauti.parts import build
from kasauti.records import Prompt
from kasauti.settings import CANNOT_CHANGE_A_RESULT, RunSettings
from kasauti.text.languages import LANGUAGES


@pytest.fixture(autouse=True, scope="module")
def hydra() -> Iterator[None]:
    register()
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(CONF), version_base="1.3"):
        yield
    GlobalHydra.instance().clear()


def checked(*overrides: str) -> RunSettings:
    command = ["system=fake", "judge=router", *overrides]
    return run_settings(compose("config", command), command)


def router_of(*overrides: str) -> RouterOptions:
    [options] = checked(*overrides).judges
    assert isinstance(options, RouterOptions)
    return options


TWO_JUDGES = "as bn doi gu hi kn mai ml mr ne or pa sd ta te ur".split()
SINGLE_JUDGE = "brx kok ks mni sa sat".split()


def test_who_hears_which_language() -> None:
    table = router_of().table
    found: dict[str, set[tuple[str, str | None]]] = {}
    for pair, route in table.items():
        assert route.code is None
        found.setdefault(pair.rpartition("_")[0], set()).add((route.first, route.second))
    expected: dict[str, set[tuple[str, str | None]]] = {
        **{lang: {("indicconformer", "omnilingual")} for lang in TWO_JUDGES},
        **{lang: {("indicconformer", None)} for lang in [*SINGLE_JUDGE, "ks-Deva", "mni-Mtei", "sd-Deva"]},
        "en": {("whisper", "omnilingual")},
    }
    assert found == expected
    assert set(found) == set(LANGUAGES)


def test_every_script_of_every_language_has_a_row_and_no_other_has() -> None:
    pairs = {f"{code}_{script}" for code, entry in LANGUAGES.items() for script in (*entry.scripts, "Latn")}
    assert set(router_of().table) == pairs


@pytest.mark.parametrize("rank", ["first", "second"])
def test_every_judge_of_the_table_has_the_language_that_it_is_asked_for(rank: str) -> None:
    router: Router = build(router_of(f"judge.rank={rank}"))
    for pair, route in router_of(f"judge.rank={rank}").table.items():
        lang, _, script = pair.rpartition("_")
        prompt = Prompt("p", lang, "text", script)
        if getattr(route, rank) is None:
            continue
        # IndicConformer takes a second script only where its vocabulary is seen to be in that script.
        assert (router.refuse(prompt) is None) == ("-" not in lang), pair
    assert "en" in OF_WHISPER


def test_a_router_of_both_ranks_is_two_judges() -> None:
    first, second = checked("judge.rank=both").judges
    assert (first.id, second.id) == ("router", "router_second")
    assert first == router_of()
    assert {**asdict(second), "id": "router"} == asdict(router_of("judge.rank=second"))
    assert list(asdict(second)["members"]) == ["omnilingual"]
    revisions = {build(options).facts.revision for options in (first, second)}
    assert len(revisions) == 2
    renamed = checked("judge.rank=both", "judge.router.id=mine").judges
    assert [options.id for options in renamed] == ["mine", "mine_second"]


def test_a_row_and_a_member_can_be_changed() -> None:
    members: dict[str, Any] = router_of(
        "judge.router.table.hi_Deva.first=whisper", "+judge.router.members.whisper.beam_size=1"
    ).members
    assert list(members) == ["indicconformer", "whisper"]
    assert (members["whisper"].beam_size, members["whisper"].window_s) == (1, 30)
    own = router_of(
        "judge.router.table.hi_Deva.first=mine", "+judge.router.members={mine: {use: fake, slip_rate: 0.5}}"
    )
    assert (own.members["mine"].id, own.members["mine"].slip_rate) == ("mine", 0.5)


@pytest.mark.parametrize("name", ["whisper", "indicconformer", "mms", "align", "dnsmos"])
def test_a_member_is_its_file_with_what_that_takes_over_from_others(name: str) -> None:
    [alone] = run_settings(compose("config", ["system=fake", f"judge={name}"])).judges
    assert router_of(f"judge.router.table.hi_Deva.first={name}").members[name] == alone


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("judge.rank=third", "judge.rank: no rank 'third'; known: both, first, second"),
        ("judge.router.table.hi_Deva.first=wisper", r"judge.router.members: no judge 'wisper' in conf/judge; did you"),
        ("judge.router.table.hi_Deva.first=router", "judge.router.members: no judge 'router' in conf/judge"),
        ("+judge.router.members={whisper: {beam: 1}}", "judge.router.members: whisper: .*'beam'"),
        ("+judge.router.members={whisper: {model: 5}}", "whisper: model is read as 5; put text in double quotes"),
        (
            "judge.router.table.hi_Deva.first=transcripts",
            "judge.router.members: transcripts: .*missing mandatory value: path",
        ),
    ],
)
def test_refused(override: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        checked(override)


def test_what_can_not_change_a_result_is_no_part_of_the_run() -> None:
    def identity(*overrides: str) -> str:
        config = checked(*overrides).config
        return run_id(config, excluded=CANNOT_CHANGE_A_RESULT, prompts_sha256="", fingerprints={}, revisions={})

    device = "+judge.router.members={whisper: {device: cuda, workers: 7}}"
    assert identity(device) == identity()
    assert identity("+judge.router.members={whisper: {beam_size: 1}}") != identity()
