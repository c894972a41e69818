"""The SQL rules that D1 and Durable Objects share: splitting, what is allowed, limits, error texts, row counts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from flarebed.bindings.sql import CommitError, Interrupted, Locked, SqlDatabase, SqlError
from flarebed.bindings.sql_policy import TRANSACTION_REFUSAL
from flarebed.bindings.sql_program import Program
from flarebed.bindings.sql_statements import split_statements

SCHEMA = """
CREATE TABLE t (id INTEGER PRIMARY KEY, s TEXT, r REAL, b BLOB, x);
CREATE TABLE u (k TEXT UNIQUE NOT NULL, v INTEGER CHECK (v > 0));
CREATE INDEX ui ON u(v);
"""


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqlDatabase]:
    opened = SqlDatabase(tmp_path / "db.sqlite", "NORMAL", 0)
    run(opened, SCHEMA.strip())
    yield opened
    opened.close()


def run(database: SqlDatabase, sql: str, *values: object):
    with database.transaction(writes=True):
        return database.run(sql, values)  # type: ignore[arg-type]


def failure(database: SqlDatabase, sql: str, *values: object) -> str:
    with pytest.raises(SqlError) as caught:
        run(database, sql, *values)
    return caught.value.message


# --- statements -------------------------------------------------------------------------------------------------------

TRIGGER = "CREATE TRIGGER g AFTER INSERT ON t BEGIN UPDATE t SET s = CASE WHEN 1 THEN 'x;y' ELSE 0 END; SELECT 1; END;"

SPLITS = [
    ("SELECT 1", [("SELECT 1", "SELECT")]),
    ("  select 1;  ", [("  select 1;", "SELECT")]),
    ("SELECT 1; SELECT 2", [("SELECT 1;", "SELECT"), ("SELECT 2", "SELECT")]),
    ("SELECT 1;;", [("SELECT 1;", "SELECT"), (";", "")]),
    ("SELECT 1; -- end", [("SELECT 1;", "SELECT"), ("-- end", "")]),
    ("; SELECT 1", [("; SELECT 1", "SELECT")]),
    ("SELECT ';', \";\", `;`, [;]; SELECT 2", [("SELECT ';', \";\", `;`, [;];", "SELECT"), ("SELECT 2", "SELECT")]),
    ("SELECT 'it''s;'; SELECT 2", [("SELECT 'it''s;';", "SELECT"), ("SELECT 2", "SELECT")]),
    ("-- a;b\nSELECT /* ; */ 1", [("-- a;b\nSELECT /* ; */ 1", "SELECT")]),
    (f"{TRIGGER} SELECT 2;", [(TRIGGER, "CREATE"), ("SELECT 2;", "SELECT")]),
    ("CREATE TEMP TRIGGER g BEGIN SELECT 1; END", [("CREATE TEMP TRIGGER g BEGIN SELECT 1; END", "CREATE")]),
    ("BEGIN; SELECT 1; END;", [("BEGIN;", "BEGIN"), ("SELECT 1;", "SELECT"), ("END;", "END")]),
    ("SELECT 'open; SELECT 2", [("SELECT 'open; SELECT 2", "SELECT")]),
    ("", []),
]


@pytest.mark.parametrize(("sql", "expected"), SPLITS)
def test_split_statements(sql: str, expected: list[tuple[str, str]]) -> None:
    assert [(statement.text, statement.verb) for statement in split_statements(sql)] == expected


# --- what is refused --------------------------------------------------------------------------------------------------


def many(count: int, item: str) -> str:
    return ",".join([item] * count)


REFUSALS = [
    ("SELEC 1", 'near "SELEC": syntax error at offset 0: SQLITE_ERROR'),
    ("SELECT 'é', nope", "no such column: nope at offset 13: SQLITE_ERROR"),
    ("SELECT 1; SELEC 2", 'near "SELEC": syntax error at offset 0: SQLITE_ERROR'),
    ("SELECT * FROM nope", "no such table: nope: SQLITE_ERROR"),
    ("CREATE TABLE t (a)", "table t already exists at offset 13: SQLITE_ERROR"),
    ("CREATE TABLE", "incomplete input: SQLITE_ERROR"),
    ("INSERT INTO u VALUES (NULL, 1)",
     "NOT NULL constraint failed: u.k: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_NOTNULL)"),
    ("INSERT INTO u VALUES ('c', -1)",
     "CHECK constraint failed: v > 0: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_CHECK)"),
    ("INSERT INTO t (id) VALUES (1), (1)",
     "UNIQUE constraint failed: t.id: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_PRIMARYKEY)"),
    ("INSERT INTO u VALUES ('a', 1), ('a', 1)",
     "UNIQUE constraint failed: u.k: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_UNIQUE)"),
    ("SELECT 1;;", "SQL code did not contain a statement."),
    ("SELECT 1; -- foo", "SQL code did not contain a statement."),
    ("/* only */", "SQL code did not contain a statement."),
    ("BEGIN TRANSACTION", TRANSACTION_REFUSAL),
    ("COMMIT", TRANSACTION_REFUSAL),
    ("ROLLBACK", TRANSACTION_REFUSAL),
    ("SAVEPOINT a", TRANSACTION_REFUSAL),
    ("RELEASE a", TRANSACTION_REFUSAL),
    ("SELECT 1; SAVEPOINT a", TRANSACTION_REFUSAL),
    ("VACUUM", "cannot VACUUM from within a transaction: SQLITE_ERROR"),
    ("ATTACH 'x' AS y", "not authorized: SQLITE_AUTH"),
    ("DETACH y", "not authorized: SQLITE_AUTH"),
    ("CREATE TEMP TABLE q (a)", "not authorized: SQLITE_AUTH"),
    ("CREATE TEMP VIEW q AS SELECT 1", "not authorized: SQLITE_AUTH"),
    ("CREATE TABLE _cf_KV (a)", "not authorized: SQLITE_AUTH"),
    ("CREATE INDEX _CF_i ON t(s)", "not authorized: SQLITE_AUTH"),
    ("ALTER TABLE t RENAME TO _cf_t", "not authorized: SQLITE_AUTH"),
    ("SELECT * FROM _cf_KV", "no such table: _cf_KV: SQLITE_ERROR"),
    ("CREATE TABLE sqlite_x (a)", "object name reserved for internal use: sqlite_x: SQLITE_ERROR"),
    ("CREATE VIRTUAL TABLE d USING dbstat", "not authorized: SQLITE_AUTH"),
    ("SELECT * FROM dbstat", "no such table: dbstat: SQLITE_ERROR"),
    ("SELECT * FROM generate_series(1, 2)", "no such table: generate_series: SQLITE_ERROR"),
    ("SELECT * FROM pragma_user_version", "not authorized: SQLITE_AUTH"),
    ("SELECT load_extension('x')", "not authorized: SQLITE_ERROR"),
    ("SELECT regexp(1, 2)", "no such function: regexp at offset 7: SQLITE_ERROR"),
    ("SELECT median(1)", "no such function: median at offset 7: SQLITE_ERROR"),
    ("SELECT soundex('a')", "no such function: soundex at offset 7: SQLITE_ERROR"),
    ("SELECT 'abc' LIKE '%s'" % ("x" * 51), "LIKE or GLOB pattern too complex: SQLITE_ERROR"),
    ("SELECT 1%s" % ("+1" * 100), "Expression tree is too large (maximum depth 100): SQLITE_ERROR"),
    (" UNION ".join(["SELECT 1"] * 6), "too many terms in compound SELECT: SQLITE_ERROR"),
    (f"SELECT {many(101, '1')}", "too many columns in result set: SQLITE_ERROR"),
    ("CREATE TABLE wide (" + ",".join(f"c{n}" for n in range(101)) + ")", "too many columns on wide: SQLITE_ERROR"),
    ("SELECT " + ",".join(f"?{n}" for n in range(1, 102)),
      "variable number must be between ?1 and ?100 at offset 399: SQLITE_ERROR"),
    (f"SELECT {many(101, '?')}", "too many SQL variables at offset 207: SQLITE_ERROR"),
    ("SELECT '%s'" % ("x" * 99_992), "statement too long: SQLITE_TOOBIG"),
    ("SELECT zeroblob(2000001)", "string or blob too big: SQLITE_TOOBIG"),
    (f"SELECT json_array({many(128, '1')})", "too many arguments on function json_array at offset 7: SQLITE_ERROR"),
    ("SELECT ?; SELECT 1",
     "When executing multiple SQL statements in a single call, only the last statement can have parameters."),
    ("SELECT ?", "Wrong number of parameter bindings for SQL query."),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "message"), REFUSALS, ids=[sql[:40] for sql, _ in REFUSALS])
def test_what_is_refused(database: SqlDatabase, sql: str, message: str) -> None:
    assert failure(database, sql) == message


BLOCKED_FUNCTIONS = [
    "sqlite_version()", "sqlite_source_id()", "sqlite_compileoption_used('a')", "log10(1)", "ceiling(1)", "power(1, 2)",
    "unistr('a')", "json_pretty('1')", "json_error_position('1')", "subtype(1)", "sqlite_log(1, 'a')",
]  # fmt: skip


@pytest.mark.parametrize("call", BLOCKED_FUNCTIONS)
def test_blocked_functions(database: SqlDatabase, call: str) -> None:
    name = call.split("(")[0]
    assert failure(database, f"SELECT {call}") == f"not authorized to use function: {name} at offset 7: SQLITE_ERROR"


FORBIDDEN_PRAGMAS = [
    "journal_mode", "journal_mode=WAL", "user_version", "integrity_check", "page_count", "cache_size", "encoding",
    "database_list", "function_list", "compile_options", "schema_version", "page_size=1024", "table_info(_cf_KV)",
    "foreign_keys=2", "optimize(x)",
]  # fmt: skip


@pytest.mark.parametrize("pragma", FORBIDDEN_PRAGMAS)
def test_forbidden_pragmas(database: SqlDatabase, pragma: str) -> None:
    assert failure(database, f"PRAGMA {pragma}") == "not authorized: SQLITE_AUTH"


ALLOWED = [
    ("PRAGMA foreign_keys", [(1,)]),
    ("PRAGMA defer_foreign_keys", [(0,)]),
    ("PRAGMA case_sensitive_like = 'on'", []),
    ("PRAGMA recursive_triggers", [(0,)]),
    ("PRAGMA page_size", [(4096,)]),
    ("PRAGMA table_info(u)", [(0, "k", "TEXT", 1, None, 0), (1, "v", "INTEGER", 0, None, 0)]),
    ("PRAGMA index_list('u')", [(0, "ui", 0, "c", 0), (1, "sqlite_autoindex_u_1", 1, "u", 0)]),
    ("PRAGMA quick_check", [("ok",)]),
    ("PRAGMA quick_check(1)", [("ok",)]),
    ("PRAGMA foreign_key_check", []),
    ("PRAGMA optimize(0x10002)", []),
    ("SELECT name FROM pragma_table_info('u')", [("k",), ("v",)]),
    ("SELECT name FROM sqlite_master", [("t",), ("u",), ("sqlite_autoindex_u_1",), ("ui",)]),
    ("ANALYZE", []),
    ("REINDEX", []),
    ("EXPLAIN QUERY PLAN SELECT * FROM t", [(2, 0, 216, "SCAN t")]),
    ("SELECT value FROM json_each('[1, 2]')", [(1,), (2,)]),
    ("SELECT '{\"a\":1}' ->> 'a', iif(1, 2, 3), log2(8), unixepoch(0)", [(1, 2, 3.0, -210866760000)]),
    ("SELECT sum(1) OVER (), row_number() OVER ()", [(1, 1)]),
    ("CREATE VIRTUAL TABLE f USING fts5(a); INSERT INTO f VALUES ('hello'); SELECT a FROM f WHERE f MATCH 'hello'",
     [("hello",)]),
    ("CREATE VIRTUAL TABLE r USING rtree(id, a, b); SELECT * FROM r", []),
    ("SELECT length(zeroblob(2000000))", [(2000000,)]),
    ("SELECT length('%s')" % ("x" * 99_983), [(99_983,)]),
    ("SELECT length('a' LIKE '" + "x" * 50 + "')", [(1,)]),
    (f"SELECT json_array_length(json_array({many(127, '1')}))", [(127,)]),
    (f"WITH c({','.join(f'c{n}' for n in range(100))}) AS (SELECT {many(100, '1')}) SELECT c99 FROM c", [(1,)]),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "rows"), ALLOWED, ids=[sql[:40] for sql, _ in ALLOWED])
def test_what_is_allowed(database: SqlDatabase, sql: str, rows: list[tuple[object, ...]]) -> None:
    assert run(database, sql).rows == rows


LIMITED = [
    ("DELETE FROM u LIMIT 1", (), ["b", "c", "d"]),
    ("DELETE FROM u ORDER BY v DESC LIMIT 2;", (), ["a", "b"]),
    ("DELETE FROM u WHERE v > ? ORDER BY k LIMIT ? OFFSET 1 -- why", (1, 1), ["a", "b", "d"]),
    ("delete from u as x where x.k in (select k from u order by k limit 3) returning k limit 2", (), ["c", "d"]),
    ("UPDATE u SET k = k || '+' WHERE v > 1 ORDER BY v DESC LIMIT 1", (), ["a", "b", "c", "d+"]),
    ("UPDATE OR IGNORE u SET k = 'a' LIMIT 2", (), ["a", "b", "c", "d"]),
    ("DELETE FROM u WHERE k IN (SELECT k FROM u ORDER BY k LIMIT 1)", (), ["b", "c", "d"]),
]


@pytest.mark.parametrize(("sql", "values", "left"), LIMITED)
def test_delete_and_update_with_limit(
    database: SqlDatabase, sql: str, values: tuple[int, ...], left: list[str]
) -> None:
    run(database, "INSERT INTO u VALUES ('a', 1), ('b', 2), ('c', 3), ('d', 4)")
    run(database, sql, *values)
    assert [row[0] for row in run(database, "SELECT k FROM u ORDER BY k").rows] == left


# --- counts -----------------------------------------------------------------------------------------------------------

COUNTS = [
    ("SELECT * FROM u WHERE k = 'a'", 1, 0),
    ("SELECT * FROM u WHERE k = 'nope'", 0, 0),
    ("SELECT * FROM u WHERE k LIKE 'a%'", 3, 0),
    ("SELECT k, v FROM u ORDER BY k", 3, 0),
    ("SELECT k FROM u WHERE v > 0", 3, 0),
    ("SELECT count(*) FROM u", 3, 0),
    ("SELECT * FROM t", 1, 0),
    ("SELECT 1", 0, 0),
    ("SELECT u.k FROM u JOIN t ON t.id = u.v", 6, 0),
    ("SELECT name FROM sqlite_master", 4, 0),
    ("PRAGMA table_info(u)", 0, 0),
    ("INSERT INTO t (s) VALUES ('x')", 0, 1),
    ("INSERT INTO t (id) VALUES (7)", 1, 1),
    ("INSERT INTO u VALUES ('d', 4)", 0, 3),
    ("INSERT INTO u VALUES ('d', 4) RETURNING k", 1, 3),
    ("UPDATE u SET v = v + 1", 3, 6),
    ("DELETE FROM u WHERE k = 'a'", 1, 1),
    ("CREATE TABLE IF NOT EXISTS t (a)", 0, 0),
    ("DROP TABLE t", 5, 0),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "rows_read", "rows_written"), COUNTS)
def test_counts(database: SqlDatabase, sql: str, rows_read: int, rows_written: int) -> None:
    run(database, "INSERT INTO u VALUES ('a', 1), ('b', 2), ('c', 3)")
    for _ in range(2 if sql.startswith("SELECT") else 1):
        answer = run(database, sql)
        assert (answer.rows_read, answer.rows_written) == (rows_read, rows_written)


def test_counts_follow_the_schema(database: SqlDatabase) -> None:
    assert run(database, "INSERT INTO t (s) VALUES (?)", "a").rows_written == 1
    run(database, "CREATE INDEX ts ON t(s)")
    run(database, "INSERT INTO t (s) VALUES (?)", "b")
    assert run(database, "INSERT INTO t (s) VALUES (?)", "c").rows_written == 2


# --- one connection ---------------------------------------------------------------------------------------------------


def test_columns_follow_another_connections_schema(database: SqlDatabase, tmp_path: Path) -> None:
    run(database, "INSERT INTO t (s) VALUES ('a')")
    assert database.rows("SELECT * FROM t", ())[0] == ("id", "s", "r", "b", "x")
    other = SqlDatabase(tmp_path / "db.sqlite", "NORMAL", 0)
    run(other, "ALTER TABLE t RENAME COLUMN x TO y")
    other.close()
    assert database.rows("SELECT * FROM t", ()) == (("id", "s", "r", "b", "y"), [(1, "a", None, None, None)])


def test_column_names_without_rows(database: SqlDatabase) -> None:
    assert database.rows("SELECT id AS a, s FROM t WHERE id = ?", (1.0,)) == ((), [])
    assert database.column_names("SELECT id AS a, s FROM t WHERE id = ?", (1.0,)) == ("a", "s")


def test_lone_surrogates_become_replacement_characters(database: SqlDatabase) -> None:
    assert run(database, "SELECT ?, '\ud800x'", "a\udfff").rows == [("a\ufffd", "\ufffdx")]


def test_text_that_is_not_utf8(database: SqlDatabase) -> None:
    assert run(database, "SELECT 'a', CAST(x'ff61' AS TEXT), x'ff', ?", 1.5).rows == [("a", "\ufffda", b"\xff", 1.5)]
    many = ", ".join(["CAST(x'ff' AS TEXT)"] * 100)
    assert run(database, f"SELECT {many};").rows == [("\ufffd",) * 100]
    written = "INSERT INTO t (s) VALUES (CAST(x'ff' AS TEXT)) RETURNING s"
    assert failure(database, written) == "Text in the result is not UTF-8: invalid start byte"
    assert run(database, "SELECT 1").rows == [(1,)]


def test_a_deferred_key_fails_at_the_commit(database: SqlDatabase) -> None:
    run(database, "CREATE TABLE c (p REFERENCES t(id) DEFERRABLE INITIALLY DEFERRED)")
    with pytest.raises(CommitError) as caught:
        run(database, "INSERT INTO c VALUES (9)")
    assert caught.value.message == (
        "FOREIGN KEY constraint failed: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_FOREIGNKEY)"
    )
    assert run(database, "SELECT * FROM c").rows == []


def test_a_statement_of_many_steps_is_interrupted(tmp_path: Path) -> None:
    database = SqlDatabase(tmp_path / "db.sqlite", "NORMAL", 0, steps=10_000)
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    with pytest.raises(Interrupted):
        database.run(endless, ())
    assert database.run("SELECT 1", ()).rows == [(1,)]
    database.close()


def test_steps_are_those_of_one_run(tmp_path: Path) -> None:
    database = SqlDatabase(tmp_path / "db.sqlite", "NORMAL", 0, steps=200)
    for _ in range(500):
        assert database.rows("SELECT ?", (1.0,)) == (("?",), [(1.0,)])
    database.close()


def test_a_lock_held_elsewhere(database: SqlDatabase, tmp_path: Path) -> None:
    other = SqlDatabase(tmp_path / "db.sqlite", "NORMAL", 0)
    with database.transaction(writes=True):
        with pytest.raises(Locked):
            other.run("INSERT INTO t (s) VALUES ('a')", ())
        assert other.run("SELECT count(*) FROM t", ()).rows == [(0,)]
    other.close()


def test_size_counts_pages_in_use(database: SqlDatabase) -> None:
    assert database.size_bytes() == 5 * 4096
    run(database, "CREATE TABLE more (a)")
    assert database.size_bytes() == 6 * 4096
    run(database, "DROP TABLE more")
    assert database.size_bytes() == 5 * 4096


def test_the_rows_of_a_literal_table_add_no_unknowns(database: SqlDatabase) -> None:
    database.control("CREATE TABLE w (a INTEGER PRIMARY KEY, k TEXT UNIQUE)")

    def text(first: int, rows: int) -> str:
        return "INSERT INTO w VALUES " + ", ".join(f"({at}, 'k{at}')" for at in range(first, first + rows))

    programs = [Program(database.control(f"EXPLAIN {text(0, rows)}")) for rows in (2, 90)]
    assert programs[0].unknowns == programs[1].unknowns
    assert database.run(text(0, 2), ()).rows_written == 4
    assert database.run(text(2, 90), ()).rows_written == 180
