"""A model hub on loopback, for tests of fetching: the few answers that `huggingface_hub` asks for.

It holds one repository at one commit, and either hands it out to everybody, or only to who sends the token `sesame`, as
a gated one does.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

COMMIT = "e9b71b369c048e2c6b634d4c131061c34e441179"
TOKEN = "sesame"


@dataclass
class Hub:
    """What the server holds and what it was asked for.

    Attributes:
        repository: `OWNER/NAME`.
        folder: Its files.
        gated: Whether the token is wanted.
        url: Its address, for `HF_ENDPOINT`.
        asked: Paths asked for, in order.
    """

    repository: str
    folder: Path
    gated: bool = False
    url: str = ""
    asked: list[str] = field(default_factory=list)

    def answer(self, path: str, token: str | None) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body for a path."""
        self.asked.append(path)
        api, files = f"/api/models/{self.repository}", f"/{self.repository}/resolve/"
        if not path.startswith((api, files)):
            return 404, {"X-Error-Code": "RepoNotFound"}, b"{}"
        if self.gated and token != f"Bearer {TOKEN}":
            return (403 if token else 401), {"X-Error-Code": "GatedRepo"}, b'{"error": "gated"}'
        if path.startswith(files):
            return self._file(path.removeprefix(files))
        rest = path.removeprefix(api)
        revision = rest.split("/")[2] if rest.count("/") >= 2 else ""
        if revision and not COMMIT.startswith(revision):
            return 404, {"X-Error-Code": "RevisionNotFound"}, b"{}"
        if rest.startswith("/tree/"):
            return self._json(
                [{"type": "file", "path": name, "size": size, "oid": oid} for name, size, oid in self._files()]
            )
        siblings = [{"rfilename": name} for name, _, _ in self._files()]
        return self._json({"id": self.repository, "sha": COMMIT, "siblings": siblings})

    def _file(self, place: str) -> tuple[int, dict[str, str], bytes]:
        revision, _, name = place.partition("/")
        path = self.folder / unquote(name)
        if not COMMIT.startswith(revision) or not path.is_file():
            return 404, {"X-Error-Code": "EntryNotFound"}, b""
        content = path.read_bytes()
        return 200, {"ETag": f'"{_oid(content)}"', "X-Repo-Commit": COMMIT}, content

    def _files(self) -> list[tuple[str, int, str]]:
        paths = sorted(path for path in self.folder.rglob("*") if path.is_file())
        contents = ((path.relative_to(self.folder).as_posix(), path.read_bytes()) for path in paths)
        return [(name, len(content), _oid(content)) for name, content in contents]

    def _json(self, value: object) -> tuple[int, dict[str, str], bytes]:
        return 200, {"Content-Type": "application/json"}, json.dumps(value).encode()


def _oid(content: bytes) -> str:
    return hashlib.sha1(content, usedforsecurity=False).hexdigest()


@contextmanager
def serving(repository: str, folder: Path, *, gated: bool = False) -> Iterator[Hub]:
    """Serves a folder as a repository of the hub."""
    hub = Hub(repository, folder, gated)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            status, headers, body = hub.answer(urlsplit(self.path).path, self.headers.get("Authorization"))
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
