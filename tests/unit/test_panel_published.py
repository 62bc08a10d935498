"""Reading the published files: every fault has its file and line, nothing is mended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kasauti.panel import PanelError
from kasauti.panel.published import read_csv, read_judgments, read_prompts, read_requests

ROW: dict[str, Any] = {
    "blind_label": "B",
    "expression_quality_score": 4,
    "id": "cs_0001__gemini__rumik_oss_1",
    "judge_id": "gemini",
    "judge_model": "model",
    "language_count": 2,
    "prompt_id": "cs_0001",
    "rank": 2,
    "strict_common_set": True,
    "system_id": "rumik_oss_1",
    "system_name": "Rumik",
    "target_delivery": "Happy",
    "win_credit": 0.0,
}


def written(folder: Path, *lines: str) -> Path:
    (folder / "judgments.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def test_a_row(tmp_path: Path) -> None:
    (found,) = read_judgments(written(tmp_path, json.dumps(ROW)))
    assert (found.rating.label, found.rating.score, found.rating.rank, found.in_common_set) == (1, 4, 2.0, True)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"expression_quality_score": True}, "expression_quality_score is True; wanted int"),
        ({"expression_quality_score": 4.0}, r"expression_quality_score is 4\.0; wanted int"),
        ({"rank": "2"}, "rank is '2'; wanted float"),
        ({"rank": True}, "rank is True; wanted float"),
        ({"strict_common_set": 1}, "strict_common_set is 1; wanted bool"),
        ({"blind_label": "b"}, "blind_label is 'b'; wanted one capital letter"),
        ({"blind_label": "AB"}, "blind_label is 'AB'"),
        ({"system_id": None}, "system_id is None; wanted str"),
    ],
)
def test_fields_of_another_type(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    folder = written(tmp_path, json.dumps(ROW), json.dumps({**ROW, **changes}))
    with pytest.raises(PanelError, match=f"^judgments.jsonl:2: {message}"):
        read_judgments(folder)


@pytest.mark.parametrize("line", ["", "{", "[]", "NaN", '"text"'])
def test_lines_that_are_no_object(tmp_path: Path, line: str) -> None:
    with pytest.raises(PanelError, match=r"^judgments\.jsonl:2: "):
        read_judgments(written(tmp_path, json.dumps(ROW), line, json.dumps(ROW)))


def test_a_line_separator_inside_text_ends_no_line(tmp_path: Path) -> None:
    text = json.dumps({**ROW, "system_name": "a\u2028b"}, ensure_ascii=False)
    assert read_judgments(written(tmp_path, text))[0].system_name == "a\u2028b"


def test_files_that_can_not_be_read(tmp_path: Path) -> None:
    with pytest.raises(PanelError, match=r"^prompts\.jsonl: can't be read"):
        read_prompts(tmp_path)
    (tmp_path / "prompts.jsonl").write_bytes(b"\xff")
    with pytest.raises(PanelError, match=r"^prompts\.jsonl: not UTF-8 at byte 0"):
        read_prompts(tmp_path)


def test_requests_with_and_without_a_limit(tmp_path: Path) -> None:
    (tmp_path / "requests").mkdir()
    rows = [
        {"id": "a", "duration_seconds": 3, "request": {"max_new_tokens": 5}},
        {"id": "b", "duration_seconds": 3.5, "request": {}},
        {"id": "c", "duration_seconds": 3.5},
    ]
    (tmp_path / "requests" / "x.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    found = read_requests(tmp_path, "x")
    assert [(each.id, each.duration_s, each.max_tokens) for each in found] == [
        ("a", 3.0, 5),
        ("b", 3.5, None),
        ("c", 3.5, None),
    ]


def test_tables(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('a,b\n1,"x, y"\n')
    assert read_csv(path) == [{"a": "1", "b": "x, y"}]
    for text in ("a,b\n1\n", "a,b\n1,2,3\n"):
        path.write_text(text)
        with pytest.raises(PanelError, match=r"t\.csv:2"):
            read_csv(path)
