"""`python run.py judge=indicconformer` as a newcomer meets it: no access, no network, a hub with the model, a folder.

The hub is a server on loopback; the model is small and random: its texts are nonsense, and only what becomes of them
counts.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import hub_server
from hub_server import serving
from indicconformer_checkpoint import write_checkpoint
from kasauti.paths import ROOT
from kasauti.records import SampleRow
from kasauti.report.tables import read_records
from runs import command, prompt_file

MODEL = "ai4bharat/indic-conformer-600m-multilingual"
PAGE = f"https://huggingface.co/{MODEL}"
TWO = ("promptset.limit=1", "promptset.langs=[en,hi]")
NOBODY = "http://127.0.0.1:9"
"""Nothing listens at the discard port."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("indicconformer"))


def run(
    place: Path, hub: str, *words: str, token: str | None = None, system: str = "espeak"
) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, with a hub's cache of its own."""
    environment = {**os.environ, "HF_HOME": str(place / "hub"), "HF_ENDPOINT": hub, "HF_HUB_DISABLE_TELEMETRY": "1"}
    for name in ("HF_HUB_OFFLINE", "HF_TOKEN"):
        environment.pop(name, None)
    if token is not None:
        environment["HF_TOKEN"] = token
    given = [f"system={system}", "judge=indicconformer", f"paths.runs={place}/runs", f"paths.store={place}/store"]
    return subprocess.run(
        command(*given, *words),
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=ROOT,
        env=environment,
        check=False,
    )


def said(done: subprocess.CompletedProcess[str]) -> str:
    """What it said, in one line."""
    return " ".join((done.stdout + done.stderr).split())


def rows(place: Path) -> list[SampleRow]:
    [table] = (place / "runs").glob("*/per_sample.tsv")
    return read_records(table, SampleRow)


def nothing_was_made(place: Path) -> bool:
    return not list(place.rglob("*.wav")) and not list(place.rglob("*.jsonl"))


# --- no access


def test_without_a_token_one_message_says_where_to_ask_and_nothing_is_made(tmp_path: Path) -> None:
    done = run(tmp_path, NOBODY, "promptset.limit=1")
    assert done.returncode == 2
    assert said(done).count(PAGE) == 1
    assert f"open {PAGE}, ask for access, then set a read token: export HF_TOKEN=..." in said(done)
    assert "preflight found 1 problem(s); nothing was made and nothing was spent" in said(done)
    assert "it can't judge en; these rows will be unsupported_language" in said(done)
    assert nothing_was_made(tmp_path)


def test_a_token_that_has_no_access_is_told_from_none(tmp_path: Path, folder: Path) -> None:
    with serving(MODEL, folder, gated=True) as hub:
        done = run(tmp_path, hub.url, "promptset.limit=1", token="somebody-else")
    assert done.returncode == 2
    assert f"open {PAGE}, ask for access, with the account of the token that is set here" in said(done)
    assert not [path for path in hub.asked if "/resolve/" in path]
    assert nothing_was_made(tmp_path)


def test_without_a_network_it_says_so(tmp_path: Path) -> None:
    done = run(tmp_path, NOBODY, "promptset.limit=1", token=hub_server.TOKEN)
    assert done.returncode == 2
    assert "is not in the hub's cache, and the hub can't be asked (ConnectError" in said(done)
    assert "or give model=FOLDER with the files" in said(done)
    assert nothing_was_made(tmp_path)


def test_a_model_that_the_hub_does_not_have(tmp_path: Path, folder: Path) -> None:
    with serving(MODEL, folder) as hub:
        done = run(tmp_path, hub.url, "judge.model=some/other", "judge.revision=0123456", token=hub_server.TOKEN)
    assert done.returncode == 2
    assert "some/other: the hub has no such model, or it is private" in said(done)


def test_a_repository_of_ones_own_needs_a_commit(tmp_path: Path) -> None:
    done = run(tmp_path, NOBODY, "judge.model=some/other")
    assert done.returncode == 2
    assert "some/other: revision=None: wanted the commit on the hub (40 hex digits)" in said(done)


