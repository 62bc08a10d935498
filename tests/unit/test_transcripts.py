"""Transcripts that a user has: looked up by prompt id, and compared with nobody's."""

from __future__ import annotations

from pathlib import Path

import pytest

from kasauti.errors import JudgeError, KasautiError
from kasauti.judges.base import JudgeFailed, JudgeTask
from kasauti.judges.transcripts import Transcripts, TranscriptsOptions
from kasauti.records import Prompt, Status

PROMPTS = [Prompt(identity, "hi", "x", "Deva") for identity in ("a", "b", "c/d", "007")]


def judge(path: Path | str) -> Transcripts:
    return Transcripts(TranscriptsOptions("kasauti.judges.transcripts.Transcripts", "mine", str(path)))


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def heard(judge: Transcripts, identity: str) -> str | None:
    return judge.answer(JudgeTask("ab", "hi", 0, told={"prompt_id": identity})).transcript


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("h.tsv", 'id\thypothesis\na\tएक, "दो"\nb\t\nc/d\tNA\n007\tnan\n'),
        ("h.csv", '\ufeffHypothesis,judge,ID\r\n"एक, ""दो""",x,a\r\n,x,b\r\nNA,x,c/d\r\nnan,x,007\r\n'),
        (
            "h.jsonl",
            '{"id":"a","hypothesis":"एक, \\"दो\\""}\n{"id":"b","hypothesis":""}\n\n'
            '{"id":"c/d","hypothesis":"NA"}\n{"id":"007","hypothesis":"nan","score":1}',
        ),
    ],
)
def test_the_same_transcripts_from_every_kind_of_file(tmp_path: Path, name: str, content: str) -> None:
    mine = judge(write(tmp_path / name, content))
    assert [heard(mine, prompt.id) for prompt in PROMPTS] == ['एक, "दो"', "", "NA", "nan"]
    assert mine.check(PROMPTS) == []


def test_a_prompt_without_a_line_is_missing_for_good(tmp_path: Path) -> None:
    mine = judge(write(tmp_path / "h.tsv", "id\thypothesis\na\tx\n"))
    with pytest.raises(JudgeFailed) as failed:
        heard(mine, "b")
    assert (failed.value.outcome.status, failed.value.outcome.retryable) == (Status.MISSING, False)
    # ... until the file has one, which makes it another judge.
    other = judge(write(tmp_path / "h.tsv", "id\thypothesis\na\tx\nb\ty\n"))
    assert heard(other, "b") == "y"
    assert other.facts.revision != mine.facts.revision


def test_what_is_missing_and_what_is_left_over_is_said(tmp_path: Path) -> None:
    mine = judge(write(tmp_path / "h.tsv", "id\thypothesis\na\tx\nA\ty\n7\tz\n"))
    missing, extra = mine.check(PROMPTS)
    assert missing.level == extra.level == "warning"
    assert (missing.subject, missing.message) == ("judge mine", "3 prompts have no transcript: b, c/d, 007.")
    assert extra.message == "2 transcripts belong to no prompt of this run."
    many = [Prompt(str(n), "hi", "x", "Deva") for n in range(100)]
    assert mine.check(many)[0].message == "99 prompts have no transcript: 0, 1, 2, 3, 4, …."


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("h.tsv", "id\thypothesis\na\tx\nb\ty\na\tz\n", r"h.tsv:4: id 'a' comes twice"),
        ("h.tsv", "id\ttext\na\tx\n", r"h.tsv:1: no column 'hypothesis'; found id, text"),
        ("h.csv", "hypothesis\nx\n", r"h.csv:1: no column 'id'"),
        ("h.csv", "id,hypothesis\na\n", r"h.csv:2: 1 cells"),
        ("h.csv", "id,hypothesis\na,x,y\n", r"h.csv:2: 3 cells"),
        ("h.jsonl", '{"id":"a"}\n', r"h.jsonl:1: no field 'hypothesis'"),
        ("h.jsonl", '{"id":"a","hypothesis":null}\n', r"h.jsonl:1: hypothesis is None; expected text"),
        ("h.jsonl", '{"id":7,"hypothesis":"x"}\n', r"h.jsonl:1: id is 7; expected text"),
        ("h.jsonl", '{"id":"a","hypothesis":"\\ud800"}\n', r"h.jsonl:1: hypothesis holds half a surrogate pair"),
        ("h.tsv", b"id\thypothesis\na\t\xff\n", r"h.tsv:2: not UTF-8"),
        ("h.txt", "a x\n", r"unknown kind of file '.txt'"),
    ],
)
def test_a_bad_file_is_named_with_its_line(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    with pytest.raises(KasautiError, match=message):
        judge(write(tmp_path / name, content))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(KasautiError, match=rf"{tmp_path}/gone.tsv: can't read this file: No such file"):
        judge(tmp_path / "gone.tsv")


def test_a_file_without_a_line_answers_nothing(tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match=r"h.tsv: no transcript in this file"):
        judge(write(tmp_path / "h.tsv", "id\thypothesis\n"))


def test_it_asks_nobody_and_needs_no_audio(tmp_path: Path) -> None:
    facts = judge(write(tmp_path / "h.tsv", "id\thypothesis\na\tx\n")).facts
    assert (facts.needs_audio, facts.told, facts.usd_per_call, facts.languages) == (False, ("prompt_id",), 0.0, None)
