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
from flarebed.bindings.values import Function
from flarebed.emulator.runtime.stub import Stub
from flarebed.emulator.runtime.workerd import wire
from flarebed.emulator.runtime.workerd.http_client import LOST, Headers, HttpClient

Way = Callable[[AsyncIterator[bytes]], Awaitable[AsyncIterator[bytes]]]
"""Takes our lines to the other side, and gives its lines (in chunks)."""


def over(client: HttpClient, target: str, headers: Headers) -> Way:
    """The caller's way: a request whose body are our lines, and whose answer's body are the other side's."""

    async def way(lines: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        answer = await client.send("POST", target, headers, lines)
        return _whole(answer.body) if isinstance(answer.body, bytes) else answer.body

    return way


async def _whole(body: bytes) -> AsyncIterator[bytes]:
    yield body


async def answering(root: Any, chunks: AsyncIterator[bytes], loop: asyncio.AbstractEventLoop) -> AsyncIterator[bytes]:
    """The called side, whose lines are the answer; left before its end, all that goes on in it is given up."""

    async def way(_: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        return chunks

    async with Conversation(way, loop, root=root) as conversation:
        async for line in conversation.lines():
            yield line


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
        self, way: Way, loop: asyncio.AbstractEventLoop, attention: Attention | None = None, root: Any = None
    ) -> None:
        """`root` has the methods that the other side's calls of 0 are for."""
        self._way = way
        self._loop = loop
        self._attention = attention
        self.is_shared = False
        """Whether one side has a function of the other's."""
        self._outgoing: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._numbers = itertools.count(1)
        self._exports: dict[int, Any] = {0: root}
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

    def function(self, number: int) -> Stub:
        """A function of the other side."""
        self.is_shared = True
        return Stub(partial(self.call, number))

    def export(self, value: Any) -> int:
        """A number by which the other side may call `value`, or its methods."""
        self.is_shared = True
        number = next(self._numbers)
        self._exports[number] = value
        return number

    def _say(self, line: dict[str, Any]) -> None:
        self._outgoing.put_nowait(wire.dumps(line).encode() + b"\n")

    async def lines(self) -> AsyncIterator[bytes]:
        """What we say."""
        while (line := await self._outgoing.get()) is not None:
            yield line

    async def _read(self) -> None:
        try:
            rest = b""
            async for chunk in await self._way(self.lines()):
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    self._heard(json.loads(line))
        except ConnectionError:
            pass
        finally:
            for waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(JsError(LOST))
            self._outgoing.put_nowait(None)

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
        try:
            function = _method(self._exports[target], method)
            value = await function(*wire.from_wire(arguments, self.function))
        except JsError as error:
            self._say({"id": number, "error": wire.error_to_wire(error, self.export)})
        else:
            self._say({"id": number, "value": wire.to_wire(value, self.export)})


def _method(called: Any, name: str | None) -> Any:
    """What the other side may call of something that was exported: itself, or what stands in its class."""
    if name is None:
        return called
    if isinstance(called, Stub):
        return partial(called.call, name)
    method = None if name.startswith("_") or isinstance(called, Function) else getattr(called, name, None)
    if method is None:
        raise JsError(f'The RPC receiver does not implement the method "{name}".', "TypeError")
    return method
