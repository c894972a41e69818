"""Structured clone: what survives it, what stays shared, what it refuses and how damage shows."""

from __future__ import annotations

import math
import struct
from typing import Any

import pytest

from flarebed.bindings.codec import clone, decode, encode
from flarebed.bindings.errors import InternalError, JsError
from flarebed.bindings.values import UNDEFINED, ArrayBuffer, BigInt, Date, Error, Map, Set, View

PLAIN = [
    None, UNDEFINED, True, False, "", "é😀", "\ud800 alone", 0, -1, 2**63 - 1, 2**64 - 1, -(2**63), 2**70, -(2**70),
    0.0, 1.0, 1.5, math.inf, -math.inf, BigInt(0), BigInt(5), BigInt(-1), BigInt(2**200), BigInt(-(2**63)), Date(1.5),
    Date(-1.0), [], {}, [1, [2, [3]]], {"a": {"b": [None, UNDEFINED]}}, {"__proto__": 1, "": 2}, {"i": 1, "a": "x"},
]  # fmt: skip


@pytest.mark.parametrize("value", PLAIN)
def test_a_value_comes_back_of_the_same_type(value: Any) -> None:
    back = clone(value)
    assert (back, type(back)) == (value, type(value))


def test_minus_zero_and_nan() -> None:
    zero, nan, invalid = clone([-0.0, math.nan, Date(math.nan)])
    assert struct.pack("<d", zero) == struct.pack("<d", -0.0)
    assert (math.isnan(nan), math.isnan(invalid.ms)) == (True, True)


def test_a_clone_is_another_object() -> None:
    value: dict[str, Any] = {"list": [1]}
    back = clone(value)
    back["list"].append(2)
    assert value == {"list": [1]}


def test_maps_and_sets_keep_order_and_keys() -> None:
    back = clone(Map([(1, "int"), ("1", "str"), (None, Set([math.nan, "x", 1])), ([1], Map())]))
    keys = [key for key, _ in back.items()]
    assert keys == [1, "1", None, [1]]
    assert [str(member) for member in back.get(None)] == ["nan", "x", "1"]
    assert len(back.get(None)) == 3


def test_buffers_and_views() -> None:
    buffer = ArrayBuffer(bytearray(b"0123456789abcdef"))
    back = clone([buffer, View(ArrayBuffer(b"abc")), View(ArrayBuffer(bytes(range(8))), "Int16Array", 2, 4)])
    assert back[0].data == b"0123456789abcdef"
    assert (back[1].kind, bytes(back[1])) == ("Uint8Array", b"abc")
    window = back[2]
    assert (window.kind, window.byte_offset, window.byte_length, len(window.buffer)) == ("Int16Array", 2, 4, 8)
    assert bytes(window) == bytes([2, 3, 4, 5])


def test_views_of_one_buffer_still_share_it() -> None:
    buffer = ArrayBuffer(bytearray(8))
    first, second, whole = clone([View(buffer), View(buffer, "DataView", 4, 2), buffer])
    assert first.buffer is second.buffer is whole
    assert (second.kind, second.byte_offset, second.byte_length) == ("DataView", 4, 2)


ERROR_NAMES = [
    ("Error", "Error"), ("TypeError", "TypeError"), ("RangeError", "RangeError"), ("SyntaxError", "SyntaxError"),
    ("ReferenceError", "ReferenceError"), ("EvalError", "EvalError"), ("URIError", "URIError"),
    ("MyError", "Error"), ("AggregateError", "Error"), ("PythonError", "Error"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "kept"), ERROR_NAMES)
def test_an_error_keeps_a_standard_name(name: str, kept: str) -> None:
    assert clone(Error("m", name)).name == kept


def test_an_error_keeps_message_stack_and_cause() -> None:
    back = clone(Error("m", "TypeError", stack="TypeError: m\n    at f", cause=Error("c"), properties={"code": 5}))
    assert (back.message, back.stack, back.cause.message, back.properties) == ("m", "TypeError: m\n    at f", "c", {})
    assert clone(Error("m")).cause is UNDEFINED


def test_shared_objects_stay_shared() -> None:
    shared = {"x": [1]}
    back = clone({"a": shared, "b": [shared, Map([(shared, shared)]), Set([shared])], "leaf": 2.5})
    (key, member), (in_set,) = back["b"][1].items()[0], back["b"][2]
    assert back["a"] == {"x": [1]}
    assert all(other is back["a"] for other in (back["b"][0], key, member, in_set))
    assert back["leaf"] == 2.5


