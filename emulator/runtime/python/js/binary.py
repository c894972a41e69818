"""ArrayBuffer and the typed arrays: the methods of their proxies, and their constructors."""

from __future__ import annotations

import math
import struct
from typing import Any, Final

from flarebed.bindings import ecma
from flarebed.bindings.values import ELEMENT_FORMATS, ELEMENT_SIZES, UNDEFINED, ArrayBuffer, BigInt, View
from flarebed.emulator.runtime.python.js.array import ArrayReads, array_like, sort_key
from flarebed.emulator.runtime.python.js.protocols import (
    ValueConstructor,
    caller,
    relative_index,
    to_integer,
    to_number,
)
from flarebed.emulator.runtime.python.proxy import from_python, throw, to_python

_LARGEST: Final = 2**32
"""Bytes; what V8 refuses to allocate in an isolate of 128 MB, it refuses long before."""


def writable(buffer: ArrayBuffer) -> bytearray:
    """The buffer's bytes to write to: bytes that nobody had changed yet are copied first."""
    if not isinstance(buffer.data, bytearray):
        buffer.data = bytearray(buffer.data)
    return buffer.data


def allocate(length: Any) -> ArrayBuffer:
    """A buffer of zeros."""
    size = to_integer(length, 0)
    if size < 0:
        raise throw("Invalid array buffer length", "RangeError")
    if size > _LARGEST:
        raise throw("Array buffer allocation failed", "RangeError")
    return ArrayBuffer(bytearray(size))


class BufferMethods:
    """The methods of an ArrayBuffer's proxy beside Pyodide's; `value` is the ArrayBuffer."""

    __slots__ = ()
    value: Any

    @property
    def maxByteLength(self) -> int:
        return len(self.value)

    @property
    def resizable(self) -> bool:
        return False

    @property
    def detached(self) -> bool:
        return bool(self.value.detached)

    def slice(self, start: Any = None, end: Any = None) -> Any:
        length = len(self.value)
        begin = relative_index(from_python(start), length, 0)
        return to_python(ArrayBuffer(self.value.data[begin : relative_index(from_python(end), length, length)]))

    def transfer(self, length: Any = None) -> Any:
        """A new buffer with the bytes; this one is detached."""
        size = to_integer(from_python(length), len(self.value))
        data = bytes(self.value)[:size].ljust(size, b"\0")
        self.value.detach()
        return to_python(ArrayBuffer(bytearray(data)))


class ArrayBufferConstructor(ValueConstructor, js="Function"):
    """`js.ArrayBuffer`."""

    __slots__ = ()

    def make(self, length: Any = 0, *_options: Any) -> Any:
        return allocate(length)

    def isView(self, value: Any = None) -> bool:
        return isinstance(from_python(value), View)


def coerce(kind: str, value: Any) -> int | float:
    """What an element of a typed array of this kind holds after an assignment."""
    if kind.startswith("Big"):
        if not isinstance(value, BigInt):
            raise throw(f"Cannot convert {ecma.to_string(value)} to a BigInt", "TypeError")
        return _wrap(int(value), 64, signed=kind == "BigInt64Array")
    number = to_number(value)
    if kind.startswith("Float"):
        return number
    if kind == "Uint8ClampedArray":
        return 0 if number != number else round(max(0.0, min(255.0, number)))  # ties to even, as ToUint8Clamp
    if not math.isfinite(number):
        return 0
    return _wrap(int(number), 8 * ELEMENT_SIZES[kind], signed=kind.startswith("Int"))


def _wrap(number: int, bits: int, *, signed: bool) -> int:
    number &= (1 << bits) - 1
    return number - (1 << bits) if signed and number >> (bits - 1) else number


def pack(kind: str, values: list[Any]) -> bytes:
    """The bytes of elements."""
    numbers = [coerce(kind, value) for value in values]
    try:
        return struct.pack(f"<{len(numbers)}{ELEMENT_FORMATS[kind]}", *numbers)
    except OverflowError:  # beyond a float of 16 or 32 bits
        one = f"<{ELEMENT_FORMATS[kind]}"
        return b"".join(struct.pack(one, _to_range(one, number)) for number in numbers)


def _to_range(form: str, number: float) -> float:
    try:
        struct.pack(form, number)
    except OverflowError:
        return math.copysign(math.inf, number)
    return number


