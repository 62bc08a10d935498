"""FLEURS in a local copy of its layout: which sentences, which recordings, and what a faulty copy gets."""

from __future__ import annotations

import random
import tarfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fleurs_copy import READINGS, Reading, fleurs_copy, tar_gz
from kasauti.datasets import archives, fleurs
from kasauti.datasets.archives import unpack
from kasauti.datasets.hub import DataRepository, DatasetError
from kasauti.errors import KasautiError, PromptError
from kasauti.promptsets import read_prompts, with_recordings
from kasauti.records import NOT_FETCHED, Prompt
from kasauti.settings import PromptsetSettings
from kasauti.text.languages import LANGUAGES


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KASAUTI_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def wanted(*langs: str, split: str | None = "test", revision: str | None = "0" * 40) -> PromptsetSettings:
    return PromptsetSettings("fleurs", None, langs=list(langs), source="fleurs", split=split, revision=revision)


def prompts_of(copy: Path, *langs: str) -> list[Prompt]:
    return read_prompts(wanted(*langs), str(copy), play_recordings=True)


def recorded(copy: Path, *langs: str, fetch: bool = True) -> list[Prompt]:
    return with_recordings(prompts_of(copy, *langs), wanted(*langs), str(copy), fetch=fetch)


# --- sentences


def test_a_sentence_is_one_prompt_by_its_first_recording_in_file_order(tmp_path: Path) -> None:
    prompts = prompts_of(fleurs_copy(tmp_path), "hi")
    assert [(p.id, p.text) for p in prompts] == [
        ("fleurs_hi_1904", "आज मौसम अच्छा है।"),
        ("fleurs_hi_1675", "मुझे पानी चाहिए।"),
        ("fleurs_hi_1700", "राम घर गया, सीता नहीं।"),
    ]
    assert {(p.lang, p.script) for p in prompts} == {("hi", "Deva")}
    assert prompts[0].audio == f"{NOT_FETCHED}data/hi_in/audio/test.tar.gz#1000941.wav"


def test_languages_come_in_the_order_asked_for_and_by_any_of_their_names(tmp_path: Path) -> None:
    fleurs_copy(tmp_path)
    assert [p.lang for p in prompts_of(tmp_path, "Tamil", "hi-IN", "ta")] == ["ta", "ta", "hi", "hi", "hi"]


def test_no_language_means_all_fifteen(tmp_path: Path) -> None:
    # Source: systems-and-judges, table of languages: 14 of the 22 and English.
    fleurs_copy(tmp_path, {config: [Reading(1, "1.wav", "a")] for config in fleurs.CONFIGS.values()}, audio=False)
    langs = [p.lang for p in prompts_of(tmp_path)]
    assert langs == "as bn en gu hi kn ml mr ne or pa sd ta te ur".split()
    assert set(langs) <= set(LANGUAGES)


def test_the_split_is_part_of_every_path(tmp_path: Path) -> None:
    fleurs_copy(tmp_path, {"hi_in": [Reading(5, "5.wav", "हाँ")]}, split="dev")
    dev = PromptsetSettings("fleurs", None, langs=["hi"], source="fleurs", split="dev")
    assert [p.id for p in read_prompts(dev, str(tmp_path), play_recordings=False)] == ["fleurs_hi_5"]


def test_line_ends_of_windows_and_quotes_change_nothing(tmp_path: Path) -> None:
    place = fleurs_copy(tmp_path, {"hi_in": [Reading(5, "5.wav", 'उसने "हाँ" कहा\u2028फिर')]}) / "data/hi_in/test.tsv"
    place.write_bytes(place.read_bytes().replace(b"\n", b"\r\n"))
    assert [p.text for p in prompts_of(tmp_path, "hi")] == ['उसने "हाँ" कहा\u2028फिर']


# --- recordings


def test_recordings_are_unpacked_into_the_cache_byte_for_byte_and_only_those_of_the_prompts(
    tmp_path: Path, cache: Path
) -> None:
    prompts = recorded(fleurs_copy(tmp_path / "copy"), "hi", "ta")
    first = {reading.file_name: reading for readings in READINGS.values() for reading in readings}
    for prompt in prompts:
        path = Path(prompt.audio or "")
        assert path.is_relative_to(cache)
        assert path.read_bytes() == first[path.name].sound
    assert sorted(path.name for path in cache.rglob("*.wav")) == sorted({*first} - {"3317.wav"})
    assert sorted(path.name for path in (tmp_path / "copy").rglob("*.wav")) == []