def test_circles() -> None:
    circle: dict[str, Any] = {"date": Date(5)}
    error = Error("m", cause=circle)
    circle.update(self=circle, list=[circle], map=Map([("k", circle)]), error=error)
    back = clone(circle)
    assert back["self"] is back["list"][0] is back["map"].get("k") is back["error"].cause is back
    assert back["date"] == Date(5)


def test_nesting_has_no_limit() -> None:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    back, depth = clone(deep), 0
    while back:
        back, depth = back[0], depth + 1
    assert depth == 5000


class KvNamespace:
    clone_error = "A KV namespace binding cannot be serialized."


class Headers:
    js_tag = "Headers"


NOT_AN_RPC_RECEIVER = (
    "Proxy could not be serialized because it is not a valid RPC receiver type. The Proxy must emulate either a plain "
    "object or an RpcTarget, as indicated by the Proxy's prototype chain."
)
REFUSED = [
    (object(), "[object Object] could not be cloned."),
    ((1, 2), "[object Object] could not be cloned."),
    (b"bytes", "[object Object] could not be cloned."),
    (lambda: None, "function(){} could not be cloned."),
    (KvNamespace(), "A KV namespace binding cannot be serialized."),
    (Headers(), 'Could not serialize object of type "Headers". This type does not support serialization.'),
]


def inside_list(value: Any) -> Any:
    return [1, value]


def inside_object(value: Any) -> Any:
    return {"a": {"b": value}}


def inside_map(value: Any) -> Any:
    return Map([("k", value)])


def inside_shared(value: Any) -> Any:
    shared = [1]
    return [shared, shared, value]


@pytest.mark.parametrize("place", [lambda value: value, inside_list, inside_object, inside_map, inside_shared])
@pytest.mark.parametrize(("value", "message"), REFUSED)
def test_what_can_not_be_cloned(value: Any, message: str, place: Any) -> None:
    with pytest.raises(JsError) as thrown:
        encode(place(value))
    assert (thrown.value.name, thrown.value.message) == ("DataCloneError", message)


@pytest.mark.parametrize("value", [object(), lambda: None])
def test_a_python_object_that_would_go_over_rpc(value: Any) -> None:
    with pytest.raises(JsError) as thrown:
        encode({"a": value}, over_rpc=True)
    assert str(thrown.value) == f"DataCloneError: {NOT_AN_RPC_RECEIVER}"


def test_a_detached_buffer() -> None:
    buffer = ArrayBuffer(b"x")
    buffer.detach()
    with pytest.raises(JsError) as thrown:
        encode([View(buffer)])
    assert str(thrown.value) == "DataCloneError: An ArrayBuffer is detached and could not be cloned."


def test_the_layouts() -> None:
    shared: list[Any] = []
    assert encode({"a": 1}) == b"\x01\x81\xa1a\x01"
    assert encode(UNDEFINED) == b"\x01\xc7\x00\x01"
    assert encode([shared, shared]) == b"\x02\x92" + b"\x92" + b"\xd6\x0b\x01\x00\x00\x00" * 2 + b"\x90"


DAMAGED = [
    b"", b"\x00", b"\x03\xc0", b"\x01", b"\x01\x81\xa1a", b"\x01\xc0\xc0", b"\x01\xc7\x00\x63", b"\x01\xd4\x04\x00",
    b"\x01\xd4\x08\x63", b"\x01\x81\x01\x01", b"\x02\xc0", b"\x02\x90", b"\x02\x91\x91\xd6\x0b\x09\x00\x00\x00",
    b"\x01" + encode(View(ArrayBuffer(bytes(4)), "Uint8Array", 1, 2))[1:-1] + b"\x09", b"\x01\xd4\x05\x01",
]  # fmt: skip


@pytest.mark.parametrize("data", DAMAGED)
def test_damaged_bytes(data: bytes) -> None:
    with pytest.raises(InternalError):
        decode(data)


@pytest.mark.parametrize("length", range(1, len(encode({"a": Map([("k", [1.5, "x"])])}))))
def test_a_cut_value_is_damaged(length: int) -> None:
    with pytest.raises(InternalError):
        decode(encode({"a": Map([("k", [1.5, "x"])])})[:length])
