"""Our own routes below /cdn-cgi/: for now the one that runs the Worker's `scheduled` handler by hand.

Paths, answers and the check of Host and Origin (against DNS rebinding and foreign pages) are those of wrangler 4.164;
any other path below /cdn-cgi/ reaches the Worker.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final
from urllib.parse import parse_qs, urlsplit

from flarebed.bindings.clock import Clock
from flarebed.emulator.runtime.http import OutgoingResponse, WorkerApp
from flarebed.emulator.server.request import Scope
from flarebed.emulator.server.response import text

PREFIX: Final = b"/cdn-cgi/"
SCHEDULED: Final = frozenset(("/cdn-cgi/local/scheduled", "/cdn-cgi/handler/scheduled", "/cdn-cgi/mf/scheduled"))
_LOCAL_HOSTS: Final = frozenset(("localhost", "127.0.0.1", "::1"))


class Control:
    """Answers what is ours. `hosts` are further names that may be asked for, e.g. those of the Worker's routes."""

    def __init__(self, app: WorkerApp, clock: Clock, hosts: Iterable[str] = ()) -> None:
        self._app = app
        self._clock = clock
        self._hosts = _LOCAL_HOSTS | frozenset(hosts)

    async def answer(self, scope: Scope) -> OutgoingResponse | None:
        """For a path below /cdn-cgi/: a refusal, our answer, or None if the Worker is to answer."""
        headers = dict(scope["headers"])
        if not self._allowed(headers.get(b"host", b""), scheme="http://"):
            return text(403, "Invalid Host header")
        if b"origin" in headers and not self._allowed(headers[b"origin"]):
            return text(403, "Invalid Origin header")
        if scope["path"] in SCHEDULED:
            return await self._scheduled(scope["query_string"].decode("latin-1"))
        return None

    def _allowed(self, value: bytes, scheme: str = "") -> bool:
        if scheme and not value:
            return True
        try:
            return urlsplit(scheme + value.decode("latin-1")).hostname in self._hosts
        except ValueError:
            return False

    async def _scheduled(self, query: str) -> OutgoingResponse:
        parameters = {name: values[0] for name, values in parse_qs(query).items()}
        try:
            time_ms = float(int(parameters["time"]))
        except (KeyError, ValueError):
            time_ms = self._clock.now_ms()
        ended = await self._app.scheduled(parameters.get("cron", ""), time_ms)
        status = 200 if ended.outcome == "ok" else 500
        if parameters.get("format") == "json":
            body = json.dumps({"outcome": ended.outcome, "noRetry": ended.no_retry}, separators=(",", ":"))
            return text(status, body, "application/json")
        return text(status, ended.outcome)
