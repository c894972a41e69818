"""The terminal's lines: one per request, and what engines and the Worker have to say.

The form is wrangler's (`[wrangler:info] GET / 200 OK (5ms)`, seen on 4.164), prefix included: scripts wait for
`[wrangler:info] Ready on` to know that a server is up. A lone line is written at once; lines of a
burst are written together, so that a log does not cost a busy server its speed.
"""

from __future__ import annotations

import asyncio
import http
import sys
from collections.abc import Callable
from typing import Final, TextIO

LEVELS: Final = ("debug", "info", "log", "warn", "error", "none")
_GATHER_S: Final = 0.02
_REASONS: Final = {status.value: status.phrase for status in http.HTTPStatus}


def write_to_stdout(text: str) -> None:
    write_to(sys.stdout, text)


def write_to(stream: TextIO, text: str) -> None:
    try:
        stream.write(text)
        stream.flush()
    except (BrokenPipeError, ValueError):
        pass  # nobody reads any more; a server goes on


def line(level: str, text: str) -> str:
    """`text` as the terminal shows it."""
    if level == "error":
        return f"✘ [ERROR] {text}\n"
    return f"{text}\n" if level == "log" else f"[wrangler:{level}] {text}\n"


class Log:
    """Callable as `log(level, text)`, level one of debug, info, log, warn, error; `log` is a line without a prefix."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, level: str = "log", write: Callable[[str], None] = write_to_stdout
    ) -> None:
        self._loop = loop
        self._write = write
        self._rank = LEVELS.index(level)
        self._shows_requests = self._rank <= LEVELS.index("info") or level == "log"
        self._gathering = False
        self._waiting: list[str] = []

    def __call__(self, level: str, text: str) -> None:
        # "log" is the default level of wrangler and shows the info lines too.
        if LEVELS.index(level) >= self._rank or (level == "info" and self._shows_requests):
            self._put(line(level, text))

    def request(self, method: str, path: str, status: int, reason: str, duration_ms: float) -> None:
        if self._shows_requests:
            reason = reason or _REASONS.get(status, "")
            self._put(f"[wrangler:info] {method} {path} {status} {reason} ({duration_ms:.0f}ms)\n")

    def flush(self) -> None:
        self._gathering = False
        if self._waiting:
            text = "".join(self._waiting)
            self._waiting.clear()
            self._write(text)
            self._gather()

    def _put(self, text: str) -> None:
        if self._gathering:
            self._waiting.append(text)
        else:
            self._write(text)
            self._gather()

    def _gather(self) -> None:
        self._gathering = True
        self._loop.call_later(_GATHER_S, self.flush)
