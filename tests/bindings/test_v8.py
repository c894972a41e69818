"""V8's serialization, as workerd 1.20261117.1 wrote it for messages of type v8 (v8.json)."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings import codec, v8
from flarebed.bindings.errors import InternalError
from flarebed.bindings.values import UNDEFINED, ArrayBuffer, BigInt, Date, Error, Map, Set, View

RECORDED = json.loads(Path(__file__).with_name("v8.json").read_text())
WRITTEN = {name: bytes.fromhex(text) for name, text in RECORDED.items()}
PLAIN: dict[str, Any] = {
    "numbers": [0, -7, 2**31, 1.5, 0.0, math.inf, 1e21],
    "texts": ["", "é", "日本😀", "a\0b"],
    "others": [UNDEFINED, None, True, False],
    "bigints": [0, 7, -(2**70)],
    "dates": [Date(5), Date(1.7e12)],
    "object": {"10": 2, "b": 1, "a": {"c": []}},
    "holes": [1, UNDEFINED, 3],
    "sparse": [UNDEFINED] * 3 + [1] + [UNDEFINED] * 4996 + [2],
    "regexp": {"source": "a+", "flags": "giu"},
}


def read(name: str) -> Any:
    return v8.decode(WRITTEN[name])


@pytest.mark.parametrize("name", PLAIN)
def test_plain_values(name: str) -> None:
    assert read(name) == PLAIN[name]


def test_what_equality_does_not_tell() -> None:
    assert math.copysign(1, read("numbers")[4]) == -1
    assert [type(number) for number in read("numbers")] == [int, int, int, float, float, float, float]
    assert {type(number) for number in read("bigints")} == {BigInt}
    assert list(read("object")) == ["10", "b", "a"]


def test_maps_and_sets() -> None:
    (first, inner), (second, members) = read("map").items()
    assert (first, list(inner), type(inner["a"]), second) == (1, ["a"], Map, "k")
    assert (type(members), list(members)) == (Set, [1, "b"])


def test_an_object_is_one_object() -> None:
    cyclic = read("cyc")
    assert (cyclic["a"], cyclic["self"] is cyclic) == (1, True)
    first, second, boxed = read("twice")
    assert (first, first is second, boxed) == ({"x": 1}, True, [True, 3, "s", 9])


def test_buffers_and_views() -> None:
    assert bytes(read("buffer")) == bytes(range(8))
    assert (type(read("resizable")), bytes(read("resizable"))) == (ArrayBuffer, b"\0\0")
    views: list[View] = read("views")
    assert [(view.kind, view.byte_offset, view.byte_length) for view in views] == [
        ("Uint8Array", 2, 3), ("Int16Array", 0, 8), ("Float64Array", 0, 8), ("BigInt64Array", 0, 8), ("DataView", 1, 7),
    ]  # fmt: skip
    assert views[0].buffer is views[1].buffer is views[4].buffer
    assert (views[2].elements(), views[3].elements()) == ([1.5], [-1])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("caused", ("Error", "e", {})),
        ("caused, legacy", ("Error", "e", {})),
        ("named", ("Custom", "n", {"code": 5})),
        ("named, legacy", ("Error", "n", {})),
        ("syntax", ("SyntaxError", "s", {})),
        ("syntax, legacy", ("SyntaxError", "s", {})),
    ],
)
def test_errors(name: str, expected: tuple[Any, ...]) -> None:
    error: Error = read(name)
    assert (error.name, error.message, error.properties) == expected
    assert "at worker.js:" in error.stack
    if name.startswith("caused"):
        assert (error.cause.name, error.cause.message) == ("RangeError", "r")
    else:
        assert error.cause is UNDEFINED


def test_nesting_has_no_limit() -> None:
    deep = v8.decode(b"\xff\x0f" + b"A\x01" * 10_000 + b"0" + b"$\x00\x01" * 10_000)
    for _ in range(10_000):
        (deep,) = deep
    assert deep is None


def test_an_empty_container_in_another() -> None:
    assert v8.decode(bytes.fromhex("ff0f4102 4100 240000 6f 7b00 240002")) == [[], {}]


def test_it_is_told_from_our_own_format() -> None:
    assert all(map(v8.is_v8, WRITTEN.values()))
    assert not any(v8.is_v8(codec.encode(value)) for value in (1, None, {}, [[]], Map()))


@pytest.mark.parametrize(
    "data",
    [b"\xff\x10I\0", b"\xff\x0f", b"\xff\x0fQ", b"\xff\x0f\\\1", b'\xff\x0f"\5a', b"\xff\x0fA\1", b"\xff\x0f^\7"],
)
def test_what_can_not_be_read(data: bytes) -> None:
    with pytest.raises(InternalError, match="a value that a JavaScript Worker sent can't be read"):
        v8.decode(data)


def test_whatever_is_cut_off_is_told() -> None:
    for data in WRITTEN.values():
        for length in range(2, len(data) - 1, 7):
            with pytest.raises(InternalError):
                v8.decode(data[:length])
