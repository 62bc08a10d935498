"""Where a bundle is found, how it is fetched, what is refused. The server is on this machine."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from rich.console import Console

from kasauti.errors import StoreError
from kasauti.panel.bundle import BundleError, BundleOptions, locate, read_checksums

COMMIT = "0123456789abcdef"
FILES = {"a.txt": b"one\n", "sub/b.txt": b"two\n"}


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


LISTING = "".join(f"{sha256(content)}  {name}\n" for name, content in FILES.items()).encode()


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder and keeps the paths that were asked for."""

    asked: list[str]

    def log_message(self, format: str, *args: object) -> None:
        self.asked.append(self.path)


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Path, list[str]]]:
    """Address of a server, the folder of the bundle that it serves, and the paths asked for."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    folder = tmp_path / "served" / COMMIT / "benchmark"
    for name, content in {"checksums.sha256": LISTING, **FILES}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    handler = type("Handler", (Quiet,), {"asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(tmp_path / "served")))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", folder, handler.asked
    server.shutdown()
    thread.join()
    server.server_close()


def options(address: str, store: Path, **changes: str | None) -> BundleOptions:
    given = {"address": address, "commit": COMMIT, "checksums_sha256": sha256(LISTING), "store": str(store), **changes}
    return BundleOptions(**given)  # type: ignore[arg-type]


def quiet() -> Console:
    return Console(quiet=True)


def test_everything_is_fetched_once(served: tuple[str, Path, list[str]], tmp_path: Path) -> None:
    address, _, asked = served
    folder = locate(options(address, tmp_path / "store"), quiet())
    assert {name: (folder / name).read_bytes() for name in FILES} == FILES
    assert folder == tmp_path / "store" / "data" / f"indicemo-{COMMIT[:12]}"
    n_asked = len(asked)
    assert locate(options(address, tmp_path / "store"), quiet()) == folder
    assert len(asked) == n_asked == 3


def test_a_file_that_was_damaged_is_fetched_again(served: tuple[str, Path, list[str]], tmp_path: Path) -> None:
    address, _, _ = served
    folder = locate(options(address, tmp_path / "store"), quiet())
    (folder / "a.txt").write_bytes(b"other")
    assert (locate(options(address, tmp_path / "store"), quiet()) / "a.txt").read_bytes() == FILES["a.txt"]


@pytest.mark.parametrize("name", ["a.txt", "checksums.sha256"])
def test_other_bytes_are_refused_and_not_kept(served: tuple[str, Path, list[str]], tmp_path: Path, name: str) -> None:
    address, source, _ = served
    (source / name).write_bytes(b"changed\n")
    with pytest.raises(BundleError, match=f"{name} is another file than the pinned one"):
        locate(options(address, tmp_path / "store"), quiet())
    assert not list((tmp_path / "store").rglob(name))


def test_a_file_that_is_not_served(served: tuple[str, Path, list[str]], tmp_path: Path) -> None:
    address, source, _ = served
    (source / "a.txt").unlink()
    with pytest.raises(BundleError, match=r"a.txt can't be fetched \(HTTPError\).*data.mirror=DIR"):
        locate(options(address, tmp_path / "store"), quiet())


def test_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with pytest.raises(BundleError, match=r"can't be fetched \(ConnectionError\).*data.mirror=DIR") as caught:
        locate(options("http://127.0.0.1:1", tmp_path / "store"), quiet())
    assert caught.value.exit_code == 2


def test_a_store_that_can_not_be_written(served: tuple[str, Path, list[str]], tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file where the folder should be")
    with pytest.raises(StoreError, match=r"write checksums\.sha256"):
        locate(options(served[0], tmp_path / "store"), quiet())


def test_a_mirror_or_a_clone_is_taken_as_it_is(served: tuple[str, Path, list[str]], tmp_path: Path) -> None:
    _, folder, asked = served
    assert locate(options("http://127.0.0.1:1", tmp_path, mirror=str(folder)), quiet()) == folder
    assert locate(options("http://127.0.0.1:1", tmp_path, mirror=str(folder.parent)), quiet()) == folder
    assert asked == []


def test_a_mirror_without_a_bundle(tmp_path: Path) -> None:
    for name in (str(tmp_path), str(tmp_path / "absent")):
        with pytest.raises(BundleError, match=r"data\.mirror=.*no checksums\.sha256 there"):
            locate(options("http://127.0.0.1:1", tmp_path, mirror=name), quiet())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "lists no file"),
        (f"{sha256(b'')} a.txt\n", r"checksums\.sha256:1: .*two spaces"),
        (f"{sha256(b'').upper()}  a.txt\n", r"checksums\.sha256:1"),
        (f"{sha256(b'')}  a.txt\n{sha256(b'')}  a.txt\n", r"checksums\.sha256:2: a\.txt is listed twice"),
        (f"{sha256(b'')}  ../a.txt\n", r"checksums\.sha256:1: \.\./a\.txt leaves the folder"),
        (f"{sha256(b'')}  /etc/passwd\n", "leaves the folder"),
        (f"{sha256(b'')}  sub\\..\\..\\a.txt\n", "leaves the folder"),
    ],
)
def test_lists_that_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "checksums.sha256"
    path.write_text(text)
    with pytest.raises(BundleError, match=message):
        read_checksums(path)
