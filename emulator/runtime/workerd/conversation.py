"""Calls to and from `js/control.js`, in one HTTP exchange whose request and answer are both streams of JSON lines.

Each side numbers what the other may call (0 is what the exchange is about) and its own calls:

    {"id": 1, "call": [0, "run", [...]]}      call a method, or with null in its place the function itself
    {"id": 1, "value": ...}                   the answer to a call, or
    {"id": 1, "error": ...}

All that happens in one conversation happens in one request context of workerd; ending it ends that.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any

from flarebed.bindings.clock import Clock
from flarebed.bindings.errors import JsError
from flarebed.emulator.runtime.workerd import wire
from flarebed.emulator.runtime.workerd.http_client import LOST, HttpClient


class Attention:
    """Whether it is workerd's turn in a run: as long as it is, that is an operation outside for the clock.

    It is, unless the run waits for our answers (a step that sleeps, say) and none of its functions is being called.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._asked = 0
        self._asking = -1  # the call of the run itself
        self._counts = 0

    def __enter__(self) -> Attention:
        self._settle()
        return self

    def __exit__(self, *_: object) -> None:
        self._clock.outside -= self._counts
        self._counts = 0

    def asked(self, change: int) -> None:
        """The run has called us, or has been answered."""
        self._asked += change
        self._settle()

    def asking(self, change: int) -> None:
        """A function of the run's is called, or has returned."""
        self._asking += change
        self._settle()

    def _settle(self) -> None:
        counts = int(self._asking > 0 or not self._asked)
        self._clock.outside += counts - self._counts
        self._counts = counts


class Conversation:
    """Use it as `async with`: left by an exception, it hangs up."""

    def __init__(
        self, client: HttpClient, loop: asyncio.AbstractEventLoop, path: str, attention: Attention | None = None
    ) -> None:
        self._client = client
        self._loop = loop
        self._path = path
        self._attention = attention
        self._outgoing: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._numbers = itertools.count(1)
        self._exports: dict[int, Any] = {}
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._reading: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Conversation:
        self._reading = self._loop.create_task(self._read())
        return self

    async def __aexit__(self, kind: object, error: object, traceback: object) -> None:
        self._outgoing.put_nowait(None)
        for task in list(self._tasks):
            task.cancel()
        if error is not None and self._reading is not None:
            self._reading.cancel()

    async def call(self, target: int, method: str | None, *arguments: Any) -> Any:
        """What the other side's function returns; raises the JsError that it throws."""
        number = next(self._numbers)
        answer = self._waiting[number] = self._loop.create_future()
        self._say({"id": number, "call": [target, method, wire.to_wire(arguments, self.export)]})
        if self._attention is not None:
            self._attention.asking(+1)
        try:
            return await answer
        finally:
            del self._waiting[number]
            if self._attention is not None:
                self._attention.asking(-1)

    def function(self, number: int) -> Callable[..., Awaitable[Any]]:
        """A function of the other side."""
        return partial(self.call, number, None)

    def export(self, value: Any) -> int:
        """A number by which the other side may call `value`, or its methods."""
        number = next(self._numbers)
        self._exports[number] = value
        return number

    def _say(self, line: dict[str, Any]) -> None:
        self._outgoing.put_nowait(wire.dumps(line).encode() + b"\n")

    async def _lines(self) -> AsyncIterator[bytes]:
        while (line := await self._outgoing.get()) is not None:
            yield line

    async def _read(self) -> None:
        try:
            answer = await self._client.send("POST", self._path, [("host", "control")], self._lines())
            assert not isinstance(answer.body, bytes)
            rest = b""
            async for chunk in answer.body:
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    self._heard(json.loads(line))
        except ConnectionError:
            pass
        finally:
            for waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(JsError(LOST))

    def _heard(self, line: dict[str, Any]) -> None:
        if "call" in line:
            if self._attention is not None:
                self._attention.asked(+1)
            task = self._loop.create_task(self._answer(line["id"], *line["call"]))
            self._tasks.add(task)
            task.add_done_callback(self._answered)
            return
        waiting = self._waiting.get(line["id"])
        if waiting is None or waiting.done():
            return
        if "error" in line:
            waiting.set_exception(wire.thrown(wire.from_wire(line["error"], self.function)))
        else:
            waiting.set_result(wire.from_wire(line["value"], self.function))

    def _answered(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if self._attention is not None:
            self._attention.asked(-1)

    async def _answer(self, number: int, target: int, method: str | None, arguments: list[Any]) -> None:
        called = self._exports[target]
        function = called if method is None else getattr(called, method)
        try:
            value = await function(*wire.from_wire(arguments, self.function))
        except JsError as error:
            self._say({"id": number, "error": wire.error_to_wire(error, self.export)})
        else:
            self._say({"id": number, "value": wire.to_wire(value, self.export)})
