"""Event and EventTarget, and the events that carry more.

A listener that fails is reported as uncaught, and the others still run. Source: https://dom.spec.whatwg.org and workerd
src/workerd/api/basics.c++.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from flarebed.bindings.values import Error
from flarebed.emulator.runtime.python.context import CURRENT, current
from flarebed.emulator.runtime.python.js import idl
from flarebed.emulator.runtime.python.promise import Promise, promise_of
from flarebed.emulator.runtime.python.proxy import Constructor, JsException, JsProxy, jsnull, throw, to_python


class Event(JsProxy):
    """An event; it does not bubble, since there is no tree."""

    __slots__ = (
        "__weakref__", "_stopped", "bubbles", "cancelable", "composed", "currentTarget", "defaultPrevented",
        "isTrusted", "target", "timeStamp", "type",
    )  # fmt: skip

    class Static(Constructor, js="Function"):
        __slots__ = ()
        NONE, CAPTURING_PHASE, AT_TARGET, BUBBLING_PHASE = range(4)

    def __init__(self, type: Any, init: Any = None, **options: Any) -> None:
        self.type = idl.string(type)
        self.bubbles = idl.truthy(idl.member(init, options, "bubbles"))
        self.cancelable = idl.truthy(idl.member(init, options, "cancelable"))
        self.composed = idl.truthy(idl.member(init, options, "composed"))
        self.defaultPrevented = self.isTrusted = self._stopped = False
        self.target: Any = None
        self.currentTarget: Any = jsnull
        io = CURRENT.get(None)
        self.timeStamp = 0.0 if io is None else io.services.clock.now_ms()

    @property
    def srcElement(self) -> Any:
        return self.target

    @property
    def eventPhase(self) -> int:
        return 0 if self.currentTarget is jsnull else 2

    @property
    def returnValue(self) -> bool:
        return not self.defaultPrevented

    def preventDefault(self) -> None:
        self.defaultPrevented = self.cancelable

    def stopPropagation(self) -> None:
        """Nothing is above the target."""

    def stopImmediatePropagation(self) -> None:
        self._stopped = True

    def composedPath(self) -> Any:
        return to_python([] if self.currentTarget is jsnull else [self.target])


class CustomEvent(Event):
    """An event with a `detail` of the Worker's."""

    __slots__ = ("detail",)

    def __init__(self, type: Any, init: Any = None, **options: Any) -> None:
        super().__init__(type, init, **options)
        detail = idl.member(init, options, "detail")
        self.detail = jsnull if detail is None else detail


class MessageEvent(Event):
    """A message: `data` is a string, an ArrayBuffer or a Blob, or what a MessagePort was given."""

    __slots__ = ("data", "lastEventId", "origin", "ports", "source")

    def __init__(self, type: Any, init: Any = None, **options: Any) -> None:
        super().__init__(type, init, **options)
        self.data = idl.member(init, options, "data")
        self.origin = self.lastEventId = ""
        self.source = jsnull
        self.ports = to_python([])


class CloseEvent(Event):
    """The end of a WebSocket."""

    __slots__ = ("code", "reason", "wasClean")

    def __init__(self, type: Any, init: Any = None, **options: Any) -> None:
        super().__init__(type, init, **options)
        self.code = idl.integer(idl.member(init, options, "code"))
        self.reason = idl.optional_string(idl.member(init, options, "reason"))
        self.wasClean = idl.truthy(idl.member(init, options, "wasClean"))


class ErrorEvent(Event):
    """An error."""

    __slots__ = ("colno", "error", "filename", "lineno", "message")

    def __init__(self, type: Any, init: Any = None, **options: Any) -> None:
        super().__init__(type, init, **options)
        self.message = idl.optional_string(idl.member(init, options, "message"))
        self.error = idl.member(init, options, "error")
        self.filename = ""
        self.lineno = self.colno = 0


class EventTarget(JsProxy):
    """`_listeners` are (type, listener, once); `_handlers` the `on...` attributes, which run first."""

    __slots__ = ("__weakref__", "_handlers", "_listeners")

    def __init__(self) -> None:
        self._listeners: list[tuple[str, Any, bool]] = []
        self._handlers: dict[str, Any] = {}

    def addEventListener(self, type: Any, listener: Any, init: Any = None, **options: Any) -> None:
        name = idl.string(type)
        if isinstance(init, bool):
            if init:
                raise throw("addEventListener(): useCapture must be false.", "TypeError")
            init = None
        for forbidden in ("capture", "passive"):
            if idl.truthy(idl.member(init, options, forbidden)):
                raise throw(f"addEventListener(): options.{forbidden} must be false.", "TypeError")
        signal = idl.member(init, options, "signal")
        if idl.is_nothing(listener) or (signal is not None and signal.aborted):
            return
        if not any(known == name and same(other, listener) for known, other, _ in self._listeners):
            self._listeners.append((name, listener, idl.truthy(idl.member(init, options, "once"))))
            if signal is not None:
                signal.when_aborted(lambda: self.removeEventListener(name, listener))

    def removeEventListener(self, type: Any, listener: Any, init: Any = None, **options: Any) -> None:
        name = idl.string(type)
        self._listeners = [entry for entry in self._listeners if not (entry[0] == name and same(entry[1], listener))]

    def dispatchEvent(self, event: Event) -> bool:
        if not isinstance(event, Event):
            raise idl.not_of_type("dispatchEvent", "EventTarget", 1, "Event")
        if event.currentTarget is not jsnull:
            raise throw("The event is already being dispatched.", "InvalidStateError")
        event.target = event.currentTarget = self
        handler = self._handlers.get(event.type)
        if handler is not None:
            _call(handler, event)
        for entry in list(self._listeners):
            if event._stopped:
                break
            if entry[0] == event.type and entry in self._listeners:
                if entry[2]:
                    self._listeners.remove(entry)
                _call(entry[1], event)
        event.currentTarget = jsnull
        return not event.defaultPrevented


def same(one: Any, two: Any) -> bool:
    """Are these the same listener? Bound methods of one object are, though each access makes a new one."""
    return one is two or one == two


def _call(listener: Any, event: Event) -> None:
    function: Callable[..., Any] = listener if callable(listener) else listener.handleEvent
    uncaught = current().services.uncaught
    try:
        result = function(event)
    except Exception as error:
        uncaught(error)
        return
    if inspect.isawaitable(result):
        promise = result if isinstance(result, Promise) else promise_of(result)
        promise.when_settled(lambda: uncaught(promise.value) if promise.state == "rejected" else None)


def handler_attribute(type: str) -> property:
    """An `on...` attribute: a function, or null."""

    def read(target: EventTarget) -> Any:
        return target._handlers.get(type, jsnull)

    def write(target: EventTarget, handler: Any) -> None:
        if callable(handler):
            target._handlers[type] = handler
        else:
            target._handlers.pop(type, None)

    return property(read, write)


class DOMException(JsProxy):
    """Only its constructor is met: what it makes is a JsException, as every error is in Python."""

    __slots__ = ()

    class Static(Constructor, js="Function"):
        __slots__ = ()

        def new(self, *arguments: Any, **options: Any) -> JsException:
            message = idl.optional_string(arguments[0]) if arguments else ""
            given = arguments[1] if len(arguments) > 1 else options.get("name")
            name = given if isinstance(given, str) else idl.optional_string(getattr(given, "name", None), "Error")
            return JsException(Error(message, name))