def test_nothing_is_unpacked_where_nothing_may_be_fetched_and_what_is_there_is_known(
    tmp_path: Path, cache: Path
) -> None:
    copy = fleurs_copy(tmp_path / "copy")
    assert all((p.audio or "").startswith(NOT_FETCHED) for p in recorded(copy, "hi", "ta", fetch=False))
    assert list(cache.rglob("*.wav")) == []
    there = recorded(copy, "hi")
    assert recorded(copy, "hi", "ta", fetch=False)[:3] == there


def test_a_selection_that_grows_is_unpacked_further_and_whole_files_are_not_written_again(tmp_path: Path) -> None:
    copy = fleurs_copy(tmp_path / "copy")
    prompts = prompts_of(copy, "hi")
    [one] = with_recordings(prompts[:1], wanted("hi"), str(copy), fetch=True)
    before = Path(one.audio or "").stat()
    grown = with_recordings(prompts, wanted("hi"), str(copy), fetch=True)
    assert grown[0] == one
    assert all(Path(p.audio or "").is_file() for p in grown)
    assert Path(one.audio or "").stat().st_mtime_ns == before.st_mtime_ns


def test_another_archive_is_other_recordings(tmp_path: Path) -> None:
    copy = fleurs_copy(tmp_path / "copy", {"hi_in": [Reading(1, "1.wav", "हाँ")]})
    [before] = recorded(copy, "hi")
    fleurs_copy(copy, {"hi_in": [Reading(1, "1.wav", "हाँ", heard="नहीं")]})
    [after] = recorded(copy, "hi")
    assert Path(before.audio or "").read_bytes() != Path(after.audio or "").read_bytes()


def test_a_recording_that_the_archive_lacks_leads_nowhere_and_stops_nothing(tmp_path: Path) -> None:
    copy = fleurs_copy(tmp_path / "copy")
    members = [(f"test/{reading.file_name}", reading.sound) for reading in READINGS["hi_in"][1:]]
    (copy / "data/hi_in/audio/test.tar.gz").write_bytes(tar_gz(members))
    assert [Path(p.audio or "").is_file() for p in recorded(copy, "hi")] == [False, True, True]


# --- faults


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("1\t1.wav\tहाँ\tहाँ\tह\t9\tMALE\n2\t2.wav\tहाँ\n", r"test\.tsv:2: 3 fields; wanted 7 with tabs: id, file_name"),
        ("1\t1.wav\tहाँ\tहाँ\tह\t9\tMALE\tx\n", r"test\.tsv:1: 8 fields; wanted 7"),
        ("one\t1.wav\tहाँ\tहाँ\tह\t9\tMALE\n", r"test\.tsv:1: id 'one'"),
        ("१\t1.wav\tहाँ\tहाँ\tह\t9\tMALE\n", r"test\.tsv:1: id '१'"),
        ("1\t../1.wav\tहाँ\tहाँ\tह\t9\tMALE\n", r"test\.tsv:1: .*file_name '\.\./1\.wav'"),
        ("1\t/1.wav\tहाँ\tहाँ\tह\t9\tMALE\n", r"test\.tsv:1: .*file_name '/1\.wav'"),
        ("1\t.1.wav\tहाँ\tहाँ\tह\t9\tMALE\n", r"test\.tsv:1: .*file_name '\.1\.wav'"),
        ("1\t1.sh\tहाँ\tहाँ\tह\t9\tMALE\n", r"test\.tsv:1: .*file_name '1\.sh'"),
        ("\n1\t1.wav\t \tहाँ\tह\t9\tMALE\n", r"test\.tsv:2: raw_transcription is empty"),
        ("", r"test\.tsv: no sentence in this file"),
    ],
)
def test_a_faulty_table_is_refused_with_file_and_line(tmp_path: Path, lines: str, said: str) -> None:
    (fleurs_copy(tmp_path) / "data/hi_in/test.tsv").write_text(lines, encoding="utf-8")
    with pytest.raises(PromptError, match=said):
        prompts_of(tmp_path, "hi")