# --- access


def test_with_access_it_is_fetched_once_and_then_needs_no_hub(tmp_path: Path, folder: Path) -> None:
    with serving(MODEL, folder, gated=True) as hub:
        done = run(tmp_path, hub.url, *TWO, token=hub_server.TOKEN)
        assert done.returncode == 0, said(done)
        assert "is not in the hub's cache and will be fetched when first used" in said(done)
        asked = [path for path in hub.asked if "/resolve/" in path]
        assert any(path.endswith("/assets/layers.0.linear_q.weight") for path in asked)
        assert all(f"/resolve/{hub_server.COMMIT}/" in path for path in asked)
    statuses = {row.lang: row.status.value for row in rows(tmp_path)}
    assert statuses.pop("en") == "unsupported_language"
    assert set(statuses.values()) == {"ok"}
    assert {row.judge_revision.partition("+")[0] for row in rows(tmp_path)} == {f"{MODEL}@{hub_server.COMMIT[:12]}"}

    later = run(tmp_path, NOBODY, *TWO, "judge.decoder=rnnt")
    assert later.returncode == 0, said(later)
    assert "hub's cache" not in said(later)
    named = run(tmp_path, NOBODY, *TWO, f"judge.revision={hub_server.COMMIT[:8]}")
    assert named.returncode == 0, said(named)


def test_a_snapshot_that_was_fetched_in_part_is_completed(tmp_path: Path, folder: Path) -> None:
    with serving(MODEL, folder) as hub:
        assert run(tmp_path, hub.url, *TWO, token=hub_server.TOKEN).returncode == 0
        [weight] = (tmp_path / "hub").glob("hub/models--*/snapshots/*/assets/layers.0.linear_q.weight")
        weight.resolve().unlink()
        weight.unlink()
        lost = run(tmp_path, NOBODY, *TWO, "judge.chunk_s=9", token=hub_server.TOKEN)
        assert lost.returncode == 2
        assert "is not in the hub's cache, and the hub can't be asked" in said(lost)
        again = run(tmp_path, hub.url, *TWO, "judge.chunk_s=9", token=hub_server.TOKEN)
        assert again.returncode == 0, said(again)


# --- a folder


@pytest.mark.parametrize("words", [[], ["judge.decoder=rnnt", "judge.features=numpy"]], ids=["ctc", "rnnt"])
def test_a_folder_is_judged_with_from_the_command_line(tmp_path: Path, folder: Path, words: list[str]) -> None:
    prompts = prompt_file(tmp_path, [("h", "hi", "आज मौसम अच्छा है"), ("t", "ta", "நாளை மழை வரும்"), ("e", "en", "rain")])
    done = run(tmp_path, NOBODY, f"judge.model={folder}", "promptset=file", f"promptset.path={prompts}", *words)
    assert done.returncode == 0, said(done)
    found = {row.prompt_id: row for row in rows(tmp_path)}
    assert {name: row.status.value for name, row in found.items()} == {
        "h": "ok", "t": "ok", "e": "unsupported_language",
    }  # fmt: skip
    assert found["h"].hypothesis
    assert found["h"].cer is not None
    assert found["h"].judge_revision.startswith("folder@")
    assert found["e"].hypothesis is None
    again = run(tmp_path, NOBODY, f"judge.model={folder}", "promptset=file", f"promptset.path={prompts}", *words)
    assert again.returncode == 0
    assert "indicconformer listens" in said(done)
    assert "indicconformer listens" not in said(again)


def test_a_folder_that_is_none_ends_before_anything_is_made(tmp_path: Path) -> None:
    done = run(tmp_path, NOBODY, f"judge.model={tmp_path}/nowhere")
    assert done.returncode == 2
    assert "there is no such folder; give a folder, or OWNER/NAME on the hub" in said(done)
    assert "Traceback" not in said(done)
