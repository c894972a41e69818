"""Files that `flarebed d1` reads and writes, and what it asks."""

from __future__ import annotations

import io
import json
import os
import sys
import tracemalloc
from pathlib import Path

import apsw
import pytest

from flarebed.bindings.d1 import database
from flarebed.emulator.cli import sql_file
from tests.emulator.cli.test_d1 import EXECUTING, Command, d1, migration

__all__ = ["d1"]


def test_an_error_says_where_it_is_and_what_to_do(d1: Command) -> None:
    Path("db").mkdir()
    Path("db/dump.sql").write_bytes(
        b"--\r\n-- PostgreSQL database dump\r\n--\r\n\r\nCREATE TABLE t (a);\r\nSELECT pg_catalog.setval('t', 1);\r\n"
    )
    assert d1("execute", "DB", "--file", "db/dump.sql") == (1, EXECUTING, (
        '✘ [ERROR] near "(": syntax error at offset 24: SQLITE_ERROR\n'
        "  db/dump.sql:6: SELECT pg_catalog.setval('t', 1)\n"
        "  This is PostgreSQL's SQL, D1 takes SQLite's: delete the statements about pg_catalog; SQLite counts "
        "ids by itself.\n"
    ))  # fmt: skip
    code, out, err = d1("execute", "DB", "--file", "db/dump.sql", "--json")
    assert (code, json.loads(out)["error"]["text"]) == (1, 'near "(": syntax error at offset 24: SQLITE_ERROR')
    assert err == ""
    assert d1.results("SELECT name FROM sqlite_schema") == [[]]


@pytest.mark.parametrize(("encoding", "name"), [("utf-16-le", "UTF-16 LE"), ("utf-16-be", "UTF-16 BE")])
def test_a_file_in_utf_16(d1: Command, encoding: str, name: str) -> None:
    """As PowerShell writes `sqlite3 app.db .dump > dump.sql`."""
    Path("dump.sql").write_bytes("\ufeffSELECT 1;".encode(encoding))
    assert d1("execute", "DB", "--file", "dump.sql") == (
        1,
        "",
        f'✘ [ERROR] The file "dump.sql" appears to be encoded as {name}. Please save the file as UTF-8 without BOM.\n',
    )


def large(rows: int) -> None:
    with Path("large.sql").open("w") as file:
        file.write("BEGIN TRANSACTION;\nCREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT);\n")
        file.writelines(f"INSERT INTO t VALUES({row},'{'ü' * 10_000}');\n" for row in range(rows))
        file.write("COMMIT;\n")


def test_a_large_file_in_little_memory(d1: Command) -> None:
    large(400)
    d1("execute", "DB", "--json", "--command", "SELECT 1")
    tracemalloc.start()
    code, out, _ = d1("execute", "DB", "--json", "--file", "large.sql")
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert Path("large.sql").stat().st_size > 6_000_000
    assert peak_bytes < 3_000_000
    assert code == 0
    assert [one["results"] for one in json.loads(out)] == [[]] * 401
    assert d1.results("SELECT count(*) AS n, sum(length(b)) AS all_of_them FROM t") == [
        [{"n": 400, "all_of_them": 4_000_000}]
    ]


