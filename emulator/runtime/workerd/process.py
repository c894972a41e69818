"""The workerd process: started with a config, kept running, ended; what it writes is handed on line by line.

A shell between us holds its lifeline: whatever way this process ends, workerd ends too, and its folder goes. A workerd
that ends by itself is started again with the same config; who uses its sockets waits until it listens.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from flarebed.emulator.runtime.workerd.folder import made, removed

_GUARD: Final = """
folder=$1; shift
"$@" </dev/null & child=$!
exec >/dev/null 2>&1
read -r line
[ "$line" = drain ] && kill -TERM $child && read -r line
kill -9 $child
wait $child; code=$?
[ "$line" = keep ] || rm -rf "$folder"
exit $code
"""
"""sh: run the command until the other end of standard input is closed; with the status that the command ended by."""
_KEEP: Final = b"keep\n"
_DRAIN: Final = b"drain\n"
"""On SIGTERM workerd answers what it has begun, and ends (src/workerd/server/workerd.c++)."""

_SHORT_LIFE_S: Final = 2.0
_LONGEST_PAUSE_S: Final = 10.0


class StartFailed(Exception):
    """workerd ended before it listened. `lines` is what it wrote."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines


class Workerd:
    """`on_line(text)` gets what workerd writes, `on_exit(how)` hears that it is gone without having been told to.

    `listening` is set while it can be asked.
    """

    def __init__(
        self,
        binary: Path,
        loop: asyncio.AbstractEventLoop,
        on_line: Callable[[str], None],
        on_exit: Callable[[str], None],
    ) -> None:
        self.folder = made()
        """For its sockets and modules; nobody else may look into it."""
        self.listening = asyncio.Event()
        self._binary = binary
        self._loop = loop
        self._on_line = on_line
        self._on_exit = on_exit
        self._sockets: frozenset[str] = frozenset()
        self._inherited: Sequence[int] = ()
        self._process: _Process | None = None
        self._started_s = 0.0
        self._short_lives = 0
        self._restart: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    async def start(self, config: str, sockets: set[str], inherited: Sequence[int] = ()) -> None:
        """Returns when it listens on all `sockets` of the config. Raises StartFailed. It gets the files `inherited`."""
        (self.folder / "workerd.capnp").write_text(config, "utf-8")
        self._sockets = frozenset(sockets)
        self._inherited = inherited
        await self._spawn()

    async def _spawn(self) -> None:
        for name in self._sockets:
            (self.folder / name).unlink(missing_ok=True)
        self._started_s = self._loop.time()
        self._process = _Process(self._loop, self.folder, self._sockets, self._on_line, self._ended)
        await self._process.start(self._binary, self._inherited)
        self.listening.set()

    def _ended(self, how: str) -> None:
        self.listening.clear()
        if self._closed:
            return
        self._on_exit(how)
        self._start_again()

    def _start_again(self) -> None:
        """At once the first time; one that ends at every start is tried ever more rarely."""
        lived_s = self._loop.time() - self._started_s
        self._short_lives = self._short_lives + 1 if lived_s < _SHORT_LIFE_S else 0
        pause_s = min(_LONGEST_PAUSE_S, 0.1 * 2**self._short_lives) if self._short_lives else 0.0
        self._restart = self._loop.call_later(pause_s, self._spawn_again)

    def _spawn_again(self) -> None:
        task = self._loop.create_task(self._spawned_again())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _spawned_again(self) -> None:
        if self._closed:
            return
        try:
            await self._spawn()
        except StartFailed:
            if not self._closed:
                self._start_again()

    def stop(self) -> None:
        """At once: nothing that it still does is wanted. It may be started again."""
        self.listening.clear()
        self._end(_KEEP)

    async def drained(self) -> None:
        """Take no more requests; returns when the last one is answered, and it has ended."""
        if self._process is not None and self.listening.is_set():
            self._closed = True
            await self._process.drained()

    def close(self) -> None:
        """For good."""
        self._closed = True
        self.listening.set()  # nobody shall wait for what won't come
        self._end()
        removed(self.folder)

    def _end(self, last_word: bytes = b"") -> None:
        if self._restart is not None:
            self._restart.cancel()
        if self._process is not None:
            self._process.end(last_word)


