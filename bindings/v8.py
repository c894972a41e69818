"""V8's own serialization, read: what a JavaScript Worker sends as "v8" is kept as workerd wrote it, and becomes values
only where a Python Worker gets it. (What Python sends is in `codec.py`'s form; a JavaScript Worker gets the values.)

A stream of tags: a container's begins and ends, and all between are its members, so reading needs a stack of the open
containers and no recursion. Objects are numbered as they begin; `^` refers to one by its number.

Sources: V8 src/objects/value-serializer.cc (version 15); workerd src/workerd/jsg/ser.c++ for errors.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Final, TypeVar

from flarebed.bindings.ecma import order_keys, shrink, to_string
from flarebed.bindings.errors import InternalError
from flarebed.bindings.values import UNDEFINED, ArrayBuffer, BigInt, Date, Error, Map, Set, View

T = TypeVar("T")

MAGIC: Final = b"\xff"
"""What begins with it is in this format."""

_CONSTANTS: Final[dict[str, Any]] = {
    "_": UNDEFINED, "-": UNDEFINED, "0": None, "T": True, "F": False, "y": True, "x": False,
}  # fmt: skip
"""Also the hole of an array, and Boolean objects."""
_VIEW_KINDS: Final = {
    "b": "Int8Array", "B": "Uint8Array", "C": "Uint8ClampedArray", "w": "Int16Array", "W": "Uint16Array",
    "h": "Float16Array", "d": "Int32Array", "D": "Uint32Array", "f": "Float32Array", "F": "Float64Array",
    "q": "BigInt64Array", "Q": "BigUint64Array", "?": "DataView",
}  # fmt: skip
_NATIVE_ERROR: Final = 10
_ERROR_NAMES: Final = (
    "", "Error", "TypeError", "RangeError", "ReferenceError", "SyntaxError", "CompileError", "LinkError",
    "RuntimeError", "SuspendError", "EvalError", "URIError", "AggregateError", "SuppressedError",
)  # fmt: skip
"""By workerd's number; the first has its name beside it."""
_ERROR_PROTOTYPES: Final = {
    "E": "EvalError", "R": "RangeError", "F": "ReferenceError", "S": "SyntaxError", "T": "TypeError", "U": "URIError",
}  # fmt: skip


def is_v8(data: bytes) -> bool:
    return data[:1] == MAGIC


def decode(data: bytes) -> Any:
    """The value; InternalError if the bytes are not V8's."""
    try:
        return _Reader(data).read()
    except (IndexError, KeyError, ValueError, TypeError, struct.error) as damage:
        raise InternalError(f"a value that a JavaScript Worker sent can't be read: {damage!r}") from damage


class _Open:
    """A container that has begun: `value` is filled when the tag `end` comes, or when it has `size` members."""

    __slots__ = ("end", "members", "size", "value")

    def __init__(self, end: str, value: Any, size: int) -> None:
        self.end = end
        self.value = value
        self.size = size
        self.members: list[Any] = []


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 1
        self._objects: list[Any] = []
        self._open: list[_Open] = []
        if self._integer() > 15:
            raise ValueError("a newer version of V8's format")

    def read(self) -> Any:
        while True:
            value = self._next()
            if value is _BEGUN:
                continue
            if self._data[self._at : self._at + 1] == b"V" and isinstance(value, ArrayBuffer):
                value = self._view(value)
            while self._open:
                container = self._open[-1]
                container.members.append(value)
                if len(container.members) != container.size:
                    break
                value = self._closed()
            else:
                return value

    def _next(self) -> Any:
        """The next whole value, or _BEGUN."""
        tag = self._tag()
        if self._open and tag == self._open[-1].end:
            return self._closed(*(self._integer() for _ in range(_COUNTS_AT_END[tag])))
        if tag in _CONSTANTS:
            return self._kept(_CONSTANTS[tag]) if tag in "xy" else _CONSTANTS[tag]
        return _READERS[tag](self)

    def _closed(self, *counts: int) -> Any:
        container = self._open.pop()
        _FILLERS[container.end](container.value, container.members, *counts)
        return container.value

    def _begin(self, end: str, value: Any, size: int = -1) -> Any:
        self._open.append(_Open(end, self._kept(value), size))
        return _BEGUN

    def _kept(self, value: T) -> T:
        self._objects.append(value)
        return value

    # What tags are followed by

    def _tag(self) -> str:
        while not self._data[self._at]:  # padding
            self._at += 1
        self._at += 1
        return chr(self._data[self._at - 1])

    def _integer(self) -> int:
        value = shift = 0
        while True:
            byte = self._data[self._at]
            self._at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def _bytes(self, length: int) -> bytes:
        self._at += length
        if self._at > len(self._data):
            raise ValueError("cut off")
        return self._data[self._at - length : self._at]

    def _signed(self) -> int:
        value = self._integer()
        return (value >> 1) ^ -(value & 1)

    def _double(self) -> float:
        return float(struct.unpack("<d", self._bytes(8))[0])

    def _number(self) -> int | float:
        return shrink(self._double())

    def _bigint(self) -> BigInt:
        field = self._integer()
        digits = int.from_bytes(self._bytes(field >> 1), "little")
        return BigInt(-digits if field & 1 else digits)

    def _text(self, encoding: str) -> str:
        return self._bytes(self._integer()).decode(encoding, "surrogatepass")

    def _string(self) -> str:
        text = _READERS[self._tag()](self)
        if not isinstance(text, str):
            raise ValueError("no string")
        return text

    # Objects

    def _reference(self) -> Any:
        return self._objects[self._integer()]

    def _array(self) -> Any:
        self._integer()  # its length, which also ends it
        return self._begin("$", [])

    def _sparse_array(self) -> Any:
        return self._begin("@", [UNDEFINED] * self._integer())

    def _buffer(self) -> ArrayBuffer:
        return self._kept(ArrayBuffer(self._bytes(self._integer())))

    def _resizable_buffer(self) -> ArrayBuffer:
        length, _most = self._integer(), self._integer()
        return self._kept(ArrayBuffer(self._bytes(length)))

    def _view(self, buffer: ArrayBuffer) -> View:
        self._tag()
        kind = _VIEW_KINDS[self._tag()]
        offset, length, _flags = self._integer(), self._integer(), self._integer()
        view = View(buffer, kind, offset, length)
        self._objects.append(view)
        return view

    def _regexp(self) -> dict[str, Any]:
        """Python has no word for it; this has what a Worker may read of it."""
        value = self._kept({"source": self._string(), "flags": ""})
        flags = self._integer()
        value["flags"] = "".join(letter for bit, letter in enumerate("gimyusdlv") if flags >> bit & 1)
        return value

    def _error(self) -> Error:
        """As V8 writes it (legacy_error_serialization); a cause is what is read next, so it is found last."""
        error = self._kept(Error())
        while (tag := self._tag()) != ".":
            if tag == "m":
                error.message = self._string()
            elif tag == "s":
                error.stack = self._string()
            elif tag == "c":
                error.cause = self._inner()
            else:
                error.name = _ERROR_PROTOTYPES[tag]
        return error

    def _inner(self) -> Any:
        """A whole value within one that is being read; they nest only as causes do."""
        outer, self._open = self._open, []
        try:
            return self.read()
        finally:
            self._open = outer

    def _host_object(self) -> Any:
        """workerd's: the name if it is no standard one, the message, an object with the other properties."""
        if self._integer() != _NATIVE_ERROR:
            raise ValueError("an object of the platform, which only JavaScript has")
        name = _ERROR_NAMES[self._integer()]
        return self._begin("error", Error(name=name), 2 if name else 3)


