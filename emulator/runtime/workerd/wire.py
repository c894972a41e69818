"""Values between Python and JavaScript, as JSON: what `js/wire.js` writes, this reads, and the other way round.

A value that JSON has no word for is an object with the one key "$", an array: its kind, and what it is made of.

    ["undefined"]              ["number", "NaN"]               ["bigint", "123"]
    ["date", ms or null]       ["map", [[key, value], ...]]    ["set", [member, ...]]
    ["buffer", base64]         ["view", kind, buffer, offset, length]
    ["error", name, message, stack, properties, cause or absent]
    ["function", number]       ["object", {...}]: an object that has a key "$" itself
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable
from typing import Any, Final, NoReturn

from flarebed.bindings.errors import JsError
from flarebed.bindings.values import UNDEFINED, ArrayBuffer, BigInt, Date, Error, Map, Set, Undefined, View

_NUMBERS: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf, "-0": -0.0}
Export = Callable[[Any], int]
"""Makes a number for a function that the other side may call."""
Import = Callable[[int], Any]
"""Makes a function of the other side's number."""


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def no_function(value: Any) -> NoReturn:
    """In place of an Export or Import, where no function can be called."""
    raise JsError(f"{value} cannot be serialized in this context.", "DataCloneError")


def to_wire(value: Any, export: Export) -> Any:
    """What json.dumps() takes. Functions, and anything else that is no value, get a number from `export`."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int | float):
        return _number_to_wire(value)
    if isinstance(value, dict):
        plain = {key: to_wire(item, export) for key, item in value.items()}
        return {"$": ["object", plain]} if "$" in plain else plain
    if isinstance(value, list | tuple):
        return [to_wire(item, export) for item in value]
    return {"$": _tagged(value, export)}


def _number_to_wire(value: int | float) -> Any:
    if isinstance(value, BigInt):
        return {"$": ["bigint", str(int(value))]}
    if isinstance(value, float):
        if math.isnan(value):
            return {"$": ["number", "NaN"]}
        if math.isinf(value):
            return {"$": ["number", "Infinity" if value > 0 else "-Infinity"]}
        if value == 0 and math.copysign(1, value) < 0:
            return {"$": ["number", "-0"]}
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    return value if abs(value) <= 2**53 else {"$": ["bigint", str(value)]}


def _tagged(value: Any, export: Export) -> list[Any]:
    match value:
        case Undefined():
            return ["undefined"]
        case Date():
            return ["date", None if math.isnan(value.ms) else value.ms]
        case Map():
            return ["map", [[to_wire(key, export), to_wire(item, export)] for key, item in value.items()]]
        case Set():
            return ["set", [to_wire(member, export) for member in value]]
        case ArrayBuffer() | bytes() | bytearray():
            return ["buffer", base64.b64encode(bytes(value)).decode()]
        case View():
            return ["view", value.kind, base64.b64encode(bytes(value)).decode()]
        case Error():
            cause = [] if value.cause is UNDEFINED else [to_wire(value.cause, export)]
            return ["error", value.name, value.message, value.stack, to_wire(value.properties, export), *cause]
    return ["function", export(value)]


def error_to_wire(error: JsError, export: Export) -> Any:
    """What a `throw` in Python is to the other side."""
    cause = UNDEFINED if error.cause is None else error.cause
    return to_wire(Error(error.message, error.name, cause=cause, properties=error.properties), export)


def from_wire(value: Any, resolve: Import) -> Any:
    if isinstance(value, dict):
        if "$" in value:
            return _untagged(value["$"], resolve)
        return {key: from_wire(item, resolve) for key, item in value.items()}
    if isinstance(value, list):
        return [from_wire(item, resolve) for item in value]
    return value


def _untagged(tagged: list[Any], resolve: Import) -> Any:
    kind, *parts = tagged
    match kind:
        case "undefined":
            return UNDEFINED
        case "number":
            return _NUMBERS[parts[0]]
        case "bigint":
            return BigInt(parts[0])
        case "date":
            return Date(math.nan if parts[0] is None else parts[0])
        case "map":
            return Map((from_wire(key, resolve), from_wire(item, resolve)) for key, item in parts[0])
        case "set":
            return Set(from_wire(member, resolve) for member in parts[0])
        case "buffer":
            return ArrayBuffer(bytearray(base64.b64decode(parts[0])))
        case "view":
            return View(ArrayBuffer(bytearray(base64.b64decode(parts[1]))), parts[0])
        case "error":
            name, message, stack, properties, *cause = parts
            caused = from_wire(cause[0], resolve) if cause else UNDEFINED
            return Error(message, name, stack=stack, cause=caused, properties=from_wire(properties, resolve))
        case "object":
            return {key: from_wire(item, resolve) for key, item in parts[0].items()}
    return resolve(parts[0])


def thrown(value: Any) -> JsError:
    """The exception for what the other side threw, a value from the wire."""
    if not isinstance(value, Error):
        return JsError(str(value), thrown=value)
    cause = None if value.cause is UNDEFINED else value.cause
    return JsError(value.message, value.name, cause=cause, thrown=value, **value.properties)
