"""How the web classes call Worker code and wait for it, and how they wait for what runs outside of the Worker.

The functions of a stream, a listener or a transformer are Python callables; what they return may be awaitable.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from typing import Any

from flarebed.bindings.clock import Clock
from flarebed.bindings.errors import JsError
from flarebed.bindings.values import UNDEFINED, Error
from flarebed.emulator.runtime.python.context import IoContext, current
from flarebed.emulator.runtime.python.js.idl import string
from flarebed.emulator.runtime.python.promise import Promise, promise_of, start, thrown_by
from flarebed.emulator.runtime.python.proxy import JsException, from_python, jsnull, throw


def resolved() -> Promise:
    return Promise.fulfilled(UNDEFINED)


def as_promise(result: Any) -> Promise:
    """Promise.resolve(result) of what Python code returned."""
    if isinstance(result, Promise):
        return result
    return promise_of(result) if inspect.isawaitable(result) else Promise.fulfilled(from_python(result))


def invoke(function: Callable[..., Any] | None, *arguments: Any) -> Promise:
    """Call a function that may be absent, fail, or be asynchronous."""
    if function is None:
        return resolved()
    try:
        return as_promise(function(*arguments))
    except Exception as error:
        return Promise.rejected(error)


def in_worker(promise: Promise, callback: Callable[..., object], *arguments: Any) -> None:
    """Call `callback(promise, *arguments)` as Worker code, in a later turn, once the promise is settled."""
    loop = current().loop
    promise.when_settled(lambda: loop.call_soon(callback, promise, *arguments))


def outside(work: Coroutine[Any, Any, Any]) -> Promise:
    """Run work on the host's loop from its first step on, for code that asks which loop is running."""
    return start(_on_host(current().services.clock, work))


async def _on_host(clock: Clock, work: Coroutine[Any, Any, Any]) -> Any:
    try:
        await turn_of(clock.loop)
    except BaseException:
        work.close()
        raise
    with clock.operation_outside():
        return await work


def turn_of(loop: asyncio.AbstractEventLoop) -> asyncio.Future[None]:
    """The next turn of a loop."""
    turn = loop.create_future()
    loop.call_soon(_wake, turn)
    return turn


def when_dropped(io: IoContext, callback: Callable[[], object]) -> None:
    """Call `callback()` on the host's loop if the context is dropped: nothing in it will run any more."""
    before = io.on_closed

    def dropped() -> None:
        if before is not None:
            before()
        callback()

    io.on_closed = dropped


def _wake(turn: asyncio.Future[None]) -> None:
    if not turn.done():
        turn.set_result(None)


def as_error(reason: Any) -> BaseException:
    """The exception that Python code gets for anything that JavaScript may throw or abort with."""
    if isinstance(reason, BaseException):
        return reason
    return throw("null" if reason is jsnull else "undefined" if reason is None else string(reason))


def as_js_error(error: BaseException) -> JsError:
    """What an engine or the server sees of an error that JavaScript threw or a stream was failed with."""
    if isinstance(error, JsException) and isinstance(error.value, Error):
        value = error.value
        return JsError(value.message, value.name, cause=value.cause, thrown=error, **value.properties)
    return thrown_by(error)
