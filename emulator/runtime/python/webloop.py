"""The event loop that Worker code sees, as Pyodide's WebLoop is one: never the host's loop.

Its timers are entries of the clock, its ready callbacks are counted per IoContext, and it runs them on a greenlet, so
that `run_sync` and a nested `asyncio.run` can wait in the middle of a call while the host goes on.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from asyncio import events, tasks
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import Context, copy_context
from typing import TYPE_CHECKING, Any

import greenlet

from flarebed.emulator.runtime.python.context import CURRENT, IoContext
from flarebed.emulator.runtime.python.futures import PyodideFuture, PyodideTask
from flarebed.emulator.runtime.python.loop_limits import LoopLimits
from flarebed.emulator.runtime.python.promise import io_context

if TYPE_CHECKING:
    from flarebed.bindings.clock import Clock, Timer


_LOGGER = logging.getLogger("asyncio")
_CALLBACKS_A_TURN = 256
"""How many callbacks run before the host has its turn. More than are ready at first: what follows at once from an await
that did not have to wait should not cost a round of the host's loop, with its system calls."""


class _Round(greenlet.greenlet):
    """What Worker code runs on."""


class WebTimer(asyncio.TimerHandle):
    """A timer of Worker code: an entry of the clock, and something its context waits for."""

    def __init__(
        self, when_s: float, callback: Callable[..., object], args: Any, loop: WebLoop, context: Context
    ) -> None:
        super().__init__(when_s, callback, args, loop, context)
        self.io = context.get(CURRENT)
        self.entry: Timer | None = None
        if self.io is not None:
            self.io.begin_outside()

    def cancel(self) -> None:
        if self.entry is not None:
            self.entry.cancel()
            self._done()
        super().cancel()

    def fire(self) -> None:
        if self.entry is None:
            return
        callback, args = self._callback, self._args  # type: ignore[attr-defined]
        self._loop.call_soon(callback, *args, context=self._context)  # type: ignore[attr-defined]
        self._done()

    def _done(self) -> None:
        self.entry = None
        if self.io is not None:
            self.io.end_outside()


class Bridge(asyncio.Protocol):
    """A protocol of Worker code on a host's connection: each call becomes a callback of the Worker's loop."""

    def __init__(self, loop: WebLoop, protocol: asyncio.Protocol, io: IoContext) -> None:
        self._loop = loop
        self._io = io
        self._context = copy_context()
        self.protocol = protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._io.begin_outside()
        self._forward(self.protocol.connection_made, transport)

    def data_received(self, data: bytes) -> None:
        self._forward(self.protocol.data_received, data)

    def eof_received(self) -> bool:
        self._forward(self.protocol.eof_received)
        return True  # the Worker's protocol decides when to close

    def pause_writing(self) -> None:
        self._forward(self.protocol.pause_writing)

    def resume_writing(self) -> None:
        self._forward(self.protocol.resume_writing)

    def connection_lost(self, exc: Exception | None) -> None:
        self._forward(self.protocol.connection_lost, exc)
        self._io.end_outside()

    def _forward(self, callback: Callable[..., object], *arguments: Any) -> None:
        self._loop.call_soon(callback, *arguments, context=self._context)


