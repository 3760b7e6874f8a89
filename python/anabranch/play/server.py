"""The server of the playground: on this machine alone, for who has the address.

Every address begins with a random token. Requests must name this server as their host, so that no
other site can be made to stand for it (DNS rebinding), and come from a page of this server or from
none. Pages load nothing from elsewhere.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import resources
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from anabranch.play.document import DEFAULT, Opened, Table, names
from anabranch.play.limits import BODY
from anabranch.play.pool import Pool, Replaced

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self';"
    " img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Content security policy of the page; uPlot sets styles of its elements."""
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
CHARTS = {
    "uplot/uPlot.iife.min.js": "uPlot.iife.min.js",
    "uplot/uPlot.min.css": "uPlot.min.css",
}
"""What the page takes from the report's assets, by its name there."""


class Guard:
    """Lets through what comes from this server's own pages, with the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers 403 to another host or origin, 404 to who lacks the token."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        inner = dict(scope, path=scope["path"].removeprefix(f"/{self._token}"), root_path="")
        await self._app(inner, receive, _with_headers(send))

    def _refusal(self, scope: Scope) -> Response | None:
        headers = {
            key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]
        }
        port = (scope.get("server") or ("", 0))[1]
        hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        if headers.get("host") not in hosts:
            return PlainTextResponse("another host", 403)
        origin = headers.get("origin")
        if origin is not None and origin not in {f"http://{host}" for host in hosts}:
            return PlainTextResponse("another origin", 403)
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            # A link from elsewhere may open the page; nothing else may be asked for.
            opens = headers.get("sec-fetch-mode") == "navigate" and scope["method"] == "GET"
            if not opens:
                return PlainTextResponse("another site", 403)
        given = scope["path"].split("/")[1:2]
        if not given or not secrets.compare_digest(given[0].encode(), self._token.encode()):
            return PlainTextResponse("not found", 404)
        if scope["path"] == f"/{self._token}":  # what the page asks for is beside the slash
            return RedirectResponse(f"/{self._token}/")
        return None


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            known = {key.lower() for key, _value in message.get("headers", ())}
            more = [
                (b"cache-control", b"no-store"),
                (b"referrer-policy", b"no-referrer"),
                (b"x-content-type-options", b"nosniff"),
                (b"cross-origin-resource-policy", b"same-origin"),
                (b"content-security-policy", POLICY.encode()),
            ]
            message["headers"] = [
                *message.get("headers", ()),
                *(pair for pair in more if pair[0] not in known),
            ]
        await send(message)

    return sent


def application(file: Opened | None, token: str, pool: Pool, lab: Table) -> ASGIApp:
    """The server's application. `file` is the scenario that was named, `lab` the course."""
    api = _Api(file, pool, lab)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        await pool.open()
        yield
        await pool.close()

    routes = [
        Route("/", api.page),
        Route("/api/about", api.about),
        Route("/api/{want}", api.work, methods=["POST"]),
        Route("/explorer", api.explorer, methods=["GET"]),
        Route("/{name:path}", api.asset),
    ]
    return Guard(Starlette(routes=routes, lifespan=lifespan), token)


class _Api:
    """What the page asks for."""

    def __init__(self, file: Opened | None, pool: Pool, lab: Table) -> None:
        self._file = file
        self._pool = pool
        self._lab = lab

    async def page(self, _request: Request) -> Response:
        """Serves the page itself."""
        return _asset("index.html")

    async def asset(self, request: Request) -> Response:
        """A file that the page is made of."""
        return _asset(request.path_params["name"])

    async def about(self, _request: Request) -> Response:
        """Serves the list of what can be opened, and the course."""
        own = [self._file.name] if self._file is not None else []
        return JSONResponse(
            {
                "scenarios": list(dict.fromkeys([*own, *names()])),
                "first": own[0] if own else DEFAULT,
                "lab": self._lab,
            }
        )

    async def work(self, request: Request) -> Response:
        """Runs a scenario, or turns it into text."""
        started = time.perf_counter()
        if request.path_params["want"] not in ("run", "packets", "code"):
            return _wrong("unknown request", 404)
        try:
            asked = await _read(request)
        except ValueError as error:
            return _wrong(str(error), 400)
        slot = f"{asked.get('slot')}"[:40] + request.path_params["want"]
        return await self._answered(slot, {**asked, "want": request.path_params["want"]}, started)

    async def explorer(self, request: Request) -> Response:
        """The report of a run: a page of its own, with its own policy in it."""
        try:
            asked = json.loads(request.query_params.get("state", ""))
            if not isinstance(asked, dict):
                raise ValueError
        except ValueError:
            return PlainTextResponse("state: allowed: JSON of a scenario and its changes", 400)
        slot = f"explorer {secrets.token_hex(4)}"  # nothing replaces it
        answer = await self._pool.ask(slot, {**asked, "want": "explorer"})
        told = json.loads(answer.body)
        if answer.status != 200:
            message = "; ".join(each["message"] for each in told["errors"])
            return PlainTextResponse(message, answer.status)
        policy = (
            "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline';"
            " img-src data:; frame-ancestors 'none'"
        )
        return HTMLResponse(told["html"], headers={"content-security-policy": policy})

    async def _answered(self, slot: str, asked: Table, started: float) -> Response:
        try:
            answer = await self._pool.ask(slot, asked)
        except Replaced:
            return _wrong("a newer request has come", 409)
        took = (time.perf_counter() - started) * 1e3
        timing = f"server;dur={took:.2f}, json;dur={answer.json_ms:.2f}"
        return Response(
            answer.body,
            answer.status,
            {"content-type": "application/json", "server-timing": timing},
        )


def _wrong(message: str, status: int) -> Response:
    return JSONResponse({"errors": [{"control": "", "message": message}]}, status)


async def _read(request: Request) -> dict[str, Any]:
    """The body, bounded; a `ValueError` if it is no JSON object."""
    if request.headers.get("content-type", "").split(";")[0] != "application/json":
        raise ValueError("content-type: allowed: application/json")
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > BODY:
            raise ValueError(f"body: allowed: at most {BODY} octets")
        parts.append(part)
    try:
        found = json.loads(b"".join(parts))
    except (ValueError, RecursionError):
        raise ValueError("body: allowed: JSON") from None
    if not isinstance(found, dict):
        raise ValueError("body: allowed: a JSON object")
    return found


def _asset(name: str) -> Response:
    if name in CHARTS.values():
        inside = next(key for key, value in CHARTS.items() if value == name)
        found = resources.files("anabranch.report").joinpath("assets", inside)
    else:
        folder = resources.files("anabranch.play").joinpath("assets")
        known = {each.name: each for each in folder.iterdir()}
        if name == "standalone.module.js":
            known[name] = folder.joinpath("preact", name)
        if name not in known or Path(name).suffix not in TYPES:
            return PlainTextResponse("not found", 404)
        found = known[name]
    return Response(found.read_bytes(), media_type=TYPES[Path(name).suffix])
