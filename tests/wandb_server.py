"""Stands in for W&B on this machine: answers what the package asks for one run, and keeps all that is sent.

The answers are the least that the package takes (observed with wandb 0.31; its operations are GraphQL queries by name).
"""

from __future__ import annotations

import gzip
import json
import re
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True)
class Request:
    """One request, its body as it was before compression."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def operation(self) -> str:
        """Name of a GraphQL query; empty for other requests."""
        named = re.search(r"(?:query|mutation)\s+(\w+)", self.json()["query"]) if self.path == "/graphql" else None
        return named[1] if named else ""

    def json(self) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(self.body)
        return value


class WandbServer:
    """A server on a free port of this machine, for the time of a `with`.

    Args:
        status: HTTP status of every answer.
    """

    def __init__(self, status: int = 200) -> None:
        self.requests: list[Request] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                if self.headers.get("content-encoding") == "gzip":
                    body = gzip.decompress(body)
                headers = {name.lower(): value for name, value in self.headers.items()}
                request = Request(self.command, self.path, headers, body)
                outer.requests.append(request)
                content = json.dumps({"data": outer.data(request)} if request.operation else {}).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PUT = answer  # noqa: N815 - names of the base class

            def log_message(self, *_: Any) -> None:
                """Says nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the server, as a network that goes away would; again is no error."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def asked(self, operation: str) -> list[dict[str, Any]]:
        """The variables of each query of a name."""
        return [one.json()["variables"] for one in self.requests if one.operation == operation]

    def uploaded(self) -> dict[str, bytes]:
        """Files of the run, by name."""
        return {one.path.removeprefix("/upload/"): one.body for one in self.requests if one.path.startswith("/upload/")}

    def streamed(self) -> dict[str, Any]:
        """What the last message of the run's stream says beside its lines."""
        last = [one.json() for one in self.requests if one.path.endswith("/file_stream")][-1]
        return {name: value for name, value in last.items() if name != "files"}

    def data(self, request: Request) -> dict[str, Any]:
        """The answer to a query."""
        given = request.json().get("variables") or {}
        project = {"id": "p", "name": given.get("project"), "entity": {"id": "e", "name": "me"}}
        bucket = {"id": "b", "name": given.get("name"), "project": project, "historyLineCount": 0}
        files = [{"name": name, "uploadUrl": f"{self.url}/upload/{name}"} for name in given.get("files", [])]
        viewer = {"id": "u", "entity": "me", "username": "me", "flags": "{}", "teams": {"edges": []}}
        artifact = {"id": "a", "state": "COMMITTED", "digest": given.get("digest"), "artifactSequence": {"id": "s"}}
        answers: dict[str, dict[str, Any]] = {
            "RunResumeStatus": {"model": None},
            "UpsertBucket": {"upsertBucket": {"bucket": bucket, "inserted": True}},
            "Viewer": {"viewer": viewer},
            "ArtifactType": {"project": None},
            "CreateRunFiles": {"createRunFiles": {"runID": "b", "uploadHeaders": [], "files": files}},
            "CreateArtifact": {"createArtifact": {"artifact": artifact}},
        }
        return answers.get(request.operation, {})