def test_a_bar_where_somebody_watches(d1: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    large(2)
    assert d1("execute", "DB", "--json", "--file", "large.sql")[2] == ""
    monkeypatch.setattr(sql_file, "_LARGE_BYTES", 1000)
    assert d1("execute", "DB", "--json", "--file", "large.sql")[2] == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    err = d1("execute", "DB", "--json", "--command", "DROP TABLE t")[2]
    assert err == ""
    code, out, err = d1("execute", "DB", "--json", "--file", "large.sql")
    assert (code, len(json.loads(out))) == (0, 3)
    assert "40.1/40.1 kB" in err


def test_a_database_that_another_process_writes(d1: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_TIMEOUT_MS", 0)
    d1("execute", "DB", "--command", "CREATE TABLE t (a)")
    [file] = Path(".wrangler/state/v3/d1/miniflare-D1DatabaseObject").glob("*.sqlite")
    writer = apsw.Connection(str(file))
    writer.execute("BEGIN IMMEDIATE")
    locked = (1, EXECUTING, (
        "✘ [ERROR] database is locked: SQLITE_BUSY\n"
        "  Another process writes to it for long. Try again when it is done.\n"
    ))  # fmt: skip
    assert d1("execute", "DB", "--command", "INSERT INTO t VALUES (1)") == locked
    assert d1.results("SELECT * FROM t") == [[]]
    writer.close()


def test_an_export_is_there_whole_or_not_at_all(d1: Command, tmp_path: Path) -> None:
    d1("execute", "DB", "--command", "CREATE TABLE t (a)")
    before = sorted(tmp_path.iterdir())
    Path("kept").mkdir()
    Path("kept/out.sql").write_text("of before")
    Path("kept/out.sql").chmod(0o640)
    os.symlink("kept/out.sql", "link.sql")
    assert d1("export", "DB", "--output", "link.sql")[0] == 0
    assert Path("link.sql").is_symlink()
    assert Path("kept/out.sql").read_text() == "PRAGMA defer_foreign_keys=TRUE;\nCREATE TABLE t (a);"
    assert Path("kept/out.sql").stat().st_mode & 0o777 == 0o640
    d1("execute", "DB", "--command", "CREATE TABLE u (a); INSERT INTO u VALUES (CAST(x'ff' AS TEXT))")
    assert d1("export", "DB", "--output", "link.sql")[0] == 1
    assert Path("kept/out.sql").read_text() == "PRAGMA defer_foreign_keys=TRUE;\nCREATE TABLE t (a);"
    assert sorted(tmp_path.iterdir()) == sorted([*before, tmp_path / "kept", tmp_path / "link.sql"])
    assert list(Path("kept").iterdir()) == [Path("kept/out.sql")]


def test_an_export_to_what_is_no_file(d1: Command) -> None:
    assert d1("export", "DB", "--output", os.devnull)[0] == 0
    assert Path(os.devnull).is_char_device()


def test_what_is_exported_goes_into_another_database(d1: Command) -> None:
    d1("execute", "DB", "--command", "CREATE TABLE t (a INTEGER, b); INSERT INTO t VALUES (9007199254740993, x'00')")
    d1("export", "DB", "--output", "out.sql")
    assert d1("execute", "DB", "--persist-to", "other", "--file", "out.sql")[0] == 0
    d1("export", "DB", "--persist-to", "other", "--output", "again.sql")
    assert Path("again.sql").read_text() == Path("out.sql").read_text() == (
        "PRAGMA defer_foreign_keys=TRUE;\nCREATE TABLE t (a INTEGER, b);\n"
        "INSERT INTO \"t\" (\"a\",\"b\") VALUES(9007199254740993,X'00');"
    )  # fmt: skip


@pytest.mark.parametrize(("answer", "applied"), [("n\n", False), ("y\n", True), ("\n", True)])
def test_migrations_are_asked_for_on_a_terminal(
    d1: Command, monkeypatch: pytest.MonkeyPatch, answer: str, applied: bool
) -> None:
    migration("0001_t.sql", "CREATE TABLE t (a);")
    terminal = io.StringIO(answer)
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(sys, "stdin", terminal)
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    code, out, err = d1("migrations", "apply", "DB")
    assert (code, err) == (0, "")
    assert (
        "? About to apply 1 migration(s)\n"
        "Your database may not be available to serve requests during the migration, continue? [Y/n]: "
    ) in out
    assert d1.results("SELECT name FROM sqlite_schema WHERE name = 't'") == [[{"name": "t"}] if applied else []]


def test_ctrl_c_at_a_question(d1: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO("")
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(sys, "stdin", terminal)
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert d1("migrations", "create", "DB", "first")[0] == 130
    assert not Path("migrations").exists()


def test_list_and_info(d1: Command) -> None:
    """The file is not made by looking for it."""
    described = {
        "uuid": "party-id", "name": "party", "binding": "DB", "version": "production", "num_tables": 0, "file_size": 0,
        "file": ".wrangler/state/v3/d1/miniflare-D1DatabaseObject/"
        "d8a15af781a03f97ec5e1847b1294c6b381654c953f4b32ad39903c39cc5b7b5.sqlite",
    }  # fmt: skip
    assert json.loads(d1("list", "--json")[1]) == [described]
    assert not Path(str(described["file"])).exists()
    sql = "CREATE TABLE t (a INTEGER PRIMARY KEY AUTOINCREMENT); CREATE VIEW v AS SELECT 1; CREATE TABLE u (b)"
    d1("execute", "DB", "--command", sql)
    assert json.loads(d1("list", "--json")[1]) == [{**described, "num_tables": 2, "file_size": 16384}]
    assert json.loads(d1("info", "party", "--json")[1]) == {
        "uuid": "party-id", "name": "party", "binding": "DB", "num_tables": 2, "file": described["file"],
        "database_size": 16384,
    }  # fmt: skip
    lines = d1("info", "party")[1].splitlines()
    assert [line.split() for line in lines if "│" in line] == [
        ["│", "DB", "│", "party-id", "│"],
        ["│", "name", "│", "party", "│"],
        ["│", "num_tables", "│", "2", "│"],
        ["│", "file", "│", described["file"], "│"],
        ["│", "database_size", "│", "16.4", "kB", "│"],
    ]
    assert d1("info", "nodb")[0] == 1
