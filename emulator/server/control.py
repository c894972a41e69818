"""Our own routes below /cdn-cgi/: the one that runs the Worker's `scheduled` handler by hand, and the virtual clock's.

Paths and answers of `scheduled`, and the check of Host and Origin (against DNS rebinding and foreign pages), are those
of wrangler 4.164; any other path below /cdn-cgi/ reaches the Worker.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import parse_qs, urlsplit

from flarebed.bindings.clock import Clock, VirtualClock
from flarebed.bindings.ecma_date import date_to_iso
from flarebed.emulator.runtime.http import OutgoingResponse, WorkerApp
from flarebed.emulator.server.moving import Mover, parse_end
from flarebed.emulator.server.request import Scope
from flarebed.emulator.server.response import text

PREFIX: Final = b"/cdn-cgi/"
SCHEDULED: Final = frozenset(("/cdn-cgi/local/scheduled", "/cdn-cgi/handler/scheduled", "/cdn-cgi/mf/scheduled"))
CLOCK: Final = "/cdn-cgi/local/clock"
"""GET says the time; POST moves it `to` a time (ms since the epoch, or "idle") or `by` ms. 409: it is not virtual."""
_LAST_MS: Final = 253_402_300_799_999
"""The last moment that Python's `datetime` knows."""
_LOCAL_HOSTS: Final = frozenset(("localhost", "127.0.0.1", "::1"))


class Control:
    """Answers what is ours. `hosts` are further names that may be asked for, e.g. those of the Worker's routes."""

    def __init__(self, app: WorkerApp, clock: Clock, hosts: Iterable[str] = ()) -> None:
        self._app = app
        self._clock = clock
        self._mover = Mover(clock) if isinstance(clock, VirtualClock) else None
        self._hosts = _LOCAL_HOSTS | frozenset(hosts)

    async def answer(self, scope: Scope) -> OutgoingResponse | None:
        """For a path below /cdn-cgi/: a refusal, our answer, or None if the Worker is to answer."""
        headers = dict(scope["headers"])
        if not self._allowed(headers.get(b"host", b""), scheme="http://"):
            return text(403, "Invalid Host header")
        if b"origin" in headers and not self._allowed(headers[b"origin"]):
            return text(403, "Invalid Origin header")
        if scope["path"] in SCHEDULED:
            return await self._scheduled(_parameters(scope))
        if scope["path"] == CLOCK:
            return await self._moved(scope["method"], _parameters(scope))
        return None

    def stand_still(self) -> None:
        """Another process takes over: virtual time moves there from now on."""
        if self._mover is not None:
            self._mover.stop()

    def _allowed(self, value: bytes, scheme: str = "") -> bool:
        if scheme and not value:
            return True
        try:
            return urlsplit(scheme + value.decode("latin-1")).hostname in self._hosts
        except ValueError:
            return False

    async def _scheduled(self, parameters: Mapping[str, str]) -> OutgoingResponse:
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

    async def _moved(self, method: str, parameters: Mapping[str, str]) -> OutgoingResponse:
        """`done` is false if this process was told to stop before the time `end_ms` was reached."""
        if self._mover is None:
            return text(409, "The clock is not virtual.")
        now_ms, done = self._clock.now_ms(), True
        end_ms = parse_end(parameters["to"], now_ms) if "to" in parameters else now_ms + _number(parameters.get("by"))
        if method == "POST":
            if end_ms > _LAST_MS:
                return text(400, "That is later than the year 9999, which is as far as time goes.")
            if not end_ms >= now_ms:
                return text(400, f"The time is {date_to_iso(now_ms)} already: it only goes forward.")
            run = self._mover.run_until_idle if parameters.get("to") == "idle" else self._mover.run_until
            done = await run(end_ms)
        answer = {
            "now_ms": self._clock.now_ms(), "end_ms": end_ms, "done": done, "idle": self._mover.is_idle(),
        }  # fmt: skip
        return text(200, json.dumps(answer), "application/json")


def _parameters(scope: Scope) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(scope["query_string"].decode("latin-1")).items()}


def _number(value: str | None) -> float:
    try:
        return float(value or 0)
    except ValueError:
        return math.nan
