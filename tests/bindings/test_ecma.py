"""JavaScript's coercions and JSON; every expected value is what Node.js gives for the same expression."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import pytest

from flarebed.bindings import ecma
from flarebed.bindings.ecma_date import date_to_iso, date_to_string, date_to_utc_string, day_number, fields, time_clip
from flarebed.bindings.errors import JsError
from flarebed.bindings.values import UNDEFINED, ArrayBuffer, BigInt, Date, Error, Map, Set, View

NEW_YEAR_2020_MS = 1_577_934_245_000  # 2020-01-02T03:04:05Z
FLOATS = View(ArrayBuffer(bytes.fromhex("0000c03fcdcccc3d")), "Float32Array")  # 1.5, 0.1


class Tagged:
    js_tag = "Headers"


class KvNamespace:
    """A host object that says nothing about itself."""


class Url:
    def toJSON(self) -> str:
        return "https://a/"

    toString = toJSON


NUMBERS = [
    (0, "0"), (-0.0, "0"), (1.0, "1"), (-5, "-5"), (1.5, "1.5"), (0.1 + 0.2, "0.30000000000000004"),
    (1e21, "1e+21"), (1e20, "100000000000000000000"), (123456789012345680000.0, "123456789012345680000"),
    (1.7976931348623157e308, "1.7976931348623157e+308"), (5e-324, "5e-324"), (1e-6, "0.000001"), (1e-7, "1e-7"),
    (1.5e-7, "1.5e-7"), (0.00001234, "0.00001234"), (-1.25e-10, "-1.25e-10"), (1e16, "10000000000000000"),
    (2**53, "9007199254740992"), (2**53 + 1, "9007199254740992"), (2**64, "18446744073709552000"),
    (math.nan, "NaN"), (math.inf, "Infinity"), (-math.inf, "-Infinity"), (BigInt(2**64), "18446744073709551616"),
]  # fmt: skip


@pytest.mark.parametrize(("number", "text"), NUMBERS)
def test_a_number_as_text(number: float, text: str) -> None:
    assert ecma.number_to_string(number) == text
    assert ecma.to_string(number) == text


def circular_list() -> list[Any]:
    circle: list[Any] = [1]
    circle.append(circle)
    return circle


TEXTS = [
    ("héllo", "héllo"), (None, "null"), (UNDEFINED, "undefined"), (True, "true"), (False, "false"),
    ([1, [2, None, [UNDEFINED, 3]], {}], "1,2,,,3,[object Object]"), ([], ""), ([[]], ""), (circular_list(), "1,"),
    ({}, "[object Object]"), (Date(NEW_YEAR_2020_MS), "Thu Jan 02 2020 03:04:05 GMT+0000 (Coordinated Universal Time)"),
    (Date(math.nan), "Invalid Date"), (Error("msg", "TypeError"), "TypeError: msg"), (Error(), "Error"),
    (JsError("no", "RangeError"), "RangeError: no"), (View(ArrayBuffer(b"\x01\x02\x03")), "1,2,3"),
    (FLOATS, "1.5,0.10000000149011612"), (View(ArrayBuffer(bytes(8)), "BigInt64Array"), "0"),
    (View(ArrayBuffer(b"ab"), "DataView"), "[object DataView]"), (ArrayBuffer(b""), "[object ArrayBuffer]"),
    (Map(), "[object Map]"), (Set(), "[object Set]"), (Tagged(), "[object Headers]"),
    (KvNamespace(), "[object KvNamespace]"), (Url(), "https://a/"),
    (test_a_number_as_text, "function test_a_number_as_text() { [native code] }"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "text"), TEXTS)
def test_string_of_a_value(value: Any, text: str) -> None:
    assert ecma.to_string(value) == text


KINDS = [
    (None, "object", False), (UNDEFINED, "undefined", False), (True, "boolean", False), ("", "string", False),
    (1, "number", False), (1.5, "number", False), (BigInt(1), "bigint", False), ({}, "object", True),
    ([], "object", True), (Date(0), "object", True), (len, "function", True),
]  # fmt: skip


@pytest.mark.parametrize(("value", "kind", "is_object"), KINDS)
def test_typeof(value: Any, kind: str, is_object: bool) -> None:
    assert ecma.typeof(value) == kind
    assert ecma.is_object(value) is is_object


NUMBERS_OF = [
    ("", "0"), ("  ", "0"), ("12", "12"), (" 12\n", "12"), ("1e3", "1000"), ("0x1F", "31"), ("0b11", "3"),
    ("0o17", "15"), ("-0x1", "NaN"), ("1_0", "NaN"), ("1.", "1"), ("-.5", "-0.5"), (".", "NaN"), ("+1", "1"),
    ("--1", "NaN"), ("-Infinity", "-Infinity"), ("infinity", "NaN"), ("1n", "NaN"), ("\ufeff5", "5"), ("\u20285", "5"),
    ("1e1000", "Infinity"), ("9007199254740993", "9007199254740992"), ("0x", "NaN"), ("1 2", "NaN"), ("١", "NaN"),
    ("\x1c5", "NaN"), ("-0", "-0"), (None, "0"), (UNDEFINED, "NaN"), (True, "1"), (False, "0"), (7, "7"),
    (2.5, "2.5"), ([], "0"), ([5], "5"), ([1, 2], "NaN"), (["0x10"], "16"), ({}, "NaN"), (Date(5), "5"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "text"), NUMBERS_OF)
def test_number_of_a_value(value: Any, text: str) -> None:
    number = ecma.to_number(value)
    sign = "-" if number == 0 and math.copysign(1, number) < 0 else ""
    assert sign + ecma.number_to_string(number) == text


def test_a_bigint_is_no_number() -> None:
    with pytest.raises(JsError) as thrown:
        ecma.to_number(BigInt(5))
    assert str(thrown.value) == "TypeError: Cannot convert a BigInt value to a number"


JSON_TEXTS = [
    ({"a": 1, "b": [True, None, "x"]}, '{"a":1,"b":[true,null,"x"]}'), ("é\u2028", '"é\u2028"'),
    ({"a": UNDEFINED, "b": [UNDEFINED, len], "c": len}, '{"b":[null,null]}'), (1.0, "1"), (-0.0, "0"), (1e-7, "1e-7"),
    ([math.nan, math.inf, 0.5, 2**64], "[null,null,0.5,18446744073709552000]"), (math.nan, "null"),
    (Date(NEW_YEAR_2020_MS), '"2020-01-02T03:04:05.000Z"'), ([Date(math.nan)], "[null]"),
    ({"m": Map([(1, 2)]), "s": Set([1]), "h": KvNamespace()}, '{"m":{},"s":{},"h":{}}'), (Error("x"), "{}"),
    (View(ArrayBuffer(b"by")), '{"0":98,"1":121}'), (FLOATS, '{"0":1.5,"1":0.10000000149011612}'),
    (ArrayBuffer(b"by"), "{}"), (["\ud800x", "\x00\x1f\x7f\"\\\n"], '["\\ud800x","\\u0000\\u001f\x7f\\"\\\\\\n"]'),
    ({"01": 1, "1": 2, "4294967295": 3, "4294967294": 4, "-1": 5, "0": 6},
     '{"0":6,"1":2,"4294967294":4,"01":1,"4294967295":3,"-1":5}'),
    ({"\ud800": 1}, '{"\\ud800":1}'), ([Url()], '["https://a/"]'), ([[[]], {}], "[[[]],{}]"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "text"), JSON_TEXTS)
def test_json_of_a_value(value: Any, text: str) -> None:
    assert ecma.json_stringify(value) == text


@pytest.mark.parametrize("value", [UNDEFINED, len])
def test_what_has_no_json(value: Any) -> None:
    assert ecma.json_stringify(value) is UNDEFINED


def test_indented_json() -> None:
    value = {"a": [1, {"b": 2.5}], "c": [], "d": {}, "e": UNDEFINED}
    written = '{\n  "a": [\n    1,\n    {\n      "b": 2.5\n    }\n  ],\n  "c": [],\n  "d": {}\n}'
    assert ecma.json_stringify(value, 2) == written


@pytest.mark.parametrize("value", [BigInt(1), {"a": [BigInt(1)]}, View(ArrayBuffer(bytes(8)), "BigInt64Array")])
def test_a_bigint_has_no_json(value: Any) -> None:
    with pytest.raises(JsError) as thrown:
        ecma.json_stringify(value)
    assert str(thrown.value) == "TypeError: Do not know how to serialize a BigInt"


def chain(*keys: str | int) -> Any:
    """An object that comes back to itself over these keys."""
    start: dict[str, Any] = {}
    here: Any = start
    for key, next_key in pairwise(keys):
        inner: Any = [] if isinstance(next_key, int) else {}
        here.append(inner) if isinstance(here, list) else here.update({key: inner})
        here = inner
    here.append(start) if isinstance(here, list) else here.update({keys[-1]: start})
    return {"q": start}


START = "\n    --> starting at object with constructor 'Object'"
STEP_A = "\n    |     property 'a' -> object with constructor 'Object'"
STEP_B = "\n    |     property 'b' -> object with constructor 'Array'"
CIRCLES = [
    (("x",), f"{START}\n    --- property 'x' closes the circle"),
    (("a", "b"), f"{START}{STEP_A}\n    --- property 'b' closes the circle"),
    (("a", "b", 0), f"{START}{STEP_A}{STEP_B}\n    --- index 0 closes the circle"),
    (("a", "b", 0, "c"), f"{START}{STEP_A}{STEP_B}\n    |     index 0 -> object with constructor 'Object'"
     "\n    --- property 'c' closes the circle"),
    (("a", "b", 0, "c", "d"), f"{START}{STEP_A}{STEP_B}\n    |     ..."
     "\n    |     property 'c' -> object with constructor 'Object'\n    --- property 'd' closes the circle"),
]  # fmt: skip


@pytest.mark.parametrize(("keys", "path"), CIRCLES)
def test_a_circle_has_no_json(keys: tuple[str | int, ...], path: str) -> None:
    with pytest.raises(JsError) as thrown:
        ecma.json_stringify(chain(*keys))
    assert str(thrown.value) == f"TypeError: Converting circular structure to JSON{path}"


PARSED = [
    ('{"a":[1,null,{"b":"c"}],"d":true}', {"a": [1, None, {"b": "c"}], "d": True}), ("1.0", 1), ("1e3", 1000),
    ("-7", -7), ("1.5", 1.5), ("9007199254740991", 2**53 - 1), ("9007199254740993", 9007199254740992.0),
    ("1e400", math.inf),
    ('"\\ud83d\\ude00"', "😀"), ('"\\ud800"', "\ud800"), (' \t\r\n"x" ', "x"),
    ('{"a":1,"b":2,"a":3}', {"a": 3, "b": 2}),
    ('{"__proto__":1}', {"__proto__": 1}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), PARSED)
def test_json_that_is_read(text: str, value: Any) -> None:
    parsed = ecma.json_parse(text)
    assert (parsed, type(parsed)) == (value, type(value))


def test_minus_zero_stays_one() -> None:
    assert [math.copysign(1, number) for number in ecma.json_parse("[-0,-0.0,0]")] == [-1, -1, 1]


def test_integer_like_keys_come_first() -> None:
    parsed = ecma.json_parse('{"b":{"2":1,"a":1,"\\u0031":1},"10":2,"9":3}')
    assert (list(parsed), list(parsed["b"])) == (["9", "10", "b"], ["1", "2", "a"])


SYNTAX_ERRORS = [
    ("héllo", "Unexpected token 'h', \"héllo\" is not valid JSON"),
    ("", "Unexpected end of JSON input"),
    ("nul", "Unexpected end of JSON input"),
    ("[1,", "Unexpected end of JSON input"),
    ('"\\', "Unexpected end of JSON input"),
    ("undefined", '"undefined" is not valid JSON'),
    ("[object Object]", '"[object Object]" is not valid JSON'),
    ("NaN", '"NaN" is not valid JSON'),
    ("[NaN]", "Unexpected token 'N', \"[NaN]\" is not valid JSON"),
    ("-Infinity", "No number after minus sign in JSON at position 1 (line 1 column 2)"),
    ("1 2", "Unexpected non-whitespace character after JSON at position 2 (line 1 column 3)"),
    ("{", "Expected property name or '}' in JSON at position 1 (line 1 column 2)"),
    ("{'a':1}", "Expected property name or '}' in JSON at position 1 (line 1 column 2)"),
    ('{"a" 1}', "Expected ':' after property name in JSON at position 5 (line 1 column 6)"),
    ('{"a":1', "Expected ',' or '}' after property value in JSON at position 6 (line 1 column 7)"),
    ('{"a":1,}', "Expected double-quoted property name in JSON at position 7 (line 1 column 8)"),
    ("[1 2]", "Expected ',' or ']' after array element in JSON at position 3 (line 1 column 4)"),
    ("[1,]", "Unexpected token ']', \"[1,]\" is not valid JSON"),
    ("[\r\n 01]", "Unexpected number in JSON at position 5 (line 2 column 3)"),
    ("1.", "Unterminated fractional number in JSON at position 2 (line 1 column 3)"),
    ("1e+", "Exponent part is missing a number in JSON at position 3 (line 1 column 4)"),
    ('"abc', "Unterminated string in JSON at position 4 (line 1 column 5)"),
    ('"a\nb"', "Bad control character in string literal in JSON at position 2 (line 1 column 3)"),
    ('"\\x"', "Bad escaped character in JSON at position 2 (line 1 column 3)"),
    ('"\\u12g4"', "Bad Unicode escape in JSON at position 5 (line 1 column 6)"),
    ('["😀" 1]', "Expected ',' or ']' after array element in JSON at position 6 (line 1 column 7)"),
    ("😀", "Unexpected token '\ud83d', \"😀\" is not valid JSON"),
    ("x" * 30, "Unexpected token 'x', \"xxxxxxxxxx\"... is not valid JSON"),
    (f'["{"a" * 30}", x, "{"b" * 30}"]', 'Unexpected token \'x\', ..."aaaaaaa", x, "bbbbbb"... is not valid JSON'),
    (f"[{'1' * 30},x]", "Unexpected token 'x', ...\"111111111,x]\" is not valid JSON"),
]


@pytest.mark.parametrize(("text", "message"), SYNTAX_ERRORS)
def test_text_that_is_not_json(text: str, message: str) -> None:
    with pytest.raises(JsError) as thrown:
        ecma.json_parse(text)
    assert (thrown.value.name, thrown.value.message) == ("SyntaxError", message)


DATES = [
    (-62_198_755_200_000, "Fri Jan 01 -0001 00:00:00", "Fri, 01 Jan -0001 00:00:00", "-000001-01-01T00:00:00.000Z"),
    (8.64e15, "Sat Sep 13 275760 00:00:00", "Sat, 13 Sep 275760 00:00:00", "+275760-09-13T00:00:00.000Z"),
    (-8.64e15, "Tue Apr 20 -271821 00:00:00", "Tue, 20 Apr -271821 00:00:00", "-271821-04-20T00:00:00.000Z"),
    (951_782_399_999, "Mon Feb 28 2000 23:59:59", "Mon, 28 Feb 2000 23:59:59", "2000-02-28T23:59:59.999Z"),
    (-1, "Wed Dec 31 1969 23:59:59", "Wed, 31 Dec 1969 23:59:59", "1969-12-31T23:59:59.999Z"),
]


@pytest.mark.parametrize(("ms", "text", "utc", "iso"), DATES)
def test_dates_as_text(ms: float, text: str, utc: str, iso: str) -> None:
    assert date_to_string(ms) == f"{text} GMT+0000 (Coordinated Universal Time)"
    assert date_to_utc_string(ms) == f"{utc} GMT"
    assert date_to_iso(ms) == iso
    assert day_number(*fields(ms)[:3]) == ms // 86_400_000


def test_an_invalid_date() -> None:
    assert date_to_utc_string(math.nan) == "Invalid Date"
    with pytest.raises(JsError) as thrown:
        date_to_iso(math.nan)
    assert str(thrown.value) == "RangeError: Invalid time value"


def test_time_clip() -> None:
    clipped = [time_clip(ms) for ms in (1.9, -1.9, 8.64e15, 8.64e15 + 1, math.inf)]
    assert clipped[:3] == [1, -1, 8.64e15]
    assert [math.isnan(ms) for ms in clipped[3:]] == [True, True]
