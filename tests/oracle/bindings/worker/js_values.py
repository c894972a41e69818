"""values.js in a Python Worker: {"$kind": ...} becomes the JavaScript value, and `shown` makes it text again."""

from __future__ import annotations

import math

import js
from pyodide.ffi import JsBigInt, JsException, create_proxy, jsnull, to_js

LONG = 300
DEEP = 12
SAFE = 2**53 - 1
TYPED_ARRAYS = (
    "Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array", "Int32Array", "Uint32Array",
    "Float32Array", "Float64Array", "BigInt64Array", "BigUint64Array",
)  # fmt: skip


def revive(given, makers):
    """`makers` has the kinds that only the asking Worker knows."""
    if given is None:
        return jsnull
    if isinstance(given, list):
        return to_js([revive(part, makers) for part in given])
    if not isinstance(given, dict):
        return given
    kind = next(iter(given), "")
    if not kind.startswith("$"):
        return plain_object({key: revive(part, makers) for key, part in given.items()})
    if kind in makers:
        return makers[kind](given[kind])
    return MAKERS[kind](given[kind], lambda part: revive(part, makers))


def plain_object(members):
    return to_js(members, dict_converter=js.Object.fromEntries)


def view(of, _):
    kind, elements = of
    if kind == "DataView":
        return js.DataView.new(js.Uint8Array.new(to_js(elements)).buffer)
    numbers = [js.BigInt(element) for element in elements] if kind.startswith("Big") else elements
    return getattr(js, kind).new(to_js(numbers))


def array_buffer(of, _):
    return js.Uint8Array.new(to_js(of)).buffer if isinstance(of, list) else js.ArrayBuffer.new(of)


def error(of, _):
    made = getattr(js, of[0], js.Error).new(of[1])
    for key, part in (of[2] if len(of) > 2 else {}).items():
        setattr(made, key, part)
    return made


def stream(of, _):
    """{type, chunks: [text | number of bytes | {string} | {value} | {throw}], locked}"""
    left = list(of.get("chunks", ()))

    def pull(controller):
        if not left:
            controller.close()
            return
        chunk = left.pop(0)
        if isinstance(chunk, str):
            controller.enqueue(js.TextEncoder.new().encode(chunk))
        elif isinstance(chunk, int):
            controller.enqueue(js.Uint8Array.new(chunk).fill(97))
        elif "throw" in chunk:
            controller.error(js.Error.new(chunk["throw"]))
        else:
            controller.enqueue(chunk.get("string", chunk.get("value")))

    kind = {"type": of["type"]} if "type" in of else {}
    made = js.ReadableStream.new(plain_object({**kind, "pull": create_proxy(pull)}))
    if of.get("locked"):
        made.getReader()
    return made


MAKERS = {
    "$undefined": lambda of, again: None,
    "$number": lambda of, again: float(of.replace("Infinity", "inf")),
    "$bigint": lambda of, again: js.BigInt(of),
    "$repeat": lambda of, again: of[0] * of[1],
    "$date": lambda of, again: js.Date.new(math.nan if of is None else of),
    "$map": lambda of, again: js.Map.new(again(of)),
    "$set": lambda of, again: js.Set.new(again(of)),
    "$view": view,
    "$buffer": array_buffer,
    "$bytes": lambda of, again: js.Uint8Array.new(of).fill(97),
    "$global": lambda of, again: getattr(js, of),
    "$new": lambda of, again: getattr(js, of[0]).new(*map(again, of[1:])),
    "$error": error,
    "$regexp": lambda of, again: js.RegExp.new(of),
    "$symbol": lambda of, again: js.Symbol(of),
    "$stream": stream,
}


async def shown(value, depth=0):
    if depth > DEEP:
        return {"$deep": 0}
    if value is None:
        return {"$undefined": 0}
    if value is jsnull:
        return None
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return long_text(value)
    if isinstance(value, JsBigInt):
        return {"$bigint": str(int(value))}
    if isinstance(value, int | float):
        return number(value)
    if isinstance(value, JsException):
        return {"$error": [value.name, value.message, await members(value, depth)]}
    if not hasattr(value, "constructor"):
        return {"$function": 0}  # a method, which Pyodide shows as a function of its own
    return await shown_object(value, value.constructor.name, depth)


def long_text(text):
    """Its length is JavaScript's."""
    length = len(text) + sum(1 for letter in text if ord(letter) > 0xFFFF) if not text.isascii() else len(text)
    return {"$long": [text[:10], length]} if length > LONG else text


def number(value):
    if not math.isfinite(value):
        return {"$number": "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"}
    if value == 0 and math.copysign(1, value) < 0:
        return {"$number": "-0"}
    return value


async def shown_object(value, name, depth):
    if name == "Array":
        return [await shown(part, depth + 1) for part in value]
    if name == "Date":
        return {"$date": None if math.isnan(value.getTime()) else value.getTime()}
    if name == "Map":
        return {"$map": [[await shown(key, depth + 2), await shown(part, depth + 2)] for key, part in value.entries()]}
    if name == "Set":
        return {"$set": [await shown(part, depth + 1) for part in value]}
    if name == "ArrayBuffer":
        octets = value.to_bytes()
        return {"$buffer": elements(list(octets)) if any(octets) else len(octets)}
    if name in TYPED_ARRAYS:
        return {"$view": [name, elements([number(int(part) if name.startswith("Big") else part) for part in value])]}
    if name == "DataView":
        return {"$view": [name, elements(list(value.buffer.to_bytes()))]}
    if name == "RegExp":
        return {"$regexp": value.source}
    if name == "ReadableStream":
        return {"$stream": await text_of(value)}
    return {"$function": 0} if callable(value) else await members(value, depth)


def elements(numbers):
    return {"$long": [numbers[0], len(numbers)]} if len(numbers) > LONG else numbers


async def members(value, depth):
    return {key: await shown(part, depth + 1) for key, part in value.object_entries()}


async def text_of(source):
    try:
        return long_text(await js.Response.new(source).text())
    except JsException as error:
        return {"throws": thrown_text(error)}


def thrown_text(error):
    return f"{error.name}: {error.message}"


async def thrown(error):
    """A JavaScript error; one of Python's is shown as what it is."""
    if not isinstance(error, JsException):
        return {"throws": f"{type(error).__qualname__} of Python: {error}"}
    if not hasattr(error, "name"):
        return {"throws": f"thrown {await shown(error.value)}"}
    answer = {"throws": thrown_text(error)}
    if error.constructor.name != error.name:
        answer["class"] = error.constructor.name
    if hasattr(error, "cause"):
        answer["cause"] = thrown_text(error.cause) if isinstance(error.cause, JsException) else await shown(error.cause)
    if own := await members(error, 0):
        answer["own"] = own
    return answer
