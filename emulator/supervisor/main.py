"""The supervisor: one listening socket, one terminal, and whichever process runs the Worker's newest code.

A reload: a new process imports the Worker (`coming`); if it can, the old one (`current`) stops owning and gives its
connections back, the new one begins, the old one ends after its last request (`leaving`). If it can't, the old one
serves on. Connections that belong to nobody at that moment are kept here (`parked`).
"""

from __future__ import annotations

import asyncio
import signal
import socket
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from flarebed.emulator.supervisor.files import as_read, from_json, is_source, is_younger, signature, signatures, sources
from flarebed.emulator.supervisor.forkserver import ForkServer
from flarebed.emulator.supervisor.launch import STACK_SIGNAL, Launch
from flarebed.emulator.supervisor.messages import Message
from flarebed.emulator.supervisor.runtimes import Launcher, Runtime
from flarebed.emulator.supervisor.terminal import KEYS_HINT, Terminal, bindings_table, cron_notice, time_notice
from flarebed.emulator.supervisor.watch import Watcher, folders

_DISOWN_S: Final = 0.5
"""How long a reload waits for the old process to stop owning. After that it is busy or stuck: the new one serves."""
_LAST_REQUEST_S: Final = 30.0
_STOP_S: Final = 5.0
_RELEASE_S: Final = 5.0
"""For how long a request may hold up a command that replaces the state (presence.PATIENCE_S is longer)."""
_PING_S: Final = 5.0
_HUNG_S: Final = 30.0
_EMPTY_FILE_S: Final = 0.02
"""An editor that truncates before it writes is given this long."""
_SHORT_LIFE_S: Final = 2.0
_LONGEST_PAUSE_S: Final = 10.0
_TWICE_S: Final = 1.0