class TypedArrayMethods(ArrayReads):
    """The methods of a typed array's proxy; `value` is the View."""

    __slots__ = ()
    value: View

    @property
    def BYTES_PER_ELEMENT(self) -> int:
        return ELEMENT_SIZES[self.value.kind]

    def __setitem__(self, index: int, value: Any) -> None:
        if isinstance(index, slice):
            raise NotImplementedError("Slice assignment isn't implemented for typed arrays")
        if not -len(self.value) <= index < len(self.value):
            raise IndexError("array assignment index out of range")
        self._write(index % len(self.value), [from_python(value)])

    def _elements(self) -> list[Any]:
        return self.value.elements()

    def _like(self, items: list[Any]) -> Any:
        return to_python(View(ArrayBuffer(bytearray(pack(self.value.kind, items))), self.value.kind))

    def _write(self, index: int, items: list[Any]) -> None:
        self._put(index, pack(self.value.kind, items))

    def _put(self, index: int, data: bytes) -> None:
        start = self.value.byte_offset + index * ELEMENT_SIZES[self.value.kind]
        writable(self.value.buffer)[start : start + len(data)] = data

    def set(self, source: Any, offset: Any = 0) -> None:
        given, begin = from_python(source), to_integer(from_python(offset))
        if isinstance(given, View) and given.kind == self.value.kind:
            size, data = ELEMENT_SIZES[given.kind], bytes(given)
            self._check_room(begin, len(given))
            start = self.value.byte_offset + begin * size
            writable(self.value.buffer)[start : start + len(data)] = data
            return
        items = array_like(given)
        self._check_room(begin, len(items))
        self._write(begin, items)

    def _check_room(self, begin: int, count: int) -> None:
        if begin < 0 or begin + count > len(self.value):
            raise throw("offset is out of bounds", "RangeError")

    def subarray(self, start: Any = None, end: Any = None) -> Any:
        """A view of the same buffer."""
        view, length, size = self.value, len(self.value), ELEMENT_SIZES[self.value.kind]
        begin = relative_index(from_python(start), length, 0)
        stop = max(begin, relative_index(from_python(end), length, length))
        return to_python(View(view.buffer, view.kind, view.byte_offset + begin * size, (stop - begin) * size))

    def fill(self, item: Any = None, start: Any = None, end: Any = None) -> Any:
        length = len(self.value)
        begin = relative_index(from_python(start), length, 0)
        stop = relative_index(from_python(end), length, length)
        self._put(begin, pack(self.value.kind, [from_python(item)]) * max(0, stop - begin))
        return self

    def reverse(self) -> Any:
        self._write(0, self._elements()[::-1])
        return self

    def sort(self, compare: Any = None) -> Any:
        self._write(0, sorted(self._elements(), key=self._order(compare)))
        return self

    def copyWithin(self, target: Any, start: Any = None, end: Any = None) -> Any:
        items = to_python(self._elements())
        items.copyWithin(target, start, end)
        self._write(0, from_python(items))
        return self

    def keys(self) -> Any:
        return iter(range(len(self.value)))

    def _order(self, compare: Any) -> Any:
        """By number, unless a function says otherwise; NaN comes last."""
        return sort_key(compare) if compare is not None else lambda number: (number != number, number)

    def toString(self) -> str:
        return self.join()


class TypedArrayConstructor(ValueConstructor, js="Function"):
    """`js.Uint8Array` and its like; `name` is the kind."""

    __slots__ = ()

    @property
    def BYTES_PER_ELEMENT(self) -> int:
        return ELEMENT_SIZES[self.name]

    def make(self, source: Any = UNDEFINED, offset: Any = UNDEFINED, length: Any = UNDEFINED, *_rest: Any) -> Any:
        if isinstance(source, ArrayBuffer):
            return view_of(self.name, source, offset, length)
        if not ecma.is_object(source):
            return self._zeros(source)
        look = to_python(source)
        if isinstance(look, bytes | bytearray) and self.name == "Uint8Array":
            return View(ArrayBuffer(bytearray(look)))
        return self._filled(array_like(source))

    def _zeros(self, source: Any) -> View:
        count = to_integer(source, 0)
        if count < 0:
            raise throw(f"Invalid typed array length: {count}", "RangeError")
        return View(allocate(count * self.BYTES_PER_ELEMENT), self.name)

    def _filled(self, items: list[Any]) -> View:
        return View(ArrayBuffer(bytearray(pack(self.name, items))), self.name)

    def from_(self, source: Any = None, change: Any = None) -> Any:
        """`from` is a word of Python's."""
        items = array_like(from_python(source))
        if change is not None:
            call = caller(from_python(change))
            items = [call(item, index) for index, item in enumerate(items)]
        return to_python(self._filled(items))

    def of(self, *items: Any) -> Any:  # type: ignore[override]
        return to_python(self._filled(list(map(from_python, items))))


def view_of(kind: str, buffer: ArrayBuffer, offset: Any, length: Any) -> View:
    """A view of an existing buffer, with V8's complaints."""
    size, start = ELEMENT_SIZES[kind], to_integer(offset, 0)
    if start % size:
        raise throw(f"start offset of {kind} should be a multiple of {size}", "RangeError")
    if length is UNDEFINED and len(buffer) % size:
        raise throw(f"byte length of {kind} should be a multiple of {size}", "RangeError")
    if not 0 <= start <= len(buffer):
        raise throw(f"Start offset {start} is outside the bounds of the buffer", "RangeError")
    if length is UNDEFINED:
        return View(buffer, kind, start)
    count = to_integer(length)
    if count < 0 or start + count * size > len(buffer):
        what = "DataView length " if kind == "DataView" else "typed array length: "
        raise throw(f"Invalid {what}{count}", "RangeError")
    return View(buffer, kind, start, count * size)
