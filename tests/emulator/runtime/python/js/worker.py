"""Worker code in a test: a WebLoop on a virtual clock, one event's context, outbound requests answered by the test.

assert in_worker(code) == "..."        where `async def code(): ...` is what a handler would do
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from typing import Any

import httpx
import pytest
from flarebed.bindings.clock import VirtualClock
from flarebed.emulator.runtime.python.context import CURRENT, IoContext
from flarebed.emulator.runtime.python.proxy import JsException
from flarebed.emulator.runtime.python.services import Services
from flarebed.emulator.runtime.python.webloop import WebLoop
from tests.support import run

Code = Callable[[], Coroutine[Any, Any, Any]]
FLAGS = frozenset({"websocket_standard_binary_type", "strip_bom_in_read_all_text"})


class Worker:
    """A Worker and the host that drives it; make it inside a running loop."""

    def __init__(
        self,
        answer: Callable[[httpx.Request], Any] | None = None,
        flags: frozenset[str] = FLAGS,
        *,
        allows_io: bool = True,
    ) -> None:
        self.host = asyncio.get_running_loop()
        self.clock = VirtualClock(self.host)
        self.logged: list[tuple[str, str]] = []
        transport = httpx.MockTransport(answer or (lambda _request: httpx.Response(200, text="answer")))
        self.services = Services(
            self.clock,
            "probe",
            flags,
            lambda level, text: self.logged.append((level, text)),
            lambda: httpx.AsyncClient(transport=transport),
            lambda error: self.logged.append(("uncaught", repr(error))),
        )
        self.loop = WebLoop(self.host, self.clock)  # type: ignore[abstract]
        self.allows_io = allows_io

    def context(self) -> IoContext:
        return IoContext(self.loop, self.services, allows_io=self.allows_io)

    def begin(self, code: Code, io: IoContext | None = None) -> asyncio.Future[Any]:
        """Start an event; the result is a future of the host's loop."""
        context = copy_context()
        context.run(CURRENT.set, io or self.context())
        done = self.host.create_future()
        task = self.loop.create_task(code(), context=context)
        task.add_done_callback(lambda _task: done.done() or done.set_result(None))

        async def result() -> Any:
            await done
            return task.result()

        return asyncio.ensure_future(result())

    async def run(self, code: Code, io: IoContext | None = None) -> Any:
        """The result of an event; time jumps to the next timer whenever nothing else is left to do."""
        done = self.begin(code, io)
        while not done.done():
            await self.clock.settle(20)
            due_ms = self.clock.next_ms()
            if not done.done() and due_ms is not None:
                await self.clock.advance(due_ms - self.clock.now_ms())
        return done.result()


def in_worker(code: Code, **options: Any) -> Any:
    """The result of one event of a new Worker."""

    async def hosted() -> Any:
        worker = Worker(**options)
        try:
            return await asyncio.wait_for(worker.run(code), 5)
        finally:
            await worker.services.close()

    return run(hosted())


async def thrown(work: Any) -> str:
    """The text of the JavaScript error that a promise or coroutine ends with."""
    with pytest.raises(JsException) as caught:
        await work
    return str(caught.value)
