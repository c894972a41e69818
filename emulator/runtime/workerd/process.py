"""The workerd process: started with a config, watched, ended; what it writes is handed on line by line.

A shell between us holds its lifeline: whatever way this process ends, workerd ends too, and its folder goes.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from flarebed.bindings.errors import InternalError

_GUARD: Final = """
folder=$1; shift
"$@" </dev/null & child=$!
exec >/dev/null 2>&1
read -r line
kill -9 $child
rm -rf "$folder"
"""
"""sh: run the command until the other end of standard input is closed."""


class Workerd:
    """`on_line(text)` gets what workerd writes, `on_exit()` hears that it is gone without having been told to."""

    def __init__(
        self,
        binary: Path,
        loop: asyncio.AbstractEventLoop,
        on_line: Callable[[str], None],
        on_exit: Callable[[], None],
    ) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="flarebed-"))
        """For its sockets and modules; nobody else may look into it."""
        self._binary = binary
        self._loop = loop
        self._on_line = on_line
        self._on_exit = on_exit
        self._guard: subprocess.Popen[bytes] | None = None
        self._lifeline = -1
        self._output: asyncio.ReadTransport | None = None
        self._events: asyncio.ReadTransport | None = None
        self._started: asyncio.Future[None] = loop.create_future()
        self._missing: set[str] = set()
        self._said: list[str] = []
        self._closed = False

    async def start(self, config: str, sockets: set[str]) -> None:
        """Returns when it listens on all `sockets` of the config. Raises InternalError with what it says if it ends."""
        self._missing = set(sockets)
        output, events = self._spawn(config)
        self._output = await self._listen(output, self._wrote)
        self._events = await self._listen(events, self._event)
        await self._started

    def _spawn(self, config: str) -> tuple[int, int]:
        """Our ends of the pipes with its output and its events."""
        path = self.folder / "workerd.capnp"
        path.write_text(config, "utf-8")
        lifeline, self._lifeline = os.pipe()
        output, output_end = os.pipe()
        events, events_end = os.pipe()
        command = [
            str(self._binary),
            "serve",
            "--experimental",
            "--verbose",
            f"--control-fd={events_end}",
            str(path),
            "config",
        ]
        self._guard = subprocess.Popen(
            ["sh", "-c", _GUARD, "flarebed", str(self.folder), *command],
            cwd=self.folder, stdin=lifeline, stdout=output_end, stderr=output_end, pass_fds=[events_end],
            start_new_session=True,  # the terminal's Ctrl-C is not meant for it
        )  # fmt: skip
        for end in (lifeline, output_end, events_end):
            os.close(end)
        return output, events

    async def _listen(self, fd: int, heard: Callable[[bytes], None]) -> asyncio.ReadTransport:
        pipe = os.fdopen(fd, "rb", 0)
        transport, _ = await self._loop.connect_read_pipe(lambda: _Lines(heard, self._ended), pipe)
        return transport

    def _wrote(self, line: bytes) -> None:
        text = line.decode("utf-8", "replace")
        if not self._started.done():
            self._said.append(text)
        self._on_line(text)

    def _event(self, line: bytes) -> None:
        event: dict[str, Any] = json.loads(line)
        if event.get("event") == "listen":
            self._missing.discard(event["socket"])
            if not self._missing and not self._started.done():
                self._started.set_result(None)

    def _ended(self) -> None:
        if self._closed:
            return
        if not self._started.done():
            self._started.set_exception(InternalError("workerd did not start:\n" + "\n".join(self._said)))
            return
        self._closed = True
        self._on_exit()

    def close(self) -> None:
        """At once: nothing that it still does is wanted."""
        self._closed = True
        for transport in (self._output, self._events):
            if transport is not None:
                transport.close()
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1
        if self._guard is not None:
            self._guard.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class _Lines(asyncio.Protocol):
    def __init__(self, heard: Callable[[bytes], None], ended: Callable[[], None]) -> None:
        self._heard = heard
        self._ended = ended
        self._rest = b""

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._heard(line)

    def connection_lost(self, error: Exception | None) -> None:
        self._ended()
