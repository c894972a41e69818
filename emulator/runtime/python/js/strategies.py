"""Queuing strategies: how much a stream keeps before it asks its source to wait.

Source: https://streams.spec.whatwg.org/#qs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flarebed.emulator.runtime.python.js import idl
from flarebed.emulator.runtime.python.proxy import JsProxy, throw


def strategy_of(strategy: Any, default: float) -> tuple[float, Callable[[Any], Any] | None]:
    """High water mark and size function of a queuing strategy."""
    mark = idl.member(strategy, {}, "highWaterMark")
    limit = default if mark is None else float(idl.number(mark))
    if not limit >= 0:
        raise throw("highWaterMark must be a non-negative number.", "RangeError")
    return limit, idl.member(strategy, {}, "size")


class CountQueuingStrategy(JsProxy):
    """Every chunk counts one."""

    __slots__ = ("highWaterMark",)

    def __init__(self, init: Any = None, **options: Any) -> None:
        self.highWaterMark = idl.number(idl.member(init, options, "highWaterMark"))

    def size(self, _chunk: Any = None) -> int:
        return 1


class ByteLengthQueuingStrategy(CountQueuingStrategy):
    """A chunk counts its bytes."""

    __slots__ = ()

    def size(self, chunk: Any = None) -> int:
        return int(chunk.byteLength)
