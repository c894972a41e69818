"""Promise: a JavaScript promise, awaitable in Python, and the bridge by which work outside the Worker settles one.

A binding's coroutine is started inline; most answer at once (a read), and then no task is made for them.
"""

from __future__ import annotations

import asyncio
import inspect
from asyncio import events
from collections.abc import Awaitable, Callable, Coroutine, Generator
from typing import Any, Self

from flarebed.bindings.errors import JsError
from flarebed.emulator.runtime.python.context import CURRENT, IoContext
from flarebed.emulator.runtime.python.promise_future import FutureMethods
from flarebed.emulator.runtime.python.proxy import (
    _WRAPPERS,
    JsException,
    JsProxy,
    from_js_error,
    from_python,
    throw,
    to_python,
)
from flarebed.emulator.runtime.python.tracebacks import python_traceback

GLOBAL_SCOPE = (
    "Disallowed operation called within global scope. Asynchronous I/O (ex: fetch() or connect()), setting a timeout, "
    "and generating random values are not allowed within global scope. To fix this error, perform this operation "
    "within a handler. https://developers.cloudflare.com/workers/runtime-apis/handlers/"
)


def io_context() -> IoContext:
    """The context of the calling code; at the top level of a module there is none for I/O (observed text)."""
    io = CURRENT.get(None)
    if io is None or not io.allows_io:
        raise throw(GLOBAL_SCOPE)
    return io


class Promise(FutureMethods):
    """A promise, as a call gives it. `state` is pending, fulfilled or rejected; `value` is a value, or an exception."""

    __slots__ = ("__weakref__", "_callbacks", "_io", "state", "value")

    def __init__(self) -> None:
        self.state = "pending"
        self.value: Any = None
        self._callbacks: list[Callable[[], object]] | None = None
        self._io: IoContext | None = CURRENT.get(None)

    @classmethod
    def fulfilled(cls, value: Any) -> Self:
        promise = cls()
        promise.state, promise.value = "fulfilled", value
        return promise

    @classmethod
    def rejected(cls, error: BaseException) -> Self:
        promise = cls()
        promise.state, promise.value = "rejected", error
        return promise

    def fulfil(self, value: Any) -> None:
        self._settle("fulfilled", value)

    def reject(self, error: BaseException) -> None:
        self._settle("rejected", error)

    def _settle(self, state: str, value: Any) -> None:
        if self.state != "pending":
            return
        self.state, self.value = state, value
        callbacks, self._callbacks = self._callbacks, None
        for callback in callbacks or ():
            callback()

    def when_settled(self, callback: Callable[[], object]) -> None:
        """Call `callback()` once the promise is settled (at once if it is)."""
        if self.state != "pending":
            callback()
        elif self._callbacks is None:
            self._callbacks = [callback]
        else:
            self._callbacks.append(callback)

    def __await__(self) -> Generator[Any, Any, Any]:
        if self.state == "pending":
            assert self._io is not None
            future = self._io.loop.create_future()
            self.when_settled(lambda: None if future.done() else future.set_result(None))
            yield from future
        else:
            yield  # an await always lets others run, as in JavaScript
        if self.state == "rejected":
            raise self.value
        return to_python(self.value)

    def python_value(self) -> Any:
        return to_python(self.value)

    def then(self, on_fulfilled: Any = None, on_rejected: Any = None) -> Promise:
        return promise_of(self._then(on_fulfilled, on_rejected))

    async def _then(self, on_fulfilled: Any, on_rejected: Any) -> Any:
        try:
            value = await self
        except Exception as error:
            if on_rejected is None:
                raise
            result = on_rejected(error)
        else:
            result = value if on_fulfilled is None else on_fulfilled(value)
        return await result if inspect.isawaitable(result) else result

    def catch(self, on_rejected: Any) -> Promise:
        return self.then(None, on_rejected)

    def finally_(self, on_finally: Any) -> Promise:
        return promise_of(self._finally(on_finally))

    async def _finally(self, on_finally: Any) -> Any:
        try:
            return await self
        finally:
            result = on_finally()
            if inspect.isawaitable(result):
                await result


Promise.__module__, Promise.__name__, Promise.__qualname__ = "pyodide.webloop", "PyodideFuture", "PyodideFuture"
_WRAPPERS[Promise] = lambda promise: promise


class JsPromise(Promise, JsProxy, js="Promise"):
    """A promise that is a property of an object, or was made by `js.Promise.new`: Python sees the JavaScript object."""

    __slots__ = ()
    _asyncio_future_blocking = None  # type: ignore[assignment]  # to asyncio it is an awaitable, no future
    __repr__ = JsProxy.__repr__
    __hash__ = None


def promise_of(awaitable: Awaitable[Any]) -> Promise:
    """A promise for a Python awaitable of Worker code; it runs on the Worker's loop."""
    io = CURRENT.get()
    task = asyncio.ensure_future(awaitable, loop=io.loop)
    promise = Promise()

    def settle(done: asyncio.Future[Any]) -> None:
        if done.cancelled():
            promise.reject(asyncio.CancelledError())
        elif (error := done.exception()) is not None:
            promise.reject(error)
        else:
            promise.fulfil(from_python(done.result()))

    task.add_done_callback(settle)
    return promise


def start(work: Coroutine[Any, Any, Any]) -> Promise:
    """Run outside work (a binding call): its first step inline, the rest, if any, as a task on the host's loop."""
    try:
        io = io_context()
    except JsException:
        work.close()  # it never runs, and that is nothing to warn about
        raise
    events._set_running_loop(io.loop.host)  # what is outside of the Worker is on the host's loop from its first step
    try:
        waits_for = work.send(None)
    except StopIteration as stop:
        return Promise.fulfilled(stop.value)
    except JsError as error:
        return Promise.rejected(from_js_error(error))
    finally:
        events._set_running_loop(io.loop)
    promise = Promise()
    io.begin_outside()
    task = io.services.clock.spawn(_resume(work, waits_for), "binding call")
    task.add_done_callback(lambda done: _settle_from_outside(done, promise, io))
    return promise


def _settle_from_outside(done: asyncio.Task[Any], promise: Promise, io: IoContext) -> None:
    """Runs on the host's loop; settling wakes Worker code through its own loop."""
    if done.cancelled():
        error: BaseException | None = throw("The operation was aborted", "AbortError")
    else:
        error = done.exception()
    if error is None:
        promise.fulfil(done.result())
    else:
        promise.reject(from_js_error(error) if isinstance(error, JsError) else error)
    io.end_outside()


class _Yielded:
    """An awaitable that hands out a future which the first step of a coroutine already yielded."""

    __slots__ = ("_waits_for", "_work")

    def __init__(self, work: Coroutine[Any, Any, Any], waits_for: Any) -> None:
        self._work = work
        self._waits_for = waits_for

    def __await__(self) -> Generator[Any, Any, Any]:
        waits_for = self._waits_for
        while True:
            step: Callable[[Any], Any] = self._work.send
            try:
                argument = yield waits_for
            except BaseException as error:
                step, argument = self._work.throw, error
            try:
                waits_for = step(argument)
            except StopIteration as stop:
                return stop.value


async def _resume(work: Coroutine[Any, Any, Any], waits_for: Any) -> Any:
    return await _Yielded(work, waits_for)


def thrown_by(error: BaseException) -> JsError:
    """What JavaScript sees of an exception that Worker code raised: a PythonError, also of a JsException (observed)."""
    if isinstance(error, JsError):
        return error
    return JsError(python_traceback(error), "PythonError", thrown=error)
