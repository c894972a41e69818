"""The I/O context of one event (a request, a queue batch, a workflow run, the start-up), as workerd's IoContext.

It counts what could still make progress for its event: callbacks that are ready, timers, and operations outside of the
Worker. When the count falls to zero and the event is not answered it never will be, and production cancels it. After
the event is answered, and what was given to waitUntil is done, everything else of the context is dropped.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import Callable, Coroutine
from contextvars import Context, ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flarebed.emulator.runtime.python.webloop import WebLoop
    from flarebed.emulator.runtime.services import Services

CURRENT: ContextVar[IoContext] = ContextVar("flarebed_io_context")


class IoContext:
    """The context of one event. `on_stuck` is called when nothing can make progress any more."""

    __slots__ = (
        "allows_io", "answered", "closed", "failures", "loop", "on_closed", "on_stuck", "outside", "ready", "services",
        "waiting",
    )  # fmt: skip

    def __init__(self, loop: WebLoop, services: Services, *, allows_io: bool = True) -> None:
        self.loop = loop
        self.services = services
        self.allows_io = allows_io
        self.ready = 0
        self.outside = 0
        self.answered = False
        self.closed = False
        self.failures: list[BaseException] = []
        self.on_closed: Callable[[], None] | None = None
        self.on_stuck: Callable[[], None] | None = None
        self.waiting: set[asyncio.Future[Any]] = set()

    def create_task(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run Worker code in this context, whoever calls."""
        context = Context()
        context.run(CURRENT.set, self)
        return self.loop.create_task(work, context=context)

    def begin_outside(self) -> None:
        """An operation outside of the Worker began whose end will wake it."""
        self.outside += 1

    def end_outside(self) -> None:
        self.outside -= 1
        self.check_stuck()

    def check_stuck(self) -> None:
        if not self.ready and not self.outside and self.on_stuck is not None and not self.closed:
            self.on_stuck()

    def wait_until(self, awaitable: Any) -> None:
        """`ctx.waitUntil`: the context lives on until it is done; its failure is only logged."""
        if not inspect.isawaitable(awaitable):
            return
        task = asyncio.ensure_future(awaitable, loop=self.loop)
        self.waiting.add(task)
        task.add_done_callback(self._waited)

    def _waited(self, task: asyncio.Future[Any]) -> None:
        self.waiting.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.failures.append(error)
            self.services.uncaught(error)
        if self.answered and not self.waiting:
            self.close()

    def hold_until(self, over: asyncio.Future[None]) -> None:
        """The context lives on until `over`, which is of the host's loop."""
        held: asyncio.Future[None] = self.loop.create_future()
        self.wait_until(held)
        self.begin_outside()

        def release(_: object) -> None:
            if not held.done():
                held.set_result(None)
            self.end_outside()

        over.add_done_callback(release)

    def answer(self) -> None:
        """The event is answered: what is left to do is what was given to waitUntil."""
        self.answered = True
        self.on_stuck = self.close
        if not self.waiting:
            self.close()
        else:
            self.check_stuck()

    def close(self) -> None:
        """Drop what is left, as production does: it is never run again, not even cancelled."""
        if self.closed:
            return
        self.closed = True
        self.on_stuck = None
        self.waiting.clear()
        if self.on_closed is not None:
            self.on_closed()

    def drop(self, work: Coroutine[Any, Any, Any]) -> None:
        """End Worker code that is not to go on. Python has no way to be rid of a coroutine without running what it has
        in `finally`; so that runs here and now, not in the middle of other code, and reaches nothing outside."""
        self.allows_io = False
        context = Context()
        context.run(CURRENT.set, self)
        with contextlib.suppress(
            BaseException
        ):  # also a coroutine that goes on, or is running: it is dropped all the same
            context.run(work.close)


def current() -> IoContext:
    """The context that the calling Worker code runs in."""
    return CURRENT.get()
