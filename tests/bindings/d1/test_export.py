"""Export, and the way back."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest

from flarebed.bindings.d1 import export, script
from flarebed.bindings.d1.database import Database
from flarebed.bindings.d1.splitter import split
from flarebed.bindings.sql import SqlError
from tests.bindings.d1.support import on_engine, rows

SCHEMA = """\
CREATE TABLE child (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parent (id) ON DELETE CASCADE);
CREATE TABLE parent (id INTEGER PRIMARY KEY AUTOINCREMENT, v);
CREATE TABLE "quo""ted; it's" ("a b" TEXT, "c""d", [e]);
CREATE TABLE kept (k TEXT, n, PRIMARY KEY (k, n)) WITHOUT ROWID;
CREATE TABLE made (a INTEGER, b INTEGER GENERATED ALWAYS AS (a * 2) VIRTUAL, c INTEGER AS (a + 1) STORED);
CREATE TABLE strict (a INTEGER NOT NULL, b BLOB, c REAL) STRICT;
CREATE TABLE many (n INTEGER PRIMARY KEY, t TEXT, b BLOB, r REAL, x);
CREATE VIEW seen AS SELECT id FROM parent;
CREATE UNIQUE INDEX many_t ON many (t) WHERE n > 3;
CREATE TRIGGER counted AFTER INSERT ON parent BEGIN
  UPDATE many SET x = CASE WHEN x > 1 THEN ';' ELSE 'end;' END;
  DELETE FROM kept WHERE n = 99; -- end;
END;
"""
DATA = """\
INSERT INTO parent (v) VALUES ('first'), (NULL), (x'');
DELETE FROM parent WHERE id = 3;
INSERT INTO child VALUES (1, 2);
INSERT INTO "quo""ted; it's" VALUES ('it''s', '"', '`[]'), ('', NULL, ';');
INSERT INTO kept VALUES ('b', 1), ('a', 2), ('a', 'c');
INSERT INTO made (a) VALUES (1), (NULL);
INSERT INTO strict VALUES (9223372036854775807, x'00ff27', 0.1);
INSERT INTO many (n, t, b, r, x) VALUES
  (1, 'a' || char(10) || 'b' || char(13, 10), x'0a0d00', 2.0, 9007199254740993),
  (2, 'a' || char(0) || 'b''' || char(0), x'', 1e300, -9223372036854775808),
  (3, '\\n' || char(10) || '\\r' || char(13) || '(\\n0)', NULL, -0.5, 'ü🍰' || char(8232)),
  (4, 'back\\slash', zeroblob(300), 9e999, 1.5),
  (5, NULL, x'5c6e', -9e999, '1');
"""


def made(database: Database) -> None:
    script.run(database, split([SCHEMA + DATA]))


def exported(database: Database, tables: Collection[str] = (), **parts: bool) -> list[str]:
    with database.connected() as connection, connection.transaction(writes=False):
        return list(export.lines(connection, tables, **parts))


def content(database: Database) -> dict[str, list[tuple[object, ...]]]:
    """All there is, with the types of all values."""
    found = {"schema": rows(database, "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name")}
    for (name,) in rows(database, "SELECT name FROM sqlite_schema WHERE type = 'table'"):
        quoted = '"' + str(name).replace('"', '""') + '"'
        found[str(name)] = rows(database, f"SELECT * FROM {quoted}")
    types = "SELECT n, typeof(t), typeof(b), typeof(r), typeof(x), length(t), hex(t) FROM many"
    return found | {"types": rows(database, types)}


def test_what_is_exported_comes_back_as_it_was(tmp_path: Path) -> None:
    there: list[object] = []
    texts: list[str] = []

    def first(database: Database) -> None:
        made(database)
        texts.extend(exported(database))
        there.append(content(database))

    def second(database: Database) -> None:
        assert script.run(database, split(["\n".join(texts)])) > 0
        there.append(content(database))
        assert exported(database) == texts

    on_engine(tmp_path / "a", first)
    on_engine(tmp_path / "b", second)
    assert there[0] == there[1]


def test_what_wrangler_would_write_otherwise(tmp_path: Path) -> None:
    """It gives ...992 and ...808, a statement that SQLite can't read, and on the way back other text."""

    def body(database: Database) -> None:
        made(database)
        start = 'INSERT INTO "many" ("n","t","b","r","x") VALUES('
        assert [line for line in exported(database, ["many"], schema=False) if "many" in line][:3] == [
            start + "1,replace(replace('a\\nb\\r\\n','\\r',char(13)),'\\n',char(10)),X'0a0d00',2,9007199254740993);",
            start + "2,CAST(X'6100622700' AS TEXT),X'',1e+300,-9223372036854775808);",
            start + "3,replace(replace('\\n(\\n1)\\r(\\r0)(\\n0)','(\\r0)',char(13)),'(\\n1)',char(10)),"
            "NULL,-0.5,'ü🍰\u2028');",
        ]  # fmt: skip

    on_engine(tmp_path, body)


def test_virtual_tables_are_refused(tmp_path: Path) -> None:
    def body(database: Database) -> None:
        script.run(database, split(["CREATE TABLE t (a); CREATE VIRTUAL TABLE f USING fts5 (a)"]))
        with pytest.raises(SqlError) as caught:
            exported(database)
        assert caught.value.message == "D1 Export error: cannot export databases with Virtual Tables (fts5)"
        assert exported(database, ["t"]) == ["PRAGMA defer_foreign_keys=TRUE;", "CREATE TABLE t (a);"]

    on_engine(tmp_path, body)


def test_text_that_is_not_utf_8(tmp_path: Path) -> None:
    def body(database: Database) -> None:
        script.run(database, split(["CREATE TABLE t (a); INSERT INTO t VALUES (CAST(x'ff' AS TEXT))"]))
        with pytest.raises(SqlError) as caught:
            exported(database)
        assert caught.value.message == "Text in the result is not UTF-8: invalid start byte"

    on_engine(tmp_path, body)
