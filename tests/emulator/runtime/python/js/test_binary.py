"""Buffers, typed arrays and DataView through `js`; every expected text is Node.js's for the same expression."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from flarebed.emulator.runtime.python.js import language
from flarebed.emulator.runtime.python.js.console import inspect
from flarebed.emulator.runtime.python.proxy import JsException, from_python, to_python

js = SimpleNamespace(**language.exports())


def arr(*items: Any) -> Any:
    return to_python([from_python(item) for item in items])


SCOPE = {"js": js, "arr": arr}

TABLE = [
    ("js.Uint8Array.new(2)", "Uint8Array(2) [ 0, 0 ]"),
    ("js.Uint8Array.new(arr(300, -1, 1.9, js.NaN, '5'))", "Uint8Array(5) [ 44, 255, 1, 0, 5 ]"),
    ("js.Uint8ClampedArray.new(arr(300, -1, 1.5, 2.5, js.NaN))", "Uint8ClampedArray(5) [ 255, 0, 2, 2, 0 ]"),
    ("js.Int8Array.new(arr(200, -129))", "Int8Array(2) [ -56, 127 ]"),
    ("js.Int16Array.new(arr(40000))", "Int16Array(1) [ -25536 ]"),
    ("js.Uint32Array.new(arr(-1))", "Uint32Array(1) [ 4294967295 ]"),
    ("js.Float32Array.new(arr(1e40, 0.1))", "Float32Array(2) [ Infinity, 0.10000000149011612 ]"),
    ("js.Float64Array.new(arr(0.1))", "Float64Array(1) [ 0.1 ]"),
    ("js.BigInt64Array.new(arr(js.BigInt(-5)))", "BigInt64Array(1) [ -5n ]"),
    ("js.Uint8Array.new(js.Int16Array.new(arr(258)))", "Uint8Array(1) [ 2 ]"),
    ("js.Uint8Array.new(js.ArrayBuffer.new(8), 2, 3).byteOffset", "2"),
    ("js.Uint8Array.new(js.ArrayBuffer.new(8), 2).length", "6"),
    ("js.Uint8Array.from_(arr(1, 2), lambda x, i: x * 2)", "Uint8Array(2) [ 2, 4 ]"),
    ("js.Uint8Array.of(1, 2)", "Uint8Array(2) [ 1, 2 ]"),
    ("js.Int32Array.BYTES_PER_ELEMENT", "4"),
    ("js.Int32Array.new(2).byteLength", "8"),
    ("js.Uint8Array.of(1, 2, 3).subarray(1)", "Uint8Array(2) [ 2, 3 ]"),
    ("js.Uint8Array.of(1, 2, 3).slice(-2, -1)", "Uint8Array(1) [ 2 ]"),
    ("js.Uint8Array.of(1, 2, 3).fill(9, 1, 2)", "Uint8Array(3) [ 1, 9, 3 ]"),
    ("js.Uint8Array.of(1, 2, 3).map(lambda x, i, a: x * 100)", "Uint8Array(3) [ 100, 200, 44 ]"),
    ("js.Uint8Array.of(1, 2, 3).filter(lambda x, i, a: x > 1)", "Uint8Array(2) [ 2, 3 ]"),
    ("js.Uint8Array.of(1, 2, 3).reduce(lambda t, x, i, a: t + x)", "6"),
    ("js.Uint8Array.of(1, 2).join('-')", "'1-2'"),
    ("js.Uint8Array.of(1, 2).toString()", "'1,2'"),
    ("js.Float32Array.of(10, 9, 1).sort()", "Float32Array(3) [ 1, 9, 10 ]"),
    ("js.Uint8Array.of(1, 2, 3).reverse()", "Uint8Array(3) [ 3, 2, 1 ]"),
    ("js.Uint8Array.of(1, 2).indexOf(2)", "1"),
    ("js.Uint8Array.of(1, 2).at(-1)", "2"),
    ("js.Uint8Array.of(1, 2, 3, 4).copyWithin(0, 2)", "Uint8Array(4) [ 3, 4, 3, 4 ]"),
    ("js.ArrayBuffer.new(8).slice(-3).byteLength", "3"),
    ("js.ArrayBuffer.isView(js.Uint8Array.new(1))", "true"),
    ("js.ArrayBuffer.isView(js.ArrayBuffer.new(1))", "false"),
    ("js.Uint8Array.of(1, 2).buffer", "ArrayBuffer { [Uint8Contents]: <01 02>, byteLength: 2 }"),
    ("js.DataView.new(js.Uint8Array.of(1, 2, 3, 4).buffer).getInt16(1)", "515"),
    ("js.DataView.new(js.Uint8Array.of(1, 2, 3, 4).buffer).getInt16(1, True)", "770"),
    ("js.DataView.new(js.Uint8Array.of(1, 2, 3, 255).buffer, 2).getInt8(1)", "-1"),
    ("js.DataView.new(js.ArrayBuffer.new(8)).getBigInt64(0)", "0n"),
    ("js.DataView.new(js.ArrayBuffer.new(8), 2, 4).byteLength", "4"),
    ("js.DataView.new(js.ArrayBuffer.new(8)).toString()", "'[object DataView]'"),
]

THROWS = [
    ("js.Uint8Array.new(-1)", "RangeError: Invalid typed array length: -1"),
    ("js.Int16Array.new(js.ArrayBuffer.new(8), 1)", "RangeError: start offset of Int16Array should be a multiple of 2"),
    ("js.Int16Array.new(js.ArrayBuffer.new(3))", "RangeError: byte length of Int16Array should be a multiple of 2"),
    ("js.Uint8Array.new(js.ArrayBuffer.new(8), 10)", "RangeError: Start offset 10 is outside the bounds of the buffer"),
    ("js.Uint8Array.new(js.ArrayBuffer.new(8), 4, 5)", "RangeError: Invalid typed array length: 5"),
    ("js.Uint8Array.new(1099511627776)", "RangeError: Array buffer allocation failed"),
    ("js.ArrayBuffer.new(-1)", "RangeError: Invalid array buffer length"),
    ("js.Uint8Array.new(2).set(arr(1, 2, 3))", "RangeError: offset is out of bounds"),
    ("js.Uint8Array.new(2).set(js.Uint8Array.new(2), 1)", "RangeError: offset is out of bounds"),
    ("js.DataView.new(js.ArrayBuffer.new(8)).getInt32(6)", "RangeError: Offset is outside the bounds of the DataView"),
    ("js.DataView.new(js.ArrayBuffer.new(8), 9)", "RangeError: Start offset 9 is outside the bounds of the buffer"),
    ("js.DataView.new(js.ArrayBuffer.new(8), 4, 8)", "RangeError: Invalid DataView length 8"),
    ("js.DataView.new(arr())", "TypeError: First argument to DataView constructor must be an ArrayBuffer"),
    ("js.BigInt64Array.new(arr(1))", "TypeError: Cannot convert 1 to a BigInt"),
    ("js.Uint8Array.new(arr(js.BigInt(1)))", "TypeError: Cannot convert a BigInt value to a number"),
    ("js.Uint8Array(4)", "TypeError: Constructor Uint8Array requires 'new'"),
]


@pytest.mark.parametrize(("code", "shown"), TABLE)
def test_an_expression(code: str, shown: str) -> None:
    assert inspect(from_python(eval(code, dict(SCOPE)))) == shown


@pytest.mark.parametrize(("code", "message"), THROWS)
def test_an_expression_that_throws(code: str, message: str) -> None:
    with pytest.raises(JsException) as thrown:
        eval(code, dict(SCOPE))
    assert str(thrown.value) == message


def test_views_share_their_buffer() -> None:
    whole = js.Uint8Array.new(4)
    part = whole.subarray(1, 3)
    part[0] = 7
    whole[-1] = 8
    assert (list(whole), list(part), part.buffer == whole.buffer) == ([0, 7, 0, 8], [7, 0], True)


def test_python_bytes_become_elements_and_are_copied() -> None:
    source = bytearray(b"abc")
    made = js.Uint8Array.new(source)
    source[0] = 0
    assert (made.to_bytes(), js.Int16Array.new(b"ab").to_bytes()) == (b"abc", b"a\x00b\x00")


def test_writing_does_not_change_the_bytes_that_came_in() -> None:
    data = b"abc"
    view = js.Uint8Array.new(0)
    view.value.buffer.data, view.value.byte_length = data, 3
    view[0] = 0
    assert (data, view.to_bytes()) == (b"abc", b"\x00bc")


def test_pyodides_ways_to_the_bytes() -> None:
    view = js.Int16Array.new(arr(1, 2, 3)).subarray(1)
    view.assign(b"\x05\x00\x06\x00")
    target = bytearray(4)
    view.assign_to(target)
    copy = view.to_memoryview()
    assert (list(view), bytes(target), copy.format, copy.tolist()) == ([5, 6], b"\x05\x00\x06\x00", "h", [5, 6])


def test_indexes_that_python_refuses() -> None:
    view = js.Uint8Array.new(2)
    with pytest.raises(IndexError):
        view[2]
    with pytest.raises(IndexError):
        view[2] = 1
    with pytest.raises(NotImplementedError, match=r"^Slice subscripting isn't implemented for typed arrays$"):
        view[0:1]


def test_data_view_writes_in_either_order() -> None:
    view = js.DataView.new(js.ArrayBuffer.new(8))
    view.setUint16(0, 258)
    view.setUint16(2, 258, True)
    view.setFloat32(4, 1.5)
    assert (view.to_bytes(), view.getFloat32(4)) == (b"\x01\x02\x02\x01\x3f\xc0\x00\x00", 1.5)


def test_a_transfer_leaves_nothing_behind() -> None:
    buffer = js.Uint8Array.of(1, 2).buffer
    longer = buffer.transfer(3)
    assert (longer.to_bytes(), buffer.byteLength, buffer.detached) == (b"\x01\x02\x00", 0, True)
