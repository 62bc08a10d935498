"""Texts and settings lose secrets and paths of the machine, and nothing else."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasauti.tracking.shareable import SECRET, shareable


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("paths.runs=/home/me/runs", "paths.runs=…/runs"),
        ("+data.mirror=~/copies/fleurs", "+data.mirror=…/fleurs"),
        ("system.path=~me/my wavs/a", "system.path=…/a"),
        ("judge.path=[/a/b.tsv,/c/d.tsv]", "judge.path=[…/b.tsv,…/d.tsv]"),
        ("judge.path=['/a b/c, d.tsv','/e/f']", "judge.path=['…/c, d.tsv','…/f']"),
        ("promptset.path=/a.jsonl,/b/c.jsonl", "promptset.path=…/a.jsonl,…/c.jsonl"),
        ("/home/me/my wavs/a=b/x.wav", "…/x.wav"),
        ("/home/me/", "…/me"),
        ("file:///home/me/x.wav", "…/x.wav"),
        ("StoreError: /srv/me/run.json: can't read", "StoreError: …/run.json: can't read"),
        ("no file '/srv/my own/x', nor /srv/y.", "no file '…/x', nor …/y."),
    ],
)
def test_of_a_path_its_name_stays(text: str, told: str) -> None:
    assert shareable(text) == told


@pytest.mark.parametrize(
    "text",
    [
        "",
        "/",
        "5 / 6",
        "CER 5/6, en/hi",
        "https://api.example.org/v1/models",
        "system.url=https://example.org/a/b",
        "openai/whisper-large-v3@abc",
        "judge:whisper@base|level:numbers",
        "hydra/launcher=joblib",
        "prompts/smoke.jsonl",
        "../data/x.csv",
        "~",
        "आज/कल",
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert shareable(text) == text


def test_settings_keep_their_shape() -> None:
    given = {"a": {"b": ["/x/y", 1, None, True, 0.5]}, 3: ("~/z",)}
    assert shareable(given) == {"a": {"b": ["…/y", 1, None, True, 0.5]}, "3": ["…/z"]}


def test_values_of_secret_variables_are_struck_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOICE_API_KEY", "abcd-efgh")
    monkeypatch.setenv("LONGER_TOKEN", "abcd-efgh-ijkl")
    monkeypatch.setenv("Db_Password", "/not/a/path")
    monkeypatch.setenv("USE_TOKENS", "true")
    monkeypatch.setenv("LANGUAGE_OF_MINE", "malayalam")
    text = "key=abcd-efgh, abcd-efgh-ijkl, /not/a/path, true, malayalam"
    assert shareable(text) == f"key={SECRET}, {SECRET}, {SECRET}, true, malayalam"
    assert shareable({"abcd-efgh": ["abcd-efgh"]}) == {SECRET: [SECRET]}


@given(st.text(), st.text())
def test_no_secret_survives_in_any_text(before: str, after: str) -> None:
    secret = "s3cr3t-of-a-test"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "environ", {"SOME_SECRET": secret})
        assert secret not in shareable(f"{before}{secret}{after}")
        assert shareable(shareable(before)) == shareable(before)