def test_a_table_that_is_no_utf8_is_refused_with_the_line(tmp_path: Path) -> None:
    (fleurs_copy(tmp_path) / "data/hi_in/test.tsv").write_bytes("1\ta\n\xe9".encode("latin-1"))
    with pytest.raises(PromptError, match=r"test\.tsv:2: not UTF-8"):
        prompts_of(tmp_path, "hi")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (wanted("brx"), r"promptset\.langs: FLEURS has no Bodo \(brx\); it has as, bn, en, .*, ur\. .*promptset=file"),
        (wanted("hi", "kok", "sd-Deva"), r"FLEURS has no Konkani \(kok\), Sindhi \(Devanagari\) \(sd-Deva\); it has"),
        (wanted("hindustani"), r"hindustani"),
        (wanted("hi", split="train"), r"promptset\.split: no split 'train'; known: dev, test"),
        (wanted("hi", split="tset"), r"promptset\.split: no split 'tset'; did you mean 'test'\?"),
        (wanted("hi", split=None), r"promptset\.split: no split"),
        (wanted("ml"), r"no data/ml_in/test\.tsv in this folder; wanted data/CONFIG/test\.tsv and data/CONFIG/audio"),
        (
            PromptsetSettings("x", None, source="flores"),
            r"promptset\.source: no source 'flores'; did you mean 'fleurs'",
        ),
        (PromptsetSettings("x", None), r"promptset\.path is null"),
        (PromptsetSettings("x", "p.csv", split="dev"), r"promptset\.split=dev: only a set that is fetched has one"),
        (PromptsetSettings("x", "p.csv", revision="a"), r"promptset\.revision=a: only a set that is fetched has one"),
    ],
)
def test_what_a_set_can_not_be_asked_for(tmp_path: Path, settings: PromptsetSettings, said: str) -> None:
    fleurs_copy(tmp_path)
    with pytest.raises(KasautiError, match=said):
        read_prompts(settings, str(tmp_path), play_recordings=True)


def test_a_mirror_that_is_no_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"data\.mirror=.*nowhere: there is no such folder; wanted data/CONFIG"):
        prompts_of(tmp_path / "nowhere", "hi")


def test_a_mirror_without_recordings_serves_voices_and_is_refused_to_humans(tmp_path: Path) -> None:
    copy = fleurs_copy(tmp_path / "copy", audio=False)
    assert len(prompts_of(copy, "hi")) == 3
    with pytest.raises(DatasetError, match=r"no data/hi_in/audio/test\.tar\.gz in this folder"):
        recorded(copy, "hi")


@pytest.mark.parametrize("revision", [None, "main", "refs/pr/1", "70bb2e8", "g" * 40, "A" * 40])
def test_only_a_commit_pins_the_hub(revision: str | None) -> None:
    with pytest.raises(DatasetError, match="wanted a commit on the hub"):
        DataRepository("google/fleurs", revision, "").file("data/hi_in/test.tsv")


def test_without_the_hub_s_client_the_command_that_brings_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(DatasetError, match=r"huggingface_hub is not installed, .* run pip install -e '\.\[local\]'"):
        DataRepository("google/fleurs", "0" * 40, "").here("data/hi_in/test.tsv")


# --- archives

CONTENT = {"a.wav": b"A" * 5_000, "b.wav": bytes(range(256)) * 40}
GOOD = tar_gz([(f"test/{name}", content) for name, content in CONTENT.items()])


def member(name: str, kind: bytes = tarfile.REGTYPE, linkname: str = "") -> tarfile.TarInfo:
    header = tarfile.TarInfo(name)
    header.type, header.linkname = kind, linkname
    return header


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (tar_gz([("../a.wav", b"x")]), r"member '\.\./a\.wav' leaves the folder"),
        (tar_gz([("test/../../a.wav", b"x")]), "leaves the folder"),
        (tar_gz([("/etc/a.wav", b"x")]), r"member '/etc/a\.wav' leaves the folder"),
        (tar_gz([("..\\a.wav", b"x")]), "leaves the folder"),
        (tar_gz([("../other", b"x"), ("test/a.wav", b"x")]), "leaves the folder"),
        (tar_gz([(member("test/a.wav", tarfile.SYMTYPE, "/etc/passwd"), b"")]), "is no plain file"),
        (tar_gz([(member("test/a.wav", tarfile.LNKTYPE, "test/b.wav"), b"")]), "is no plain file"),
        (tar_gz([(member("test/a.wav", tarfile.FIFOTYPE), b"")]), "is no plain file"),
        (tar_gz([(member("test/a.wav", tarfile.CHRTYPE), b"")]), "is no plain file"),
        (GOOD[:-200], "a torn archive"),
        (GOOD[:40], "a torn archive"),
        (GOOD[:12], "a torn archive"),
        (b"", "a torn archive"),
        (b"<!DOCTYPE html><html>502</html>", "a torn archive"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n", "a torn archive"),
    ],
)
def test_archives_that_are_refused(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "t.tar.gz").write_bytes(content)
    with pytest.raises(DatasetError, match=rf"t\.tar\.gz: .*{said}"):
        unpack(tmp_path / "t.tar.gz", ["a.wav", "b.wav"], tmp_path / "out" / "in")
    assert sorted(path.name for path in (tmp_path / "out").rglob("*.wav")) == []
    assert not (tmp_path / "a.wav").exists()


