"""The supervisor: one listening socket, one terminal, and a line of processes for each Worker of the command; those in
JavaScript are one line.
"""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Sequence
from typing import Any, Final

from flarebed.emulator.supervisor.forkserver import ForkServer
from flarebed.emulator.supervisor.launch import Launch
from flarebed.emulator.supervisor.line import Line
from flarebed.emulator.supervisor.runtimes import Launcher, Runtime
from flarebed.emulator.supervisor.terminal import KEYS_HINT, Terminal, bindings_table, cron_notice, time_notice

_STOP_S: Final = 5.0
_TWICE_S: Final = 1.0


class Supervisor:
    """`launches` are what the lines start; requests are for the first."""

    def __init__(
        self,
        launches: Sequence[Launch],
        server: ForkServer,
        listener: socket.socket,
        url: str,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self.ended: asyncio.Future[int] = loop.create_future()
        self._loop = loop
        self._url = url
        self._terminal = Terminal(loop, self._pressed)
        launcher = Launcher(server, loop, self._lost)
        self.lines = [
            Line(
                launch, None if number else listener, launcher, loop, self._terminal.say, self._ready, self._stale,
                self._settled, self._prompted, self._exited,
            )
            for number, launch in enumerate(launches)
        ]  # fmt: skip
        self._shown: dict[Line, dict[str, Any]] = {}
        self._crons = False
        self._stopping = False
        self._code = 0
        self._interrupted_s = 0.0

    def start(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self._loop.add_signal_handler(number, self._signalled, number)
        for line in self.lines:
            line.start()

    def release(self) -> None:
        """Let go of the state, whose files are to be replaced. New processes wait until that is done (presence.py), and
        requests with them. What stands in a debugger stays; then nothing is replaced.
        """
        if self._stopping or self._is_debugging():
            return
        self._terminal.say("info", "The state is being replaced: the Worker starts anew on it")
        for line in self.lines:
            line.release()

    def stop(self, code: int = 0) -> None:
        """End all processes, then resolve `ended`."""
        if self._stopping:
            return
        self._stopping = True
        self._code = code
        self._terminal.leave_keys()
        for line in self.lines:
            line.stop()
        self._loop.call_later(0 if not self._alive() else _STOP_S, self._end, code)

    def _alive(self) -> list[Runtime]:
        return [runtime for line in self.lines for runtime in line.alive()]

    def _exited(self) -> None:
        if not any(runtime.pid for runtime in self._alive()):
            self._end(self._code)

    def _lost(self) -> None:
        if not self._stopping:
            self._terminal.say("error", "The process that starts the Worker is gone.")
            self._stopping = True
            self._end(1)

    def _end(self, code: int) -> None:
        for runtime in self._alive():
            runtime.kill()
        self._terminal.restore()
        if not self.ended.done():
            self.ended.set_result(code)

    # Reloads that a request waits for

    def _stale(self) -> None:
        """A request has come to the first line after an edit: it waits for all that may be asked on its behalf."""
        first, *others = self.lines
        stale = [line for line in self.lines if line.is_stale()] if others else [first]
        for line in stale:
            line.reload_when_written()
        if not stale:
            self._settled()

    def _settled(self) -> None:
        first, *others = self.lines
        if others and not any(line.is_reloading() for line in others):
            first.go_on({path: known for line in others for path, known in line.known().items()})

    # What is said

    def _ready(self, line: Line, fields: dict[str, Any]) -> None:
        for notice in fields["notices"]:
            self._terminal.say("log", notice)
        for warning in fields["warnings"]:
            self._terminal.say("warn", warning)
        self._show_bindings(line, fields)
        is_first = line not in self._shown
        self._shown[line] = fields
        if not is_first:
            if not fields["broken"]:
                line.say("info", "Reloaded")
        elif len(self._shown) == len(self.lines):
            self._begin()

    def _show_bindings(self, line: Line, fields: dict[str, Any]) -> None:
        tables = fields["bindings"]
        before = self._shown.get(line, {}).get("bindings")
        if fields["broken"] or tables == before:
            return
        for name, rows in tables.items():
            if not line.launch.names:
                self._terminal.say("log", bindings_table(rows))
            elif rows:
                self._terminal.say("log", bindings_table(rows, name))

    def _begin(self) -> None:
        """All lines have something to serve."""
        firsts = self._shown.values()
        if any(fields["crons"] for fields in firsts):
            self._terminal.say("warn", cron_notice(self._url))
        for fields in firsts:
            if fields.get("time"):
                self._terminal.say("log", time_notice(fields["time"]))
        self._terminal.say("info", f"Ready on {self._url}")
        if self._terminal.read_keys():
            self._terminal.say("log", KEYS_HINT)
        for line in self.lines:
            line.begin()

    # People

    def _is_debugging(self) -> bool:
        return any(runtime.debugging for runtime in self._alive())

    def _prompted(self, runtime: Runtime) -> None:
        if runtime.debugging:
            self._terminal.leave_keys()
        elif not self._is_debugging() and not self._stopping:
            self._terminal.read_keys()

    def _signalled(self, number: signal.Signals) -> None:
        now_s = self._loop.time()
        twice = now_s - self._interrupted_s < _TWICE_S
        self._interrupted_s = now_s
        if self._stopping:
            self._end(self._code)
        elif number is signal.SIGINT and not twice and self._is_debugging():
            pass  # it is the debugger's
        else:
            self.stop()

    def _pressed(self, key: str) -> None:
        match key.lower():
            case "x" | "\x03" | "\x04":
                self.stop()
            case "r":
                for line in self.lines:
                    line.reload_by_hand()
            case "c":
                self._terminal.clear()
