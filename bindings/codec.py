"""Structured clone: how a value crosses from a Worker to an engine, a disk or another process, and back.

encode() gives one byte of version and a msgpack body; what JSON has no word for is an extension type. Two layouts:

    1  tree   the value itself, written from the inside out: most values, which hold no object twice
    2  graph  an array of objects, the value first; inside them an object is a REFERENCE to its place in that array, so
              what is shared, or contains itself, is so after decoding; and nesting has no limit

    UNDEFINED     nothing                                   ARRAY_BUFFER  the bytes
    BIGINT        two's complement, little endian           WHOLE_VIEW    index of the kind, all bytes of the buffer
    LONG          the same, for an int of over 64 bits      VIEW          [kind, buffer, byte offset, byte length]
    DATE          float64, milliseconds                     ERROR         [name, message, stack, cause]
    MAP           [key, value, key, value, ...]             SET           [member, ...]
    REG_EXP       [source, flags]                           BOXED         [primitive]
    SPARSE_ARRAY  [length, key, value, key, value, ...]     REFERENCE     uint32, little endian

Numbers keep what Python holds: int stays int, float stays float (-0.0, NaN, infinities). Errors keep what the HTML
specification's StructuredSerializeInternal keeps: a standard name (others become "Error"), message, stack and cause.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import Any, Final

import msgpack  # type: ignore[import-untyped]

from flarebed.bindings.errors import InternalError, JsError
from flarebed.bindings.values import (
    ELEMENT_SIZES,
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

_TREE: Final = b"\x01"
_GRAPH: Final = b"\x02"

_UNDEFINED: Final = 1
_BIGINT: Final = 2
_LONG: Final = 3
_DATE: Final = 4
_MAP: Final = 5
_SET: Final = 6
_ARRAY_BUFFER: Final = 7
_WHOLE_VIEW: Final = 8
_VIEW: Final = 9
_ERROR: Final = 10
_REFERENCE: Final = 11
_REG_EXP: Final = 12
_BOXED: Final = 13
_SPARSE_ARRAY: Final = 14

_KINDS: Final = tuple(ELEMENT_SIZES)
_ERROR_NAMES: Final = frozenset(
    {"Error", "EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError", "URIError"}
)
_LEAVES: Final = frozenset({str, int, float, bool, type(None), Undefined, BigInt, Date})
_NOT_AN_RPC_RECEIVER: Final = (
    "Proxy could not be serialized because it is not a valid RPC receiver type. The Proxy must emulate either a plain "
    "object or an RpcTarget, as indicated by the Proxy's prototype chain."
)


class UnclonableError(JsError):
    """The JavaScript error; `value` is what could not be cloned."""

    def __init__(self, message: str, value: Any) -> None:
        super().__init__(message, "DataCloneError")
        self.value = value


def clone(value: Any) -> Any:
    """structuredClone(value)."""
    return decode(encode(value))


def encode(value: Any, *, over_rpc: bool = False) -> bytes:
    """Serialize. Keys of a dict must be str.

    JsError "DataCloneError" for what can't be cloned; a host object may say why in an attribute `clone_error`. Where
    production would send the value over RPC, it has another text for a Python object.
    """
    try:
        return _encode(value)
    except _UnclonableError as found:
        raise UnclonableError(_complaint(found.value, over_rpc), found.value) from None


def _encode(value: Any) -> bytes:
    if type(value) in _LEAVES or not _holds_twice(value):
        try:
            return _TREE + _pack(value)
        except (ValueError, RecursionError):  # nested deeper than msgpack allows
            pass
    return _GRAPH + _pack(_flatten(value))


class _UnclonableError(Exception):
    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


def decode(data: bytes) -> Any:
    """The value again; InternalError if the bytes are not what `encode` wrote."""
    version, body = data[:1], memoryview(data)[1:]
    try:
        if version == _TREE:
            return _unpack(body, _read)
        if version == _GRAPH:
            return _unflatten(_unpack(body, _read_node))
    except (ValueError, TypeError, IndexError, AttributeError, struct.error, RecursionError) as damage:
        raise InternalError(f"a stored value is damaged: {damage}") from damage
    raise InternalError(f"a stored value has the unknown version {version!r}")


def _pack(value: Any) -> bytes:
    packed: bytes = msgpack.Packer(
        default=_extension, strict_types=True, unicode_errors="surrogatepass", buf_size=1024
    ).pack(value)
    return packed


def _unpack(body: bytes | memoryview, hook: Callable[[int, bytes], Any]) -> Any:
    return msgpack.unpackb(body, ext_hook=hook, unicode_errors="surrogatepass")


def _holds_twice(root: Any) -> bool:
    """Whether some object is reached on two ways. It visits everything, so it also finds what can't be cloned."""
    seen = set()
    ahead = [root]
    while ahead:
        value = ahead.pop()
        if id(value) in seen:
            return True
        seen.add(id(value))
        kind = type(value)
        for child in value.values() if kind is dict else value if kind is list else _parts(value):
            if type(child) not in _LEAVES:
                ahead.append(child)
    return False