class Supervisor:
    def __init__(
        self, launch: Launch, server: ForkServer, listener: socket.socket, url: str, loop: asyncio.AbstractEventLoop
    ) -> None:
        self.ended: asyncio.Future[int] = loop.create_future()
        self._loop = loop
        self._launch = launch
        self._listener = listener
        self._url = url
        self._terminal = Terminal(loop, self._pressed)
        self._launcher = Launcher(server, loop, self._told, self._exited, self._debugger, self._lost)
        self._watcher: Watcher | None = None
        self._root = Path(launch.folder)
        self._current: Runtime | None = None
        self._coming: Runtime | None = None
        self._leaving: set[Runtime] = set()
        self._parked: list[tuple[int, bytes]] = []
        self._shown_bindings: list[list[str]] | None = None
        self._due: asyncio.TimerHandle | None = None
        self._may_wait = True
        self._short_lives = 0
        self._stopping = False
        self._code = 0
        self._interrupted_s = 0.0

    def start(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self._loop.add_signal_handler(number, self._signalled, number)
        self._spawn()
        self._loop.call_later(_PING_S, self._ping)

    def reload(self) -> None:
        """Begin a new process from the files as they are now."""
        if self._stopping:
            return
        self._promote()
        if self._coming is not None:
            if self._coming.debugging:
                return
            self._coming.kill()  # it serves nobody yet
            self._coming = None
        if self._current is not None and self._current.hung and not self._current.debugging:
            self._current.kill()
        self._spawn()

    def release(self) -> None:
        """Let go of the state, whose files are to be replaced. A new process waits until that is done (presence.py),
        and requests with it. What stands in a debugger stays; then nothing is replaced.
        """
        if self._stopping or any(runtime.debugging for runtime in self._alive()):
            return
        self._terminal.say("info", "The state is being replaced: the Worker starts anew on it")
        retires = self._coming is not None and self._coming.ready
        if self._coming is not None:
            self._coming.kill()
            self._coming = None
        if self._current is not None:
            if not retires:
                self._current.tell({"do": "retire"})
            self._leaving.add(self._current)
            self._current = None
        for runtime in self._leaving:
            self._loop.call_later(_RELEASE_S, self._last_request_over, runtime)
        self._spawn()

    def stop(self, code: int = 0) -> None:
        """End all processes, then resolve `ended`."""
        if self._stopping:
            return
        self._stopping = True
        self._code = code
        self._terminal.leave_keys()
        for runtime in self._alive():
            if runtime is self._current and not runtime.debugging and not runtime.hung:
                runtime.tell({"do": "stop"})
            else:
                runtime.kill()
        self._loop.call_later(0 if not self._alive() else _STOP_S, self._end, code)

    # Processes

    def _spawn(self) -> None:
        newest = self._current
        paths = newest.known.keys() if newest is not None else ()
        known = signatures(paths)
        born_ns = time.time_ns()  # compared with the files' own times, which no clock of ours gives
        replaces = newest is not None and not newest.broken
        self._coming = self._launcher.spawn(self._launch, self._listener, known, born_ns, replaces=replaces)

    def _told(self, runtime: Runtime, message: Message) -> None:
        fields = message.fields
        match fields["is"]:
            case "ready":
                self._ready(runtime, message)
            case "failed":
                self._failed(runtime)
            case "connection":
                self._returned(runtime, message.fds[0], message.payload)
            case "disowned":
                if runtime is self._current:
                    self._promote()
            case "files":
                runtime.known.update(from_json(fields["known"]))
                self._watch()
            case "pong":
                runtime.answered_s = self._loop.time()

    def _ready(self, runtime: Runtime, message: Message) -> None:
        fields = message.fields
        runtime.ready = True
        runtime.broken = fields["broken"]
        runtime.known = from_json(fields["known"])
        runtime.answered_s = self._loop.time()
        if runtime is not self._coming:
            return
        self._root = Path(fields["root"])
        self._announce(runtime, fields)
        if self._current is None or self._current.hung:
            self._promote()
        else:
            self._current.tell({"do": "retire"})
            self._loop.call_later(_DISOWN_S, self._promote, runtime)

    def _promote(self, expected: Runtime | None = None) -> None:
        """The new process takes over, as soon as it is ready and the old one no longer owns."""
        coming = self._coming
        if coming is None or not coming.ready or expected not in (None, coming):
            return
        if self._current is not None:
            self._leaving.add(self._current)
            self._loop.call_later(_LAST_REQUEST_S, self._last_request_over, self._current)
        self._current, self._coming = coming, None
        coming.tell({"do": "serve"})
        self._give_parked(coming)
        self._watch()

    def _failed(self, runtime: Runtime) -> None:
        """The new code can't run: the old serves on, knowing that there is newer."""
        if runtime is not self._coming:
            return
        self._coming = None
        if self._current is None:
            self._restart_after_pause()
        else:
            known = as_read({*runtime.known, *map(str, sources(self._root))}, runtime.known, runtime.born_ns)
            self._current.tell({"do": "accept", "known": known})
            self._current.known.update(known)
            self._give_parked(self._current)
            self._terminal.say("warn", "The last version that worked is still being served.")

    def _exited(self, runtime: Runtime, code: int) -> None:
        self._leaving.discard(runtime)
        if self._stopping:
            if all(other is runtime or not other.pid for other in self._alive()):
                self._end(self._code)
        elif runtime is self._coming:
            self._died_at_its_start(runtime, f"The Worker's process {_how(code)} while it was starting.")
        elif runtime is self._current:
            self._current = None
            if self._coming is None:
                self._terminal.say("warn", f"The Worker's process {_how(code)} and is being restarted.")
                lived_s = (time.time_ns() - runtime.born_ns) / 1e9
                self._short_lives = self._short_lives + 1 if lived_s < _SHORT_LIFE_S else 0
                self._restart_after_pause()
            else:
                self._promote()

    def _died_at_its_start(self, runtime: Runtime, text: str) -> None:
        """It would do so again: if nothing better is there, a process that has not read the Worker serves the error."""
        self._terminal.say("error", text)
        if runtime.stands_in:
            self._short_lives += 1
            self._failed(runtime)
        elif self._current is None or self._current.broken:
            self._coming = self._launcher.spawn(
                self._launch, self._listener, runtime.known, runtime.born_ns, failure=text
            )
        else:
            self._failed(runtime)

    def _restart_after_pause(self) -> None:
        """At once the first time; a Worker that ends at every start is tried ever more rarely."""
        pause_s = min(_LONGEST_PAUSE_S, 0.1 * 2**self._short_lives) if self._short_lives else 0.0
        self._loop.call_later(pause_s, self._restart)

    def _restart(self) -> None:
        if self._current is None and self._coming is None:
            self.reload()

    def _last_request_over(self, runtime: Runtime) -> None:
        if runtime in self._leaving and not runtime.debugging:
            self._terminal.say("warn", "An old version of the Worker was still busy and has been ended.")
            runtime.kill()

    def _alive(self) -> list[Runtime]:
        runtimes = (self._current, self._coming, *self._leaving)
        return [runtime for runtime in runtimes if runtime is not None]

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

    # Connections

    def _returned(self, runtime: Runtime, fd: int, data: bytes) -> None:
        """A process does not want to answer this connection with its code."""
        if runtime is not self._current and self._current is not None:
            self._current.tell({"do": "connection"}, data, (fd,))
            return
        self._parked.append((fd, data))
        if self._coming is None:
            self._reload_when_written(runtime.known)

    def _give_parked(self, runtime: Runtime) -> None:
        parked, self._parked = self._parked, []
        for fd, data in parked:
            runtime.tell({"do": "connection"}, data, (fd,))

    # Files

    def _watch(self) -> None:
        newest = self._current
        paths = folders(self._root, newest.known if newest is not None else ())
        if self._watcher is not None:
            if self._watcher.paths == paths:
                return
            self._watcher.close()
        self._watcher = Watcher(paths, self._loop, self._changed)

    def _changed(self, paths: set[str]) -> None:
        newest = self._coming or self._current
        if newest is None:
            self.reload()
            return
        if any(Path(path).is_dir() for path in paths):
            self._watch()
        changed = [path for path in paths if _differs(path, newest)]
        if changed:
            self._reload_when_written(changed)

    def _reload_when_written(self, paths: Iterable[str]) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None
        if any(_is_empty(path) for path in paths) and self._may_wait:
            self._may_wait = False
            self._due = self._loop.call_later(_EMPTY_FILE_S, self._reload_when_written, list(paths))
        else:
            self._may_wait = True
            self.reload()

    # Health and people

    def _ping(self) -> None:
        self._loop.call_later(_PING_S, self._ping)
        runtime = self._current
        if runtime is None or runtime.debugging or self._stopping:
            return
        silent_s = self._loop.time() - runtime.answered_s
        if silent_s > _HUNG_S and not runtime.hung:
            runtime.hung = True
            self._terminal.say(
                "warn",
                f"The Worker has not let go of its process for {silent_s:.0f} s. It is restarted when a file changes, "
                "or with the key r. This is where it is:",
            )
            runtime.signal(STACK_SIGNAL)
        runtime.tell({"do": "ping"})

    def _debugger(self, runtime: Runtime) -> None:
        if runtime.debugging:
            self._terminal.leave_keys()
        elif not any(other.debugging for other in self._alive()) and not self._stopping:
            runtime.answered_s = self._loop.time()
            self._terminal.read_keys()

    def _signalled(self, number: signal.Signals) -> None:
        now_s = self._loop.time()
        twice = now_s - self._interrupted_s < _TWICE_S
        self._interrupted_s = now_s
        if self._stopping:
            self._end(self._code)
        elif number is signal.SIGINT and not twice and any(runtime.debugging for runtime in self._alive()):
            pass  # it is the debugger's
        else:
            self.stop()

    def _pressed(self, key: str) -> None:
        match key.lower():
            case "x" | "\x03" | "\x04":
                self.stop()
            case "r":
                self._short_lives = 0
                self.reload()
            case "c":
                self._terminal.clear()

    def _announce(self, runtime: Runtime, fields: dict[str, Any]) -> None:
        first = self._shown_bindings is None
        for notice in fields["notices"]:
            self._terminal.say("log", notice)
        for warning in fields["warnings"]:
            self._terminal.say("warn", warning)
        rows = [list(row) for table in fields["bindings"].values() for row in table]
        if rows != self._shown_bindings and not runtime.broken:
            self._terminal.say("log", bindings_table(rows))
        if first:
            if fields["crons"]:
                self._terminal.say("warn", cron_notice(self._url))
            if fields.get("time"):
                self._terminal.say("log", time_notice(fields["time"]))
            self._terminal.say("info", f"Ready on {self._url}")
            if self._terminal.read_keys():
                self._terminal.say("log", KEYS_HINT)
        elif not runtime.broken:
            self._terminal.say("info", "Reloaded")
        self._shown_bindings = rows


def _differs(path: str, runtime: Runtime) -> bool:
    now = signature(path)
    if path in runtime.known:
        return now != runtime.known[path]
    return is_source(path) and is_younger(now, runtime.born_ns)


def _is_empty(path: str) -> bool:
    found = signature(path)
    return found is not None and found[1] == 0


def _how(code: int) -> str:
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
