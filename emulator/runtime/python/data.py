"""Proxies of plain values: objects, arrays, maps, sets, dates, buffers, and the way back to Python (`to_py`).

A proxy holds the value itself, so two proxies of one object see the same changes, and crossing into a binding or out
of it copies nothing. Source: Pyodide's documentation, "Type translations".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, MutableMapping, MutableSequence
from typing import Any, Final

from flarebed.bindings import ecma
from flarebed.bindings.values import ELEMENT_SIZES, UNDEFINED, ArrayBuffer, Date, Map, Set, View
from flarebed.emulator.runtime.python.conversion import to_py
from flarebed.emulator.runtime.python.js.array import ArrayConstructor, ArrayMethods
from flarebed.emulator.runtime.python.js.binary import (
    ArrayBufferConstructor,
    BufferMethods,
    TypedArrayConstructor,
    TypedArrayMethods,
    writable,
)
from flarebed.emulator.runtime.python.js.collections import MapConstructor, MapMethods, SetConstructor, SetMethods
from flarebed.emulator.runtime.python.js.data_view import DataViewConstructor, DataViewMethods
from flarebed.emulator.runtime.python.js.date import DateConstructor, DateMethods
from flarebed.emulator.runtime.python.js.object import ObjectConstructor
from flarebed.emulator.runtime.python.proxy import _WRAPPERS, JsProxy, from_python, to_python


class Wrapper(JsProxy):
    """A proxy that holds a plain value."""

    __slots__ = ("__weakref__", "value")

    value: Any

    def __init__(self, value: Any) -> None:
        object.__setattr__(self, "value", value)

    def js_value(self) -> Any:
        return self.value

    def to_py(self, *, depth: int = -1, default_converter: Callable[..., Any] | None = None) -> Any:
        return to_py(self.value, depth, default_converter)


class JsObject(JsProxy, js="Object", wraps=(dict,)):
    """A plain object: its properties are attributes; it can't be indexed, as in Pyodide."""

    __slots__ = ("__weakref__", "_members")  # not `value`, which many objects have as a property
    Static = ObjectConstructor
    _members: dict[str, Any]

    def __init__(self, members: dict[str, Any]) -> None:
        object.__setattr__(self, "_members", members)

    def js_value(self) -> dict[str, Any]:
        return self._members

    def to_py(self, *, depth: int = -1, default_converter: Callable[..., Any] | None = None) -> Any:
        return to_py(self._members, depth, default_converter)

    def own_properties(self) -> dict[str, Any]:
        return ecma.order_keys(self._members)

    def __getattr__(self, name: str) -> Any:
        try:
            return to_python(self._members[name])
        except KeyError:
            if name.endswith("_") and name[:-1] in self._members:  # Pyodide's way to reach names that Python reserves
                return to_python(self._members[name[:-1]])
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self._members[name] = from_python(value)

    def __delattr__(self, name: str) -> None:
        try:
            del self._members[name]
        except KeyError:
            raise AttributeError(name) from None

    def as_object_map(self, *, hereditary: bool = False) -> ObjectMap:
        return ObjectMap(self._members)

    as_py_json = as_object_map


class ObjectMap(Wrapper, js="Object"):
    """`as_object_map()`: an object that is read and written as a Python mapping."""

    __slots__ = ()

    def __getitem__(self, key: str) -> Any:
        return to_python(self.value[key])

    def __setitem__(self, key: str, value: Any) -> None:
        self.value[key] = from_python(value)

    def __delitem__(self, key: str) -> None:
        del self.value[key]

    def __contains__(self, key: object) -> bool:
        return key in self.value

    def __iter__(self) -> Iterator[str]:
        return iter(self.value)

    def __len__(self) -> int:
        return len(self.value)

    def keys(self) -> Any:
        return self.value.keys()

    def values(self) -> list[Any]:
        return [to_python(value) for value in self.value.values()]

    def items(self) -> list[tuple[str, Any]]:
        return [(key, to_python(value)) for key, value in self.value.items()]

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self.value else default


class JsArray(ArrayMethods, Wrapper, js="Array", wraps=(list,)):
    """An Array; also a Python mutable sequence."""

    __slots__ = ()
    Static = ArrayConstructor

    @property
    def length(self) -> int:
        return len(self.value)

    @length.setter
    def length(self, length: int) -> None:
        self.value[length:] = [UNDEFINED] * (length - len(self.value))

    def __len__(self) -> int:
        return len(self.value)

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return to_python(self.value[index])
        try:
            return to_python(self.value[index])
        except IndexError:
            raise IndexError(index) from None

    def __setitem__(self, index: int | slice, value: Any) -> None:
        self.value[index] = [*map(from_python, value)] if isinstance(index, slice) else from_python(value)

    def __delitem__(self, index: int | slice) -> None:
        del self.value[index]

    def __iter__(self) -> Iterator[Any]:
        return map(to_python, iter(self.value))

    def __contains__(self, item: object) -> bool:
        return from_python(item) in self.value

    def __add__(self, other: Iterable[Any]) -> Any:
        return to_python([*self.value, *map(from_python, other)])

    def own_properties(self) -> dict[str, Any]:
        return {str(index): value for index, value in enumerate(self.value)}

    def append(self, item: Any) -> None:
        self.value.append(from_python(item))

    def extend(self, items: Iterable[Any]) -> None:
        self.value.extend(map(from_python, items))

    def insert(self, index: int, item: Any) -> None:
        self.value.insert(index, from_python(item))

    def index(self, item: Any, start: int = 0) -> int:
        position: int = self.value.index(from_python(item), start)
        return position

    def count(self, item: Any) -> int:
        number: int = self.value.count(from_python(item))
        return number

    def remove(self, item: Any) -> None:
        del self.value[self.index(item)]

    def __mul__(self, times: int) -> Any:
        return to_python(self.value * times)

    __rmul__ = __mul__

    def __iadd__(self, items: Iterable[Any]) -> JsArray:
        self.extend(items)
        return self

    def toString(self) -> str:
        return ecma.to_string(self.value)


