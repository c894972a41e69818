"""How Python sees the promise that a call gave: as the PyodideFuture that Pyodide makes of it.

It has what asyncio asks of a future (`asyncio.wait`, `gather` and `wait_for` take it as one), on top of a promise's own
state; to await one that is settled costs no future. Source: Pyodide's src/core/jsbind.c, wrap_promise.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import Context, copy_context
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flarebed.emulator.runtime.python.context import IoContext


class _DoneCallback:
    """A callback of Python code, run by its loop in its context."""

    __slots__ = ("_context", "_future", "function")

    def __init__(self, future: FutureMethods, function: Callable[[Any], object], context: Context) -> None:
        self._future = future
        self.function = function
        self._context = context

    def __call__(self) -> None:
        self._future.get_loop().call_soon(self.function, self._future, context=self._context)


class FutureMethods:
    """asyncio's, over `state` ("pending", "fulfilled" or "rejected") and `value`, which may be an exception."""

    __slots__ = ()
    _asyncio_future_blocking = False
    state: str
    value: Any
    _io: IoContext | None
    _callbacks: list[Callable[[], object]] | None

    def reject(self, error: BaseException) -> None:
        raise NotImplementedError

    def when_settled(self, callback: Callable[[], object]) -> None:
        raise NotImplementedError

    def python_value(self) -> Any:
        raise NotImplementedError

    def get_loop(self) -> asyncio.AbstractEventLoop:
        assert self._io is not None
        return self._io.loop

    def done(self) -> bool:
        return self.state != "pending"

    def cancelled(self) -> bool:
        return self.state == "rejected" and isinstance(self.value, asyncio.CancelledError)

    def cancel(self, msg: Any = None) -> bool:
        """Python waits no longer; JavaScript goes on."""
        if self.done():
            return False
        self.reject(asyncio.CancelledError() if msg is None else asyncio.CancelledError(msg))
        return True

    def result(self) -> Any:
        if self.state == "rejected":
            raise self.value
        if self.state == "pending":
            raise asyncio.InvalidStateError("Result is not set.")
        return self.python_value()

    def exception(self) -> BaseException | None:
        if self.cancelled():
            raise self.value
        if self.state == "pending":
            raise asyncio.InvalidStateError("Exception is not set.")
        error: BaseException | None = self.value if self.state == "rejected" else None
        return error

    def add_done_callback(self, fn: Callable[[Any], object], /, *, context: Context | None = None) -> None:
        self.when_settled(_DoneCallback(self, fn, context or copy_context()))

    def remove_done_callback(self, fn: Callable[[Any], object], /) -> int:
        callbacks = self._callbacks or []
        removed = [each for each in callbacks if isinstance(each, _DoneCallback) and each.function == fn]
        callbacks[:] = [each for each in callbacks if each not in removed]
        return len(removed)

    def __repr__(self) -> str:
        if self.state == "pending":
            return "<PyodideFuture pending>"
        if self.cancelled():
            return "<PyodideFuture cancelled>"
        if self.state == "rejected":
            return f"<PyodideFuture finished exception={self.value!r}>"
        return f"<PyodideFuture finished result={self.python_value()!r}>"
