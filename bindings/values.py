"""The JavaScript values that cross bindings, in Python's words.

| JavaScript                | here                         | JavaScript          | here                |
|---------------------------|------------------------------|---------------------|---------------------|
| null                      | None                         | undefined           | UNDEFINED           |
| boolean, string           | bool, str                    | number              | int or float        |
| bigint                    | BigInt (an int)              | Date                | Date                |
| plain object              | dict                         | Array               | list                |
| Map, Set                  | Map, Set                     | Error               | Error               |
| ArrayBuffer               | ArrayBuffer                  | typed array, view   | View                |
| function                  | Function                     | ReadableStream      | Stream              |
| RegExp                    | RegExp                       | new Number(1) etc.  | Boxed               |
| array with holes          | SparseArray                  |                     |                     |

Python code makes none of the last three; they only pass through from one JavaScript Worker to another, or to itself.

dict and list are the objects themselves (mutable, with identity), not copies: what crosses a binding is cloned by
`codec.py`, as production clones it. Anything else is a host object that can't be cloned.
"""

from __future__ import annotations

import math
import struct
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Protocol, runtime_checkable


class Undefined:
    """The type of UNDEFINED."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "undefined"

    def __bool__(self) -> bool:
        return False


UNDEFINED: Final = Undefined()

MAX_SAFE_INTEGER = 2**53 - 1


class BigInt(int):
    """A bigint; everything else about it is int's."""

    __slots__ = ()


class Date:
    """Milliseconds since the epoch, or NaN for an invalid date."""

    __slots__ = ("ms",)

    def __init__(self, ms: float) -> None:
        self.ms = ms

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Date) and self.ms == other.ms

    def __hash__(self) -> int:
        return hash(self.ms)

    def __repr__(self) -> str:
        return f"Date({self.ms})"


class ArrayBuffer:
    """Bytes; `data` is a mutable bytearray or read-only bytes that nobody changes."""

    __slots__ = ("data", "detached")

    def __init__(self, data: bytes | bytearray) -> None:
        self.data = data
        self.detached = False

    def __len__(self) -> int:
        return len(self.data)

    def __bytes__(self) -> bytes:
        return bytes(self.data)

    def detach(self) -> None:
        self.data = b""
        self.detached = True


ELEMENT_SIZES: Final = {
    "Int8Array": 1, "Uint8Array": 1, "Uint8ClampedArray": 1, "Int16Array": 2, "Uint16Array": 2, "Float16Array": 2,
    "Int32Array": 4, "Uint32Array": 4, "Float32Array": 4, "Float64Array": 8, "BigInt64Array": 8, "BigUint64Array": 8,
    "DataView": 1,
}  # fmt: skip
ELEMENT_FORMATS: Final[dict[str, Any]] = {
    "Int8Array": "b", "Uint8Array": "B", "Uint8ClampedArray": "B", "Int16Array": "h", "Uint16Array": "H",
    "Float16Array": "e", "Int32Array": "i", "Uint32Array": "I", "Float32Array": "f", "Float64Array": "d",
    "BigInt64Array": "q", "BigUint64Array": "Q", "DataView": "B",
}  # fmt: skip


class View:
    """A typed array or DataView: `byte_length` bytes of `buffer` from `byte_offset`, read as `kind`'s elements."""

    __slots__ = ("buffer", "byte_length", "byte_offset", "kind")

    def __init__(
        self, buffer: ArrayBuffer, kind: str = "Uint8Array", byte_offset: int = 0, byte_length: int | None = None
    ) -> None:
        self.buffer = buffer
        self.kind = kind
        self.byte_offset = byte_offset
        self.byte_length = len(buffer) - byte_offset if byte_length is None else byte_length

    def __len__(self) -> int:
        """The number of elements."""
        return self.byte_length // ELEMENT_SIZES[self.kind]

    def __bytes__(self) -> bytes:
        return bytes(memoryview(self.buffer.data)[self.byte_offset : self.byte_offset + self.byte_length])

    def memory(self) -> memoryview:
        """The bytes without a copy, as elements."""
        raw = memoryview(self.buffer.data)[self.byte_offset : self.byte_offset + self.byte_length]
        return raw.cast(ELEMENT_FORMATS[self.kind]) if self.kind != "Float16Array" else raw

    def elements(self) -> list[int | float]:
        memory = self.memory()
        if self.kind == "Float16Array":
            return list(struct.unpack(f"{len(self)}e", memory))
        return [BigInt(element) for element in memory] if self.kind.startswith("Big") else [*memory]