class JsMap(MapMethods, Wrapper, js="Map", wraps=(Map,)):
    """A Map; also a Python mapping."""

    __slots__ = ()
    Static = MapConstructor

    @property
    def size(self) -> int:
        return len(self.value)

    def __len__(self) -> int:
        return len(self.value)

    def __getitem__(self, key: Any) -> Any:
        name = from_python(key)
        if not self.value.has(name):
            raise KeyError(key)
        return to_python(self.value.get(name))

    def __contains__(self, key: object) -> bool:
        return bool(self.value.has(from_python(key)))

    def __iter__(self) -> Iterator[Any]:
        return (to_python(key) for key, _ in self.value.items())

    def get(self, key: Any, default: Any = None) -> Any:
        name = from_python(key)
        return to_python(self.value.get(name)) if self.value.has(name) else default

    def set(self, key: Any, value: Any) -> JsMap:
        self.value.set(from_python(key), from_python(value))
        return self

    __setitem__ = set

    def has(self, key: Any) -> bool:
        return key in self

    def delete(self, key: Any) -> bool:
        return bool(self.value.delete(from_python(key)))

    def __delitem__(self, key: Any) -> None:
        if not self.delete(key):
            raise KeyError(key)

    def clear(self) -> None:
        self.value.clear()


class JsSet(SetMethods, Wrapper, js="Set", wraps=(Set,)):
    """A Set."""

    __slots__ = ()
    Static = SetConstructor

    @property
    def size(self) -> int:
        return len(self.value)

    def __len__(self) -> int:
        return len(self.value)

    def __contains__(self, member: object) -> bool:
        return bool(self.value.has(from_python(member)))

    def __iter__(self) -> Iterator[Any]:
        return map(to_python, iter(self.value))


class JsDate(DateMethods, Wrapper, js="Date", wraps=(Date,)):
    """A Date."""

    __slots__ = ()
    Static = DateConstructor


class JsBuffer(Wrapper, js="ArrayBuffer"):
    """What has bytes: Pyodide's ways to them."""

    __slots__ = ()

    @property
    def byteLength(self) -> int:
        return len(bytes(self.value))

    def __len__(self) -> int:
        return self.byteLength

    def to_bytes(self) -> bytes:
        return bytes(self.value)

    def to_memoryview(self) -> memoryview:
        return memoryview(bytearray(bytes(self.value)))

    def to_string(self, encoding: str | None = None) -> str:
        return bytes(self.value).decode(encoding or "utf-8")

    def to_file(self, file: Any) -> None:
        file.write(bytes(self.value))

    _into_file = to_file

    def assign(self, source: Any) -> None:
        """Overwrite the bytes with those of a Python buffer of the same size."""
        writable(self.value)[:] = memoryview(source).cast("B")

    def assign_to(self, target: Any) -> None:
        memoryview(target).cast("B")[:] = bytes(self.value)


class JsArrayBuffer(BufferMethods, JsBuffer, js="ArrayBuffer", wraps=(ArrayBuffer,)):
    """An ArrayBuffer."""

    __slots__ = ()
    Static = ArrayBufferConstructor


class JsView(JsBuffer):
    """A window on an ArrayBuffer."""

    __slots__ = ()

    @property
    def js_tag(self) -> str:
        return str(self.value.kind)

    @property
    def byteLength(self) -> int:
        return int(self.value.byte_length)

    @property
    def byteOffset(self) -> int:
        return int(self.value.byte_offset)

    @property
    def buffer(self) -> Any:
        return to_python(self.value.buffer)

    def to_memoryview(self) -> memoryview:
        copy = View(ArrayBuffer(bytearray(bytes(self.value))), self.value.kind)
        return copy.memory()

    def assign(self, source: Any) -> None:
        start = self.value.byte_offset
        memoryview(writable(self.value.buffer))[start : start + self.value.byte_length] = memoryview(source).cast("B")


class JsDataView(DataViewMethods, JsView, js="DataView"):
    """A DataView."""

    __slots__ = ()
    Static = DataViewConstructor


class JsTypedArray(TypedArrayMethods, JsView, js="TypedArray"):
    """A typed array."""

    __slots__ = ()

    @property
    def constructor(self) -> TypedArrayConstructor:
        return TYPED_ARRAYS[self.value.kind]

    @property
    def length(self) -> int:
        return len(self.value)

    def __len__(self) -> int:
        return len(self.value)

    def __getitem__(self, index: int) -> Any:
        if isinstance(index, slice):
            raise NotImplementedError("Slice subscripting isn't implemented for typed arrays")
        try:
            return to_python(self.value.elements()[index])
        except IndexError:
            raise IndexError(index) from None

    def __iter__(self) -> Iterator[Any]:
        return map(to_python, iter(self.value.elements()))

    def own_properties(self) -> dict[str, Any]:
        return {str(index): element for index, element in enumerate(self.value.elements())}


TYPED_ARRAYS: Final = {kind: TypedArrayConstructor(JsTypedArray, kind) for kind in ELEMENT_SIZES if kind != "DataView"}
"""The constructors of the typed arrays, by name."""


def _view(value: View) -> JsView:
    return JsDataView(value) if value.kind == "DataView" else JsTypedArray(value)


_WRAPPERS[View] = _view

MutableSequence.register(JsArray)
MutableSequence.register(JsTypedArray)
MutableMapping.register(JsMap)
