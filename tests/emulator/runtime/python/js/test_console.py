"""`js.console`: lines of the log, with objects as util.inspect shows them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.emulator.runtime.python.harness import Harness
from tests.emulator.runtime.python.js.worker import in_worker

from flarebed.bindings.values import UNDEFINED, ArrayBuffer, BigInt, Date, Error, Map, Set, View
from flarebed.emulator.runtime.python.js.console import Console, formatted, inspect

DEEP = {"a": {"b": {"c": {"d": 1}}}, "l": [[[[1]]]]}
LONG = {"first": "x" * 30, "second": "y" * 30, "third": [1, 2]}

INSPECTED = [
    ("it's", '"it\'s"'), ("a\nb", "'a\\nb'"), (None, "null"), (UNDEFINED, "undefined"), (-0.0, "-0"), (1.5, "1.5"),
    (BigInt(5), "5n"), ({}, "{}"), ([], "[]"), ({"a": 1, "b-c": "x"}, "{ a: 1, 'b-c': 'x' }"),
    ([1, [2]], "[ 1, [ 2 ] ]"),
    (DEEP, "{ a: { b: { c: [Object] } }, l: [ [ [Array] ] ] }"), (Date(0), "1970-01-01T00:00:00.000Z"),
    (Map([("a", 1)]), "Map(1) { 'a' => 1 }"), (Set(), "Set(0) {}"), (View(ArrayBuffer(b"\x01")), "Uint8Array(1) [ 1 ]"),
    (Error("m", stack="Error: m\n    at f"), "Error: m\n    at f"), (Error("m", "TypeError"), "TypeError: m"),
    (LONG, "{\n  first: '" + "x" * 30 + "',\n  second: '" + "y" * 30 + "',\n  third: [ 1, 2 ]\n}"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "text"), INSPECTED)
def test_how_a_value_is_shown(value: Any, text: str) -> None:
    assert inspect(value) == text


FORMATTED = [
    (["a", 1, {"b": "c"}], "a 1 { b: 'c' }"), (["%s is %d of %i%%", "x", 1.5, 2.9], "x is 1.5 of 2%"),
    (["%s"], "%s"), (["%s and", "a", "rest"], "a and rest"), (["%j %o", {"a": 1}, [1]], '{"a":1} [ 1 ]'),
    (["%cstyled", "color: red"], "styled"), ([1, "%s"], "1 %s"), ([], ""),
]  # fmt: skip


@pytest.mark.parametrize(("values", "line"), FORMATTED)
def test_a_line_of_the_log(values: list[Any], line: str) -> None:
    assert formatted(values) == line


def test_each_method_has_its_level() -> None:
    async def code(worker: Harness) -> list[tuple[str, str]]:
        console = Console()
        console.log("x", 1)
        console.info("i")
        console.debug("d")
        console.warn("w")
        console.error("e", None)
        console.assert_(True, "not written")  # noqa: PT009
        console.assert_(False, "why")  # noqa: PT009
        console.count()
        console.count()
        console.time("t")
        console.timeEnd("t")
        return worker.logged

    assert in_worker(code) == [
        ("log", "x 1"), ("info", "i"), ("debug", "d"), ("warn", "w"), ("error", "e undefined"),
        ("error", "Assertion failed why"), ("log", "default: 1"), ("log", "default: 2"), ("log", "t: 0 ms"),
    ]  # fmt: skip
