"""A server under test without a socket: ASGI messages in, ASGI messages out, a Worker that is a function."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flarebed.bindings.clock import RealClock, VirtualClock
from flarebed.emulator.runtime.http import IncomingRequest, OutgoingResponse, ScheduledOutcome
from flarebed.emulator.server.asgi import Application
from flarebed.emulator.server.control import Control
from flarebed.emulator.server.log import Log

Headers = list[tuple[bytes, bytes]]
BROWSER: Headers = [(b"host", b"localhost:8787")]


async def hello(request: IncomingRequest) -> OutgoingResponse:
    return OutgoingResponse(200, headers=[("content-type", "text/plain")], body=b"hello")


@dataclass
class FakeWorker:
    answer: Callable[[IncomingRequest], Awaitable[OutgoingResponse]] = hello
    outcome: ScheduledOutcome = field(default_factory=lambda: ScheduledOutcome("ok"))
    scheduled_calls: list[tuple[str, float]] = field(default_factory=list)

    async def fetch(self, request: IncomingRequest) -> OutgoingResponse:
        return await self.answer(request)

    async def scheduled(self, cron: str, time_ms: float) -> ScheduledOutcome:
        self.scheduled_calls.append((cron, time_ms))
        return self.outcome

    async def own(self) -> None: ...

    async def disown(self) -> None: ...

    async def drained(self) -> None: ...

    async def close(self) -> None: ...

    def bindings_tables(self) -> dict[str, list[tuple[str, str, str]]]:
        return {}

    def watched(self) -> list[Path]:
        return []


@dataclass
class Exchange:
    """What an application sent, and the log's lines."""

    sent: list[dict[str, Any]]
    log: str
    exits: list[object]

    @property
    def status(self) -> int:
        return int(self.sent[0]["status"])

    @property
    def headers(self) -> Headers:
        return list(self.sent[0]["headers"])

    @property
    def body(self) -> bytes:
        return b"".join(message["body"] for message in self.sent[1:])


async def ask(
    worker: FakeWorker,
    path: str = "/",
    *,
    method: str = "GET",
    headers: Headers = BROWSER,
    chunks: tuple[bytes, ...] = (),
    host: str | None = None,
    log_level: str = "log",
    on_real_time: bool = False,
) -> Exchange:
    """One request, within a running loop."""
    loop = asyncio.get_running_loop()
    lines: list[str] = []
    exits: list[object] = []
    log = Log(loop, log_level, lines.append)
    clock = RealClock(loop) if on_real_time else VirtualClock(loop)
    control = Control(worker, clock, [host] if host else [])
    application = Application(worker, log, control, host=host, on_exit=exits.append)
    incoming = [{"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks]
    incoming.append({"type": "http.request", "body": b"", "more_body": False})
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return incoming.pop(0)

    async def send(message: Any) -> None:
        sent.append(dict(message))

    await application(http_scope(path, method, headers), receive, send)
    log.flush()
    return Exchange(sent, "".join(lines), exits)


def http_scope(path: str, method: str = "GET", headers: Headers = BROWSER) -> dict[str, Any]:
    raw_path, _, query = path.partition("?")
    return {
        "type": "http",
        "method": method,
        "path": raw_path,
        "raw_path": raw_path.encode(),
        "query_string": query.encode(),
        "headers": list(headers),
        "client": ("127.0.0.1", 50000),
    }
