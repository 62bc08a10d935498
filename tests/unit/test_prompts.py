"""Prompt files: what is taken as it is, what is refused and how it is said, and the selection of some prompts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from kasauti.errors import KasautiError, PromptError
from kasauti.identity import digest
from kasauti.judges.base import JudgeFailed, JudgeTask
from kasauti.judges.transcripts import Transcripts, TranscriptsOptions
from kasauti.metrics.score import score_pair
from kasauti.prompts import load_prompts, prompts_sha256, select
from kasauti.records import Prompt, Status
from kasauti.settings import PromptsetSettings
from kasauti.text.scripts import script_verdict
from text_cases import read_cases

[IO_01] = read_cases("io.jsonl", "read_csv")
[IO_02, IO_03] = read_cases("io.jsonl", "score_from_csv")


def jsonl(path: Path, *rows: dict[str, Any]) -> Path:
    """A prompt file; rows may hold anything."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def row(**fields: Any) -> dict[str, Any]:
    return {"id": "p1", "lang": "hi", "text": "नमस्ते", **fields}


def test_the_same_prompts_from_every_kind_of_file(tmp_path: Path) -> None:
    expected = [
        Prompt("1", "hi", "नमस्ते, जी", "Deva", ("digits", "names"), {"description": "calm"}, "a.wav"),
        Prompt("2", "en", "Hello", "Latn"),
    ]
    from_jsonl = jsonl(
        tmp_path / "a.jsonl",
        {"id": "1", "lang": "hi", "text": "नमस्ते, जी", "tags": ["names", "digits"], "control": "calm", "audio": "a.wav"},
        {"id": "2", "lang": "en", "text": "Hello", "tags": [], "control": {}, "audio": None, "remark": 5},
    )
    csv = tmp_path / "a.csv"
    csv.write_text(
        'TEXT,id,tags,Lang,control,audio,remark\n"नमस्ते, जी",1, names;digits;,Hindi,calm,a.wav,x\nHello,2,,en-IN,,,\n',
        encoding="utf-8",
    )
    tsv = tmp_path / "a.tsv"
    tsv.write_text(
        "\ufeffid\tlang\ttext\ttags\tcontrol\taudio\r\n"
        "1\thi\tनमस्ते, जी\tdigits;names\tcalm\ta.wav\r\n2\ten\tHello\t\t\t\r\n",
        encoding="utf-8",
    )
    for path in (from_jsonl, csv, tsv):
        assert load_prompts(path) == load_prompts(str(path)) == expected


def test_text_is_kept_byte_for_byte(tmp_path: Path) -> None:
    texts = [" क\u093c \u200d\u200c", "a\tb\n\r\u2028c", "ends with NUL\x00", "NA", "nan", "007", "\ufeffx", "👩🏽‍🚀"]
    path = jsonl(tmp_path / "a.jsonl", *(row(id=str(n), text=text) for n, text in enumerate(texts)))
    assert [prompt.text for prompt in load_prompts(path)] == texts


@pytest.mark.parametrize(
    "identity",
    [
        "007",
        "NA",
        "nan",
        "null",
        "1e3",
        "a/b",
        "../../etc/passwd",
        "..",
        "C:\\con",
        " a ",
        "ß",
        "शब्द १",
        "a\u200db",
        "\u202eabc",
        "😀",
        "é",
        "e\u0301",
        "a\u2028b",
        "x" * 5000,
        "'; --",
        "<b>",
        "=1+1",
        "%s{}",
    ],
    ids=ascii,
)
def test_an_id_is_any_text(tmp_path: Path, identity: str) -> None:
    [prompt] = load_prompts(jsonl(tmp_path / "a.jsonl", row(id=identity)))
    assert prompt.id == identity


def test_ids_that_look_the_same_are_not_the_same(tmp_path: Path) -> None:
    ids = ["1", "1 ", "01", "1.0", "é", "e\u0301", "A", "a"]
    assert [p.id for p in load_prompts(jsonl(tmp_path / "a.jsonl", *(row(id=i) for i in ids)))] == ids


