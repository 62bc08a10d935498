"""Figures: their numbers are those of the tables, their letters are shaped, their bytes are the same each time."""

from __future__ import annotations

import io
import warnings
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib
import pytest
from PIL import Image

import report_example
from kasauti import __main__ as command_line
from kasauti.errors import ConfigError
from kasauti.records import AggregateRow
from kasauti.report import Names, Study, load_study, read_names
from kasauti.report.figures import (
    FigureError,
    Plate,
    figures_of,
    floor_figures,
    fonts,
    judge_figures,
    leaderboard_figures,
    panel_figures,
    sweep_figures,
    write_plates,
)
from kasauti.report.figures.floors import measured_floors
from kasauti.report.figures.judges import level_cells
from kasauti.report.figures.plate import finished
from kasauti.report.figures.style import DOUBLE_MM, PNG_DPI, SMALL_PT, new_figure, paper
from kasauti.report.figures.sweep import curves
from kasauti.report.leaderboard import boards, headlines
from kasauti.report.wording import language_name, value_of
from panel_tables import SYSTEMS, write_panel
from runs import prompt_file, run_here

NAMES = read_names()
SVG = "{http://www.w3.org/2000/svg}"
INDIC = "hi bn ta te mr gu kn ml pa or ur sat mni mni-Mtei".split()


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Every kind of trouble: failures, other scripts, a voice with one language, marks."""
    return load_study(report_example.build(tmp_path_factory.mktemp("example"), marks=True, tone_s=0.02))


@pytest.fixture(scope="module")
def noisy(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A voice and a judge that vary: three takes, two hearings."""
    root = tmp_path_factory.mktemp("noisy")
    varying = ["system.slip_rate=0.2", "system.stochastic=true", "judge.slip_rate=0.1"]
    return load_study(run_here(root, *varying, "repeats=3", "rejudges=2").result.folder)


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """One voice at three rates of slips: the first two nearly alike, the third far off."""
    root = tmp_path_factory.mktemp("swept")
    prompt_file(root, [(f"p{n}", "en", f"the train number {n} leaves at a quarter past seven") for n in range(12)])
    for rate in (0.05, 0.06, 0.6):
        run_here(root, f"system.slip_rate={rate}", "system.stochastic=true", "repeats=3", "study=slips")
    return load_study("slips", root / "none", root / "runs")


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Three voices in every language that has a name in its own letters, which is also what they say."""
    root = tmp_path_factory.mktemp("many")
    own = read_names().languages
    prompt_file(root, [(f"{lang}{turn}", lang, f"{own[lang]} {turn}") for lang in own for turn in range(2)])
    members = "{use: fake, id: cartesia_sonic_preview},{use: fake, id: other, slip_rate: 0.05, fail_ids: [hi0]}"
    run_here(root, f"system.members=[{{use: fake, langs: [en, hi, bn]}},{members}]", system="lineup")
    return load_study(next(root.glob("runs/*/run.json")).parent)


@pytest.fixture(scope="module")
def panel(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return load_study(write_panel(tmp_path_factory.mktemp("panel")))


def texts(plate: Plate) -> list[str]:
    """All text of the SVG, as a drawing program would find it."""
    root = ElementTree.fromstring(plate.svg())
    return ["".join(element.itertext()).strip() for element in root.iter(f"{SVG}text")]


def dots(plate: Plate, axes: int = 0, marker: str = "o") -> list[tuple[float, float]]:
    """(x, y) of all marks of a kind, in the order they were drawn."""
    lines = [line for line in plate.figure.axes[axes].lines if line.get_marker() == marker]
    return [(float(x), float(y)) for line in lines for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)]


def spans(plate: Plate, axes: int = 0) -> dict[float, tuple[float, float]]:
    """y -> ends of the horizontal line of an interval."""
    found = {}
    for line in plate.figure.axes[axes].lines:
        x, y = line.get_xdata(), line.get_ydata()
        if line.get_marker() == "None" and len(x) == 2 and y[0] == y[1]:
            found[float(y[0])] = (float(x[0]), float(x[1]))
    return found


def aggregate(study: Study, scope: str, key: str, system: str, metric: str = "cer") -> AggregateRow:
    [row] = [
        row
        for row in study.merged.aggregates
        if (row.scope, row.key, row.system, row.metric) == (scope, key, system, metric)
    ]
    return row


def named(plates: Iterable[Plate], name: str) -> Plate:
    [plate] = [plate for plate in plates if plate.name == name]
    return plate


def test_leaderboard_shows_the_numbers_of_the_table(example: Study) -> None:
    plate = named(leaderboard_figures(example, NAMES), "leaderboard_whisper_cer")
    [board] = [board for board in boards(example.merged) if (board.judge, board.metric) == ("whisper", "cer")]
    rows = [line.overall for line in board.lines if line.overall.mean is not None]
    assert dots(plate) == [(pytest.approx(100 * (row.mean or 0)), place) for place, row in enumerate(rows)]
    ends = spans(plate)
    written = texts(plate)
    bands = {round(patch.get_y() + patch.get_height() / 2, 6): patch for patch in plate.figure.axes[0].patches}
    for place, row in enumerate(rows):
        assert row.mean is not None
        assert row.ci95_low is not None
        assert row.ci95_high is not None
        assert ends[place] == (pytest.approx(100 * row.ci95_low), pytest.approx(100 * row.ci95_high))
        assert any(text.startswith(f"{value_of(row.mean, is_rate=True)} [") for text in written)
        assert str(row.n_prompts) in written
        assert any(text.endswith(f"  {NAMES.system(row.system)}") for text in written)
        if row.floor95:
            band = bands[float(place)]
            assert band.get_width() == pytest.approx(200 * row.floor95)
    assert "eSpeak NG" in " ".join(written)
    assert "espeak" not in " ".join(written)


def test_captions_say_n_floors_and_who_is_not_ranked(example: Study) -> None:
    caption = named(leaderboard_figures(example, NAMES), "leaderboard_whisper_cer").caption
    n = len(example.merged.prompts)
    for told in (
        f"n: scored prompts of {n}.",
        "95 % bootstrap interval",
        "No floor is known for",
        "Piper is not ranked",
    ):
        assert told in caption
    assert "Mean over 7 languages (en, hi, bn, ta, te, mr, ur)" in caption


def test_marks_have_a_leaderboard_too(example: Study) -> None:
    plate = named(leaderboard_figures(example, NAMES), "leaderboard_listener_naturalness")
    row = aggregate(example, "macro", "all", "espeak", "naturalness")
    assert any(x == pytest.approx(row.mean) for x, _ in dots(plate))
    assert "higher is better" in plate.caption
    assert "%" not in texts(plate)[0]


def test_language_map_shows_every_cell(example: Study) -> None:
    plate = named(leaderboard_figures(example, NAMES), "languages_whisper_cer")
    written = texts(plate)
    for row in example.merged.aggregates:
        if (row.scope, row.judge, row.metric) == ("lang", "whisper", "cer"):
            assert language_name(row.key) in written
            if row.mean is not None:
                assert value_of(row.mean, is_rate=True) in written, row
                if row.n_ok < row.n_total:
                    assert f"{row.n_ok}/{row.n_total}" in written
    unsupported = [row for row in example.merged.aggregates if row.status == "unsupported_language"]
    hatched = [patch for patch in plate.figure.axes[0].patches if patch.get_hatch()]
    assert len(hatched) >= len([r for r in unsupported if (r.scope, r.judge, r.metric) == ("lang", "whisper", "cer")])
    assert "Hatched: a language that the system does not speak." in plate.caption


def test_many_languages_go_down_the_page(many: Study) -> None:
    plate = named(leaderboard_figures(many, read_names(native=True)), "languages_fake_cer")
    written = texts(plate)
    for lang, own in NAMES.languages.items():
        assert (f"{own} {language_name(lang)}" if lang != "en" else "English") in written
    row = aggregate(many, "lang", "hi", "other")
    assert f"{value_of(row.mean, is_rate=True)} (1/2)" in written
    assert len(plate.figure.axes[0].get_yticklabels()) == len(NAMES.languages)


def test_floors_are_split_into_synthesis_and_judge(noisy: Study) -> None:
    plate = named(floor_figures(noisy, NAMES), "noise_floors_cer")
    [floors] = measured_floors(noisy.merged, "cer").values()
    keys = [*[key for key in floors if key[0] == "lang"], ("macro", "all")]
    found = [floors[key].split() for key in keys]
    for marker, part in (("o", "floor95"), ("s", "synthesis95"), ("^", "judge95")):
        wanted = [(pytest.approx(100 * getattr(each, part)), place) for place, each in enumerate(found)]
        assert dots(plate, marker=marker) == wanted
    row = aggregate(noisy, "macro", "all", "fake")
    assert dots(plate)[-1][0] == pytest.approx(100 * (row.floor95 or 0))
    assert f"n = {row.n_prompts} prompts, 3 takes a prompt, 2 hearings a take" in plate.caption


def test_floor_shrinks_as_the_formula_says(noisy: Study) -> None:
    plate = named(floor_figures(noisy, NAMES), "noise_shrinks_cer")
    [floors] = measured_floors(noisy.merged, "cer").values()
    overall, n_langs = floors["macro", "all"], len(floors) - 1
    lines = [line for line in plate.figure.axes[0].lines if len(line.get_xdata()) == 4]
    assert len(lines) == 3
    for line, repeats in zip(lines, (1, 3, 10), strict=True):
        for n, value in zip(line.get_xdata(), line.get_ydata(), strict=True):
            assert value == pytest.approx(100 * overall.at(n_prompts=int(n) * n_langs, repeats=repeats))
    assert lines[0].get_ydata()[0] / lines[0].get_ydata()[2] == pytest.approx(20**0.5)  # 5 prompts against 100
    assert dots(plate) == [(pytest.approx(overall.n_prompts / n_langs), pytest.approx(100 * (overall.floor95 or 0)))]


def test_sweep_tells_steps_beyond_noise(swept: Study) -> None:
    [plate] = sweep_figures(swept, NAMES)
    option, [curve] = curves(swept)
    assert (plate.name, option) == ("sweep_slip_rate_cer", "slip_rate")
    assert [point.value for point in curve.points] == [0.05, 0.06, 0.6]
    steps = [point.step for point in curve.points[1:] if point.step is not None]
    beyond = [abs(step.difference or 0) > (step.floor95 or 0) and step.verdict != "within_noise" for step in steps]
    assert [point.beyond_noise for point in curve.points] == [False, *beyond]
    assert beyond[1]
    # 0.05 and 0.06 are too close for their labels, so the values stand in steps.
    assert plate.caption.endswith("The values stand in equal steps.")
    assert dots(plate) == [(x, pytest.approx(100 * (point.row.mean or 0))) for x, point in enumerate(curve.points)]
    styles = [line.get_linestyle() for line in plate.figure.axes[0].lines if len(line.get_xdata()) == 2]
    assert styles == ["-" if apart else ":" for apart in beyond]
    bands = [patch for patch in plate.figure.axes[0].patches if patch.get_height()]
    assert [band.get_height() for band in bands] == [
        pytest.approx(200 * point.row.floor95) for point in curve.points if point.row.floor95
    ]
    assert f"0.06 to 0.6: {100 * (steps[1].difference or 0):+.1f}, beyond the floor of" in plate.caption
    assert f"0.05 to 0.06: {100 * (steps[0].difference or 0):+.1f}, " in plate.caption


def test_levels_of_a_judge(noisy: Study) -> None:
    [plate] = judge_figures(noisy, NAMES)
    cells = level_cells(noisy.runs)["fake", "fake"]
    languages = list(cells)
    for marker, level in (("s", "strict"), ("o", "phonetic"), ("D", "numbers"), ("^", "lenient")):
        wanted = [pytest.approx(100 * (cells[lang].levels[level].estimate or 0)) for lang in languages]
        assert [x for x, _ in dots(plate, marker=marker)] == wanted
    at_headline = aggregate(noisy, "lang", "en", "fake").mean
    assert cells["en"].levels["numbers"].estimate == pytest.approx(at_headline)
    rows = [row for row in noisy.merged.samples if row.hypothesis is not None]
    assert f"n = {len(rows)} transcripts" in plate.caption
    assert "level:strict+numbers+lenient+phonetic" in plate.signature


def test_panel_shows_the_numbers_of_its_tables(panel: Study) -> None:
    plates = panel_figures(panel, NAMES)
    assert [plate.name for plate in plates] == (
        "panel_overall panel_by_delivery panel_neighbours panel_labels panel_agreement".split()
    )
    overall, by_delivery, neighbours, labels, agreement = plates
    rows = [row for row in panel.panel["standings"] if row["scope"] == "all_deliveries"]
    assert dots(overall) == [(float(row["score"] or 0), place) for place, row in enumerate(rows)]
    assert spans(overall) == {
        place: (float(row["score_low"] or 0), float(row["score_high"] or 0)) for place, row in enumerate(rows)
    }
    assert "n = 40 common tasks" in overall.caption
    drawn = {y for marker in "osD" for _, y in dots(by_delivery, marker=marker)}
    wanted = [row for row in panel.panel["standings"] if row["scope"] in ("happy", "sad")]
    assert drawn == {float(row["score"] or 0) for row in wanted}
    assert {"Happyn = 20", "Happy\nn = 20"} & set(texts(by_delivery)) or {"Happy", "n = 20"} <= set(texts(by_delivery))
    assert [(x, line_is_filled(neighbours, place)) for place, (x, _) in enumerate(dots(neighbours))] == [
        (pytest.approx(0.9), True),
        (pytest.approx(0.3), False),
    ]
    heights = [[bar.get_height() for bar in axes.patches] for axes in labels.figure.axes]
    assert heights == [
        [pytest.approx(float(row[f"effect_{letter}"] or 0)) for letter in "ABC"]
        for row in panel.panel["positions"]
        if row["on"] == "score"
    ]
    assert [x for x, _ in dots(agreement)] == [pytest.approx(0.4), pytest.approx(0.35), pytest.approx(0.3)]
    assert "Gemini 3.1 Pro + Qwen3.5 Omni Plus" in texts(agreement)
    for system in SYSTEMS:
        assert NAMES.system(system) in texts(overall)


def line_is_filled(plate: Plate, place: int) -> bool:
    [line] = [line for line in plate.figure.axes[0].lines if line.get_marker() == "o" and line.get_ydata()[0] == place]
    return bool(line.get_markerfacecolor() != "white")


def test_caption_and_signature_stand_in_the_files(example: Study, noisy: Study, panel: Study) -> None:
    for study in (example, noisy, panel):
        for plate in figures_of(study, NAMES):
            assert plate.caption
            assert plate.signature.startswith("metric:"), plate.name
            image = Image.open(io.BytesIO(plate.png()))
            assert image.text["Description"] == plate.caption
            assert image.text["Source"] == plate.signature
            assert "Software" not in image.text
            root = ElementTree.fromstring(plate.svg())
            told = ["".join(element.itertext()).strip() for element in root.iter()]
            assert plate.caption in told
            assert plate.signature in told


def test_size_on_paper_and_type(example: Study, panel: Study) -> None:
    for study in (example, panel):
        for plate in figures_of(study, NAMES):
            image = Image.open(io.BytesIO(plate.png()))
            assert image.size[0] / PNG_DPI * 25.4 <= DOUBLE_MM + 0.2
            assert image.info["dpi"][0] == pytest.approx(PNG_DPI, abs=1)
            sizes = {text.get_fontsize() for text in shown_texts(plate)}
            assert min(sizes) >= SMALL_PT, plate.name


def shown_texts(plate: Plate) -> list[Any]:
    """All text that is drawn: labels of ticks beyond the ends of their axis are not."""
    figure: Any = plate.figure
    found = [*figure.texts, *legend_texts(figure.legends)]
    for axes in figure.axes:
        if axes.get_visible():
            found += [*axes.texts, axes.title, axes._left_title, axes.xaxis.label, axes.yaxis.label]
            found += legend_texts([axes.get_legend()])
            for axis in (axes.xaxis, axes.yaxis):
                labels = [label for tick in axis._update_ticks() for label in (tick.label1, tick.label2)]
                found += [label for label in labels if label.get_visible()]
    return [text for text in found if text is not None and text.get_text().strip()]


def legend_texts(legends: Iterable[Any]) -> list[Any]:
    return [text for legend in legends if legend is not None for text in legend.get_texts()]


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("which", ["example", "noisy", "swept", "many", "panel"])
def test_nothing_is_cut_off_or_written_over(request: pytest.FixtureRequest, which: str, native: bool) -> None:
    study: Study = request.getfixturevalue(which)
    for plate in figures_of(study, read_names(native=native)):
        whole = plate.figure.bbox
        boxes = [(text.get_text(), text.get_window_extent()) for text in shown_texts(plate)]
        for written, box in boxes:
            within = box.x0 >= 0 and box.x1 <= whole.width and box.y0 >= 0 and box.y1 <= whole.height
            assert within, (plate.name, written)
        for number, (one, box) in enumerate(boxes):
            for other, second in boxes[number + 1 :]:
                wide = min(box.x1, second.x1) - max(box.x0, second.x0)
                high = min(box.y1, second.y1) - max(box.y0, second.y0)
                assert wide < 1 or high < 1, (plate.name, one, other)


def test_same_tables_give_the_same_bytes(example: Study, panel: Study) -> None:
    for study in (example, panel):
        first, second = list(figures_of(study, NAMES)), list(figures_of(study, NAMES))
        for one, other in zip(first, second, strict=True):
            assert one.png() == other.png() == one.png()
            assert one.svg() == other.svg() == one.svg()
            assert b"Matplotlib v" not in one.svg()


def test_svg_holds_text_as_text(example: Study) -> None:
    plate = named(leaderboard_figures(example, NAMES), "leaderboard_whisper_cer")
    assert "CER, % (lower is better)" in texts(plate)
    assert b"DejaVu Sans" in plate.svg()


@pytest.mark.parametrize("lang", INDIC)
def test_names_of_languages_in_their_own_letters(lang: str) -> None:
    own = read_names(native=True)
    label = own.language(lang)
    assert label.endswith(f"\n{language_name(lang)}")
    with paper(), warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = new_figure(60, 30)
        figure.subplots().set_title(label)
        plate = finished("name", figure, "a caption", ["metric:cer"])
    assert label.partition("\n")[0] in " ".join(texts(plate))
    assert set(fonts.families(label)) > {fonts.LATIN}


def test_conjuncts_are_shaped() -> None:
    """क्ष is one sign, narrower than its letters side by side; so it is only where text is shaped."""

    def width(text: str) -> float:
        figure = new_figure(60, 30)
        label = figure.text(0.1, 0.5, text, fontfamily=fonts.families(text))
        return float(label.get_window_extent().width)

    with paper():
        assert width("क्षक्षक्ष") < 0.8 * width("कषकषकष")


def test_native_names_in_a_study(example: Study) -> None:
    own = read_names(native=True)
    plate = named(leaderboard_figures(example, own), "languages_whisper_cer")
    assert {"हिन्दी", "தமிழ்", "اردو"} <= set(" ".join(texts(plate)).split())


def test_letter_without_a_glyph_is_an_error_and_never_a_box() -> None:
    with paper():
        figure = new_figure(60, 30)
        figure.text(0.1, 0.5, "\N{MONGOLIAN LETTER A}")
        with pytest.raises(
            FigureError, match=r"MONGOLIAN LETTER A \(U\+1820\).*would be a box\. .*apt install fonts-noto-core"
        ):
            finished("box", figure, "a caption", [])


def test_missing_font_is_an_error_that_names_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts, "_is_here", lambda family: False)
    with pytest.raises(FigureError, match=r"the font Noto Sans Tamil is missing.*apt install fonts-noto-core"):
        fonts.families("தமிழ்")
    assert fonts.families("Tamil") == [fonts.LATIN]


def test_state_of_matplotlib_is_left_alone(example: Study) -> None:
    before = dict(matplotlib.rcParams)
    leaderboard_figures(example, NAMES)[0].svg()
    assert dict(matplotlib.rcParams) == before


def test_one_system_and_one_language(tmp_path: Path) -> None:
    study = load_study(report_example.build(tmp_path, systems=("espeak",), langs=("hi",), tone_s=0.02))
    names = [plate.name for plate in figures_of(study, NAMES)]
    assert names[:2] == ["leaderboard_whisper_cer", "languages_whisper_cer"]
    for draw in (floor_figures, sweep_figures):
        with pytest.raises(FigureError):
            draw(study, NAMES)


def test_one_level_is_no_figure_of_levels(example: Study) -> None:
    with pytest.raises(FigureError, match="no transcript is scored at two of the levels strict, numbers"):
        judge_figures(example, NAMES)


def test_nothing_scored_is_an_error(tmp_path: Path) -> None:
    run_here(tmp_path, "system.fail_ids=[p1,p2,p3,p4,p5,p6]")
    study = load_study(next(tmp_path.glob("runs/*/run.json")).parent)
    with pytest.raises(FigureError, match="no row has a score, so there is no leaderboard to draw"):
        list(figures_of(study, NAMES))
    with pytest.raises(FigureError, match="no judge gave a transcript"):
        judge_figures(study, NAMES)


def test_single_takes_have_no_floor_to_draw(tmp_path: Path) -> None:
    study = load_study(run_here(tmp_path, "system.slip_rate=0.2").result.folder)
    with pytest.raises(FigureError, match=r"no noise floor of CER is measured here: .*repeats=3"):
        floor_figures(study, NAMES)
    with pytest.raises(FigureError, match="no option of a system has several values over its 1 runs"):
        sweep_figures(study, NAMES)


def test_voice_that_never_varies_has_a_floor_of_zero(tmp_path: Path) -> None:
    study = load_study(run_here(tmp_path, "repeats=2", "rejudges=2").result.folder)
    plates = floor_figures(study, NAMES)
    assert [plate.name for plate in plates] == ["noise_floors_cer"]
    assert {x for x, _ in dots(plates[0])} == {0.0}


def test_many_voices_go_on_further_figures(noisy: Study) -> None:
    names = [f"fake {number}" for number in range(7)]
    rows = [replace(row, system=name) for name in names for row in noisy.merged.samples]
    crowd = Study("crowd", noisy.folder, (replace(noisy.runs[0], samples=rows),))
    plates = [plate for plate in floor_figures(crowd, NAMES) if plate.name.startswith("noise_floors")]
    assert [plate.name for plate in plates] == ["noise_floors_cer_1", "noise_floors_cer_2"]
    assert [text for plate in plates for text in texts(plate) if text in names] == names


def test_torn_panel_is_an_error_with_the_table(panel: Study) -> None:
    lacking = replace(panel, panel={name: rows for name, rows in panel.panel.items() if name != "gaps"})
    with pytest.raises(FigureError, match=r"has no table gaps\.tsv with rows; .*indicemo_beyond"):
        panel_figures(lacking, NAMES)
    rows = [{**panel.panel["standings"][0], "score": "high"}]
    with pytest.raises(FigureError, match="score='high', which is no number"):
        panel_figures(replace(panel, panel={**panel.panel, "standings": rows}), NAMES)


def test_names_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "names.yaml"
    for text, told in [
        ("systems: {a: 5}", "'a': 5 is not a text for a text"),
        ("systems: {no: Norwegian}", "False: 'Norwegian' is not a text"),
        ("voices: {a: A}", "'voices' is no list of names; wanted judges, languages, systems"),
        ("- a", "is no list of names"),
        ("systems: [", "can't read the names"),
    ]:
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ConfigError, match=told):
            read_names(path)
    path.write_text("", encoding="utf-8")
    assert read_names(path) == Names()


def test_name_of_a_merged_system_keeps_what_tells_it_apart() -> None:
    assert NAMES.system("piper temperature=0.6 top_k=20") == "Piper temperature=0.6 top_k=20"
    assert NAMES.system("cloud voice") == "cloud voice"
    assert NAMES.judge("gemini + qwen") == "Gemini 3.1 Pro + Qwen3.5 Omni Plus"


def test_command_writes_all_figures(example: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["figures", str(example.folder), "--out", str(tmp_path), "--results", str(tmp_path)]
    assert command_line.main(words) == 0
    folder = tmp_path / example.name
    plates = list(figures_of(example, NAMES))
    for plate in plates:
        assert (folder / f"{plate.name}.png").read_bytes() == plate.png()
        assert (folder / f"{plate.name}.svg").read_bytes() == plate.svg()
        assert f"**{plate.name}.** {plate.caption}" in (folder / "captions.md").read_text(encoding="utf-8")
    assert "leaderboard_whisper_cer" in capsys.readouterr().out
    assert command_line.main(["figures", "none", "--results", str(tmp_path)]) == 2
    assert command_line.main(["figures", "--results", str(tmp_path / "empty")]) == 2


def test_headline_boards_are_those_of_the_report(example: Study) -> None:
    shown = {f"leaderboard_{board.judge}_{board.metric}" for board in headlines(boards(example.merged))}
    assert {plate.name for plate in leaderboard_figures(example, NAMES)} >= shown


def test_written_files_are_those_of_the_plates(panel: Study, tmp_path: Path) -> None:
    plates = panel_figures(panel, NAMES)
    written = write_plates(plates, tmp_path / "out")
    assert [path.name for path in written] == [f"{plate.name}.{form}" for plate in plates for form in ("png", "svg")]
    assert written[0].read_bytes() == plates[0]._repr_png_()
