"""`ctx`: the ExecutionContext of an event, and the controller of a cron event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flarebed.emulator.runtime.python.context import IoContext
from flarebed.emulator.runtime.python.js.protocols import JsFunction
from flarebed.emulator.runtime.python.proxy import JsProxy, to_python

_PARTS = ("tracing", "props", "exports")
_NOT_HERE = ("access", "cache", "mapVirtualHost")
"""What production has for some Workers; undefined for the others."""


class ExecutionContext(JsProxy):
    """`waitUntil`, `passThroughOnException`, `props`, `exports`."""

    __slots__ = ("_io", "_parts")

    def __init__(self, io: IoContext, props: Mapping[str, Any] | None = None) -> None:
        """`props` are what the caller's binding gives."""
        self._io = io
        self._parts: dict[str, dict[str, Any]] = {"props": dict(props or {})}

    def __getattr__(self, name: str) -> Any:
        if name in _NOT_HERE:
            return None
        if name not in _PARTS:
            raise AttributeError(name)
        return to_python(self._parts.setdefault(name, {}))

    @property
    def waitUntil(self) -> JsFunction:
        return JsFunction(self._io.wait_until, "waitUntil")

    @property
    def passThroughOnException(self) -> JsFunction:
        """There is no origin behind a local Worker to pass through to."""
        return JsFunction(lambda: None, "passThroughOnException")

    @property
    def abort(self) -> JsFunction:
        return JsFunction(lambda _reason=None: self._io.close(), "abort")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *_NOT_HERE]

    def own_properties(self) -> dict[str, Any]:
        return {name: self._parts.setdefault(name, {}) for name in _PARTS}


class ScheduledController(JsProxy):
    """`cron` and `scheduledTime` (ms since the epoch) of a cron event; `noRetry()`."""

    __slots__ = ("cron", "no_retry", "scheduledTime")

    def __init__(self, cron: str, scheduled_time_ms: float) -> None:
        self.cron = cron
        self.scheduledTime = int(scheduled_time_ms)
        self.no_retry = False

    def noRetry(self) -> None:
        self.no_retry = True
