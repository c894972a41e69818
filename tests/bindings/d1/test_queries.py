"""Statements, batches, exec and sessions as a Worker uses them, with the meta of each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.d1 import engine
from flarebed.bindings.d1.binding import D1Database
from flarebed.bindings.errors import JsError
from flarebed.bindings.values import UNDEFINED
from tests.bindings.d1.support import SPEC, cause_of, error_of, with_database
from tests.support import Bench

UNIQUE = "UNIQUE constraint failed: u.k: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_UNIQUE)"


def meta(changes: int, last_row_id: int, changed: bool, read: int, written: int, size: int = 20480) -> dict[str, Any]:
    return {
        "served_by": "miniflare.db", "served_by_primary": True, "total_attempts": 1, "timings": {"sql_duration_ms": 0},
        "duration": 0, "changes": changes, "last_row_id": last_row_id, "changed_db": changed, "size_after": size,
        "rows_read": read, "rows_written": written,
    }  # fmt: skip


def test_results_have_their_order_and_meta(tmp_path: Path) -> None:
    async def body(db: D1Database, _: Bench) -> None:
        await db.exec("INSERT INTO u VALUES ('a', 1);\nINSERT INTO u VALUES ('b', 2);")
        found = await db.prepare("SELECT * FROM u WHERE k = ?").bind("a").all()
        assert list(found) == ["success", "meta", "results"]
        assert found == {"success": True, "meta": meta(0, 2, False, 1, 0), "results": [{"k": "a", "v": 1}]}
        assert list(found["meta"]) == list(meta(0, 0, False, 0, 0))
        insert = db.prepare("INSERT INTO u VALUES (?, ?) RETURNING k, v")
        assert await insert.bind("c", 3).all() == {
            "success": True, "meta": meta(1, 3, True, 1, 3), "results": [{"k": "c", "v": 3}],
        }  # fmt: skip
        assert await insert.bind("d", 4).run() == {
            "success": True, "meta": meta(1, 4, True, 1, 3), "results": [{"k": "d", "v": 4}],
        }  # fmt: skip
        assert await insert.bind("e", 5).first() == {"k": "e", "v": 5}
        updated = await db.prepare("UPDATE u SET v = v + 1").run()
        assert updated == {"success": True, "meta": meta(5, 5, True, 5, 10), "results": []}
        deleted = await db.prepare("DELETE FROM u WHERE k = 'e'").run()
        assert deleted["meta"] == meta(1, 5, True, 1, 1)
        existing = await db.prepare("CREATE TABLE IF NOT EXISTS u (a)").run()
        assert existing["meta"] == meta(0, 5, False, 0, 0)
        created = await db.prepare("CREATE TABLE more (a)").run()
        assert created["meta"] == meta(0, 5, True, 1, 2, 24576)

    with_database(tmp_path, body)


def test_first_and_raw(tmp_path: Path) -> None:
    async def body(db: D1Database, _: Bench) -> None:
        await db.exec("INSERT INTO u VALUES ('a', 1)")
        one = db.prepare("SELECT * FROM u WHERE k = ?")
        assert await one.bind("a").first("v") == 1
        assert await one.bind("nope").first() is None
        assert await one.bind("nope").first("zz") is None
        error = await error_of(one.bind("a").first("zz"))
        assert str(error) == "Error: D1_COLUMN_NOTFOUND: Column not found (zz)"
        assert cause_of(error) == "Column not found"
        assert await one.bind("a").raw({"columnNames": True}) == [["k", "v"], ["a", 1]]
        assert await one.bind("nope").raw({"columnNames": True}) == [["k", "v"]]
        assert await one.bind("nope").raw() == []
        assert await db.prepare("SELECT 1 a, 2 a").raw({"columnNames": True}) == [["a", "a"], [1, 2]]
        assert await db.prepare("SELECT NULL n").first("n") is None

    with_database(tmp_path, body)


FAILURES = [
    ("SELEC 1", (), 'near "SELEC": syntax error at offset 0: SQLITE_ERROR'),
    ("SELECT nocol FROM u", (), "no such column: nocol at offset 7: SQLITE_ERROR"),
    ("", (), "No SQL statements detected."),
    ("  \n", (), "No SQL statements detected."),
    ("-- comment", (), "No SQL statements detected."),
    ("/* comment */", (), "SQL code did not contain a statement."),
    ("SELECT ?", (), "Wrong number of parameter bindings for SQL query."),
    ("SELECT ?", (1, 2), "Wrong number of parameter bindings for SQL query."),
    ("SELECT 1", (1,), "Wrong number of parameter bindings for SQL query."),
    ("SELECT ?; SELECT ?", (1,),
     "When executing multiple SQL statements in a single call, only the last statement can have parameters."),
    ("SELECT 1 LIMIT ?", (1.5,), "datatype mismatch: SQLITE_MISMATCH"),
    ("SELECT " + ",".join("?" * 101), tuple(range(101)), "too many SQL variables at offset 207: SQLITE_ERROR"),
    ("INSERT INTO u VALUES ('a', 1)", (), UNIQUE),
    ("VACUUM", (), "cannot VACUUM from within a transaction: SQLITE_ERROR"),
    (5, (), "Failed to parse body as JSON, got: ZodError"),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "values", "text"), FAILURES, ids=[str(case[0])[:30] for case in FAILURES])
def test_failures(tmp_path: Path, sql: Any, values: tuple[Any, ...], text: str) -> None:
    async def body(db: D1Database, _: Bench) -> None:
        await db.exec("INSERT INTO u VALUES ('a', 1)")
        statement = db.prepare(sql).bind(*values)
        for call in (statement.all(), statement.run(), statement.first(), statement.raw(), db.batch([statement])):
            error = await error_of(call)
            assert str(error) == f"Error: D1_ERROR: {text}"
            assert cause_of(error) == text

    with_database(tmp_path, body)


def test_several_statements_in_one(tmp_path: Path) -> None:
    async def body(db: D1Database, _: Bench) -> None:
        assert (await db.prepare("SELECT 1; SELECT 2").all())["results"] == [{"2": 2}]
        both = db.prepare("INSERT INTO u VALUES ('a', 1); SELECT k FROM u WHERE v = ?").bind(1)
        assert await both.first() == {"k": "a"}
        await error_of(db.prepare("INSERT INTO u VALUES ('b', 1); INSERT INTO u VALUES ('a', 1)").run())
        assert await db.prepare("SELECT k FROM u").raw() == [["a"]]

    with_database(tmp_path, body)


def test_batch_stands_or_falls_together(tmp_path: Path) -> None:
    async def body(db: D1Database, _: Bench) -> None:
        insert = db.prepare("INSERT INTO u VALUES (?, ?)")
        results = await db.batch([insert.bind("x", 9), db.prepare("SELECT * FROM u WHERE k = 'x'")])
        assert results == [
            {"success": True, "meta": meta(1, 1, True, 0, 3), "results": []},
            {"success": True, "meta": meta(0, 1, False, 1, 0), "results": [{"k": "x", "v": 9}]},
        ]
        select = db.prepare("SELECT count(*) FROM u")
        for bad, text in (
            (db.prepare("SELEC 1"), 'near "SELEC": syntax error at offset 0: SQLITE_ERROR'),
            (insert.bind("x", 1), UNIQUE),
        ):
            error = await error_of(db.batch([insert.bind("y", 1), select, bad]))
            assert error.message == f"D1_ERROR: {text}"
            assert await select.first("count(*)") == 1
        assert [r["results"] for r in await db.batch([db.prepare("-- c"), db.prepare("SELECT 1 a")])] == [[{"a": 1}]]

    with_database(tmp_path, body)


BAD_BATCHES = [
    ([], "Error: D1_ERROR: No SQL statements detected."),
    (["x"], "Error: D1_ERROR: Failed to parse body as JSON, got: ZodError"),
    ([None], "TypeError: Cannot read properties of null (reading 'statement')"),
    ("x", "TypeError: statements.map is not a function"),
    (UNDEFINED, "TypeError: Cannot read properties of undefined (reading 'map')"),
    (None, "TypeError: Cannot read properties of null (reading 'map')"),
]


@pytest.mark.parametrize(("statements", "text"), BAD_BATCHES)
def test_bad_batches(tmp_path: Path, statements: Any, text: str) -> None:
    async def body(db: D1Database, _: Bench) -> None:
        assert str(await error_of(db.batch(statements))) == text

    with_database(tmp_path, body)


EXECS = [
    ("SELECT 1; SELECT 2;\nSELECT 3", 2),
    ("-- c\nSELECT 1", 1),
    ("\n  SELECT 1\n\n\t-- c\nSELECT 2\n", 2),
]


@pytest.mark.parametrize(("sql", "count"), EXECS)
def test_exec_counts_lines(tmp_path: Path, sql: str, count: int) -> None:
    async def body(db: D1Database, _: Bench) -> None:
        assert await db.exec(sql) == {"count": count, "duration": 0}

    with_database(tmp_path, body)


BAD_EXECS = [
    ("CREATE TABLE\n multi (a)", "Error in line 1: CREATE TABLE: incomplete input: SQLITE_ERROR"),
    ("SELEC 1", 'Error in line 1: SELEC 1: near "SELEC": syntax error at offset 0: SQLITE_ERROR'),
    ("SELECT 1\nSELEC 2", 'Error in line 1: SELECT 1: near "SELEC": syntax error at offset 0: SQLITE_ERROR'),
    ("", "Error in line 1: : No SQL statements detected."),
]


@pytest.mark.parametrize(("sql", "text"), BAD_EXECS)
def test_exec_blames_the_first_line(tmp_path: Path, sql: str, text: str) -> None:
    async def body(db: D1Database, _: Bench) -> None:
        error = await error_of(db.exec(sql))
        assert str(error) == f"Error: D1_EXEC_ERROR: {text}"
        assert cause_of(error) == text

    with_database(tmp_path, body)


def test_exec_is_one_transaction(tmp_path: Path) -> None:
    async def body(db: D1Database, _: Bench) -> None:
        await error_of(db.exec("INSERT INTO u VALUES ('a', 1)\nINSERT INTO u VALUES ('a', 1)"))
        assert await db.prepare("SELECT * FROM u").raw() == []
        assert str(await error_of(db.exec(5))) == "TypeError: query.trim is not a function"

    with_database(tmp_path, body)


FAMILY = "CREATE TABLE p (id INTEGER PRIMARY KEY)\nCREATE TABLE c (p REFERENCES p(id) ON DELETE CASCADE)"


def test_defer_foreign_keys_lasts_to_the_end_of_the_batch(tmp_path: Path) -> None:
    async def body(db: D1Database, bench: Bench) -> None:
        defer, orphan = db.prepare("PRAGMA defer_foreign_keys=ON"), db.prepare("INSERT INTO c VALUES (9)")
        error = await error_of(db.batch([defer, orphan]))
        assert error.message.startswith("internal error; reference = ")
        assert len(error.message) == len("internal error; reference = ") + 24
        assert list(error.properties.items()) == [("remote", True), ("durableObjectReset", True)]
        (level, text), path = bench.logged[-1], engine.path(bench.store.root, SPEC)
        cause = "FOREIGN KEY constraint failed: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_FOREIGNKEY)"
        assert (level, text) == ("error", f"The D1 database {path} took a transaction back: {cause}")
        assert await db.prepare("SELECT * FROM c").raw() == []
        await db.batch([defer, orphan, db.prepare("INSERT INTO p VALUES (9)")])
        assert await db.prepare("SELECT * FROM c").raw() == [[9]]
        assert (await error_of(db.prepare("INSERT INTO c VALUES (8)").run())).message.startswith("D1_ERROR: FOREIGN")

    with_database(tmp_path, body, schema=FAMILY)


def test_dropping_a_parent_cascades(tmp_path: Path) -> None:
    async def body(db: D1Database, _: Bench) -> None:
        await db.exec("INSERT INTO p VALUES (1)\nINSERT INTO c VALUES (1)")
        await db.prepare("DROP TABLE p").run()
        assert await db.prepare("SELECT * FROM c").raw() == []

    with_database(tmp_path, body, schema=FAMILY)


def test_sessions_keep_a_bookmark(tmp_path: Path) -> None:
    def bookmark(count: int) -> str:
        return f"00000000-{count:08x}-00000000-{'0' * 32}"

    async def body(db: D1Database, _: Bench) -> None:
        session = db.withSession("first-primary")
        assert session.getBookmark() is None
        assert (await session.prepare("SELECT 1 a").all())["results"] == [{"a": 1}]
        assert session.getBookmark() == bookmark(0)
        await session.batch([session.prepare("SELECT 1")])
        assert session.getBookmark() == bookmark(1)
        assert (await db.prepare("SELECT 1").all())["meta"]["last_row_id"] == 2
        other = db.withSession()
        assert other.getBookmark() is None
        assert await other.prepare("SELECT 1 a").first() == {"a": 1}
        assert other.getBookmark() == bookmark(2)
        given = db.withSession(" zzz ")
        assert given.getBookmark() == "zzz"
        await given.prepare("SELECT 1").run()
        assert given.getBookmark() == "zzz"
        with pytest.raises(JsError) as caught:
            db.withSession(5)
        assert str(caught.value) == "TypeError: constraintOrBookmark?.trim is not a function"

    with_database(tmp_path, body)


def test_dump_and_query_without_its_flag(tmp_path: Path) -> None:
    async def body(db: D1Database, _: Bench) -> None:
        error = await error_of(db.dump())
        assert (str(error), cause_of(error)) == ("Error: D1_DUMP_ERROR: Status + 404", "Status 404")
        assert str(await error_of(db.query({"queries": []}))) == (
            "Error: D1_ERROR: D1Database.query() requires the d1_binding_jsrpc compatibility flag. "
            "Enable d1_binding_jsrpc before calling query()."
        )

    with_database(tmp_path, body)


def test_with_the_jsrpc_flag(tmp_path: Path) -> None:
    async def body(db: D1Database, _: Bench) -> None:
        answer = await db.query({"queries": [{"sql": "SELECT ? a", "params": [1]}, {"sql": "SELECT 2 b"}]})
        assert answer["success"] is True
        assert [result["data"] for result in answer["results"]["queryResults"]] == [
            {"kind": "raw", "columns": ["a"], "rows": [[1]]},
            {"kind": "raw", "columns": ["b"], "rows": [[2]]},
        ]
        failed = await db.query({"queries": [{"sql": "SELEC"}]})
        assert failed["success"] is False
        assert failed["error"].message == 'near "SELEC": syntax error at offset 0: SQLITE_ERROR'
        error = await error_of(db.exec("SELECT 1\nSELEC"))
        assert error.message == 'D1_EXEC_ERROR: near "SELEC": syntax error at offset 0: SQLITE_ERROR'
        assert cause_of(error) is None

    with_database(tmp_path, body, flags="d1_binding_jsrpc")
