"""Calls to and from `js/control.js`, in one HTTP exchange whose request and answer are both streams of JSON lines.

Each side numbers what the other may call (0 is what the exchange is about) and its own calls:

    {"id": 1, "call": [0, "run", [...]]}      call a method, or with null in its place the function itself
    {"id": 1, "value": ...}                   the answer to a call, or
    {"id": 1, "error": ...}
    {"quiet": 1}                              say so when nothing is left to do; the answer is the same line

All that happens in one conversation happens in one request context of workerd; ending it ends that.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any

from flarebed.bindings.dispatch import WorkerLostError
from flarebed.bindings.errors import JsError
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


class Listener:
    """Hears of what goes on in a conversation; `attention.py` has one that keeps account."""

    def called(self, change: int) -> None:
        """The other side has called us (+1), or has been answered (-1)."""

    def calling(self, change: int) -> None:
        """We call the other side, or have been answered."""

    def quiet(self, number: int) -> None:
        """Nothing was left to do there when it had heard `ask_for_quiet(number)`."""


def _lost() -> Exception:
    return JsError(LOST)


class Conversation:
    """Use it as `async with`: left by an exception, it hangs up."""

    def __init__(
        self,
        way: Way,
        loop: asyncio.AbstractEventLoop,
        listener: Listener | None = None,
        root: Any = None,
        lost: Callable[[], Exception] = _lost,
    ) -> None:
        """`root` has the methods that the other side's calls of 0 are for; `lost` is raised if that side is gone."""
        self._way = way
        self._loop = loop
        self._lost = lost
        self.is_shared = False
        """Whether one side has a function of the other's."""
        self._listener = listener or Listener()
        self._said: list[bytes] = []
        self._more: asyncio.Future[None] | None = None
        self._is_over = False
        self._numbers = itertools.count(1)
        self._exports: dict[int, Any] = {0: root}
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._reading: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Conversation:
        self.open()
        return self

    async def __aexit__(self, kind: object, error: object, traceback: object) -> None:
        if error is None:
            self.close()
        else:
            self.hang_up()

    def open(self) -> None:
        self._reading = self._loop.create_task(self._read())

    def close(self) -> None:
        """All has been said."""
        self._is_over = True
        self._wake()
        for task in list(self._tasks):
            task.cancel()

    def hang_up(self) -> None:
        """Whatever the other side does on behalf of this is to end."""
        self.close()
        if self._reading is not None:
            self._reading.cancel()

    async def call(self, target: int, method: str | None, *arguments: Any) -> Any:
        """What the other side's function returns.

        Raises the JsError that it throws.
        """
        if self._is_over:
            raise self._lost()
        number = next(self._numbers)
        answer = self._waiting[number] = self._loop.create_future()
        self._say({"id": number, "call": [target, method, wire.to_wire([*arguments], self.export)]})
        self._listener.calling(+1)
        try:
            return await answer
        finally:
            del self._waiting[number]
            self._listener.calling(-1)

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

    def ask_for_quiet(self, number: int) -> None:
        self._say({"quiet": number})

    # What is said

    def _say(self, line: dict[str, Any]) -> None:
        self._said.append(wire.encoded(line))
        self._wake()

    def _wake(self) -> None:
        more, self._more = self._more, None
        if more is not None and not more.done():
            more.set_result(None)

    async def lines(self) -> AsyncIterator[bytes]:
        """What we say; all of one turn of the loop goes together."""
        while True:
            while not self._said:
                if self._is_over:
                    return
                self._more = self._loop.create_future()
                await self._more
            said, self._said = self._said, []
            yield b"\n".join([*said, b""])

    # What is heard

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
            self._is_over = True
            self._wake()
            for waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(self._lost())

    def _heard(self, line: dict[str, Any]) -> None:
        if "call" in line:
            self._listener.called(+1)
            task = self._loop.create_task(self._answer(line["id"], *line["call"]))
            self._tasks.add(task)
            task.add_done_callback(self._answered)
            return
        if "quiet" in line:
            self._listener.quiet(line["quiet"])
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
        self._listener.called(-1)
        if not task.cancelled() and (defect := task.exception()) is not None:
            self._loop.call_exception_handler({"message": "A call from workerd failed", "exception": defect})

    async def _answer(self, number: int, target: int, method: str | None, arguments: Any) -> None:
        try:
            function = _method(self._exports[target], method)
            value = wire.to_wire(await function(*wire.from_wire(arguments, self.function)), self.export)
        except JsError as error:
            self._say({"id": number, "error": wire.error_to_wire(error, self.export)})
        except WorkerLostError:
            pass
        else:
            self._say({"id": number, "value": value})


def _method(called: Any, name: str | None) -> Any:
    """What the other side may call of something that was exported: itself, or what stands in its class."""
    if name is None:
        return called
    if isinstance(called, Stub):
        return partial(called.call, name)
    method = None if name.startswith("_") or callable(called) else getattr(called, name, None)
    if method is None:
        raise JsError(f'The RPC receiver does not implement the method "{name}".', "TypeError")
    return method