_BEGUN: Final = object()
_COUNTS_AT_END: Final = {"{": 1, "$": 2, "@": 2, ":": 1, ",": 1}
_READERS: Final[dict[str, Callable[[_Reader], Any]]] = {
    "I": _Reader._signed,
    "U": _Reader._integer,
    "N": _Reader._number,
    "Z": _Reader._bigint,
    '"': lambda reader: reader._text("latin-1"),
    "c": lambda reader: reader._text("utf-16-le"),
    "S": lambda reader: reader._text("utf-8"),
    "^": _Reader._reference,
    "o": lambda reader: reader._begin("{", {}),
    "A": _Reader._array,
    "a": _Reader._sparse_array,
    ";": lambda reader: reader._begin(":", Map()),
    "'": lambda reader: reader._begin(",", Set()),
    "D": lambda reader: reader._kept(Date(reader._double())),
    "n": lambda reader: reader._kept(reader._number()),
    "z": lambda reader: reader._kept(reader._bigint()),
    "s": lambda reader: reader._kept(reader._string()),
    "R": _Reader._regexp,
    "B": _Reader._buffer,
    "~": _Reader._resizable_buffer,
    "r": _Reader._error,
    "\\": _Reader._host_object,
}


def _pairs(members: list[Any]) -> list[tuple[Any, Any]]:
    return list(zip(members[::2], members[1::2], strict=True))


def _fill_object(value: dict[str, Any], members: list[Any], _count: int) -> None:
    named = {key if isinstance(key, str) else to_string(key): item for key, item in _pairs(members)}
    value.update(order_keys(named))


def _fill_array(value: list[Any], members: list[Any], _count: int, length: int) -> None:
    """Behind the elements are other properties, which a list hasn't."""
    value.extend(members[:length])


def _fill_sparse_array(value: list[Any], members: list[Any], _count: int, _length: int) -> None:
    for key, item in _pairs(members):
        if isinstance(key, int):
            value[key] = item


def _fill_map(value: Map, members: list[Any], _length: int) -> None:
    for key, item in _pairs(members):
        value.set(key, item)


def _fill_set(value: Set, members: list[Any], _length: int) -> None:
    for member in members:
        value.add(member)


def _fill_error(value: Error, members: list[Any]) -> None:
    *name, message, properties = members
    value.name = name[0] if name else value.name
    value.message = message
    value.stack = properties.pop("stack", "")
    value.cause = properties.pop("cause", UNDEFINED)
    value.properties = properties


_FILLERS: Final[dict[str, Callable[..., None]]] = {
    "{": _fill_object, "$": _fill_array, "@": _fill_sparse_array, ":": _fill_map, ",": _fill_set, "error": _fill_error,
}  # fmt: skip
