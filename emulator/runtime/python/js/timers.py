"""setTimeout and its relatives, scheduler.wait, performance: all on the clock that the runtime is given.

Source: https://developers.cloudflare.com/workers/runtime-apis/web-standards/ and workerd
src/workerd/api/global-scope.c++.
"""

from __future__ import annotations

from typing import Any

from flarebed.bindings.values import UNDEFINED
from flarebed.emulator.runtime.python.context import IoContext, current
from flarebed.emulator.runtime.python.js import idl
from flarebed.emulator.runtime.python.js.work import as_error, invoke
from flarebed.emulator.runtime.python.promise import Promise, io_context
from flarebed.emulator.runtime.python.proxy import JsProxy, throw

_LONGEST_MS = 2**31 - 1


class Timeout(JsProxy):
    """What setTimeout and setInterval give back (observed: an object with Node's class name)."""

    __slots__ = ("__weakref__", "_arguments", "_callback", "_delay_ms", "_handle", "_io", "_repeats", "_unrefs")

    js_tag = "Object"

    def __init__(self, io: IoContext, callback: Any, delay: Any, arguments: tuple[Any, ...], repeats: bool) -> None:
        self._io = io
        self._callback = callback
        self._delay_ms = min(max(idl.integer(delay), 1 if repeats else 0), _LONGEST_MS)
        self._arguments = arguments
        self._repeats = repeats
        self._begin()

    def _begin(self) -> None:
        self._handle = self._io.loop.call_later(self._delay_ms / 1000, self._fire)

    def _fire(self) -> None:
        if self._repeats:
            self._begin()
        uncaught = self._io.services.uncaught
        done = invoke(self._callback, *self._arguments)
        done.when_settled(lambda: uncaught(done.value) if done.state == "rejected" else None)

    def clear(self) -> None:
        self._repeats = False
        self._handle.cancel()

    close = clear

    def ref(self) -> Timeout:
        return self

    unref = ref

    def hasRef(self) -> bool:
        return True

    def refresh(self) -> Timeout:
        self._handle.cancel()
        self._begin()
        return self


def setTimeout(callback: Any, delay: Any = None, *arguments: Any) -> Timeout:
    return _timer("setTimeout", callback, delay, arguments, False)


def setInterval(callback: Any, delay: Any = None, *arguments: Any) -> Timeout:
    return _timer("setInterval", callback, delay, arguments, True)


def _timer(name: str, callback: Any, delay: Any, arguments: tuple[Any, ...], repeats: bool) -> Timeout:
    io = io_context()
    if not callable(callback):
        raise throw(
            f"Failed to execute '{name}' on 'ServiceWorkerGlobalScope': parameter 1 is not of type 'function'.",
            "TypeError",
        )
    return Timeout(io, callback, delay, arguments, repeats)


def clearTimeout(timer: Any = None) -> None:
    if isinstance(timer, Timeout):
        timer.clear()


def clearInterval(timer: Any = None) -> None:
    clearTimeout(timer)


def setImmediate(callback: Any, *arguments: Any) -> Timeout:
    return setTimeout(callback, 0, *arguments)


def clearImmediate(timer: Any = None) -> None:
    clearTimeout(timer)


class Scheduler(JsProxy):
    """`scheduler`."""

    __slots__ = ()

    def wait(self, delay: Any, init: Any = None, **options: Any) -> Promise:
        """Resolved after so many milliseconds; rejected if `signal` aborts first."""
        io = io_context()
        signal = idl.member(init, options, "signal")
        waited = Promise()
        handle = io.loop.call_later(max(idl.integer(delay), 0) / 1000, waited.fulfil, UNDEFINED)

        def aborted() -> None:
            handle.cancel()
            waited.reject(as_error(signal.reason))

        if signal is not None:
            signal.when_aborted(aborted)
        return waited


class Performance(JsProxy):
    """`performance`. Its origin is the epoch, so `now()` is Date.now() (observed)."""

    __slots__ = ()
    timeOrigin = 0

    def now(self) -> int:
        return int(current().services.clock.now_ms())
