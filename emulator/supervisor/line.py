"""A line of processes: one after the other they run the newest code of a Worker, or of all that are in JavaScript.

A reload: a new process imports the Worker (`coming`); if it can, the old one (`current`) stops owning and gives its
connections back, the new one begins, the old one ends after its last request (`leaving`). If it can't, the old one
serves on. Connections that belong to nobody at that moment are kept here (`parked`).
"""

from __future__ import annotations

import asyncio
import signal
import socket
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from flarebed.emulator.supervisor.files import (
    Signature,
    as_read,
    differ,
    from_json,
    is_source,
    is_younger,
    signature,
    signatures,
    sources,
)
from flarebed.emulator.supervisor.launch import STACK_SIGNAL, Launch
from flarebed.emulator.supervisor.messages import Message
from flarebed.emulator.supervisor.named_output import named
from flarebed.emulator.supervisor.runtimes import Launcher, Runtime
from flarebed.emulator.supervisor.watch import Watcher, folders

_DISOWN_S: Final = 0.5
"""How long a reload waits for the old process to stop owning. After that it is busy or stuck: the new one serves."""
_LAST_REQUEST_S: Final = 30.0
_RELEASE_S: Final = 5.0
"""For how long a request may hold up a command that replaces the state (presence.PATIENCE_S is longer)."""
_PING_S: Final = 5.0
_HUNG_S: Final = 30.0
_EMPTY_FILE_S: Final = 0.02
_MOST_LOOKS: Final = 10
"""An editor that truncates before it writes is given so many times this long, since the machine may be busy."""
_SHORT_LIFE_S: Final = 2.0
_LONGEST_PAUSE_S: Final = 10.0