BAD_ROWS = {
    "no text": ({"id": "p1", "lang": "hi"}, "no field 'text'; found id, lang"),
    "empty text": (row(text=""), r"the text is empty \(id 'p1'\)"),
    "blank text": (row(text=" \t\n\u00a0\u2028"), r"the text is empty \(id 'p1'\)"),
    "empty text, no id": ({"lang": "hi", "text": ""}, "the text is empty; every prompt needs words"),
    "number for text": (row(text=500), r"text is 500; expected text \(put it in quotes\)"),
    "number for id": (row(id=7), "id is 7; expected text"),
    "null for id": (row(id=None), "id is None; expected text"),
    "empty id": (row(id=""), "id '': an id is non-empty text"),
    "blank id": (row(id=" "), "id ' ': an id is non-empty text"),
    "line end in id": (row(id="a\nb"), r"id 'a\\nb': an id is non-empty text without control characters"),
    "tab in id": (row(id="a\tb"), "id .* an id is non-empty text without control characters"),
    "NUL in id": (row(id="a\0b"), "id .* an id is non-empty text without control characters"),
    "DEL in id": (row(id="\x7f"), "id .* an id is non-empty text without control characters"),
    "C1 control in id": (row(id="a\x85b"), "id .* an id is non-empty text without control characters"),
    "no language": ({"id": "p1", "text": "x"}, "no language; add a field 'lang', or give promptset.lang"),
    "empty language": (row(lang=""), "no language; add a field 'lang'"),
    "null language": (row(lang=None), "no language; add a field 'lang'"),
    "unknown language": (row(lang="hindhi"), "unknown language 'hindhi'; did you mean 'hindi'"),
    "foreign language": (row(lang="nan"), "unknown language 'nan'"),
    "none is no language": (row(lang="none"), "unknown language 'none'"),
    "number for language": (row(lang=5), "lang is 5; expected text"),
    "zero for language": (row(lang=0), "lang is 0; expected text"),
    "false for language": (row(lang=False), "lang is False; expected text"),
    "wrong script": (row(lang="hi-Beng"), ".*Hindi is written in Deva, not Beng"),
    "number for audio": (row(audio=0), "audio is 0; expected text"),
    "number among tags": (row(tags=["a", 5]), r"tags is \['a', 5\]; expected a list of texts"),
    "object for tags": (row(tags={"a": 1}), "tags is .*; expected a list of texts"),
    "space in a tag": (row(tags=["code switch"]), "tag 'code switch': a tag is one word; write 'code_switch'"),
    "list for control": (row(control=["calm"]), "control is .*; expected a text or an object of texts"),
    "number in control": (row(control={"speed": 2}), "control is .*; expected a text or an object of texts"),
    "half a pair in text": (row(text="a\ud800"), "text holds half a surrogate pair"),
    "half a pair in id": (row(id="\udfff"), "id holds half a surrogate pair"),
    "half a pair in lang": (row(lang="h\ud800i"), "lang holds half a surrogate pair"),
    "half a pair in audio": (row(audio="\ud800.wav"), "audio holds half a surrogate pair"),
    "half a pair in a tag": (row(tags=["ok", "\ud800"]), "tags holds half a surrogate pair"),
    "half a pair in control": (row(control={"description": "\ud800"}), "control holds half a surrogate pair"),
    "half a pair in a name": (row(control={"\ud800": "calm"}), "control holds half a surrogate pair"),
}


@pytest.mark.parametrize(("bad", "message"), BAD_ROWS.values(), ids=BAD_ROWS)
def test_a_bad_row_is_named_with_file_and_line(tmp_path: Path, bad: dict[str, Any], message: str) -> None:
    path = jsonl(tmp_path / "mine.jsonl", row(id="first"), bad)
    with pytest.raises(PromptError, match=rf"^{re.escape(str(path))}:2: {message}"):
        load_prompts(path)


