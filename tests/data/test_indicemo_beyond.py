"""What the published table does not say: the findings that `docs/indicemo.md` states, and the command that makes them.

Numbers are those of the published data; where they come from a bootstrap or a permutation the seed is fixed.
"""

from __future__ import annotations

import io
from pathlib import Path

import pytest
import yaml
from rich.console import Console

from kasauti.errors import KasautiError
from kasauti.panel.beyond import Beyond, BeyondOptions
from kasauti.panel.explore import published_subject
from kasauti.panel.findings import findings_of
from kasauti.panel.intervals import Draws
from kasauti.panel.study import ALL, Study, study_of
from kasauti.report.tables import read_table

ROOT = Path(__file__).parents[2]
PINNED = yaml.safe_load((ROOT / "conf/experiment/indicemo_beyond.yaml").read_text(encoding="utf-8"))["task"]


@pytest.fixture(scope="module")
def study(bundle: Path) -> Study:
    return study_of(published_subject(bundle), Draws(10_000, 0))


def separated(study: Study, scope: str) -> dict[tuple[str, str], bool]:
    return {(gap.upper, gap.lower): gap.separated for gap in study.scopes[scope].gaps if gap.neighbours}


def test_second_and_third_and_fourth_and_fifth_are_not_told_apart(study: Study) -> None:
    assert separated(study, ALL) == {
        ("gemini", "rumik_oss_1"): True,
        ("rumik_oss_1", "cartesia_sonic_preview"): False,
        ("cartesia_sonic_preview", "cartesia_sonic_3_5"): True,
        ("cartesia_sonic_3_5", "elevenlabs"): False,
    }
    places = {s.system: (s.place, s.place_low, s.place_high) for s in study.scopes[ALL].standings}
    assert places == {
        "gemini": (1, 1, 1),
        "rumik_oss_1": (2, 2, 3),
        "cartesia_sonic_preview": (3, 2, 3),
        "cartesia_sonic_3_5": (4, 4, 5),
        "elevenlabs": (5, 4, 5),
    }


def test_among_the_emotions_the_second_place_is_told_apart(study: Study) -> None:
    assert list(separated(study, "emotion_only").values()) == [True, True, True, False]


def test_labels_move_the_scores_of_two_judges(study: Study) -> None:
    found = {effect.judge: effect for effect in study.positions["score"]}
    assert [round(value, 2) for value in found["qwen"].effects] == [0.59, -0.28, 0.05, 0.04, -0.4]
    assert [round(value, 2) for value in found["openai"].effects] == [-0.34, -0.05, -0.05, 0.24, 0.2]
    assert found["qwen"].p_value == found["openai"].p_value == pytest.approx(1 / 10_001)
    assert found["gemini"].p_value > 0.5
    ranks = {effect.judge: effect.p_value for effect in study.positions["rank"]}
    assert ranks["qwen"] == pytest.approx(1 / 10_001)
    assert ranks["openai"] > 0.05, "its ranks move less than its scores"
    firsts = {effect.judge: effect.p_value for effect in study.positions["first place"]}
    assert firsts["qwen"] < 0.01
    assert firsts["openai"] < 0.01
    assert firsts["gemini"] > 0.05


def test_adjusted_scores_keep_the_order(study: Study) -> None:
    found = study.scopes[ALL]
    assert found.adjusted is not None
    assert found.adjusted.order == found.plain.order
    assert abs(found.adjusted.overall - found.plain.overall).max() < 0.05


def test_agreement(study: Study) -> None:
    found = {(scope, judges): each for scope, judges, each in study.agreements}
    everyone = ("gemini", "qwen", "openai")
    assert found[ALL, everyone].alpha.estimate == pytest.approx(0.398, abs=0.0005)
    assert found[ALL, everyone].n_units == 490
    assert study.spreads.tolist() == [36, 196, 180, 69, 9]
    by_delivery = [found[name, everyone].alpha.estimate for name in study.common.deliveries]
    assert by_delivery == pytest.approx([0.383, 0.335, 0.393, 0.421, 0.265], abs=0.0005)


def test_own_family_and_who_is_left_out(study: Study) -> None:
    (own,) = [each for each in study.leanings if each.own_family]
    assert (own.judge, own.system) == ("gemini", "gemini")
    assert own.score.estimate == pytest.approx(1.13, abs=0.005)
    assert own.rank.estimate == pytest.approx(0.59, abs=0.005)
    places = {part.judges: part.places for part in study.subpanels}
    assert places["qwen", "openai"] == (1, 2, 3, 4, 5)
    assert places["gemini", "openai"] == (1, 3, 2, 4, 5)
    assert places["gemini", "qwen"] == (1, 2, 3, 5, 4)
    assert all(by[0] == 1 for by in places.values()), "Gemini TTS leads whoever judges"


def test_bradley_terry_turns_second_and_third_round(study: Study) -> None:
    assert study.bradley_terry is not None
    order = [each.system for each in study.bradley_terry.strengths]
    assert order == ["gemini", "cartesia_sonic_preview", "rumik_oss_1", "cartesia_sonic_3_5", "elevenlabs"]
    assert study.bradley_terry.largest_miss < 0.04


def test_twenty_clips_are_cut(study: Study) -> None:
    assert len(study.subject.cut_tasks) == 20
    assert set(study.subject.cut_tasks.values()) == {20.48}
    assert {standing.score.n_prompts for standing in study.whole} == {78}
    assert [(effect.delivery, effect.n_cut) for effect in study.cuts] == [
        ("Sad", 15),
        ("Excited", 3),
        ("Professional", 2),
    ]


def test_counts_are_of_common_tasks(study: Study) -> None:
    assert study.counts.sum() == 1470
    assert study.counts[0, 0].tolist() == [0, 2, 5, 10, 81]


def test_every_finding_is_said(study: Study) -> None:
    assert len(findings_of(study)) == 10
    assert study.lacking == {}


def options(folder: Path, out: Path) -> BeyondOptions:
    return BeyondOptions(mirror=str(folder), checksums_sha256=PINNED["checksums_sha256"], out=str(out), draws=300)


def test_tables_and_page(bundle: Path, tmp_path: Path) -> None:
    text = io.StringIO()
    assert Beyond(options(bundle, tmp_path / "out")).run(Console(file=text, width=140)) == 0
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {
        "report.html",
        "study.json",
        *(
            f"{name}.tsv"
            for name in (
                "standings gaps positions position_adjusted agreement spreads distributions leanings subpanels "
                "bradley_terry cuts without_cut_tasks cut_clips"
            ).split()
        ),
    }
    rows = read_table(tmp_path / "out" / "standings.tsv")
    assert len(rows) == 35
    assert "gemini@gemini-3.1-pro-preview" in (rows[0]["signature"] or "")
    assert "Neighbours not told apart: Rumik-OSS 1 above Cartesia Sonic Preview" in text.getvalue()


def test_nothing_is_cut_at_80_columns(bundle: Path, tmp_path: Path) -> None:
    text = io.StringIO()
    Beyond(options(bundle, tmp_path / "out")).run(Console(file=text, width=80))
    tables = text.getvalue().partition("tables and report.html")[0].splitlines()[:-1]
    assert max(map(len, tables)) <= 80
    assert "…" not in text.getvalue()


def test_a_damaged_bundle_is_refused(copied: Path, tmp_path: Path) -> None:
    (copied / "provenance.json").write_text("{}")
    with pytest.raises(KasautiError, match=r"provenance\.json checksum mismatch.*\+experiment=reproduce_indicemo"):
        Beyond(options(copied, tmp_path / "out")).run(Console(quiet=True))
    assert not (tmp_path / "out").exists()
