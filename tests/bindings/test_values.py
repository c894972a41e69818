"""The values that cross bindings: identity of keys, windows on buffers, what is falsy."""

from __future__ import annotations

import math
from typing import Any

import pytest

from flarebed.bindings.values import UNDEFINED, ArrayBuffer, BigInt, Date, Error, Map, Set, View, same_value_zero


def test_undefined_is_falsy_and_not_null() -> None:
    assert (bool(UNDEFINED), repr(UNDEFINED), UNDEFINED is None) == (False, "undefined", False)


SAME = [(0.0, -0.0), (1, 1.0), (math.nan, math.nan), (BigInt(1), BigInt(1)), ("a", "a"), (None, None), (True, True)]
OTHER: list[tuple[Any, Any]] = [
    (1, "1"), (1, True), (0, False), (1, BigInt(1)), (None, UNDEFINED), ([], []), ({}, {}), (Date(0), Date(0)),
]  # fmt: skip


@pytest.mark.parametrize(("one", "two"), SAME)
def test_keys_that_are_the_same(one: Any, two: Any) -> None:
    assert same_value_zero(one) == same_value_zero(two)
    assert len(Set([one, two])) == 1


@pytest.mark.parametrize(("one", "two"), OTHER)
def test_keys_that_differ(one: Any, two: Any) -> None:
    assert same_value_zero(one) != same_value_zero(two)
    assert len(Map([(one, 1), (two, 2)])) == 2


def test_a_map_keeps_first_key_and_place() -> None:
    entries = Map([("a", 1), (0.0, 2), ("b", 3)])
    entries.set(-0.0, 4)
    entries.set("a", 5)
    assert repr(entries) == "Map([('a', 5), (0.0, 4), ('b', 3)])"
    assert (entries.delete("a"), entries.delete("a"), entries.has("a"), entries.get("a")) == (
        True, False, False, UNDEFINED,
    )  # fmt: skip
    entries.clear()
    assert len(entries) == 0


def test_an_undefined_member_can_be_deleted() -> None:
    members = Set([UNDEFINED, None, 1])
    assert (members.delete(UNDEFINED), members.delete(UNDEFINED), list(members)) == (True, False, [None, 1])


def test_an_object_as_key_is_found_by_identity() -> None:
    key: list[Any] = []
    entries = Map([(key, 1)])
    key.append(2)
    assert (entries.get(key), entries.get([2])) == (1, UNDEFINED)


BYTES = bytes([0, 0, 0xC0, 0x3F, 0xFF, 0xFF, 0xFF, 0xFF])
ELEMENTS: list[tuple[str, list[Any]]] = [
    ("Uint8Array", [0, 0, 0xC0, 0x3F, 255, 255, 255, 255]),
    ("Uint8ClampedArray", [0, 0, 0xC0, 0x3F, 255, 255, 255, 255]),
    ("Int8Array", [0, 0, -64, 63, -1, -1, -1, -1]),
    ("Int16Array", [0, 16320, -1, -1]),
    ("Uint16Array", [0, 16320, 65535, 65535]),
    ("Int32Array", [1069547520, -1]),
    ("Uint32Array", [1069547520, 4294967295]),
    ("BigInt64Array", [BigInt(-3225419776)]),
    ("BigUint64Array", [BigInt(18446744070484131840)]),
]


@pytest.mark.parametrize(("kind", "elements"), ELEMENTS)
def test_elements_of_a_view(kind: str, elements: list[Any]) -> None:
    view = View(ArrayBuffer(BYTES), kind)
    assert [(type(element), element) for element in view.elements()] == [(type(each), each) for each in elements]
    assert len(view) == len(elements)


def test_float_elements() -> None:
    assert View(ArrayBuffer(BYTES[:4]), "Float32Array").elements() == [1.5]
    assert View(ArrayBuffer(bytes.fromhex("003c00c0")), "Float16Array").elements() == [1.0, -2.0]
    assert View(ArrayBuffer(bytes(6) + b"\xf8\x3f"), "Float64Array").elements() == [1.5]


def test_a_view_is_a_window() -> None:
    buffer = ArrayBuffer(bytearray(b"0123456789"))
    view = View(buffer, "Uint16Array", 2, 4)
    view.memory()[0] = 0x4141
    assert (bytes(buffer), bytes(view), len(view)) == (b"01AA456789", b"AA45", 2)


def test_detaching_a_buffer() -> None:
    buffer = ArrayBuffer(b"abc")
    buffer.detach()
    assert (buffer.detached, len(buffer), bytes(View(buffer))) == (True, 0, b"")


def test_an_error_as_text() -> None:
    assert [str(Error("m", "TypeError")), str(Error("m")), str(Error())] == ["TypeError: m", "Error: m", "Error"]
