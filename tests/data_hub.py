"""A model hub on this machine, as far as fetching single files of a data repository goes."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class DataHub(ThreadingHTTPServer):
    """Serves `/datasets/REPOSITORY/resolve/COMMIT/PATH` from a folder; `sent` lists the paths that were sent."""

    daemon_threads = True

    def __init__(self, folder: Path, repository: str, commit: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder, self.commit = folder, commit
        self.prefix = f"/datasets/{repository}/resolve/{commit}/"
        self.sent: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: DataHub

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        inside = self.path.removeprefix(self.server.prefix)
        file = self.server.folder / inside
        if inside == self.path or not file.is_file():
            self.send_response(404)
            self.send_header("X-Error-Code", "EntryNotFound" if inside != self.path else "RevisionNotFound")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        content = file.read_bytes()
        self.send_response(200)
        self.send_header("X-Repo-Commit", self.server.commit)
        self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if body:
            self.server.sent.append(inside)
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def data_hub(folder: Path, repository: str, commit: str) -> Iterator[DataHub]:
    """A running hub."""
    with DataHub(folder, repository, commit) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
