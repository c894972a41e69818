"""Values between Python and JavaScript, as JSON: what `js/wire.js` writes, this reads, and the other way round.

What JSON says as well, with every object in it once, is itself. Anything else is {"$": [node, node, ...]}: the first
node is the value, and a node says of each object in it which node that is. So what is shared, or contains itself, is so
on the other side. A node of an object (keys are texts, the rest are parts):

    ["object", key, value, ...]       ["array", value, ...]               ["sparse", length, key, value, ...]
    ["map", key, value, ...]          ["set", member, ...]                ["date", ms or null]
    ["regexp", source, flags]         ["boxed", primitive]                ["buffer", base64]
    ["view", kind, buffer, byte offset, byte length]                      ["value", primitive]
    ["error", name, message, stack, [cause] or [], key, value, ...]
    ["function", number]              ["stream", number]: a function that gives the next chunk, or undefined
    ["headers", name, value, ...]     ["response", status, status text, body, name, value, ...]
    ["request", method, URL, body, cf, name, value, ...]

A part is a primitive that JSON has, or an array:

    [index of a node]       ["undefined"]       ["number", "NaN"]       ["bigint", "123"]
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from itertools import chain
from typing import Any, Final, NoReturn

from flarebed.bindings.errors import JsError
from flarebed.bindings.values import (
    MAX_SAFE_INTEGER,
    UNDEFINED,
    ArrayBuffer,
    BigInt,
    Boxed,
    Date,
    Error,
    Map,
    RegExp,
    Set,
    SparseArray,
    Undefined,
    View,
)
from flarebed.emulator.runtime.web_values import WebHeaders, WebRequest, WebResponse

Export = Callable[[Any], int]
"""Makes a number for a function that the other side may call."""
Import = Callable[[int], Any]
"""Makes a function of the other side's number."""

_NUMBERS: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf, "-0": -0.0}
_SAME: Final = frozenset({str, bool, type(None)})
_PRIMITIVES: Final = frozenset({str, bool, type(None), int, float, BigInt, Undefined})
_DEEPEST: Final = 200
"""What is nested deeper goes as nodes: JSON's writers and readers go down by recursion."""


dumps: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode
"""json.dumps() of what holds itself nowhere: to look for that takes a quarter of its time."""


def no_function(value: Any) -> NoReturn:
    """In place of an Export or Import, where no function can be called."""
    raise JsError(f"{value} cannot be serialized in this context.", "DataCloneError")


def encoded(value: Any) -> bytes:
    """`dumps`, as bytes: surrogates that stand alone are in escapes, as JSON.stringify does it."""
    try:
        return dumps(value).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def to_wire(value: Any, export: Export) -> Any:
    """What json.dumps() takes. Functions, and anything else that is no value, get a number from `export`."""
    return value if _is_plain(value, set(), _DEEPEST) else {"$": _Nodes(value, export).all}


def _is_plain(value: Any, seen: set[int], depth: int) -> bool:
    """Whether it is itself on the wire."""
    kind = type(value)
    if kind in _SAME:
        return True
    if kind is int:
        return bool(-MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER)
    if kind is float:
        return bool(math.isfinite(value))  # -0.0 too: JSON.parse has it
    if (kind is not dict and kind is not list) or id(value) in seen:
        return False
    if not depth or (kind is dict and "$" in value):
        return False
    seen.add(id(value))
    for item in value.values() if kind is dict else value:
        if type(item) not in _SAME and not _is_plain(item, seen, depth - 1):
            return False
    return True


class _Nodes:
    def __init__(self, root: Any, export: Export) -> None:
        self._export = export
        self._objects: list[Any] = [root]
        self._places = {id(root): 0}
        if type(root) in _PRIMITIVES:
            self.all: list[list[Any]] = [["value", self._part(root)]]
        else:
            self.all = [self._node(value) for value in self._objects]  # the list grows while it is read

    def _part(self, value: Any) -> Any:
        kind = type(value)
        if kind in _SAME:
            return value
        if kind in _PRIMITIVES:
            return _special(value)
        place = self._places.setdefault(id(value), len(self._objects))
        if place == len(self._objects):
            self._objects.append(value)
        return [place]

    def _pairs(self, pairs: Iterable[tuple[Any, Any]]) -> list[Any]:
        return [self._part(part) for pair in pairs for part in pair]

    def _node(self, value: Any) -> list[Any]:
        match value:
            case dict():
                return ["object", *self._pairs(value.items())]
            case list() | tuple():
                return ["array", *map(self._part, value)]
            case Date():
                return ["date", None if math.isnan(value.ms) else value.ms]
            case Map():
                return ["map", *self._pairs(value.items())]
            case Set():
                return ["set", *map(self._part, value)]
            case ArrayBuffer() | bytes() | bytearray():
                return ["buffer", base64.b64encode(bytes(value)).decode()]
            case View():
                return ["view", value.kind, self._part(value.buffer), value.byte_offset, value.byte_length]
            case Error():
                cause = [] if value.cause is UNDEFINED else [self._part(value.cause)]
                return ["error", value.name, value.message, value.stack, cause, *self._pairs(value.properties.items())]
            case RegExp():
                return ["regexp", value.source, value.flags]
            case Boxed():
                return ["boxed", self._part(value.value)]
            case SparseArray():
                return ["sparse", value.length, *self._pairs(value.members.items())]
        return self._host_node(value)

    def _host_node(self, value: Any) -> list[Any]:
        match value:
            case WebHeaders():
                return ["headers", *chain.from_iterable(value.headers)]
            case WebResponse():
                parts = [value.status, value.status_text, self._part(value.body)]
                return ["response", *parts, *chain.from_iterable(value.headers)]
            case WebRequest():
                parts = [value.method, value.url, self._part(value.body), self._part(value.cf)]
                return ["request", *parts, *chain.from_iterable(value.headers)]
        if hasattr(value, "__aiter__"):
            return ["stream", self._export(_chunks(value))]
        return ["function", self._export(value)]


