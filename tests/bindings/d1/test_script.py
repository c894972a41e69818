"""Scripts: all or nothing, and what is said of a statement that D1 refuses: data/dumps.json, from what people have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from flarebed.bindings.d1 import script
from flarebed.bindings.d1.database import Database
from flarebed.bindings.d1.script import ScriptError
from flarebed.bindings.d1.splitter import split
from flarebed.bindings.sql import Columns, CommitError, Locked, Row, SqlDatabase, SqlError
from tests.bindings.d1.support import on_engine, rows

DUMPS: Final[list[dict[str, Any]]] = json.loads((Path(__file__).parent / "data" / "dumps.json").read_text("utf-8"))
TOO_LONG: Final = f"CREATE TABLE t (a, b);\nINSERT INTO t VALUES ('{'x' * 100_000}', 1);\n"


def tried(database: Database, sql: str) -> ScriptError:
    with pytest.raises(ScriptError) as caught:
        script.run(database, split([sql]), source="dump.sql")
    assert rows(database, "SELECT name FROM sqlite_schema") == []
    return caught.value


@pytest.mark.parametrize("dump", DUMPS, ids=[dump["name"] for dump in DUMPS])
def test_a_statement_that_is_refused(tmp_path: Path, dump: dict[str, Any]) -> None:
    def body(database: Database) -> None:
        error = tried(database, TOO_LONG if dump["sql"] is None else dump["sql"])
        assert (error.message, error.place, error.hint) == (dump["message"], dump["place"], dump["hint"])

    on_engine(tmp_path, body)


SQLITE_DUMP = """\
PRAGMA foreign_keys=OFF;\r
BEGIN TRANSACTION;\r
CREATE TABLE IF NOT EXISTS "notes" (id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT); -- a; b\r
INSERT INTO notes VALUES(1,'a;b\r
COMMIT;');\r
INSERT INTO notes VALUES(2,replace('x\\ny','\\n',char(10)));\r
DELETE FROM sqlite_sequence;\r
INSERT INTO sqlite_sequence VALUES('notes',7);\r
CREATE TRIGGER counted AFTER INSERT ON notes BEGIN\r
  UPDATE notes SET text = CASE WHEN new.text IS NULL THEN ';' ELSE new.text END WHERE id = new.id;\r
END;\r
COMMIT;\r
"""


@pytest.mark.parametrize("size", [1, 13, 10_000])
def test_a_dump_of_sqlite3(tmp_path: Path, size: int) -> None:
    def body(database: Database) -> None:
        taken: list[tuple[Columns, list[Row]]] = []
        chunks = (SQLITE_DUMP[at : at + size] for at in range(0, len(SQLITE_DUMP), size))
        assert script.run(database, split(chunks), lambda *answer: taken.append(answer)) == 7
        assert taken == [((), [])] * 7
        database.query_now([("INSERT INTO notes (text) VALUES (NULL)", ())])
        assert rows(database, "SELECT * FROM notes") == [(1, "a;b\r\nCOMMIT;"), (2, "x\ny"), (8, ";")]

    on_engine(tmp_path, body)


def test_what_each_statement_gives(tmp_path: Path) -> None:
    def body(database: Database) -> None:
        taken: list[tuple[Columns, list[Row]]] = []
        sql = "CREATE TABLE t (a); INSERT INTO t VALUES (1), (x'02') RETURNING a AS b; SELECT a FROM t WHERE a = 3"
        script.run(database, list(split([sql])), lambda *answer: taken.append(answer))
        assert taken == [((), []), (("b",), [(1,), (b"\x02",)]), ((), [])]

    on_engine(tmp_path, body)


def test_a_foreign_key_that_is_not_there_at_the_end(tmp_path: Path) -> None:
    def body(database: Database) -> None:
        sql = "PRAGMA defer_foreign_keys=ON; CREATE TABLE p (a PRIMARY KEY); CREATE TABLE c (p REFERENCES p); "
        assert script.run(database, split([sql + "INSERT INTO c VALUES (1); INSERT INTO p VALUES (1)"])) == 5
        with pytest.raises(CommitError):
            script.run(database, split(["PRAGMA defer_foreign_keys=ON; INSERT INTO c VALUES (2)"]))
        assert rows(database, "SELECT * FROM c") == [(1,)]

    on_engine(tmp_path, body)


@pytest.mark.parametrize("sql", ["-- nothing; here\n/* or; here */\n;;\n", ";;"])
def test_a_script_without_a_statement(tmp_path: Path, sql: str) -> None:
    def body(database: Database) -> None:
        with pytest.raises(SqlError) as caught:
            script.run(database, split([sql]))
        assert caught.value.message == "No SQL statements detected."

    on_engine(tmp_path, body)


def test_a_list_that_only_reads_needs_no_lock(tmp_path: Path) -> None:
    def body(database: Database) -> None:
        database.query_now([("CREATE TABLE t (a)", ())])
        writer = SqlDatabase(database.path, "NORMAL", 0)
        with writer.transaction(writes=True):
            assert script.run(database, list(split(["SELECT 1; -- a\nVALUES (1); explain SELECT 1"]))) == 3
        writer.close()

    on_engine(tmp_path, body)


def test_others_read_what_was_before_and_wait_with_writing(tmp_path: Path) -> None:
    def body(database: Database) -> None:
        script.run(database, split(["CREATE TABLE t (a); INSERT INTO t VALUES (1)"]))
        other = SqlDatabase(database.path, "NORMAL", 0)
        seen: list[list[Row]] = []

        def look(columns: Columns, rows: list[Row]) -> None:
            seen.append(other.rows("SELECT a FROM t", ())[1])
            with pytest.raises(Locked):
                other.rows("INSERT INTO t VALUES (9)", ())

        script.run(database, split(["INSERT INTO t VALUES (2); INSERT INTO t VALUES (3)"]), look)
        assert seen == [[(1,)], [(1,)]]
        assert other.rows("INSERT INTO t VALUES (4) RETURNING a", ())[1] == [(4,)]
        other.close()

    on_engine(tmp_path, body)
