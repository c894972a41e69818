"""What bind() makes of a Worker's values, and what comes back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.d1.binding import D1Database
from flarebed.bindings.errors import JsError
from flarebed.bindings.values import UNDEFINED, ArrayBuffer, BigInt, Date, View
from tests.bindings.d1.support import cause_of, with_database
from tests.support import Bench

BOUND = [
    (True, 1, "real"),
    (False, 0, "real"),
    (5, 5, "real"),
    (5.0, 5, "real"),
    (5.5, 5.5, "real"),
    (-5, -5, "real"),
    (-0.0, 0, "real"),
    (2**53 - 2, 2**53 - 2, "real"),
    (1e20, 1e20, "real"),
    (float("nan"), None, "null"),
    (float("inf"), None, "null"),
    (None, None, "null"),
    ("é☃", "é☃", "text"),
    ("a\0b", "a\0b", "text"),
    (View(ArrayBuffer(b"ab")), [97, 98], "blob"),
    (View(ArrayBuffer(b"xabx"), "Uint8Array", 1, 2), [97, 98], "blob"),
    (View(ArrayBuffer(b"\xff\xff\x2c\x01"), "Int16Array"), [255, 44], "blob"),
    (View(ArrayBuffer(b"ab"), "DataView"), [], "blob"),
    (ArrayBuffer(b"\x00\xff"), [0, 255], "blob"),
    (ArrayBuffer(b""), [], "blob"),
    ([1, 2], [1, 2], "blob"),
    ([1.9, 255.5], [1, 255], "blob"),
    ([], [], "blob"),
]


@pytest.mark.parametrize(("value", "read", "kind"), BOUND, ids=[repr(case[0])[:40] for case in BOUND])
def test_bound_values(tmp_path: Path, value: Any, read: Any, kind: str) -> None:
    async def body(db: D1Database, _: Bench) -> None:
        statement = db.prepare("SELECT ?1 v, typeof(?1) t").bind(value)
        row = await statement.first()
        assert row == {"v": read, "t": kind}
        assert type(row["v"]) is type(read)
        assert (await statement.all())["results"] == [row]
        assert await statement.raw() == [[read, kind]]
        assert await statement.first("v") == read

    with_database(tmp_path, body, schema="SELECT 1")


REFUSED = [
    (UNDEFINED, "Type 'undefined' not supported for value 'undefined'"),
    (BigInt(2**60), "Type 'bigint' not supported for value '1152921504606846976'"),
    (Date(1577934245000),
     "Type 'object' not supported for value 'Thu Jan 02 2020 03:04:05 GMT+0000 (Coordinated Universal Time)'"),
    ({"a": 1}, "Type 'object' not supported for value '[object Object]'"),
    ([1, 2, 300], "Type 'object' not supported for value '1,2,300'"),
    ([True], "Type 'object' not supported for value 'true'"),
    (["a"], "Type 'object' not supported for value 'a'"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "text"), REFUSED, ids=[case[1][:30] for case in REFUSED])
def test_refused_values(tmp_path: Path, value: Any, text: str) -> None:
    async def body(db: D1Database, _: Bench) -> None:
        with pytest.raises(JsError) as caught:
            db.prepare("SELECT ?").bind(value)
        assert str(caught.value) == f"Error: D1_TYPE_ERROR: {text}"
        assert cause_of(caught.value) == text

    with_database(tmp_path, body, schema="SELECT 1")


READ = [
    ("9007199254740993", 9007199254740992.0, float),
    ("9007199254740991", 9007199254740991, int),
    ("9223372036854775807", 9223372036854775808.0, float),
    ("-9007199254740993", -9007199254740992.0, float),
    ("3.0", 3, int),
    ("1e20", 1e20, float),
    ("9e999", None, type(None)),
    ("x'00ff'", [0, 255], list),
    ("''", "", str),
]


@pytest.mark.parametrize(("sql", "value", "kind"), READ)
def test_values_read(tmp_path: Path, sql: str, value: Any, kind: type) -> None:
    async def body(db: D1Database, _: Bench) -> None:
        read = await db.prepare(f"SELECT {sql} v").first("v")
        assert read == value
        assert type(read) is kind
        many = await db.prepare(f"SELECT {sql} v FROM json_each('[1,2,3,4,5,6,7,8,9]')").raw()
        assert many == [[value]] * 9
        assert type(many[8][0]) is kind

    with_database(tmp_path, body, schema="SELECT 1")


def test_affinity_sees_a_real(tmp_path: Path) -> None:
    async def body(db: D1Database, _: Bench) -> None:
        await db.prepare("INSERT INTO a VALUES (?, ?, ?, ?)").bind(2, 2, 2, 2).run()
        row = await db.prepare("SELECT *, typeof(i), typeof(r), typeof(s), typeof(n) FROM a").raw()
        assert row == [[2, 2, "2.0", 2, "integer", "real", "text", "real"]]
        assert await db.prepare("SELECT 'id-' || ?").bind(7).raw() == [["id-7.0"]]
        assert await db.prepare("SELECT ? / ?").bind(7, 2).raw() == [[3.5]]

    with_database(tmp_path, body, schema="CREATE TABLE a (i INTEGER, r REAL, s TEXT, n)")


def test_params_and_statement_are_fields(tmp_path: Path) -> None:
    async def body(db: D1Database, _: Bench) -> None:
        unbound = db.prepare("SELECT ?, ?, ?")
        bound = unbound.bind(1, "a", ArrayBuffer(b"\x01"))
        assert (unbound.params, unbound.statement) == ([], "SELECT ?, ?, ?")
        assert bound.params == [1, "a", [1]]
        assert bound.bind(2).params == [2]

    with_database(tmp_path, body, schema="SELECT 1")


PARAMETERS = [
    ("SELECT ?2 a, ?1 b", (1, 2), {"a": 2, "b": 1}),
    ("SELECT :a a", (1,), {"a": 1}),
    ("SELECT @a a, $b b, @a c", (1, 2), {"a": 1, "b": 2, "c": 1}),
    ("SELECT ?3 a", (1, 2, 3), {"a": 3}),
    ("SELECT 2, 1, 'a' z, 0", (), {"0": 0, "1": 1, "2": 2, "z": "a"}),
    ("SELECT 1 a, 2 a", (), {"a": 2}),
]


@pytest.mark.parametrize(("sql", "values", "row"), PARAMETERS)
def test_parameters_and_columns(tmp_path: Path, sql: str, values: tuple[Any, ...], row: dict[str, Any]) -> None:
    async def body(db: D1Database, _: Bench) -> None:
        found = await db.prepare(sql).bind(*values).first()
        assert found == row
        assert list(found) == list(row)

    with_database(tmp_path, body, schema="SELECT 1")