def test_an_id_that_comes_twice_is_named_with_both_lines(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", row(), row(id="p2"), row(text="कुछ और"))
    with pytest.raises(PromptError, match=rf"{path}:3: id 'p1' is already used in line 1"):
        load_prompts(path)
    table = tmp_path / "a.csv"
    table.write_text('id,lang,text\na,hi,"क\nख"\n\nb,hi,ग\na,hi,घ\n', encoding="utf-8")
    with pytest.raises(PromptError, match=rf"{table}:6: id 'a' is already used in line 2"):
        load_prompts(table)


@pytest.mark.parametrize(("name", "content"), [("a.jsonl", ""), ("a.jsonl", "\n \n"), ("a.csv", "text,lang\n")])
def test_a_file_without_prompts_is_refused(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(PromptError, match=f"{name}: no prompt in this file"):
        load_prompts(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("hi", "hi"),
        ("HI", "hi"),
        ("Hindi", "hi"),
        (" hindi ", "hi"),
        ("hin", "hi"),
        ("hi-IN", "hi"),
        ("hi_IN", "hi"),
        ("pa-Guru-IN", "pa"),
        ("Odia", "or"),
        ("ks-Deva", "ks-Deva"),
        ("ks_deva", "ks-Deva"),
        ("mni-Mtei", "mni-Mtei"),
        ("sd-Arab", "sd"),
        ("en-GB", "en"),
    ],
)
def test_languages_by_any_name(tmp_path: Path, name: str, code: str) -> None:
    path = jsonl(tmp_path / "a.jsonl", row(lang=name), {"id": "p2", "text": "x"})
    assert [prompt.lang for prompt in load_prompts(path, lang=name)] == [code, code]


def test_a_language_of_the_file_is_for_rows_that_name_none(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", row(id="1", lang="ta"), {"id": "2", "text": "x"}, row(id="3", lang=None))
    assert [prompt.lang for prompt in load_prompts(path, lang="Bengali")] == ["ta", "bn", "bn"]


@pytest.mark.parametrize("lang", ["none", "nan", "hindhi", ""])
def test_an_unknown_language_of_the_file_is_refused_even_if_no_row_needs_it(tmp_path: Path, lang: str) -> None:
    path = jsonl(tmp_path / "a.jsonl", row())
    with pytest.raises(KasautiError, match=f"unknown language {lang!r}"):
        load_prompts(path, lang=lang)


@pytest.mark.parametrize(
    ("text", "lang", "script"),
    [
        ("नमस्ते", "hi", "Deva"),
        ("Namaste", "hi", "Latn"),
        ("123", "hi", "Deva"),
        ("42", "ks", "Arab"),
        ("OK जी है", "hi", "Deva"),
    ],
)
def test_script_is_that_of_most_letters(tmp_path: Path, text: str, lang: str, script: str) -> None:
    [prompt] = load_prompts(jsonl(tmp_path / "a.jsonl", row(text=text, lang=lang)))
    assert prompt.script == script


def test_a_file_without_ids_gets_them_from_the_content(tmp_path: Path) -> None:
    rows = [
        {"lang": "hi", "text": "एक"},
        {"lang": "mr", "text": "एक"},
        {"lang": "hi", "text": "दो"},
        {"lang": "hi", "text": "एक", "control": "calm"},
    ]
    prompts = load_prompts(jsonl(tmp_path / "a.jsonl", *rows))
    # Rows of tables refer to these for ever; see the golden ids of test_identity.
    assert prompts[0].id == digest(["एक", "hi", {}], 12) == "2dd2cb7df77b"
    assert len({prompt.id for prompt in prompts}) == 4
    moved = load_prompts(jsonl(tmp_path / "b.jsonl", *reversed(rows)))
    assert {prompt.id for prompt in moved} == {prompt.id for prompt in prompts}
    table = tmp_path / "c.csv"
    table.write_text("text,lang\nएक,Hindi\n", encoding="utf-8")
    assert load_prompts(table)[0].id == prompts[0].id
    with pytest.raises(
        PromptError, match=r":5: the same prompt as in line 1 .*Drop one of the lines, or add a field 'id'"
    ):
        load_prompts(jsonl(tmp_path / "d.jsonl", *rows, rows[0]))


def test_what_changes_the_hash_of_a_set() -> None:
    def sha(*prompts: Prompt) -> str:
        return prompts_sha256(prompts)

    one, two = Prompt("1", "hi", "एक", "Deva"), Prompt("2", "hi", "दो", "Deva")
    hashes = [
        sha(one, two),
        sha(two, one),
        sha(one),
        sha(Prompt("x", "hi", "एक", "Deva")),
        sha(Prompt("1", "mr", "एक", "Deva")),
        sha(Prompt("1", "hi", "एक ", "Deva")),
        sha(Prompt("1", "hi", "एक", "Deva", ("t",))),
        sha(Prompt("1", "hi", "एक", "Deva", (), {"description": "calm"})),
    ]
    assert len(set(hashes)) == len(hashes)
    assert all(len(found) == 64 for found in hashes)
    # Part of every score's signature.
    assert sha(one) == "8ce31515dee60c0702f20b34421a329ec3dfd70cd9293bc9f455c122b0c02269"


# --- selection


PROMPTS = [
    Prompt("hi1", "hi", "एक", "Deva", ("digits", "plain"), {"delivery": "joy"}),
    Prompt("hi2", "hi", "दो", "Deva", ("plain",), {"delivery": "anger"}),
    Prompt("ta1", "ta", "ஒன்று", "Taml", ("digits",), {"delivery": "joy"}),
    Prompt("hi3", "hi", "तीन", "Deva", ("names",), {"delivery": "joy"}),
    Prompt("ks1", "ks-Deva", "अख", "Deva"),
]


def ids_of(**wanted: Any) -> list[str]:
    return [prompt.id for prompt in select(PROMPTS, PromptsetSettings("x", "x", **wanted))]


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        ({}, ["hi1", "hi2", "ta1", "hi3", "ks1"]),
        ({"limit": 1}, ["hi1", "ta1", "ks1"]),
        ({"limit": 2}, ["hi1", "hi2", "ta1", "ks1"]),
        ({"langs": ["hi"]}, ["hi1", "hi2", "hi3"]),
        ({"langs": ["Tamil", "HI-in"]}, ["hi1", "hi2", "ta1", "hi3"]),
        ({"langs": ["ks_Deva"]}, ["ks1"]),
        ({"langs": ["hi"], "limit": 1}, ["hi1"]),
        ({"tags": ["digits"]}, ["hi1", "ta1"]),
        ({"tags": ["names", "digits"]}, ["hi1", "ta1", "hi3"]),
        ({"exclude_tags": ["plain"]}, ["ta1", "hi3", "ks1"]),
        ({"tags": ["digits"], "exclude_tags": ["plain"]}, ["ta1"]),
        ({"exclude_tags": ["plain"], "limit": 1}, ["ta1", "hi3", "ks1"]),  # the limit counts what is left
        ({"ids": ["ta1", "hi1"]}, ["hi1", "ta1"]),  # in file order
        ({"ids": ["hi2", "hi3"], "limit": 1}, ["hi2"]),
        ({"per_delivery": 1}, ["hi1", "hi2"]),
        ({"per_delivery": 2}, ["hi1", "hi2", "ta1"]),
        ({"per_delivery": 9}, ["hi1", "hi2", "ta1", "hi3"]),  # a prompt without a delivery has no place in it
        ({"per_delivery": 1, "langs": ["ta"]}, ["ta1"]),
    ],
)
def test_selection(wanted: dict[str, Any], ids: list[str]) -> None:
    assert ids_of(**wanted) == ids


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"langs": ["hindhi"]}, r"promptset.langs: unknown language 'hindhi'; did you mean 'hindi'"),
        ({"langs": ["bn"]}, r"promptset.langs: no prompt has 'bn'; known: hi, ks-Deva, ta"),
        ({"langs": ["ks"]}, r"promptset.langs: no prompt has 'ks'; known: hi, ks-Deva, ta"),
        ({"tags": ["digit"]}, r"promptset.tags: no prompt has 'digit'; did you mean 'digits'\?"),
        ({"exclude_tags": ["plane"]}, r"promptset.exclude_tags: no prompt has 'plane'; did you mean 'plain'\?"),
        ({"ids": ["hi4"]}, r"promptset.ids: no prompt has 'hi4'; did you mean 'hi\d' or "),
        ({"ids": ["hi1", ""]}, r"promptset.ids: no prompt has ''"),
        ({"tags": ["names"], "langs": ["ta"]}, r"the selection leaves no prompt; loosen langs"),
        ({"limit": 0}, r"the selection leaves no prompt"),
    ],
)
def test_a_selection_that_can_not_be_meant_is_refused(wanted: dict[str, Any], message: str) -> None:
    with pytest.raises(KasautiError, match=message):
        ids_of(**wanted)