def _parts(value: Any) -> Iterable[Any]:
    """What the payload of an object's extension holds; DataCloneError if it has none."""
    kind = type(value)
    if kind is Map:
        return [part for entry in value.items() for part in entry]
    if kind is Set:
        return list(value)
    if kind is Error:
        name = value.name if value.name in _ERROR_NAMES else "Error"
        return [name, value.message, value.stack, value.cause]
    if kind is View:
        return [_KINDS.index(value.kind), value.buffer, value.byte_offset, value.byte_length]
    if kind is ArrayBuffer and not value.detached:
        return ()
    if kind is RegExp:
        return [value.source, value.flags]
    if kind is Boxed:
        return [value.value]
    if kind is SparseArray:
        return [value.length, *(part for entry in value.members.items() for part in entry)]
    raise _UnclonableError(value)


def _complaint(value: Any, over_rpc: bool) -> str:
    if isinstance(value, ArrayBuffer):
        return "An ArrayBuffer is detached and could not be cloned."
    if own := getattr(value, "clone_error", None):
        return str(own)
    if tag := getattr(value, "js_tag", None):
        return f'Could not serialize object of type "{tag}". This type does not support serialization.'
    if over_rpc:
        return _NOT_AN_RPC_RECEIVER
    # To V8 they are proxies, of `function(){}` or of an object (observed on Pyodide 314).
    return f"{'function(){}' if callable(value) else '[object Object]'} could not be cloned."


def _extension(value: Any) -> msgpack.ExtType:
    """msgpack's hook for all that is not its own."""
    kind = type(value)
    if kind is Undefined:
        return msgpack.ExtType(_UNDEFINED, b"")
    if kind is Date:
        return msgpack.ExtType(_DATE, struct.pack("<d", value.ms))
    if kind is BigInt or kind is int:
        digits = int(value).to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
        return msgpack.ExtType(_BIGINT if kind is BigInt else _LONG, digits)
    parts = _parts(value)
    if kind is ArrayBuffer:
        return msgpack.ExtType(_ARRAY_BUFFER, bytes(value.data))
    if kind is View and value.byte_length == len(value.buffer) and not value.buffer.detached:
        return msgpack.ExtType(_WHOLE_VIEW, bytes([_KINDS.index(value.kind)]) + value.buffer.data)
    return msgpack.ExtType(_CODES[kind], _pack(parts))


def _flatten(root: Any) -> list[Any]:
    """The objects of a graph, each with references in place of the objects in it."""
    places = {id(root): 0}
    objects = [root]

    def refer(part: Any) -> Any:
        if type(part) in _LEAVES:
            return part
        place = places.setdefault(id(part), len(objects))
        if place == len(objects):
            objects.append(part)
        return msgpack.ExtType(_REFERENCE, struct.pack("<I", place))

    return [_node(value, refer) for value in objects]  # the list grows while it is read


