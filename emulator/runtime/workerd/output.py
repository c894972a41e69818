"""What workerd writes: the Worker's console, uncaught exceptions, and what workerd itself has to say.

One line, one JSON object (`structuredLogging`). With --verbose each uncaught exception is told of three times: its
stack, where it came out of JavaScript, and (if a request failed by it) what became of it.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from flarebed.emulator.runtime.http import Frame, WorkerError
from flarebed.emulator.runtime.workerd.own_modules import FOLDER

# src/workerd/io/worker.c++, Worker::Lock::logUncaughtException; io-context.c++; server.c++, handleApplicationError.
_STACK: Final = re.compile(r"uncaught exception; source = [^;]*; (?:stack|exception) = (.*)", re.DOTALL)
_CONFIRMED: Final = re.compile(r"uncaught exception; exception = ")
_FAILED: Final = re.compile(r"Uncaught exception: (?:.*? failed: )?(?:remote\.)*(?:jsg\.)?(.*)", re.DOTALL)
_WARNING: Final = re.compile(r"console warning; (?:message|description) = (.*)", re.DOTALL)
_OURS: Final = re.compile(rf"\({FOLDER}/\w+\.js:")
_OUT_OF_MEMORY: Final = "<--- Last few GCs --->"

Log = Callable[[str, str], None]

_NO_VOICES: Final[Mapping[str, Log]] = {}
_LEVELS: Final = {"debug": "log", "info": "log"}
"""console.debug and console.info are shown as console.log is (wrangler 4.164)."""
_TOLD_WITHIN_MS: Final = 1000
"""How old a stack may be when the failure of its request is told of."""
_PATIENCE_S: Final = 1.0
"""A request's failure is written before the request is answered, so that it is a matter of reading it."""


class Mapper(Protocol):
    """Knows the source of what is in a bundle."""

    def mapped(self, stack: str) -> str: ...

    def frames(self, stack: str) -> list[Frame]:
        """Outermost first."""
        ...


class Mappers:
    """Those of several Workers, whose modules have names of their own."""

    def __init__(self) -> None:
        self._mappers: list[Mapper] = []

    def add(self, mapper: Mapper) -> None:
        self._mappers.append(mapper)

    def mapped(self, stack: str) -> str:
        for mapper in self._mappers:
            stack = mapper.mapped(stack)
        return stack

    def frames(self, stack: str) -> list[Frame]:
        return [frame for mapper in self._mappers for frame in mapper.frames(stack)]


@dataclass(frozen=True, slots=True)
class _Stack:
    time_ms: int
    text: str