class _Process:
    """One life of workerd. `on_end(how)` is called once it has listened."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        folder: Path,
        sockets: frozenset[str],
        on_line: Callable[[str], None],
        on_end: Callable[[str], None],
    ) -> None:
        self._loop = loop
        self._folder = folder
        self._missing = set(sockets)
        self._on_line = on_line
        self._on_end = on_end
        self._guard: subprocess.Popen[bytes] | None = None
        self._lifeline = -1
        self._pipes: list[asyncio.ReadTransport] = []
        self._listens: asyncio.Future[None] = loop.create_future()
        self._said: list[str] = []
        self._gone = asyncio.Event()

    async def start(self, binary: Path, inherited: Sequence[int]) -> None:
        output, events = self._spawn(binary, inherited)
        await self._listen(output, self._wrote)
        await self._listen(events, self._event)
        await self._listens

    def _spawn(self, binary: Path, inherited: Sequence[int]) -> tuple[int, int]:
        """Our ends of the pipes with its output and its events."""
        lifeline, self._lifeline = os.pipe()
        output, output_end = os.pipe()
        events, events_end = os.pipe()
        command = [str(binary), "serve", "--experimental", "--verbose", f"--control-fd={events_end}", "workerd.capnp"]
        self._guard = subprocess.Popen(
            ["sh", "-c", _GUARD, "flarebed", str(self._folder), *command, "config"],
            cwd=self._folder, stdin=lifeline, stdout=output_end, stderr=output_end, pass_fds=[events_end, *inherited],
            start_new_session=True,  # the terminal's Ctrl-C is not meant for it
        )  # fmt: skip
        for end in (lifeline, output_end, events_end):
            os.close(end)
        return output, events

    async def _listen(self, fd: int, heard: Callable[[bytes], None]) -> None:
        pipe = os.fdopen(fd, "rb", 0)
        transport, _ = await self._loop.connect_read_pipe(lambda: _Lines(heard, self._ended), pipe)
        self._pipes.append(transport)

    def _wrote(self, line: bytes) -> None:
        text = line.decode("utf-8", "replace")
        if self._listens.done():
            self._on_line(text)
        else:
            self._said.append(text)

    def _event(self, line: bytes) -> None:
        event: dict[str, Any] = json.loads(line)
        if event.get("event") == "listen":
            self._missing.discard(event["socket"])
        if not self._missing and not self._listens.done():
            self._listens.set_result(None)
            for text in self._said:
                self._on_line(text)

    def _ended(self) -> None:
        """Its output is at its end."""
        if self._lifeline < 0:
            return
        code = self._close(_KEEP)
        if self._listens.done():
            self._on_end(_how(code))
        else:
            self._listens.set_exception(StartFailed(self._said))

    async def drained(self) -> None:
        os.write(self._lifeline, _DRAIN)
        await self._gone.wait()

    def end(self, last_word: bytes) -> None:
        if self._lifeline >= 0:
            self._close(last_word)
        if not self._listens.done():
            self._listens.set_exception(StartFailed(self._said))

    def _close(self, last_word: bytes = b"") -> int:
        for transport in self._pipes:
            transport.close()
        with contextlib.suppress(BrokenPipeError):
            os.write(self._lifeline, last_word)
        os.close(self._lifeline)
        self._lifeline = -1
        self._gone.set()
        assert self._guard is not None
        return self._guard.wait()


def _how(code: int) -> str:
    """`code` as a shell has it: more than 128 is a signal."""
    with contextlib.suppress(ValueError):
        return f"was ended by {signal.Signals(code - 128).name}"
    return f"ended with exit code {code}"


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
        if self._rest:
            self._heard(self._rest)
        self._ended()
