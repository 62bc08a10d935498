"""Boards, their picture, heat maps and speeds: numbers by hand from small tables."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import report_example
from kasauti.records import AggregateRow, Status
from kasauti.report import ClipRow, RunTables, SystemInfo, load
from kasauti.report.chart import Span, chart
from kasauti.report.heat import RATE_STEPS, language_map, tag_map
from kasauti.report.leaderboard import Board, Line, boards, headlines, status_counts
from kasauti.report.speed import speeds
from kasauti.report.wording import duration_of, floor_of, interval_of, money_of, share_of, value_of
from kasauti.stats.scores import METRICS


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> RunTables:
    return load(report_example.build(tmp_path_factory.mktemp("run"), marks=True, tone_s=0.05))


def cell(**given: object) -> AggregateRow:
    values: dict[str, object] = {
        "system": "a", "judge": "j", "scope": "macro", "key": "all", "metric": "cer", "level": "strict", "n_langs": 1,
        "n_prompts": 10, "n_ok": 10, "n_total": 10, "mean": 0.1,
    }  # fmt: skip
    return AggregateRow(**{**values, **given})  # type: ignore[arg-type]


def board(*rows: AggregateRow, metric: str = "cer") -> Board:
    lines = tuple(Line(row.system, "machine", 1.0, "", row, {"hi": row}) for row in rows)
    return Board("j", metric, ("hi",), lines)


def test_ranked_first_then_listed(tables: RunTables) -> None:
    first = headlines(boards(tables))[0]
    assert [(line.system, line.rank) for line in first.lines] == [
        ("espeak", 1.0),
        ("kokoro", None),
        ("piper", None),
        ("cloud voice", None),
    ]
    assert first.languages == tuple(report_example.TEXTS)
    assert next(line.unranked for line in first.lines if line.system == "piper") == "speaks 1 of 7 languages"


def test_a_judge_that_gives_marks_has_boards_of_them_and_none_of_error_rates(tables: RunTables) -> None:
    assert [found.metric for found in boards(tables) if found.judge == "listener"] == ["naturalness", "clarity"]
    assert [found.judge for found in headlines(boards(tables))] == ["whisper", "whisper", "listener"]


def test_of_marks_the_highest_is_best(tables: RunTables) -> None:
    board = next(found for found in boards(tables) if found.metric == "naturalness")
    assert board.verdicts
    for verdict in board.verdicts:
        assert verdict.difference is not None
        assert verdict.verdict not in ("better", "worse") or (verdict.verdict == "better") == (verdict.difference > 0)


def test_a_judge_of_which_nothing_could_be_scored_still_has_a_board(tables: RunTables) -> None:
    silent = [replace(row, mean=None) if row.judge == "listener" else row for row in tables.aggregates]
    assert "listener" in {found.judge for found in boards(replace(tables, aggregates=silent))}


def test_headline_comes_first_and_only_scored_metrics_have_boards(tables: RunTables) -> None:
    metrics = [found.metric for found in boards(tables) if found.judge == "whisper"]
    assert metrics[0] == "cer"
    assert metrics == list(METRICS)
    unheard = replace(tables, aggregates=[replace(r, mean=None) if r.metric == "wer" else r for r in tables.aggregates])
    assert "wer" not in [found.metric for found in boards(unheard)]


def test_people_do_not_compete(tables: RunTables) -> None:
    people = replace(tables, systems={**tables.systems, "espeak": replace(tables.systems["espeak"], role="human")})
    lines = headlines(boards(people))[0].lines
    assert lines[-1].system == "espeak"
    assert (lines[-1].rank, lines[-1].unranked) == (None, "human reference")
    assert all(line.system != "espeak" for line in lines[:-1])


def test_every_row_is_counted_once(tables: RunTables) -> None:
    counts = status_counts(tables)
    assert sum(count.total() for count in counts.values()) == len(tables.samples)
    assert counts["cloud voice", "whisper"][Status.SYNTHESIS_FAILED] == 2
    assert counts["kokoro", "whisper"][Status.WRONG_SCRIPT] == 5


def test_picture_places_by_hand() -> None:
    picture = chart(board(cell(mean=0.10, ci95_low=0.05, ci95_high=0.2, floor95=0.02, floor_kind="assumed")))
    assert picture is not None
    assert [label for _, label in picture.ticks] == ["0", "5", "10", "15", "20"]
    strip = picture.strips[0]
    assert (strip.dot, strip.interval, strip.band) == (50.0, Span(25.0, 75.0), Span(40.0, 20.0))
    assert strip.band_assumed
    assert strip.told == "a: mean 10.0 per cent, 95 per cent interval 5.0–20.0, noise floor 2.0*"


def test_picture_of_nothing_is_none() -> None:
    assert chart(board(cell(mean=None))) is None


@given(st.lists(st.tuples(st.floats(0, 5), st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=5), st.booleans())
def test_picture_holds_everything(values: list[tuple[float, float, float]], is_rate: bool) -> None:
    rows = [
        cell(system=str(n), mean=mean, ci95_low=max(0.0, mean - reach), ci95_high=mean + reach, floor95=floor or None)
        for n, (mean, reach, floor) in enumerate(values)
    ]
    picture = chart(board(*rows, metric="cer" if is_rate else "clarity"))
    assert picture is not None
    places = [place for place, _ in picture.ticks]
    assert (places[0], places[-1]) == (0.0, 100.0)
    assert places == sorted(places)
    assert len(places) <= 8
    assert len({label for _, label in picture.ticks}) == len(places)
    for strip in picture.strips:
        assert 0 <= strip.dot <= 100
        for span in (strip.interval, strip.band):
            assert span is None or (span.width >= 0 and 0 <= span.start <= span.start + span.width <= 100.001)
            assert span is None or span.start - 0.001 <= strip.dot <= span.start + span.width + 0.001


@pytest.mark.parametrize("means", [[1e9], [-1e9], [1e9, -1e9], [1e9, 1e9 - 1], [0.0]])
def test_the_largest_marks_have_a_picture(means: list[float]) -> None:
    """Larger ones are refused when a judge gives them."""
    picture = chart(board(*(cell(system=str(n), mean=mean) for n, mean in enumerate(means)), metric="clarity"))
    assert picture is not None
    assert len(picture.ticks) >= 2


@pytest.mark.parametrize(
    ("mean", "shade"), [(0.0, 0), (0.0199, 0), (0.02, 1), (0.3, 5), (0.8, 8), (3.0, 8), (None, None)]
)
def test_shade_of_an_error_rate_is_the_same_in_every_report(
    tables: RunTables, mean: float | None, shade: int | None
) -> None:
    found = language_map(board(cell(mean=mean), cell(system="b", mean=0.5)), tables, tables.prompts)
    assert found.rows[0][1][0].shade == shade
    assert len(RATE_STEPS) == 8


def test_marks_are_shaded_the_other_way_round(tables: RunTables) -> None:
    found = language_map(board(cell(mean=4.5), cell(system="b", mean=1.5), metric="clarity"), tables, tables.prompts)
    assert [cells[0].shade for _, cells in found.rows] == [0, 8]


def test_caveats_stand_in_the_cell(tables: RunTables) -> None:
    found = language_map(headlines(boards(tables))[0], tables, tables.prompts)
    cells = {(line.system, one.key): one for line, row in found.rows for one in row}
    assert cells["kokoro", "bn"].caveats == ("0/2", "wrong script 100 %", "insufficient", "best effort")
    assert (cells["kokoro", "bn"].text, cells["kokoro", "bn"].shade) == ("–", None)
    assert cells["piper", "hi"].text == "unsupported"
    assert not cells["piper", "hi"].hearable
    tags = tag_map(headlines(boards(tables))[0], tables, tables.prompts)
    assert tags is not None
    assert {key for key, *_ in tags.columns} == {"plain", "digits", "names", "code_switch"}


def clip(n: int, **given: object) -> ClipRow:
    return ClipRow(f"c{n}", "a", f"p{n}", "hi", 0, **{"status": Status.OK, **given})  # type: ignore[arg-type]


def speed_table(tables: RunTables, clips: list[ClipRow], price: float | None = None) -> RunTables:
    return replace(tables, systems={"a": SystemInfo(usd_per_1k_chars=price)}, clips=clips)


def test_speed_and_price_by_hand(tables: RunTables) -> None:
    clips = [clip(n, duration_s=2.0, wall_s=float(n), cost_usd=0.01, chars=50) for n in range(1, 21)]
    clips.append(clip(99, status=Status.REFUSED, wall_s=1000.0, cost_usd=0.2, chars=0))
    (speed,) = speeds(speed_table(tables, clips, price=5.0))
    assert (speed.n_clips, speed.audio_s) == (20, 40.0)
    assert (speed.wall_median_s, speed.wall_p95_s, speed.ttfb_median_s) == (10.5, 19.0, None)
    assert speed.real_time_factor == pytest.approx(210 / 40)
    assert speed.cost_usd == pytest.approx(0.4)
    assert speed.usd_per_1k_chars == pytest.approx(0.4)  # 0.40 dollars for 1000 characters, not the list price


def test_a_clip_used_for_two_rows_is_one_clip(tables: RunTables) -> None:
    (speed,) = speeds(speed_table(tables, [clip(1, duration_s=2.0), clip(1, duration_s=2.0)]))
    assert (speed.n_clips, speed.audio_s) == (1, 2.0)


def test_no_clip_is_no_speed(tables: RunTables) -> None:
    (speed,) = speeds(speed_table(tables, [], price=5.0))
    assert (speed.n_clips, speed.wall_p95_s, speed.cost_usd, speed.usd_per_1k_chars) == (0, None, None, 5.0)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (value_of(0.1234, is_rate=True), "12.3"),
        (value_of(1.5, is_rate=True), "150.0"),
        (value_of(3.456, is_rate=False), "3.46"),
        (value_of(None, is_rate=True), "–"),
        (floor_of(cell(floor95=0.006, floor_kind="assumed"), is_rate=True), "0.6*"),
        (floor_of(cell(floor95=0.0, floor_kind="measured"), is_rate=True), "0.0"),
        (interval_of(cell(ci95_low=0.05, ci95_high=0.2), is_rate=True), "5.0–20.0"),
        (interval_of(cell(ci95_low=0.05), is_rate=True), "–"),
        (share_of(0.001), "<1 %"),
        (share_of(0.999), ">99 %"),
        (share_of(0.83), "83 %"),
        (share_of(1.0), "100 %"),
        (share_of(0.0), "0 %"),
        (duration_of(0.42), "0.42 s"),
        (duration_of(59.96), "60.0 s"),
        (duration_of(245), "4 min 5 s"),
        (duration_of(7800), "2 h 10 min"),
        (money_of(0.0), "$0.00"),
        (money_of(0.00123), "$0.0012"),
        (money_of(1234.5), "$1,234.50"),
        (money_of(None), "–"),
    ],
)
def test_wording(made: str, expected: str) -> None:
    assert made == expected