class Failures:
    """What requests failed by, in the order in which they failed."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._told: deque[WorkerError] = deque()
        self._waiting: deque[asyncio.Future[WorkerError]] = deque()

    def add(self, error: WorkerError) -> None:
        while self._waiting:
            waiting = self._waiting.popleft()
            if not waiting.done():
                waiting.set_result(error)
                return
        self._told.append(error)
        self._loop.call_later(_PATIENCE_S, self._forget, error)  # its client has gone meanwhile

    async def next(self) -> WorkerError:
        """That of the request which has just failed."""
        if self._told:
            return self._told.popleft()
        waiting: asyncio.Future[WorkerError] = self._loop.create_future()
        self._waiting.append(waiting)
        self._loop.call_later(_PATIENCE_S, self._give_up, waiting)
        return await waiting

    def _forget(self, error: WorkerError) -> None:
        if error in self._told:
            self._told.remove(error)

    def _give_up(self, waiting: asyncio.Future[WorkerError]) -> None:
        if not waiting.done():
            waiting.set_result(WorkerError("Internal Server Error"))


class Output:
    """`voices` are the logs of several Workers by name (`voices.py`); `log(level, text)` gets what is said by none."""

    def __init__(self, loop: asyncio.AbstractEventLoop, log: Log, voices: Mapping[str, Log] = _NO_VOICES) -> None:
        self.mappers = Mappers()
        self.failures = Failures(loop)
        self._log = log
        self._voices = voices
        names = "|".join(map(re.escape, voices))
        self._spoken = re.compile(rf"\x01({names})\x01 ?(.*)", re.DOTALL)
        self._place = re.compile(rf"\n    at [^\n]*?(?<![^\s(])({names})/[^\n]*:\d+:\d+")
        self._stacks: deque[_Stack] = deque(maxlen=100)
        self._unconfirmed = ""
        self._loop = loop
        self._waiting: list[asyncio.Future[None]] = []

    def line(self, text: str) -> None:
        try:
            entry: dict[str, Any] = json.loads(text)
        except ValueError:
            self._last_words(text)
            return
        level, message, time_ms = entry["level"], entry["message"], int(entry["timestamp"])
        if "source" not in entry:
            self._say(_LEVELS.get(level, level), message)
        elif (stack := _STACK.fullmatch(message)) is not None:
            self._uncaught(stack[1], time_ms)
        elif _CONFIRMED.match(message) is not None:
            self._unconfirmed = ""
        elif (failed := _FAILED.fullmatch(message)) is not None:
            self._failed(failed[1], time_ms)
        elif (warning := _WARNING.fullmatch(message)) is not None:
            self._log("warn", self.mappers.mapped(warning[1]))
        else:
            self._log("debug", message)

    async def thrown(self) -> str:
        """The stack of an exception that no request has failed by: a handler of another kind has just thrown it."""
        if not self._stacks:
            told: asyncio.Future[None] = self._loop.create_future()
            self._waiting.append(told)
            timer = self._loop.call_later(_PATIENCE_S, told.cancel)
            await asyncio.wait([told])
            timer.cancel()
        return self._stacks.pop().text if self._stacks else ""

    def _last_words(self, text: str) -> None:
        """Not JSON: V8 or the runtime below it says what ends the process, mostly in addresses of its code."""
        if text == _OUT_OF_MEMORY:
            self._log("error", "The Worker has run out of memory.")
        else:
            self._log("error" if text.startswith("***") else "debug", text)

    def _uncaught(self, stack: str, time_ms: int) -> None:
        """The same stack twice before it is confirmed is one exception, on its way through a stream."""
        if stack == self._unconfirmed:
            return
        self._unconfirmed = stack
        if _OURS.search(stack) is not None:
            self._log("debug", stack)
            return
        found = self._place.search(stack) if self._voices else None
        if self._voices and found is None and any(told.text.startswith(stack) for told in self._stacks):
            return  # it has come from one Worker to another, without its places
        self._stacks.append(_Stack(time_ms, stack))
        log = self._log if found is None else self._voices[found[1]]
        log("error", f"Uncaught {self.mappers.mapped(stack)}")
        for told in self._waiting:
            if not told.done():
                told.set_result(None)
        self._waiting.clear()

    def _say(self, level: str, message: str) -> None:
        """A line of a Worker's console."""
        spoken = self._spoken.fullmatch(message) if self._voices else None
        log, text = (self._log, message) if spoken is None else (self._voices[spoken[1]], spoken[2])
        log(level, self.mappers.mapped(text))

    def _failed(self, description: str, time_ms: int) -> None:
        """`description` is the exception's name and message."""
        plain = description.removeprefix("Error: ")
        for stack in list(self._stacks):
            if time_ms - stack.time_ms > _TOLD_WITHIN_MS:
                self._stacks.remove(stack)
            elif stack.text.startswith((description, plain)):
                self._stacks.remove(stack)
                thrown_an_error = "\n    at " in stack.text or stack.text.startswith(description)
                self.failures.add(self._error(stack.text if thrown_an_error else description))
                return
        self._log("error", f"Uncaught {description}")
        self.failures.add(self._error(description))

    def _error(self, text: str) -> WorkerError:
        return WorkerError(self.mappers.mapped(text), frames=self.mappers.frames(text))
