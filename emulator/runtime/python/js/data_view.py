"""DataView: numbers of any kind at any offset of a buffer, in either byte order."""

from __future__ import annotations

import struct
from typing import Any

from flarebed.bindings.values import ELEMENT_FORMATS, ELEMENT_SIZES, UNDEFINED, ArrayBuffer, BigInt, View
from flarebed.emulator.runtime.python.js.binary import pack, view_of, writable
from flarebed.emulator.runtime.python.js.protocols import ValueConstructor, to_integer, truthy
from flarebed.emulator.runtime.python.proxy import from_python, throw, to_python


def _getter(kind: str) -> Any:
    def get(self: DataViewMethods, offset: Any = 0, little_endian: Any = False) -> Any:
        order = "<" if truthy(from_python(little_endian)) else ">"
        start = _place(self.value, kind, offset)
        (number,) = struct.unpack_from(order + ELEMENT_FORMATS[kind], self.value.buffer.data, start)
        return to_python(BigInt(number) if kind.startswith("Big") else number)

    return get


def _setter(kind: str) -> Any:
    def set_(self: DataViewMethods, offset: Any = 0, value: Any = None, little_endian: Any = False) -> None:
        data = pack(kind, [from_python(value)])
        start = _place(self.value, kind, offset)
        ordered = data if truthy(from_python(little_endian)) else data[::-1]
        writable(self.value.buffer)[start : start + len(data)] = ordered

    return set_


def _place(view: View, kind: str, offset: Any) -> int:
    start = to_integer(from_python(offset), 0)
    if not 0 <= start <= view.byte_length - ELEMENT_SIZES[kind]:
        raise throw("Offset is outside the bounds of the DataView", "RangeError")
    return view.byte_offset + start


class DataViewMethods:
    """The methods of a DataView's proxy; `value` is the View."""

    __slots__ = ()
    value: View

    getInt8 = _getter("Int8Array")
    getUint8 = _getter("Uint8Array")
    getInt16 = _getter("Int16Array")
    getUint16 = _getter("Uint16Array")
    getInt32 = _getter("Int32Array")
    getUint32 = _getter("Uint32Array")
    getFloat16 = _getter("Float16Array")
    getFloat32 = _getter("Float32Array")
    getFloat64 = _getter("Float64Array")
    getBigInt64 = _getter("BigInt64Array")
    getBigUint64 = _getter("BigUint64Array")
    setInt8 = _setter("Int8Array")
    setUint8 = _setter("Uint8Array")
    setInt16 = _setter("Int16Array")
    setUint16 = _setter("Uint16Array")
    setInt32 = _setter("Int32Array")
    setUint32 = _setter("Uint32Array")
    setFloat16 = _setter("Float16Array")
    setFloat32 = _setter("Float32Array")
    setFloat64 = _setter("Float64Array")
    setBigInt64 = _setter("BigInt64Array")
    setBigUint64 = _setter("BigUint64Array")


class DataViewConstructor(ValueConstructor, js="Function"):
    """`js.DataView`."""

    __slots__ = ()

    def make(self, buffer: Any = UNDEFINED, offset: Any = UNDEFINED, length: Any = UNDEFINED, *_rest: Any) -> Any:
        if not isinstance(buffer, ArrayBuffer):
            raise throw("First argument to DataView constructor must be an ArrayBuffer", "TypeError")
        return view_of("DataView", buffer, offset, length)
