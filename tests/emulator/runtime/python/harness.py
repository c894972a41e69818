"""Runs Worker-side coroutines in process: a WebLoop over the test's loop, a virtual clock, one IoContext."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextvars import Context
from typing import Any

from flarebed.bindings.clock import VirtualClock
from flarebed.emulator.runtime.python import binding, data, pyproxy  # noqa: F401  # they register their proxies
from flarebed.emulator.runtime.python.context import CURRENT, IoContext
from flarebed.emulator.runtime.python.webloop import WebLoop
from flarebed.emulator.runtime.services import Services

binding.register()


class Harness:
    """Make it inside a running loop; `await harness.run(coroutine)` runs Worker code to its end."""

    def __init__(self) -> None:
        host = asyncio.get_running_loop()
        self.clock = VirtualClock(host)
        self.loop = WebLoop(host, self.clock)
        self.logged: list[tuple[str, str]] = []
        self.uncaught: list[BaseException] = []
        self.services = Services(
            clock=self.clock,
            worker="probe",
            flags=frozenset(),
            log=lambda level, text: self.logged.append((level, text)),
            outbound=lambda: None,  # type: ignore[arg-type, return-value]
            uncaught=self.uncaught.append,
        )
        self.stuck = False

    def context(self, *, allows_io: bool = True) -> IoContext:
        return IoContext(self.loop, self.services, allows_io=allows_io)

    def start(self, work: Coroutine[Any, Any, Any], io: IoContext | None = None) -> asyncio.Future[Any]:
        """A future of the test's loop for Worker code; it fails with StuckError when nothing can make progress."""
        io = io or self.context()
        done: asyncio.Future[Any] = self.clock.loop.create_future()
        context = Context()
        context.run(CURRENT.set, io)
        task = self.loop.create_task(work, context=context)

        def finish(_task: object) -> None:
            if not done.done():
                error = task.exception()
                done.set_exception(error) if error else done.set_result(task.result())

        task.add_done_callback(finish)
        io.on_stuck = lambda: None if task.done() or done.done() else done.set_exception(StuckError())
        return done

    async def run(self, work: Coroutine[Any, Any, Any], io: IoContext | None = None) -> Any:
        """Run it while the clock jumps to whatever it waits for."""
        done = self.start(work, io)
        while not done.done():
            await self.clock.settle()
            due_ms = self.clock.next_ms()
            if not done.done() and due_ms is not None:
                await self.clock.advance(due_ms - self.clock.now_ms())
        return done.result()


class StuckError(Exception):
    """Nothing could make progress any more."""
