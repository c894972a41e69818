"""`js.Promise`: making promises and waiting for several."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from typing import Any

from flarebed.bindings import ecma
from flarebed.bindings.values import Error
from flarebed.emulator.runtime.python.js.protocols import JsFunction, caller, iterate
from flarebed.emulator.runtime.python.promise import JsPromise, Promise, promise_of, thrown_by
from flarebed.emulator.runtime.python.proxy import (
    Constructor,
    JsException,
    from_js_error,
    from_python,
    throw,
    to_python,
)


def resolved(value: Any) -> Promise:
    """Promise.resolve of a Python look: a promise is itself, another awaitable is waited for."""
    if isinstance(value, Promise):
        return value
    return promise_of(value) if inspect.isawaitable(value) else Promise.fulfilled(from_python(value))


def rejection(reason: Any) -> BaseException:
    """What Python code gets raised for a reason; one that is no Error is thrown as its text."""
    if isinstance(reason, BaseException):
        return reason
    value = from_python(reason)
    return JsException(value if isinstance(value, Error) else Error(ecma.to_string(value)))


class PromiseConstructor(Constructor, js="Function"):
    """`js.Promise`."""

    __slots__ = ()

    def new(self, *arguments: Any, **_options: Any) -> Promise:
        executor = arguments[0] if arguments else None
        if not callable(executor):
            raise throw(f"Promise resolver {ecma.to_string(from_python(executor))} is not a function", "TypeError")
        promise = JsPromise()
        resolve, reject = _settlers(promise)
        try:
            executor(resolve, reject)
        except JsException as error:
            promise.reject(error)
        except Exception as error:
            promise.reject(from_js_error(thrown_by(error)))
        return promise

    def __call__(self, *_arguments: Any, **_options: Any) -> Any:
        raise throw("Promise constructor cannot be invoked without 'new'", "TypeError")

    def resolve(self, value: Any = None) -> Promise:
        return resolved(value)

    def reject(self, reason: Any = None) -> Promise:
        return Promise.rejected(rejection(reason))

    def withResolvers(self) -> Any:
        promise = JsPromise()
        resolve, reject = _settlers(promise)
        return to_python({"promise": promise, "resolve": resolve, "reject": reject})

    def try_(self, function: Any, *arguments: Any) -> Promise:
        """`try` is a word of Python's."""
        try:
            return resolved(to_python(caller(from_python(function))(*map(from_python, arguments))))
        except Exception as error:
            return Promise.rejected(error)

    def all(self, promises: Any) -> Promise:
        return _combined(promises, _all)

    def allSettled(self, promises: Any) -> Promise:
        return _combined(promises, _all_settled)

    def race(self, promises: Any) -> Promise:
        return _combined(promises, _race)

    def any(self, promises: Any) -> Promise:
        return _combined(promises, _any)


def _settlers(promise: Promise) -> tuple[JsFunction, JsFunction]:
    def resolve(value: Any = None) -> None:
        if inspect.isawaitable(value):
            _follow(promise, resolved(value))
        else:
            promise.fulfil(from_python(value))

    def reject(reason: Any = None) -> None:
        promise.reject(rejection(reason))

    return JsFunction(resolve), JsFunction(reject)


def _follow(promise: Promise, source: Promise) -> None:
    """Settle `promise` as `source` settles."""

    def settle() -> None:
        if source.state == "rejected":
            promise.reject(source.value)
        else:
            promise.fulfil(source.value)

    source.when_settled(settle)


def _combined(promises: Any, combine: Callable[[list[Promise]], Coroutine[Any, Any, Any]]) -> Promise:
    sources = [resolved(to_python(item)) for item in iterate(from_python(promises))]
    return promise_of(combine(sources))


async def _all(sources: list[Promise]) -> Any:
    """Rejects as soon as one of them does."""
    await _until(sources, lambda: any(source.state == "rejected" for source in sources))
    for source in sources:
        if source.state == "rejected":
            raise source.value
    return to_python([source.value for source in sources])


async def _all_settled(sources: list[Promise]) -> Any:
    await _until(sources, lambda: False)
    return to_python([_outcome(source) for source in sources])


def _outcome(source: Promise) -> dict[str, Any]:
    if source.state == "rejected":
        return {"status": "rejected", "reason": from_python(source.value)}
    return {"status": "fulfilled", "value": source.value}


async def _race(sources: list[Promise]) -> Any:
    if not sources:
        await asyncio.get_running_loop().create_future()
    await _until(sources, lambda: any(source.state != "pending" for source in sources))
    return await next(source for source in sources if source.state != "pending")


async def _any(sources: list[Promise]) -> Any:
    await _until(sources, lambda: any(source.state == "fulfilled" for source in sources))
    for source in sources:
        if source.state == "fulfilled":
            return to_python(source.value)
    errors = [from_python(source.value) for source in sources]
    raise throw("All promises were rejected", "AggregateError", errors=errors)


async def _until(sources: list[Promise], enough: Callable[[], bool]) -> None:
    """Wait until `enough()`, or until all are settled."""
    pending = [source for source in sources if source.state == "pending"]
    if not pending or enough():
        return
    waiter = asyncio.get_running_loop().create_future()

    def look() -> None:
        if not waiter.done() and (enough() or all(source.state != "pending" for source in sources)):
            waiter.set_result(None)

    for source in pending:
        source.when_settled(look)
    await waiter


def queueMicrotask(callback: Any) -> None:
    """Run a function after what runs now."""
    if not callable(callback):
        raise throw("Failed to execute 'queueMicrotask' on 'ServiceWorkerGlobalScope': parameter 1 is not of type "
                    "'function'.", "TypeError")  # fmt: skip
    asyncio.get_running_loop().call_soon(callback)