class Map:
    """A JavaScript Map: insertion order, keys compared by SameValueZero."""

    __slots__ = ("_entries",)

    def __init__(self, pairs: Iterable[tuple[Any, Any]] = ()) -> None:
        self._entries: dict[Any, tuple[Any, Any]] = {}
        for key, value in pairs:
            self.set(key, value)

    def get(self, key: Any, default: Any = UNDEFINED) -> Any:
        return self._entries.get(same_value_zero(key), (None, default))[1]

    def set(self, key: Any, value: Any) -> None:
        slot = same_value_zero(key)
        first_key = self._entries[slot][0] if slot in self._entries else key
        self._entries[slot] = (first_key, value)

    def has(self, key: Any) -> bool:
        return same_value_zero(key) in self._entries

    def delete(self, key: Any) -> bool:
        return self._entries.pop(same_value_zero(key), None) is not None

    def clear(self) -> None:
        self._entries.clear()

    def items(self) -> list[tuple[Any, Any]]:
        return list(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"Map({self.items()!r})"


class Set:
    """A JavaScript Set: insertion order, SameValueZero."""

    __slots__ = ("_members",)

    def __init__(self, members: Iterable[Any] = ()) -> None:
        self._members: dict[Any, Any] = {}
        for member in members:
            self.add(member)

    def add(self, member: Any) -> None:
        self._members.setdefault(same_value_zero(member), member)

    def has(self, member: Any) -> bool:
        return same_value_zero(member) in self._members

    def delete(self, member: Any) -> bool:
        slot = same_value_zero(member)
        if slot not in self._members:
            return False
        del self._members[slot]
        return True

    def clear(self) -> None:
        self._members.clear()

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._members.values()))

    def __len__(self) -> int:
        return len(self._members)

    def __repr__(self) -> str:
        return f"Set({list(self)!r})"


class Error:
    """An Error object as a value (not raised): `properties` are its own fields beside name, message, stack, cause."""

    __slots__ = ("cause", "message", "name", "properties", "stack")

    def __init__(
        self, message: str = "", name: str = "Error", *, stack: str = "", cause: Any = UNDEFINED,
        properties: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self.message = message
        self.name = name
        self.stack = stack
        self.cause = cause
        self.properties = properties or {}

    def __str__(self) -> str:
        return f"{self.name}: {self.message}" if self.message else self.name


@dataclass(frozen=True, slots=True)
class RegExp:
    source: str
    flags: str


@dataclass(frozen=True, slots=True)
class Boxed:
    """An object around a primitive."""

    value: bool | int | float | str


@dataclass(eq=False, slots=True)
class SparseArray:
    """An array with holes: `members` has what is there, by key, in JavaScript's order."""

    length: int
    members: dict[str, Any]


@runtime_checkable
class Function(Protocol):
    """A Worker's function that an engine may call: values in, a value out; JsError if it throws."""

    async def __call__(self, *arguments: Any) -> Any: ...


@runtime_checkable
class Stream(Protocol):
    """A byte stream that can be read once."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...


_NAN_SLOT: Final = ("NaN",)


def same_value_zero(key: Any) -> Any:
    """A hashable stand-in for `key`: equal exactly when JavaScript's SameValueZero says so."""
    if isinstance(key, BigInt):
        return ("bigint", int(key))
    if isinstance(key, bool):
        return ("boolean", key)
    if isinstance(key, float) and math.isnan(key):
        return _NAN_SLOT
    if isinstance(key, int | float | str) or key is None or key is UNDEFINED:
        return key
    return _Identity(key)


class _Identity:
    """Compares an object by identity and keeps it alive."""

    __slots__ = ("of",)

    def __init__(self, of: Any) -> None:
        self.of = of

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and self.of is other.of

    def __hash__(self) -> int:
        return id(self.of)