def test_per_delivery_needs_deliveries() -> None:
    with pytest.raises(PromptError, match=r"promptset.per_delivery: no prompt of this set asks for a delivery"):
        select(PROMPTS[-1:], PromptsetSettings("x", "x", per_delivery=1))


def test_an_unknown_id_among_thousands_is_said_in_a_line() -> None:
    many = [Prompt(f"{n:06x}", "hi", "x", "Latn") for n in range(5000)]
    with pytest.raises(PromptError, match="no prompt has 'zzz'") as told:
        select(many, PromptsetSettings("x", "x", ids=["zzz"]))
    assert len(str(told.value)) < 500


def test_ids_of_a_file_are_taken_with_the_others(tmp_path: Path) -> None:
    path = tmp_path / "ids.txt"
    path.write_bytes(b"\xef\xbb\xbfta1\r\n\r\nks1")
    assert ids_of(ids_file=str(path)) == ["ta1", "ks1"]
    assert ids_of(ids_file=str(path), ids=["hi2"]) == ["hi2", "ta1", "ks1"]
    path.write_text("ta1\nhi9\n")
    with pytest.raises(PromptError, match=r"promptset.ids: no prompt has 'hi9'"):
        ids_of(ids_file=str(path))
    with pytest.raises(PromptError, match=r"gone.txt: can't read this file"):
        ids_of(ids_file=str(tmp_path / "gone.txt"))


