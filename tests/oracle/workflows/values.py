"""values.js in Python: the values of a question, and what came back as text that can be compared."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable
from typing import Any

from flarebed.bindings.ecma import order_keys
from flarebed.bindings.errors import JsError
from flarebed.bindings.values import (
    ELEMENT_FORMATS,
    ELEMENT_SIZES,
    UNDEFINED,
    ArrayBuffer,
    BigInt,
    Date,
    Error,
    Map,
    Set,
    View,
)
from flarebed.bindings.workflows.streams import StoredStream

LONG = 300
DEEP = 12


class _Host:
    """What no structured clone takes: an object of the Worker, as the runtime hands it over."""


UNCLONEABLE: dict[str, Callable[[], Any]] = {
    "$symbol": _Host,
    "$object": _Host,
    "$promise": lambda: {"p": _Host()},
    "$weakmap": _Host,
}


class Reviver:
    """`callback` makes a function of what it does, `now_ms` is the clock."""

    def __init__(self, instance_id: str, callback: Callable[[list[Any]], Any], now_ms: Callable[[], float]) -> None:
        self._id = instance_id
        self._callback = callback
        self._now_ms = now_ms

    def __call__(self, given: Any) -> Any:
        if isinstance(given, list):
            return [self(part) for part in given]
        if not isinstance(given, dict):
            return given
        kind = next(iter(given), "")
        if not kind.startswith("$"):
            return {key: self(part) for key, part in given.items()}
        return self._made(kind, given[kind])

    def _made(self, kind: str, of: Any) -> Any:
        if kind in UNCLONEABLE:
            return UNCLONEABLE[kind]()
        makers: dict[str, Callable[[], Any]] = {
            "$undefined": lambda: UNDEFINED,
            "$number": lambda: float(of.replace("Infinity", "inf")),
            "$bigint": lambda: BigInt(of),
            "$id": lambda: self._id + of,
            "$repeat": lambda: of[0] * of[1],
            "$calls": lambda: self._callback(of),
            "$date": lambda: Date(math.nan if of is None else of),
            "$ahead": lambda: Date(self._now_ms() + of),
            "$aheadMs": lambda: self._now_ms() + of,
            "$map": lambda: Map((self(key), self(part)) for key, part in of),
            "$set": lambda: Set(self(part) for part in of),
            "$view": lambda: _view(*of),
            "$buffer": lambda: ArrayBuffer(bytes(of)),
            "$error": lambda: Error(of[1], of[0], properties=dict(of[2]) if len(of) > 2 else {}),
            "$circular": _circular,
            "$twice": lambda: [{"a": 1}] * 2,
            "$stream": lambda: _Source(**of),
        }
        return makers[kind]()


def _view(kind: str, elements: list[Any]) -> View:
    data = bytearray(len(elements) * ELEMENT_SIZES[kind])
    cells = memoryview(data).cast(ELEMENT_FORMATS[kind])
    for index, element in enumerate(elements):
        cells[index] = element
    return View(ArrayBuffer(data), kind)


def _circular() -> dict[str, Any]:
    all_: dict[str, Any] = {"a": 1}
    all_["self"] = all_
    return all_


class _Source:
    """A Worker's stream, as the runtime hands it over."""

    def __init__(
        self,
        chunks: tuple[Any, ...] = (),
        type: str = "",
        locked: bool = False,
        cancelled: bool = False,
    ) -> None:
        self._left = [] if cancelled else list(chunks)
        self._locked = locked

    def __aiter__(self) -> AsyncIterator[bytes]:
        if self._locked:
            raise JsError("This ReadableStream is currently locked to a reader.", "TypeError")
        return self

    async def __anext__(self) -> bytes:
        if not self._left:
            raise StopAsyncIteration
        chunk = self._left.pop(0)
        if isinstance(chunk, str):
            return chunk.encode()
        if isinstance(chunk, int):
            return b"a" * chunk
        if "throw" in chunk:
            raise JsError(chunk["throw"])
        raise JsError("This TransformStream is being used as a byte stream, but received a string.", "TypeError")


async def shown(value: Any, depth: int = 0) -> Any:
    """JSON, the same as values.js gives."""
    if depth > DEEP:
        return {"$deep": 0}
    if isinstance(value, str):
        return {"$long": [value[:10], len(value)]} if len(value) > LONG else value
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, BigInt):
        return {"$bigint": str(int(value))}
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, list):
        return [await shown(part, depth + 1) for part in value]
    if isinstance(value, dict):
        return {key: await shown(part, depth + 1) for key, part in order_keys(value).items()}
    return await _shown_object(value, depth)


def _number(value: float) -> Any:
    if not math.isfinite(value):
        return {"$number": {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")}
    if value == 0 and math.copysign(1, value) < 0:
        return {"$number": "-0"}
    return int(value) if abs(value) < 1e21 and value == int(value) else float(value)


async def _shown_object(value: Any, depth: int) -> Any:
    if value is UNDEFINED:
        return {"$undefined": 0}
    if isinstance(value, Date):
        return {"$date": None if math.isnan(value.ms) else int(value.ms)}
    if isinstance(value, Map):
        return {"$map": [[await shown(key, depth + 1), await shown(part, depth + 1)] for key, part in value.items()]}
    if isinstance(value, Set):
        return {"$set": [await shown(part, depth + 1) for part in value]}
    if isinstance(value, ArrayBuffer):
        return {"$buffer": list(bytes(value)) if any(bytes(value)) else len(value)}
    if isinstance(value, View):
        return {"$view": [value.kind, [_number(float(element)) for element in value.elements()]]}
    if isinstance(value, Error):
        return {"$error": [value.name, value.message, await shown(value.properties)]}
    if isinstance(value, StoredStream):
        return {"$stream": await shown(b"".join([chunk async for chunk in value]).decode())}
    return {"$function": 0} if callable(value) else f"{value!r}"
