"""The I/O context of one event (a request, a queue batch, a workflow run, the start-up), as workerd's IoContext.

It counts what could still make progress for its event: callbacks that are ready, timers, and operations outside of the
Worker. When the count falls to zero and the event is not answered it never will be, and production cancels it. After
the event is answered, and what was given to waitUntil is done, everything else of the context is dropped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flarebed.emulator.runtime.python.services import Services
    from flarebed.emulator.runtime.python.webloop import WebLoop

CURRENT: ContextVar[IoContext] = ContextVar("flarebed_io_context")


class IoContext:
    """The context of one event. `on_stuck` is called when nothing can make progress any more."""

    __slots__ = ("allows_io", "closed", "loop", "on_stuck", "outside", "ready", "services", "waiting")

    def __init__(self, loop: WebLoop, services: Services, *, allows_io: bool = True) -> None:
        self.loop = loop
        self.services = services
        self.allows_io = allows_io
        self.ready = 0
        self.outside = 0
        self.closed = False
        self.on_stuck: Callable[[], None] | None = None
        self.waiting: set[asyncio.Future[Any]] = set()

    def begin_outside(self) -> None:
        """An operation outside of the Worker began whose end will wake it."""
        self.outside += 1

    def end_outside(self) -> None:
        self.outside -= 1
        self.check_stuck()

    def check_stuck(self) -> None:
        if not self.ready and not self.outside and self.on_stuck is not None and not self.closed:
            self.on_stuck()

    def close(self) -> None:
        """Drop what is left, as production does: it is never run again, not even cancelled."""
        self.closed = True
        self.on_stuck = None
        self.waiting.clear()


def current() -> IoContext:
    """The context that the calling Worker code runs in."""
    return CURRENT.get()