def _node(value: Any, refer: Callable[[Any], Any]) -> Any:
    if type(value) is dict:
        return {key: refer(member) for key, member in value.items()}
    if type(value) is list:
        return [refer(member) for member in value]
    if type(value) is ArrayBuffer:
        return value
    return msgpack.ExtType(_CODES[type(value)], _pack([refer(part) for part in _parts(value)]))


def _read(code: int, payload: bytes) -> Any:
    """The value of an extension in a tree."""
    if code in _SHELLS:
        shell = _SHELLS[code]()
        _fill(shell, _unpack(payload, _read))
        return shell
    if code == _WHOLE_VIEW:
        return View(ArrayBuffer(payload[1:]), _KINDS[payload[0]])
    return _read_leaf(code, payload)


def _read_leaf(code: int, payload: bytes) -> Any:
    if code == _UNDEFINED:
        return UNDEFINED
    if code == _ARRAY_BUFFER:
        return ArrayBuffer(payload)
    if code == _DATE:
        return Date(struct.unpack("<d", payload)[0])
    if code == _BIGINT:
        return BigInt(int.from_bytes(payload, "little", signed=True))
    if code == _LONG:
        return int.from_bytes(payload, "little", signed=True)
    if code == _REG_EXP:
        return RegExp(*_unpack(payload, _read))
    if code == _BOXED:
        return Boxed(*_unpack(payload, _read))
    raise ValueError(f"unknown extension {code}")


class _Reference(int):
    """The place of an object in the array of a graph."""


class _Pending(list[Any]):
    """The parts of an object of a graph, and the object they go into."""

    shell: Any


def _read_node(code: int, payload: bytes) -> Any:
    """The value of an extension in a graph, where objects are not known yet."""
    if code == _REFERENCE:
        return _Reference(struct.unpack("<I", payload)[0])
    if code in _SHELLS:
        pending = _Pending(_unpack(payload, _read_node))
        pending.shell = _SHELLS[code]()
        return pending
    return _read_leaf(code, payload)


def _unflatten(nodes: list[Any]) -> Any:
    objects = [node.shell if type(node) is _Pending else node for node in nodes]

    def resolve(part: Any) -> Any:
        return objects[part] if type(part) is _Reference else part

    for node in nodes:
        if type(node) is dict:
            node.update({key: resolve(member) for key, member in node.items()})
        elif type(node) is list:
            node[:] = map(resolve, node)
        elif type(node) is _Pending:
            _fill(node.shell, [*map(resolve, node)])
    return objects[0]


_CODES: Final = {
    Map: _MAP, Set: _SET, View: _VIEW, Error: _ERROR, RegExp: _REG_EXP, Boxed: _BOXED, SparseArray: _SPARSE_ARRAY,
}  # fmt: skip
_SHELLS: Final[dict[int, Callable[[], Any]]] = {
    _MAP: Map,
    _SET: Set,
    _VIEW: lambda: View(ArrayBuffer(b"")),
    _ERROR: Error,
    _SPARSE_ARRAY: lambda: SparseArray(0, {}),
}


def _fill(shell: Any, parts: list[Any]) -> None:
    """Put the parts into a new object."""
    if type(shell) is Map:
        for key, value in zip(parts[::2], parts[1::2], strict=True):
            shell.set(key, value)
    elif type(shell) is Set:
        for member in parts:
            shell.add(member)
    elif type(shell) is SparseArray:
        shell.length, *members = parts
        shell.members.update(zip(members[::2], members[1::2], strict=True))
    elif type(shell) is Error:
        shell.name, shell.message, shell.stack, shell.cause = parts
    else:
        kind, shell.buffer, shell.byte_offset, shell.byte_length = parts
        shell.kind = _KINDS[kind]
        if not 0 <= shell.byte_offset <= shell.byte_offset + shell.byte_length <= len(shell.buffer):
            raise ValueError("a view reaches beyond its buffer")