class Line:
    """`say(level, text)` is the terminal's; `on_ready(line, fields)` hears what a new process says of itself,
    `on_stale()` that a request waits for newer code, `on_settled()` that what is known of files has changed,
    `on_debugger(runtime)` that `runtime.debugging` has changed, `on_exit()` of each end after `stop`.

    The first process waits for `begin`.
    """

    def __init__(
        self,
        launch: Launch,
        listener: socket.socket | None,
        launcher: Launcher,
        loop: asyncio.AbstractEventLoop,
        say: Callable[[str, str], None],
        on_ready: Callable[[Line, dict[str, Any]], None],
        on_stale: Callable[[], None],
        on_settled: Callable[[], None],
        on_debugger: Callable[[Runtime], None],
        on_exit: Callable[[], None],
    ) -> None:
        self.launch = launch
        self._listener = listener
        self._launcher = launcher
        self._loop = loop
        self._terminal_say = say
        self._on_ready = on_ready
        self._on_stale = on_stale
        self._on_settled = on_settled
        self._on_debugger = on_debugger
        self._on_exit = on_exit
        self._watcher: Watcher | None = None
        self._roots = launch.folders()
        self._current: Runtime | None = None
        self._coming: Runtime | None = None
        self._leaving: set[Runtime] = set()
        self._parked: list[tuple[int, bytes]] = []
        self._due: asyncio.TimerHandle | None = None
        self._looks = 0
        self._short_lives = 0
        self._may_begin = False
        self._stopping = False

    def start(self) -> None:
        self._spawn()
        self._loop.call_later(_PING_S, self._ping)

    def begin(self) -> None:
        """All lines have something to serve."""
        self._may_begin = True
        self._promote()

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

    def reload_by_hand(self) -> None:
        self._short_lives = 0
        self.reload()

    def release(self) -> None:
        """Let go of the state, for a new process that waits until its files are replaced (presence.py)."""
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

    def stop(self) -> None:
        """End all processes."""
        self._stopping = True
        for runtime in self.alive():
            if runtime is self._current and not runtime.debugging and not runtime.hung:
                runtime.tell({"do": "stop"})
            else:
                runtime.kill()

    def alive(self) -> list[Runtime]:
        runtimes = (self._current, self._coming, *self._leaving)
        return [runtime for runtime in runtimes if runtime is not None]

    def say(self, level: str, text: str) -> None:
        """With the names of the line's Workers, if there are other lines."""
        self._terminal_say(level, named(self.launch.names, text))

    # Processes

    def _spawn(self) -> None:
        newest = self._current
        paths = newest.known.keys() if newest is not None else ()
        known = signatures(paths)
        born_ns = time.time_ns()  # compared with the files' own times, which no clock of ours gives
        replaces = newest is not None and not newest.broken
        self._coming = self._launcher.spawn(self, self.launch, self._listener, known, born_ns, replaces=replaces)

    def told(self, runtime: Runtime, message: Message) -> None:
        fields = message.fields
        match fields["is"]:
            case "ready":
                self._ready(runtime, fields)
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
                self._on_settled()
            case "pong":
                runtime.answered_s = self._loop.time()

    def _ready(self, runtime: Runtime, fields: dict[str, Any]) -> None:
        runtime.ready = True
        runtime.broken = fields["broken"]
        runtime.known = from_json(fields["known"])
        runtime.answered_s = self._loop.time()
        if runtime is not self._coming:
            return
        self._roots = [Path(root) for root in fields["roots"]]
        self._on_ready(self, fields)
        if self._coming is not runtime:
            return  # it was the last to be waited for, and has begun
        if self._current is None or self._current.hung:
            self._promote()
        else:
            self._current.tell({"do": "retire"})
            self._loop.call_later(_DISOWN_S, self._promote, runtime)

    def _promote(self, expected: Runtime | None = None) -> None:
        """The new process takes over, as soon as it is ready and the old one no longer owns."""
        coming = self._coming
        if not self._may_begin or coming is None or not coming.ready or expected not in (None, coming):
            return
        if self._current is not None:
            self._leaving.add(self._current)
            self._loop.call_later(_LAST_REQUEST_S, self._last_request_over, self._current)
        self._current, self._coming = coming, None
        coming.tell({"do": "serve"})
        self._give_parked(coming)
        self._watch()
        self._on_settled()

    def _failed(self, runtime: Runtime) -> None:
        """The new code can't run: the old serves on, knowing that there is newer."""
        if runtime is not self._coming:
            return
        self._coming = None
        if self._current is None:
            self._restart_after_pause()
        else:
            below = map(str, sources(self._roots))
            known = as_read({*runtime.known, *below}, runtime.known, runtime.born_ns)
            self._current.tell({"do": "accept", "known": known})
            self._current.known.update(known)
            self._give_parked(self._current)
            self.say("warn", "The last version that worked is still being served.")
            self._on_settled()

    def exited(self, runtime: Runtime, code: int) -> None:
        self._leaving.discard(runtime)
        if self._stopping:
            self._on_exit()
        elif runtime is self._coming:
            self._died_at_its_start(runtime, f"The Worker's process {_how(code)} while it was starting.")
        elif runtime is self._current:
            self._current = None
            if self._coming is None:
                self.say("warn", f"The Worker's process {_how(code)} and is being restarted.")
                lived_s = (time.time_ns() - runtime.born_ns) / 1e9
                self._short_lives = self._short_lives + 1 if lived_s < _SHORT_LIFE_S else 0
                self._restart_after_pause()
            else:
                self._promote()

    def _died_at_its_start(self, runtime: Runtime, text: str) -> None:
        """It would do so again: if nothing better is there, a process that has not read the Worker serves the error."""
        self.say("error", text)
        if runtime.stands_in:
            self._short_lives += 1
            self._failed(runtime)
        elif self._current is None or self._current.broken:
            self._coming = self._launcher.spawn(
                self, self.launch, self._listener, runtime.known, runtime.born_ns, failure=text
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
            self.say("warn", "An old version of the Worker was still busy and has been ended.")
            runtime.kill()

    # Connections

    def _returned(self, runtime: Runtime, fd: int, data: bytes) -> None:
        """A process does not want to answer this connection with its code."""
        if runtime is not self._current and self._current is not None:
            self._current.tell({"do": "connection"}, data, (fd,))
            return
        self._parked.append((fd, data))
        if self._coming is None:
            self._on_stale()

    def go_on(self, beside: Mapping[str, Signature]) -> None:
        """Requests that waited for Workers of other lines need not; `beside` are the files of these as they are now."""
        if self._current is not None:
            self._current.tell({"do": "beside", "known": beside})
            if self._coming is None:
                self._give_parked(self._current)

    def _give_parked(self, runtime: Runtime) -> None:
        parked, self._parked = self._parked, []
        for fd, data in parked:
            runtime.tell({"do": "connection"}, data, (fd,))

    # Files

    def known(self) -> Mapping[str, Signature]:
        """What the process that serves was made from."""
        return {} if self._current is None else self._current.known

    def is_stale(self) -> bool:
        """Whether its files have changed and no reload has begun."""
        return not self.is_reloading() and differ(self.known())

    def is_reloading(self) -> bool:
        return self._coming is not None or self._due is not None

    def reload_when_written(self) -> None:
        """As `reload`, but an editor may be about to write."""
        self._reload_when_written(self.known())

    def _watch(self) -> None:
        newest = self._current
        paths = folders(self._roots, newest.known if newest is not None else ())
        if self._watcher is not None:
            if self._watcher.paths == paths:
                return
            self._watcher.close()
        self._watcher = Watcher(paths, self._loop, self.changed)

    def changed(self, paths: set[str]) -> None:
        """The system says that these may have."""
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
        if any(_is_empty(path) for path in paths) and self._looks < _MOST_LOOKS:
            self._looks += 1
            self._due = self._loop.call_later(_EMPTY_FILE_S, self._reload_when_written, list(paths))
        else:
            self._looks = 0
            self.reload()

    # Health

    def _ping(self) -> None:
        self._loop.call_later(_PING_S, self._ping)
        runtime = self._current
        if runtime is None or runtime.debugging or self._stopping:
            return
        silent_s = self._loop.time() - runtime.answered_s
        if silent_s > _HUNG_S and not runtime.hung:
            runtime.hung = True
            self.say(
                "warn",
                f"The Worker has not let go of its process for {silent_s:.0f} s. It is restarted when a file changes, "
                "or with the key r. This is where it is:",
            )
            runtime.signal(STACK_SIGNAL)
        runtime.tell({"do": "ping"})

    def prompted(self, runtime: Runtime) -> None:
        """A debugger has begun to prompt, or has ended."""
        if not runtime.debugging:
            runtime.answered_s = self._loop.time()
        self._on_debugger(runtime)


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
