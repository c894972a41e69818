"""D1 as workerd's client asks for it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.emulator.runtime.workerd.asking import answer, ask, whole
from tests.support import Bench, run

from flarebed.bindings.d1.binding import D1Database
from flarebed.bindings.d1.database import Database
from flarebed.bindings.errors import JsError
from flarebed.bindings.values import UNDEFINED, BigInt
from flarebed.emulator.runtime.workerd import wire
from flarebed.emulator.runtime.workerd.d1 import adapter
from flarebed.emulator.runtime.workerd.host import Adapter

ROWS = "/query?resultsFormat=ROWS_AND_COLUMNS"
OBJECTS = "/query?resultsFormat=ARRAY_OF_OBJECTS"
NONE = "/execute?resultsFormat=NONE"
TOKEN = "x-cf-d1-session-commit-token"


def database(root: Path, *, has_jsrpc: bool = False) -> Adapter:
    bench = Bench(root)
    opened = Database(root / "d1.sqlite", bench.around)
    bench.store.on_close(opened.close)
    return adapter(D1Database(opened, has_jsrpc))


async def asked(d1: Adapter, target: str, body: Any) -> Any:
    return json.loads((await ask(d1, "POST", target, json.dumps(body).encode()))[2])


async def result(d1: Adapter, sql: str, params: Sequence[Any] = (), target: str = ROWS) -> Any:
    (only,) = await asked(d1, target, {"sql": sql, "params": list(params)})
    assert only["success"] is True
    return only["results"]


async def called(d1: Adapter, request: Any) -> Any:
    """What query() returns, or raises."""
    answered = await asked(d1, "/rpc", wire.to_wire(request, lambda _: 0))
    if "error" in answered:
        raise wire.thrown(wire.from_wire(answered["error"], wire.no_function))
    return wire.from_wire(answered["value"], wire.no_function)


def test_the_formats_of_results(tmp_path: Path) -> None:
    async def work() -> None:
        d1 = database(tmp_path)
        sql = "SELECT 1 AS a, 2 AS b, 3 AS b"
        assert await result(d1, sql) == {"columns": ["a", "b", "b"], "rows": [[1, 2, 3]]}
        assert await result(d1, sql, target=OBJECTS) == [{"a": 1, "b": 3}]
        assert await result(d1, sql, target=NONE) == [{"a": 1, "b": 3}]
        assert await result(d1, "SELECT 1 AS a WHERE 0") == {"columns": ["a"], "rows": []}
        assert await result(d1, "CREATE TABLE t (a)") == {"columns": [], "rows": []}
        assert await result(d1, "INSERT INTO t VALUES (1)") == {"columns": [], "rows": []}

    run(work())


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("ü", ["ü", "text"]),
        (1, [1, "real"]),
        (1e21, [1e21, "real"]),
        (9007199254740993, [9007199254740992, "real"]),
        (None, [None, "null"]),
        ([1, 255, 256, -1, 1.5], [[1, 255, 0, 255, 1], "blob"]),
        ([], [[], "blob"]),
        ("a\ud800", ["a\ufffd", "text"]),
    ],
)
def test_values(tmp_path: Path, given: Any, expected: list[Any]) -> None:
    async def work() -> None:
        assert (await result(database(tmp_path), "SELECT ?1 AS v, typeof(?1) AS t", [given]))["rows"] == [expected]

    run(work())


@pytest.mark.parametrize(
    "body",
    [
        5, "SELECT 1", [None], {}, {"sql": 1}, {"sql": "SELECT 1", "params": "x"},
        {"sql": "SELECT ?", "params": [True]}, {"sql": "SELECT ?", "params": [[None]]},
        {"sql": "SELECT ?", "params": [{}]},
    ],
)  # fmt: skip
def test_what_is_no_query_is_answered_in_words_that_the_client_does_not_understand(tmp_path: Path, body: Any) -> None:
    async def work() -> None:
        given = await ask(database(tmp_path), "POST", ROWS, json.dumps(body).encode())
        assert given == (500, "", b"ZodError")

    run(work())


def test_a_batch_stands_or_falls_as_one(tmp_path: Path) -> None:
    async def work() -> None:
        d1 = database(tmp_path)
        batch = [{"sql": "CREATE TABLE t (a)"}, {"sql": "-- nothing"}, {"sql": "SELECT ? AS a", "params": ["x"]}]
        first, second = await asked(d1, ROWS, batch)
        assert (first["results"]["rows"], second["results"]) == ([], {"columns": ["a"], "rows": [["x"]]})
        failed = await asked(d1, ROWS, [{"sql": "INSERT INTO t VALUES (1)"}, {"sql": "SELEC"}])
        message = 'near "SELEC": syntax error at offset 0: SQLITE_ERROR'
        assert failed == {"success": False, "error": message}
        assert (await result(d1, "SELECT * FROM t"))["rows"] == []
        assert await asked(d1, ROWS, []) == {"success": False, "error": "No SQL statements detected."}

    run(work())


def test_a_pragma_whose_columns_are_asked_for_has_no_effect_beyond_its_query(tmp_path: Path) -> None:
    async def work() -> None:
        d1 = database(tmp_path)
        assert await result(d1, "PRAGMA foreign_keys = OFF") == {"columns": [], "rows": []}
        assert (await result(d1, "PRAGMA foreign_keys"))["rows"] == [[1]]

    run(work())


def test_only_a_session_has_bookmarks(tmp_path: Path) -> None:
    async def work() -> None:
        d1 = database(tmp_path)
        body = b'{"sql":"SELECT 1"}'
        assert TOKEN not in dict((await answer(d1, "POST", ROWS, body)).headers)
        tokens = [
            dict((await answer(d1, "POST", ROWS, body, x_cf_d1_session_commit_token=held)).headers)[TOKEN]
            for held in ("first-primary", "first-unconstrained")
        ]
        assert tokens == sorted(tokens)
        assert tokens[0] != tokens[1]
        assert all(re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{32}", token) for token in tokens)

    run(work())


def test_a_commit_that_fails(tmp_path: Path) -> None:
    async def work() -> None:
        d1 = database(tmp_path)
        await result(d1, "CREATE TABLE p (id INTEGER PRIMARY KEY)")
        await result(d1, "CREATE TABLE c (p REFERENCES p)")
        batch = [{"sql": "PRAGMA defer_foreign_keys = on"}, {"sql": "INSERT INTO c VALUES (5)"}]
        failed = await asked(d1, ROWS, batch)
        assert re.fullmatch(r"internal error; reference = [0-9a-v]{24}", failed["error"])

    run(work())


def test_there_is_no_dump(tmp_path: Path) -> None:
    async def work() -> None:
        assert (await ask(database(tmp_path), "POST", "/dump"))[:2] == (404, "Not Found")

    run(work())


def test_query_by_rpc(tmp_path: Path) -> None:
    async def work() -> None:
        d1 = database(tmp_path, has_jsrpc=True)
        queries = [{"sql": "SELECT ? AS a, ? AS b", "params": ["x", [1, 2]]}]
        answered = await called(d1, {"queries": queries, "bookmark": "first-primary"})
        (only,) = answered["results"]
        assert only["data"] == {"kind": "raw", "columns": ["a", "b"], "rows": [["x", [1, 2]]]}
        assert list(only["meta"])[-1] == "total_attempts"
        assert answered["bookmark"].startswith("00000000-0000000")

    run(work())


FUNCTION = object()


@pytest.mark.parametrize(
    ("request_", "name", "message"),
    [
        ({"queries": [{"sql": "SELEC"}]}, "D1_ERROR", 'near "SELEC": syntax error at offset 0: SQLITE_ERROR'),
        ({"queries": []}, "D1_ERROR", "No SQL statements detected."),
        ({"queries": [{"sql": "SELECT ?", "params": [BigInt(7)]}]}, "Error", "ZodError"),
        ({"queries": [{"sql": "SELECT ?", "params": [math.nan]}]}, "Error", "ZodError"),
        ({"queries": [{"sql": FUNCTION}]}, "Error", "ZodError"),
        ({"queries": [{"sql": "SELECT 1"}], "bookmark": None}, "Error", "ZodError"),
        (UNDEFINED, "Error", "ZodError"),
    ],
)
def test_query_by_rpc_throws(tmp_path: Path, request_: Any, name: str, message: str) -> None:
    async def work() -> None:
        with pytest.raises(JsError) as thrown:
            await called(database(tmp_path, has_jsrpc=True), request_)
        assert (thrown.value.name, thrown.value.message) == (name, message)

    run(work())


def test_a_long_answer_is_whole(tmp_path: Path) -> None:
    async def work() -> None:
        body = b'{"sql":"SELECT hex(zeroblob(500000)) AS v"}'
        got = await whole(await answer(database(tmp_path), "POST", ROWS, body))
        assert json.loads(got)[0]["results"]["rows"] == [["0" * 1_000_000]]

    run(work())