def _special(value: Any) -> Any:
    if value is UNDEFINED:
        return ["undefined"]
    if isinstance(value, BigInt) or not -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER or value != value:
        return ["number", _name(value)] if isinstance(value, float) else ["bigint", str(int(value))]
    return value


def _name(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(value)


def _chunks(stream: Any) -> Callable[..., Awaitable[Any]]:
    """A function that gives the next chunk, or UNDEFINED; called with True it ends the stream."""
    iterator: AsyncIterator[bytes] | None = None

    async def following(cancelled: bool = False) -> Any:
        nonlocal iterator
        iterator = aiter(stream) if iterator is None else iterator
        if cancelled:
            close = getattr(iterator, "aclose", None)
            return UNDEFINED if close is None else await close() or UNDEFINED
        try:
            return View(ArrayBuffer(await anext(iterator)))
        except StopAsyncIteration:
            return UNDEFINED

    return following


def error_to_wire(error: JsError, export: Export) -> Any:
    """What a `throw` in Python is to the other side."""
    cause = UNDEFINED if error.cause is None else error.cause
    return to_wire(Error(error.message, error.name, cause=cause, properties=error.properties), export)


def from_wire(value: Any, resolve: Import) -> Any:
    return _unwired(value["$"], resolve) if type(value) is dict and "$" in value else value


def _unwired(nodes: list[list[Any]], resolve: Import) -> Any:
    if nodes[0][0] == "value":
        return _Parts([]).part(nodes[0][1])
    objects = [_shell(node, resolve) for node in nodes]
    parts = _Parts(objects)
    for node, shell in zip(nodes, objects, strict=True):
        parts.fill(shell, node)
    return objects[0]


def _shell(node: list[Any], resolve: Import) -> Any:
    """The object of a node, without the objects in it."""
    match node:
        case ["object", *_]:
            return {}
        case ["array", *_]:
            return []
        case ["date", ms]:
            return Date(math.nan if ms is None else ms)
        case ["map", *_]:
            return Map()
        case ["set", *_]:
            return Set()
        case ["buffer", text]:
            return ArrayBuffer(bytearray(base64.b64decode(text)))
        case ["view", kind, _, offset, length]:
            return View(ArrayBuffer(b""), kind, offset, length)
        case ["error", name, message, stack, *_]:
            return Error(message, name, stack=stack)
        case ["regexp", source, flags]:
            return RegExp(source, flags)
        case ["boxed", part]:
            return Boxed(_Parts([]).part(part))
        case ["sparse", length, *_]:
            return SparseArray(length, {})
        case ["stream", number]:
            return RemoteStream(resolve(number))
        case ["headers", *names_and_values]:
            return WebHeaders(_pairs(names_and_values))
        case ["response", status, status_text, _, *names_and_values]:
            return WebResponse(status, status_text, _pairs(names_and_values))
        case ["request", method, url, _, _, *names_and_values]:
            return WebRequest(method, url, _pairs(names_and_values), None, UNDEFINED)
    return resolve(node[1])


def _pairs(flat: list[str]) -> list[tuple[str, str]]:
    return list(zip(flat[::2], flat[1::2], strict=True))


class _Parts:
    def __init__(self, objects: list[Any]) -> None:
        self._objects = objects

    def part(self, part: Any) -> Any:
        if type(part) is not list:
            return part
        match part:
            case ["undefined"]:
                return UNDEFINED
            case ["number", text]:
                return _NUMBERS[text] if text in _NUMBERS else float(text)
            case ["bigint", text]:
                return BigInt(text)
        return self._objects[part[0]]

    def _pairs(self, parts: list[Any]) -> list[tuple[Any, Any]]:
        values = [self.part(part) for part in parts]
        return list(zip(values[::2], values[1::2], strict=True))

    def fill(self, shell: Any, node: list[Any]) -> None:
        match shell:
            case dict():
                shell.update(self._pairs(node[1:]))
            case list():
                shell.extend(map(self.part, node[1:]))
            case Map():
                for key, item in self._pairs(node[1:]):
                    shell.set(key, item)
            case Set():
                for member in node[1:]:
                    shell.add(self.part(member))
            case View():
                shell.buffer = self.part(node[2])
            case Error():
                shell.cause = self.part(node[4][0]) if node[4] else UNDEFINED
                shell.properties = dict(self._pairs(node[5:]))
            case SparseArray():
                shell.members.update(self._pairs(node[2:]))
            case WebResponse():
                shell.body = self.part(node[3])
            case WebRequest():
                shell.body, shell.cf = self.part(node[3]), self.part(node[4])


class RemoteStream:
    """A stream of the other side's; `following` gives its next chunk. It can be read once."""

    clone_error = "ReadableStream can only be serialized for RPC."

    def __init__(self, following: Callable[..., Awaitable[Any]]) -> None:
        self._following = following

    async def __aiter__(self) -> AsyncIterator[bytes]:
        ended = False
        try:
            while (chunk := await self._following()) is not UNDEFINED:
                yield bytes(chunk)
            ended = True
        except JsError:
            ended = True
            raise
        finally:
            if not ended:
                await self._following(True)


def thrown(value: Any) -> JsError:
    """The exception for what the other side threw, a value from the wire."""
    if not isinstance(value, Error):
        return JsError(str(value), thrown=value)
    cause = None if value.cause is UNDEFINED else value.cause
    error = JsError(value.message, value.name, cause=cause, thrown=value)
    error.properties = dict(value.properties)
    return error
