"""Published scores and figures: what is recognised, what is refused with file and line, what stands beside our own."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from kasauti.__main__ import main
from kasauti.errors import PromptError
from kasauti.imports.columns import Rate, field_of, rate_of, words_of
from kasauti.imports.figures import read_figures
from kasauti.imports.samples import Given, read_samples
from kasauti.records import Status
from kasauti.report import load
from kasauti.settings import ScoringSettings

TEXTS = [
    ("a", "hi", "आज मौसम अच्छा है"),
    ("b", "hi", "मुझे पानी चाहिए"),
    ("c", "hi", "कल बारिश होगी"),
    ("d", "hi", "वह घर जा रहा है"),
    ("e", "hi", "किताब मेज़ पर है"),
    ("f", "hi", "हम बाज़ार जाएँगे"),
    ("g", "hi", "बच्चे खेल रहे हैं"),
]


def table(path: Path, *lines: str) -> Path:
    path.write_text("".join(line.replace("|", "\t") + "\n" for line in lines), encoding="utf-8")
    return path


def with_texts(path: Path) -> Path:
    lines = ["utt_id|Language|Model|ref_text|ASR text|CER %|comment"]
    lines += [f"{n}|Hindi|silk-oss-v2|{text}|{text}|0.0|" for n, _, text in TEXTS]
    lines += [f"{n}|hi-IN|azure|{text}|{text[:-5]}|50.0|" for n, _, text in TEXTS]
    return table(path, *lines)


def rates_only(path: Path, name: str = "other", rate: float = 0.1) -> Path:
    return table(path, "id|lang|system|cer", *(f"{n}|{lang}|{name}|{rate}" for n, lang, _ in TEXTS))


def kasauti(folder: Path, *words: object) -> int:
    return main(["--runs", str(folder / "runs"), *map(str, words)])


def the_run(folder: Path, out: str) -> str:
    return out.strip().splitlines()[-1]


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("prompt_id", "prompt_id"),
        ("ID", "prompt_id"),
        ("utt-id", "prompt_id"),
        ("Language", "lang"),
        ("provider", "system"),
        ("hyp", "hypothesis"),
        ("referenceText", "reference"),
        ("ASR", "judge"),
        ("seed", "repeat"),
        ("colour", None),
        ("cer", None),
    ],
)
def test_columns_are_known_by_their_words(name: str, field: str | None) -> None:
    assert field_of(name) == field


@pytest.mark.parametrize(
    ("name", "rate"),
    [
        ("cer", Rate("cer")),
        ("CER_median", Rate("cer", "median")),
        ("mean_wer_pct", Rate("wer", "mean", True)),
        ("CER %", Rate("cer", "", True)),
        ("cer_nospace", Rate("cer_nospace")),
        ("cer_stdev", None),
        ("concern", None),
        ("ttfb", None),
    ],
)
def test_rates_are_known_by_their_words(name: str, rate: Rate | None) -> None:
    assert rate_of(name) == rate


def test_words_of_a_name() -> None:
    assert words_of("asrText_CER%") == ["asr", "text", "cer", "pct"]


def test_texts_are_scored_anew_and_recorded_rates_only_compared(tmp_path: Path) -> None:
    mapped = read_samples(with_texts(tmp_path / "s.tsv"), Given(), ScoringSettings())
    assert not mapped.recorded
    assert {row.cer for row in mapped.rows if row.system == "silk-oss-v2"} == {0.0}
    assert all(0 < (row.cer or 0) < 0.5 for row in mapped.rows if row.system == "azure")
    assert {row.lang for row in mapped.rows} == {"hi"}
    assert (mapped.checked, mapped.differing) == (14, 7)
    assert mapped.unknown == ["comment"]


def test_rates_without_texts_are_taken_as_recorded(tmp_path: Path) -> None:
    path = table(tmp_path / "r.tsv", "id|lang|model|cer_pct|wer", "a|hi|x|5|0.25", "b|hi|x||", "c|hi|x|NA|")
    mapped = read_samples(path, Given(), ScoringSettings())
    assert mapped.recorded
    assert [(row.status, row.cer, row.wer, row.hypothesis) for row in mapped.rows] == [
        (Status.OK, 0.05, 0.25, None),
        (Status.MISSING, None, None, None),
        (Status.MISSING, None, None, None),
    ]


def test_an_empty_transcript_is_an_answer_only_where_something_says_so(tmp_path: Path) -> None:
    path = table(
        tmp_path / "s.tsv",
        "id|lang|system|text|hyp|cer|status",
        "a|hi|x|पानी||1.0|",
        "b|hi|x|पानी||  |",
        "c|hi|x|पानी|||ok",
        "d|hi|x|पानी|पानी|0|failed",
    )
    rows = read_samples(path, Given(), ScoringSettings()).rows
    assert [(row.status, row.cer) for row in rows] == [
        (Status.OK, 1.0),
        (Status.MISSING, None),
        (Status.OK, 1.0),
        (Status.MISSING, None),
    ]


def test_takes_are_counted_in_the_order_of_the_file(tmp_path: Path) -> None:
    path = table(tmp_path / "r.tsv", "id|lang|system|seed|cer", "a|hi|x|42|0.1", "a|hi|x|7|0.2", "a|hi|y|7|0.2")
    assert [row.repeat for row in read_samples(path, Given(), ScoringSettings()).rows] == [0, 1, 0]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["lang|system|cer", "hi|x|0.1"], r":1: no column for the prompt's id .*found lang, system, cer"),
        (["id|system|cer", "a|x|0.1"], r":1: no column for the language"),
        (["id|lang|cer", "a|hi|0.1"], r":1: no column for the system .*--system NAME"),
        (["id|lang|system|mos", "a|hi|x|4"], r":1: nothing to score"),
        (["id|lang|system|model|cer", "a|hi|x|y|0"], r":1: columns 'system' and 'model' both read as system"),
        (["id|lang|system|cer", "a|hi|x|0.1", "a|hi|x|0.2"], r":3: x, 'a' is already in line 2"),
        (["id|lang|system|seed|cer", "a|hi|x|1|0.1", "a|hi|x|1|0.2"], r":3: x, 'a', take '1' is already in line 2"),
        (["id|lang|system|cer", "a|xx|x|0.1"], r":2: .*'xx'"),
        (["id|lang|system|cer", "a|hi|x|good"], r":2: cer is 'good'; wanted a number"),
        (["id|lang|system|cer", "a|hi|x|-1"], r":2: cer is '-1'"),
        (["id|lang|system|cer", "a|hi|x|inf"], r":2: cer is 'inf'"),
        (["id|lang|system|cer", "a|hi|x"], r":2: 3 cells, but the header has 4"),
        (["id|lang|system|cer", "|hi|x|0.1"], r":2: no prompt id"),
        (["id|lang|system|cer", "a|hi||0.1"], r":2: no system"),
        (["id|lang|system|text|hyp", "a|hi|x||y"], r":2: prompt 'a' has no reference"),
        (["id|lang|system|text|hyp", "a|hi|x|एक|एक", "a|hi|y|दो|दो"], r":3: prompt 'a' is 'दो' \(hi\) here but 'एक'"),
        (["id|lang|system|cer"], r"no sample in this file"),
    ],
)
def test_bad_tables_are_refused_with_their_line(tmp_path: Path, lines: list[str], told: str) -> None:
    with pytest.raises(PromptError, match=told) as caught:
        read_samples(table(tmp_path / "s.tsv", *lines), Given(), ScoringSettings())
    assert str(tmp_path / "s.tsv") in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        {"vendors": {"silk-oss-v2": {"hi": {"cer_median": 0.04, "n": 100}}}},
        {"results": [{"vendor": "silk-oss-v2", "language": "Hindi", "cer_median": 0.04, "n": 100}]},
        {"silk-oss-v2": {"languages": {"hi-IN": {"cer": {"median": 0.04}, "count": 100}}}},
        [{"model": "silk-oss-v2", "lang": "hi", "metrics": {"CER_pct": {"median": 4.0}, "n": 100}}],
    ],
)
def test_figures_of_any_shape(tmp_path: Path, content: object) -> None:
    path = tmp_path / "v.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    figures = read_figures(path)
    assert dict(figures.values) == {("silk-oss-v2", "hi", "cer"): {"median": 0.04}}
    assert figures.counts == {("silk-oss-v2", "hi"): 100}


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("{", r"v\.json:1: not JSON"),
        ("{}", "no error rate of a system"),
        ('{"azure": {"ttfb": 3}}', r"Found azure\.ttfb"),
        (
            '{"set": {"a": {"hi": {"cer": 0.1}}, "b": {"hi": {"cer": 0.2}}}}',
            "two values for the mean cer of 'set' in hi",
        ),
    ],
)
def test_bad_figures_are_refused(tmp_path: Path, written: str, told: str) -> None:
    path = tmp_path / "v.json"
    path.write_text(written, encoding="utf-8")
    with pytest.raises(PromptError, match=told):
        read_figures(path)


def test_an_import_is_a_run_folder_that_can_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figures = tmp_path / "v.json"
    figures.write_text('{"old voice": {"hi": {"cer_mean": 0.2, "cer_median": 0.1}}}', encoding="utf-8")
    arguments = ("import", "rumik-bench", with_texts(tmp_path / "s.tsv"), figures)
    assert kasauti(tmp_path, *arguments) == 0
    said = capsys.readouterr().out
    assert "utt_id → prompt_id" in said
    assert "comment: not used" in said
    assert "7 differ from ours" in said
    folder = Path(the_run(tmp_path, said))
    assert json.loads((folder / "status.json").read_text(encoding="utf-8"))["state"] == "imported"
    tables = load(folder)
    assert list(tables.systems) == ["silk-oss-v2", "azure", "old voice"]
    verdict = next(row for row in tables.verdicts if (row.scope, row.metric) == ("macro", "cer"))
    assert (verdict.a, verdict.b, verdict.verdict) == ("silk-oss-v2", "azure", "better")
    assert kasauti(tmp_path, *arguments) == 0
    assert Path(the_run(tmp_path, capsys.readouterr().out)) == folder  # the same content, the same id
    assert kasauti(tmp_path, "report", folder) == 0
    assert kasauti(tmp_path, "aggregate", folder) == 0
    assert "old voice is not ranked: published figures, no rows" in capsys.readouterr().out


def test_rates_stand_beside_transcripts_and_are_not_compared_with_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = []
    for path in (
        with_texts(tmp_path / "s.tsv"),
        rates_only(tmp_path / "r.tsv"),
        rates_only(tmp_path / "q.tsv", "w", 0.4),
    ):
        assert kasauti(tmp_path, "import", "rumik-bench", path) == 0
        runs.append(the_run(tmp_path, capsys.readouterr().out))
    texts, rates, worse = runs
    assert kasauti(tmp_path, "compare", texts, rates, "--system", "azure=other") == 2
    assert "no prompt text in common" in capsys.readouterr().err
    assert kasauti(tmp_path, "compare", worse, rates, "--fail-on", "worse") == 1
    capsys.readouterr()
    assert kasauti(tmp_path, "aggregate", texts, rates) == 0
    assert "other is not ranked: rates as recorded, made by other rules" in capsys.readouterr().out
    assert kasauti(tmp_path, "aggregate", texts, rates, "--format", "csv") == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    levels = {row["system"]: (row["level"], "normaliser:as recorded" in row["signature"]) for row in rows}
    assert levels == {
        "silk-oss-v2": ("numbers", False),
        "azure": ("numbers", False),
        "other": ("as recorded", True),
    }


def test_human_recordings_and_what_the_table_does_not_say(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = with_texts(tmp_path / "s.tsv")
    words = ("--human", "azure", "--judge", "indicconformer", "--judge-revision", "r1")
    assert kasauti(tmp_path, "import", "rumik-bench", path, *words) == 0
    tables = load(Path(the_run(tmp_path, capsys.readouterr().out)))
    assert tables.judges == {"indicconformer": "r1"}
    assert tables.systems["azure"].role == "human"
    assert not tables.verdicts
    assert kasauti(tmp_path, "import", "rumik-bench", path, "--human", "nobody") == 2
    assert "no system nobody" in capsys.readouterr().err


def test_texts_of_the_prompts_may_come_from_a_file(tmp_path: Path) -> None:
    prompts = tmp_path / "prompts.tsv"
    table(prompts, "id|lang|text", *("|".join(line) for line in TEXTS))
    scores = table(tmp_path / "s.tsv", "id|transcript", *(f"{n}|{text}" for n, _, text in TEXTS))
    mapped = read_samples(scores, Given(system="mine", prompts=prompts), ScoringSettings())
    assert {(row.system, row.lang, row.cer) for row in mapped.rows} == {("mine", "hi", 0.0)}
    strange = table(tmp_path / "t.tsv", "id|transcript", "zz|एक")
    with pytest.raises(PromptError, match=r":2: prompt 'zz' is not in"):
        read_samples(strange, Given(system="mine", prompts=prompts), ScoringSettings())