class WebLoop(LoopLimits):
    """The façade; `host` is the loop that really runs."""

    def __init__(self, host: asyncio.AbstractEventLoop, clock: Clock) -> None:
        self.host = host
        self._clock = clock
        self._ready: deque[tuple[IoContext | None, asyncio.Handle]] = deque()
        self._scheduled = False
        self._runner: _Round | None = None
        self._exception_handler: Callable[..., object] | None = None

    # Callbacks and timers.

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        if context is None:
            context = copy_context()
        handle = asyncio.Handle(callback, args, self, context)
        io = context.get(CURRENT)
        if io is not None:
            io.ready += 1
        self._ready.append((io, handle))
        self._wake_host()
        return handle

    def call_soon_threadsafe(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        return self.call_soon(callback, *args, context=context)

    def call_later(  # type: ignore[override]
        self, delay: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        io_context()
        timer = WebTimer(when, callback, args, self, copy_context() if context is None else context)
        timer.entry = self._clock.call_at(when * 1000, timer.fire)
        return timer

    def time(self) -> float:
        return self._clock.now_ms() / 1000

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """asyncio's TimerHandle tells its loop; ours is already off the clock."""

    # Running.

    def _run_ready(self) -> None:
        if self._runner is None or self._runner.dead:
            self._runner = _Round(self._drain_forever)
        self._runner.switch()

    def _drain_forever(self) -> None:
        """The runner greenlet: one round per switch. A round that waits in `run_sync` keeps its greenlet."""
        me = greenlet.getcurrent()
        while self._runner is me:
            self._drain()
            if self._runner is me:
                parent = me.parent
                assert parent is not None
                parent.switch()

    def _drain(self) -> None:
        outer = events._get_running_loop()
        events._set_running_loop(self)
        ready = self._ready
        me = self._runner
        try:
            for _ in range(_CALLBACKS_A_TURN):
                if not ready or self._runner is not me:
                    break
                io, handle = ready.popleft()
                if io is None:
                    handle._run()
                    continue
                if not io.closed and not handle._cancelled:
                    with contextlib.suppress(SystemExit):  # the task's outcome: who awaits it decides what follows
                        handle._run()
                io.ready -= 1
                if not io.ready and not io.outside:
                    io.check_stuck()
        finally:
            events._set_running_loop(outer)
            self._scheduled = False
        self._wake_host()

    def run_sync(self, awaitable: Awaitable[Any]) -> Any:
        """Wait for `awaitable` in the middle of a synchronous call, while everything else goes on."""
        me = greenlet.getcurrent()
        if not isinstance(me, _Round) or me.parent is None:
            raise RuntimeError("Cannot stack switch because the Python entrypoint was a synchronous function.")
        future = asyncio.ensure_future(_as_coroutine(awaitable), loop=self)
        task = tasks.current_task(self)
        io = CURRENT.get(None)

        def resume(_future: asyncio.Future[Any]) -> None:
            if io is not None:
                io.ready += 1
            self.host.call_soon(me.switch)

        future.add_done_callback(resume)
        if task is not None:
            tasks._leave_task(self, task)
        if self._runner is me:
            self._runner = None  # the next round gets a greenlet of its own
            self._scheduled = False
        self._wake_host()
        events._set_running_loop(self.host)
        if io is not None:
            io.ready -= 1  # what waits here is not ready
            io.check_stuck()
        me.parent.switch()
        events._set_running_loop(self)
        if task is not None:
            tasks._enter_task(self, task)
        return future.result()

    def run_until_complete(self, future: Awaitable[Any]) -> Any:  # type: ignore[override]
        return self.run_sync(future)

    def _wake_host(self) -> None:
        if self._ready and not self._scheduled:
            self._scheduled = True
            self.host.call_soon(self._run_ready)

    # Futures and tasks.

    def create_future(self) -> asyncio.Future[Any]:
        return PyodideFuture(loop=self)

    def create_task(
        self, coro: Any, *, name: str | None = None, context: Context | None = None, **kwargs: Any
    ) -> asyncio.Task[Any]:
        task = PyodideTask(coro, loop=self, name=name, context=context, **kwargs)
        task._log_destroy_pending = False  # type: ignore[attr-defined]  # production drops them without a word
        return task

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        """Workers have no threads: the function runs here and now (observed: asyncio.to_thread does)."""
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:
            future.set_exception(error)
        return future

    # Connections: real sockets of the host, for libraries that bring their own protocols.

    async def outside(self, work: Coroutine[Any, Any, Any]) -> Any:
        """The result of a coroutine of the host's loop, as it is."""
        io = CURRENT.get()
        future = self.create_future()
        task = self._clock.spawn(self._outside(work), "outside work")
        io.begin_outside()
        task.add_done_callback(lambda done: _hand_over(done, future, io))
        try:
            return await future
        finally:
            task.cancel()

    async def _outside(self, work: Coroutine[Any, Any, Any]) -> Any:
        with self._clock.operation_outside():
            return await work

    async def create_connection(  # type: ignore[override]
        self, protocol_factory: Callable[[], asyncio.Protocol], *args: Any, **kwargs: Any
    ) -> tuple[asyncio.Transport, asyncio.Protocol]:
        bridge = Bridge(self, protocol_factory(), CURRENT.get())
        transport, _ = await self.outside(self.host.create_connection(lambda: bridge, *args, **kwargs))
        return transport, bridge.protocol

    async def start_tls(  # type: ignore[override]
        self, transport: asyncio.Transport, protocol: asyncio.Protocol, *args: Any, **kwargs: Any
    ) -> asyncio.Transport | None:
        bridge = Bridge(self, protocol, CURRENT.get())
        secured: asyncio.Transport | None = await self.outside(self.host.start_tls(transport, bridge, *args, **kwargs))
        return secured

    async def getaddrinfo(self, *args: Any, **kwargs: Any) -> Any:
        return await self.outside(self.host.getaddrinfo(*args, **kwargs))

    # What asyncio asks of any loop.

    def get_task_factory(self) -> None:
        """None: tasks are asyncio's own."""

    def set_task_factory(self, factory: Any) -> None:
        """Tasks stay asyncio's own."""

    def run_forever(self) -> None:
        """As in Pyodide: it runs anyway."""

    def stop(self) -> None:
        """As in Pyodide: it runs on."""

    def is_running(self) -> bool:
        return True

    def is_closed(self) -> bool:
        return False

    def close(self) -> None:
        """As in Pyodide: the loop belongs to the runtime, closing it does nothing."""

    def get_debug(self) -> bool:
        return False

    def set_debug(self, enabled: bool) -> None:
        """Debug mode is the host's business."""

    async def shutdown_asyncgens(self) -> None:
        """Nothing to do: generators end with their context."""

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """There is no executor."""

    def set_exception_handler(self, handler: Callable[..., object] | None) -> None:
        self._exception_handler = handler

    def get_exception_handler(self) -> Callable[..., object] | None:
        return self._exception_handler

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        if self._exception_handler is not None:
            self._exception_handler(self, context)
        else:
            self.default_exception_handler(context)

    def default_exception_handler(self, context: dict[str, Any]) -> None:
        _LOGGER.error(context.get("message"), exc_info=context.get("exception"))


def _hand_over(done: asyncio.Task[Any], future: asyncio.Future[Any], io: IoContext) -> None:
    if not future.done():
        if done.cancelled():
            future.cancel()
        elif (error := done.exception()) is not None:
            future.set_exception(error)
        else:
            future.set_result(done.result())
    io.end_outside()


async def _as_coroutine(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


WebLoop.__module__ = "pyodide.webloop"
