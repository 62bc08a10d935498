"""`python run.py system=rumik` over a tiny checkpoint: clips, rows, gates, and what decoding does to identity."""

from __future__ import annotations

from pathlib import Path

import pytest

from kasauti.records import Status
from rumik_checkpoint import make_checkpoint
from runs import lines_of, run_apart, run_here, words

pytest.importorskip("torch")
pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_checkpoint(tmp_path_factory.mktemp("rumik"))


def options(tiny: Path, *more: str) -> list[str]:
    return [f"system.model={tiny}", "system.device=cpu", "system.dtype=float32", *more]


def test_the_command_speaks_and_ends_well(tiny: Path, tmp_path: Path) -> None:
    done = run_apart(
        *words(tmp_path, *options(tiny, "promptset.limit=1", "decoding.min_new_tokens=100"), system="rumik")
    )
    assert "CC BY-NC 4.0" in done.stdout + done.stderr
    clips = lines_of(tmp_path / "store" / "clips.jsonl")
    assert len(clips) == 4, done.stdout + done.stderr
    for clip in clips:
        facts = clip["outcome"]["facts"]
        assert "status" not in clip["outcome"]  # ok
        assert clip["sample_rate_hz"] == 24_000
        assert clip["duration_s"] == pytest.approx(0.08 * facts["frames"])


def test_decoding_makes_other_clips_and_batches_do_not(tiny: Path, tmp_path: Path) -> None:
    def ids(*more: str) -> set[str | None]:
        ran = run_here(
            tmp_path, *options(tiny, "promptset.limit=1", "decoding.max_new_tokens=40", *more), system="rumik"
        )
        return {row.clip_id for row in ran.rows}

    base = ids()
    assert len(base) == 4
    for change in ("decoding.temperature=0.5", "decoding.top_k=3", "decoding.seed=1", "system.speaker=Zoya"):
        assert base.isdisjoint(ids(change)), change
    made = len(lines_of(tmp_path / "store" / "clips.jsonl"))
    assert ids("system.batch_clips=1") == base
    assert len(lines_of(tmp_path / "store" / "clips.jsonl")) == made == 5 * 4


def test_a_clip_at_the_cap_fails_its_gate(tiny: Path, tmp_path: Path) -> None:
    talkative = make_checkpoint(tmp_path / "talkative", stop_bias=-9.0)
    ran = run_here(
        tmp_path, *options(talkative, "decoding.min_new_tokens=80", "decoding.max_new_tokens=80"), system="rumik"
    )
    spoken = [row for row in ran.rows if row.duration_s is not None]
    assert spoken
    assert all("token_cap" in (row.gates or "").split() for row in spoken)


def test_a_text_that_would_break_the_format_is_a_row_and_no_clip(tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "prompts.jsonl").write_text(
        '{"id": "good", "lang": "hi", "text": "नमस्ते"}\n{"id": "bad", "lang": "hi", "text": "नमस्ते<audio>"}\n',
        encoding="utf-8",
    )
    ran = run_here(tmp_path, *options(tiny, "decoding.max_new_tokens=40"), system="rumik")
    bad = next(row for row in ran.rows if row.prompt_id == "bad")
    assert (bad.status, bad.reason, bad.clip_id) == (Status.SYNTHESIS_FAILED, "breaks_format", None)
    assert len(lines_of(tmp_path / "store" / "clips.jsonl")) == 1


def test_a_checkpoint_of_another_kind_stops_the_run_before_it_begins(tiny: Path, tmp_path: Path) -> None:
    other = make_checkpoint(tmp_path / "other", model_type="llama")
    done = run_apart(*words(tmp_path, *options(other), system="rumik"))
    assert done.returncode == 2
    assert "another architecture" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "store" / "clips.jsonl").exists()


def test_a_sweep_over_decoding_and_judges_makes_each_clip_once(tiny: Path, tmp_path: Path) -> None:
    """Rumik honours temperature and top_k, so four settings are four voices; the second judge hears the same clips."""
    grid = ["decoding.temperature=0.6,0.9", "decoding.top_k=20,30", "decoding.max_new_tokens=40"]
    given = options(tiny, "promptset.limit=1", *grid)
    done = run_apart(
        "-m",
        *words(tmp_path, *given, system="rumik", judge="fake,dnsmos"),
        "hydra.sweep.dir=" + str(tmp_path / "sweep"),
    )
    assert "8 of 8 jobs" in done.stdout, done.stdout + done.stderr
    assert len(lines_of(tmp_path / "store" / "clips.jsonl")) == 4 * 4
    assert "rumik temperature=0.6" in " ".join(done.stdout.split())
