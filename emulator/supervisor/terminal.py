"""The terminal: what the supervisor says on it, and the keys it reads from it.

Keys are read only where both ends are a terminal, as in wrangler; its modes are put back while a debugger prompts and
at the end.
"""

from __future__ import annotations

import asyncio
import os
import sys
import termios
import tty
from collections.abc import Callable, Sequence
from typing import Any, Final

from flarebed.emulator.server.log import line, write_to_stdout

KEYS_HINT: Final = "[r] reload  [c] clear console  [x] exit"
_CLEAR: Final = "\x1b[2J\x1b[3J\x1b[H"
_HEADINGS: Final = ("Binding", "Resource", "Mode")
_RESOURCE_WIDTH: Final = 26


class Terminal:
    def __init__(self, loop: asyncio.AbstractEventLoop, on_key: Callable[[str], None]) -> None:
        self._loop = loop
        self._on_key = on_key
        self._saved: list[Any] | None = None
        self._found: list[Any] | None = None

    def say(self, level: str, text: str) -> None:
        write_to_stdout(line(level, text))

    def clear(self) -> None:
        write_to_stdout(_CLEAR)

    def read_keys(self) -> bool:
        """Begin to read keys, if there is somebody to press them."""
        if self._saved is not None or not (sys.stdin.isatty() and sys.stdout.isatty()):
            return self._saved is not None
        fd = sys.stdin.fileno()
        if os.tcgetpgrp(fd) != os.getpgrp():
            return False  # in the background the terminal is somebody else's
        self._saved = self._found = termios.tcgetattr(fd)
        tty.setcbreak(fd, termios.TCSANOW)  # what was typed meanwhile is kept
        self._loop.add_reader(fd, self._read)
        return True

    def leave_keys(self) -> None:
        """Give the terminal back as it was found."""
        if self._saved is not None:
            fd = sys.stdin.fileno()
            self._loop.remove_reader(fd)
            termios.tcsetattr(fd, termios.TCSANOW, self._saved)
            self._saved = None

    def restore(self) -> None:
        """Like `leave_keys`, whatever a debugger that was killed has done to the terminal."""
        self.leave_keys()
        if self._found is not None:
            termios.tcsetattr(sys.stdin.fileno(), termios.TCSANOW, self._found)

    def _read(self) -> None:
        pressed = os.read(sys.stdin.fileno(), 64).decode(errors="replace")
        if not pressed:
            self.leave_keys()
        for key in pressed:
            self._on_key(key)


def bindings_table(rows: Sequence[Sequence[str]], worker: str = "Your Worker") -> str:
    """The table in wrangler's form (seen on 4.164), which names the Worker if there are several."""
    if not rows:
        return "No bindings found."
    rows = [(f"env.{binding}", resource, mode) for binding, resource, mode in rows]
    width = max(len(_HEADINGS[0]), *(len(row[0]) for row in rows)) + 6
    table = [f"{binding:<{width}}{resource:<{_RESOURCE_WIDTH}}{mode}" for binding, resource, mode in (_HEADINGS, *rows)]
    return "\n".join((f"{worker} has access to the following bindings:", *table))


def cron_notice(url: str) -> str:
    return (
        "Scheduled Workers are not automatically triggered during local development.\n"
        "  To manually trigger a scheduled event, run:\n"
        f'    curl "{url}/cdn-cgi/local/scheduled"\n'
        "  For more details, see "
        "https://developers.cloudflare.com/workers/configuration/cron-triggers/#test-cron-triggers-locally"
    )


def time_notice(time: str) -> str:
    return f"Time is virtual and stands at {time}. In another terminal, `flarebed clock advance 1 hour` moves it."