def test_a_folder_of_a_wanted_name_and_members_of_other_names_are_passed_over(tmp_path: Path) -> None:
    odd = [(member("a.wav", tarfile.DIRTYPE), b""), (member("test/z", tarfile.SYMTYPE, "/"), b""), ("x/a.wav", b"A")]
    (tmp_path / "t.tar.gz").write_bytes(tar_gz(odd))
    unpack(tmp_path / "t.tar.gz", ["a.wav"], tmp_path / "out")
    assert (tmp_path / "out" / "a.wav").read_bytes() == b"A"


def test_an_archive_that_is_torn_behind_the_wanted_file_gives_none_of_it(tmp_path: Path) -> None:
    noise = random.Random(0).randbytes(300_000)
    whole = tar_gz([("test/a.wav", b"A"), ("test/b.wav", noise)])
    (tmp_path / "t.tar.gz").write_bytes(whole[:-100_000])
    with pytest.raises(DatasetError, match="torn"):
        unpack(tmp_path / "t.tar.gz", ["a.wav"], tmp_path / "out")
    assert list((tmp_path / "out").glob("*.wav")) == []
    (tmp_path / "t.tar.gz").write_bytes(whole)
    unpack(tmp_path / "t.tar.gz", ["a.wav", "b.wav"], tmp_path / "out")
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").glob("*.wav")} == {
        "a.wav": b"A",
        "b.wav": noise,
    }


def test_of_two_members_with_one_name_the_first_counts(tmp_path: Path) -> None:
    (tmp_path / "t.tar.gz").write_bytes(tar_gz([("x/a.wav", b"first"), ("y/a.wav", b"second")]))
    unpack(tmp_path / "t.tar.gz", ["a.wav"], tmp_path / "out")
    assert (tmp_path / "out" / "a.wav").read_bytes() == b"first"


def test_memory_does_not_grow_with_the_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    copy = archives.shutil.copyfileobj

    def watched(source: object, target: object) -> None:
        read = source.read  # type: ignore[attr-defined]
        source.read = lambda size=-1: sizes.append(size) or read(size)  # type: ignore[attr-defined]
        copy(source, target)  # type: ignore[arg-type]

    monkeypatch.setattr(archives.shutil, "copyfileobj", watched)
    (tmp_path / "t.tar.gz").write_bytes(tar_gz([("test/a.wav", bytes(3_000_000))]))
    unpack(tmp_path / "t.tar.gz", ["a.wav"], tmp_path / "out")
    assert len(sizes) > 2
    assert all(0 < size <= 1 << 20 for size in sizes)


@given(place=st.integers(0, len(GOOD) - 1), value=st.integers(0, 255), cut=st.integers(1, len(GOOD)))
@example(place=4, value=9, cut=len(GOOD))  # the time in gzip's header, which no checksum covers
def test_a_damaged_archive_is_an_error_with_a_name_or_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory, place: int, value: int, cut: int
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    damaged = bytearray(GOOD)
    damaged[place] = value
    (folder / "t.tar.gz").write_bytes(damaged[:cut])
    try:
        unpack(folder / "t.tar.gz", ["a.wav", "b.wav"], folder / "out")
    except DatasetError as error:
        assert "t.tar.gz" in str(error)  # noqa: PT017 - both ends are right, and a third is not
        assert list((folder / "out").glob("*.wav")) == []
    else:
        assert {path.name: path.read_bytes() for path in (folder / "out").glob("*.wav")} == CONTENT