def test_an_ids_file_that_is_empty_selects_nothing_rather_than_all(tmp_path: Path) -> None:
    path = tmp_path / "ids.txt"
    path.write_text("\n\n")
    with pytest.raises(PromptError, match=r"ids.txt: no id in this file"):
        ids_of(ids_file=str(path))


# --- the cases of io.jsonl, from file to score


def table_of(tmp_path: Path, content: str) -> Path:
    path = tmp_path / "mine.csv"
    path.write_text(content, encoding="utf-8")
    return path


def heard_of(path: Path, column: str, identity: str) -> str | None:
    """The transcript that the judge gives for a prompt."""
    hyps = path.with_name("hyps.csv")
    hyps.write_text(path.read_text(encoding="utf-8").replace(column, "hypothesis", 1), encoding="utf-8")
    judge = Transcripts(TranscriptsOptions("kasauti.judges.transcripts.Transcripts", "transcripts", str(hyps)))
    return judge.answer(JudgeTask("ab", "hi", 0, told={"prompt_id": identity})).transcript


def test_case_io_01_through_prompts_and_transcripts(tmp_path: Path) -> None:
    path = table_of(tmp_path, IO_01["content"])
    # "nan" is a foreign language (Min Nan Chinese): refused as such, with its line, never taken for a missing value.
    with pytest.raises(PromptError, match=rf"{path}:3: unknown language 'nan'"):
        load_prompts(path, lang="hi")
    known = [expected for expected in IO_01["expected"] if expected["lang"] != "nan"]
    path = table_of(tmp_path, "".join(line for line in IO_01["content"].splitlines(True) if ",nan," not in line))
    assert [(p.id, p.lang, p.text) for p in load_prompts(path)] == [(e["id"], e["lang"], e["text"]) for e in known]
    table_of(tmp_path, IO_01["content"])
    for expected in IO_01["expected"]:
        assert heard_of(path, "hyp", expected["id"]) == expected["hyp"]
    with pytest.raises(JudgeFailed) as failed:
        heard_of(path, "hyp", "7")
    assert failed.value.outcome.status is Status.MISSING


def test_case_io_02_an_empty_cell_is_all_deletions(tmp_path: Path) -> None:
    path = table_of(tmp_path, f"id,lang,text,hyp\n1,{IO_02['lang']},{IO_02['ref']},{IO_02['hyp']}\n")
    [prompt], heard = load_prompts(path), heard_of(path, "hyp", "1")
    assert heard == ""
    score = score_pair(prompt.text, heard, prompt.lang)
    assert {name: getattr(score, name) for name in IO_02["expected"]} == IO_02["expected"]


def test_case_io_03_a_text_that_looks_missing_is_text(tmp_path: Path) -> None:
    path = table_of(tmp_path, f"id,lang,text,hyp\n1,{IO_03['lang']},{IO_03['ref']},{IO_03['hyp']}\n")
    [prompt], heard = load_prompts(path), heard_of(path, "hyp", "1")
    assert heard == IO_03["expected"]["hyp_kept"]
    assert score_pair(prompt.text, heard, prompt.lang).status == IO_03["expected"]["script_verdict"]
    assert script_verdict(prompt.text, heard, prompt.lang) == IO_03["expected"]["script_verdict"]
