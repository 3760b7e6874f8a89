"""A playground for the tests: a server of its own, and requests that name their host themselves."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Server:
    """A server that listens."""

    address: str
    """With the token, and a slash at the end."""

    @property
    def port(self) -> int:
        """Of loopback."""
        found = urlsplit(self.address).port
        assert found is not None
        return found

    @property
    def path(self) -> str:
        """The path of the page: the token."""
        return urlsplit(self.address).path

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and body of the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, dict(headers or {}))
            answer = connection.getresponse()
            found = {key.lower(): value for key, value in answer.getheaders()}
            return answer.status, found, answer.read()
        finally:
            connection.close()

    def post(self, want: str, asked: Any) -> tuple[int, Any]:
        """Status and JSON of a request of the page."""
        status, _headers, body = self.ask(
            "POST",
            f"{self.path}api/{want}",
            json.dumps(asked).encode(),
            {"content-type": "application/json"},
        )
        return status, json.loads(body)

    def run(self, scenario: str, **changes: Any) -> tuple[int, Any]:
        """Runs a setting; a dot in the name of a control is two underscores here."""
        turned = {name.replace("__", "."): value for name, value in changes.items()}
        return self.post("run", {"scenario": scenario, "changes": turned})


def server(*arguments: str) -> Iterator[Server]:
    """`anabranch play` with these arguments, for as long as it is used."""
    command = [sys.executable, "-m", "anabranch", "play", "--no-browse", *arguments]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    )
    assert process.stdout is not None and process.stderr is not None
    try:
        yield Server(process.stdout.readline().strip())
    finally:
        process.terminate()
        _rest, told = process.communicate(timeout=30)
        assert "Traceback" not in told, told
