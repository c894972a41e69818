"""AbortController and AbortSignal.

Source: https://dom.spec.whatwg.org/#aborting-ongoing-activities and workerd src/workerd/api/basics.c++.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from flarebed.emulator.runtime.python.js import idl
from flarebed.emulator.runtime.python.js.events import Event, EventTarget, handler_attribute
from flarebed.emulator.runtime.python.js.work import as_error
from flarebed.emulator.runtime.python.promise import io_context
from flarebed.emulator.runtime.python.proxy import Constructor, JsProxy, throw


class AbortSignal(EventTarget):
    """`reason` is None until it is aborted."""

    __slots__ = ("_followers", "aborted", "reason")

    class Static(Constructor, js="Function"):
        __slots__ = ()

        def new(self, *arguments: Any, **options: Any) -> Any:
            raise throw("Illegal constructor", "TypeError")

        def abort(self, reason: Any = None) -> AbortSignal:
            signal = AbortSignal()
            signal.abort_with(reason)
            return signal

        def timeout(self, delay_ms: Any) -> AbortSignal:
            return aborted_after(idl.number(delay_ms))

        def any(self, signals: Iterable[Any]) -> AbortSignal:
            return any_of(signals)

    def __init__(self) -> None:
        super().__init__()
        self.aborted = False
        self.reason: Any = None
        self._followers: list[Callable[[], object]] = []

    onabort = handler_attribute("abort")

    def throwIfAborted(self) -> None:
        if self.aborted:
            raise as_error(self.reason)

    def when_aborted(self, callback: Callable[[], object]) -> None:
        """Call `callback()` when it is aborted, before the listeners; at once if it is already."""
        if self.aborted:
            callback()
        else:
            self._followers.append(callback)

    def abort_with(self, reason: Any) -> None:
        if self.aborted:
            return
        self.aborted = True
        self.reason = throw("The operation was aborted", "AbortError") if reason is None else reason
        followers, self._followers = self._followers, []
        for follower in followers:
            follower()
        event = Event("abort")
        event.isTrusted = True
        self.dispatchEvent(event)


def aborted_after(delay_ms: float) -> AbortSignal:
    signal = AbortSignal()
    error = throw("The operation was aborted due to timeout", "TimeoutError")
    io_context().loop.call_later(delay_ms / 1000, signal.abort_with, error)
    return signal


def any_of(signals: Iterable[Any]) -> AbortSignal:
    """A signal that follows the first of these."""
    made = AbortSignal()
    for signal in signals:
        signal.when_aborted(lambda signal=signal: made.abort_with(signal.reason))
    return made


class AbortController(JsProxy):
    """Aborts its signal."""

    __slots__ = ("__weakref__", "signal")

    def __init__(self) -> None:
        self.signal = AbortSignal()

    def abort(self, reason: Any = None) -> None:
        self.signal.abort_with(reason)
