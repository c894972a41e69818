"""State that another version wrote: an earlier one's is brought up, a later one's refused."""

from __future__ import annotations

import asyncio
from pathlib import Path

import apsw
import pytest

from flarebed.bindings.errors import UserError
from flarebed.bindings.store import STATE_VERSION, Store
from flarebed.bindings.workflows.journal import SCHEMA
from tests.support import run

FIRST = "CREATE TABLE IF NOT EXISTS t (a INTEGER PRIMARY KEY, b TEXT NOT NULL) STRICT"
SECOND = """
CREATE TABLE IF NOT EXISTS t (
    a INTEGER PRIMARY KEY, b TEXT NOT NULL, c REAL, d TEXT NOT NULL DEFAULT '[]'
) STRICT;
CREATE INDEX IF NOT EXISTS t_by_c ON t (c) WHERE c IS NOT NULL;
CREATE TABLE IF NOT EXISTS u (a)"""

FIRST_WORKFLOWS = """
CREATE TABLE instances (
    key INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, status TEXT NOT NULL, params BLOB NOT NULL,
    created_ms REAL NOT NULL, started_ms REAL, paused_ms REAL, ended_ms REAL, output BLOB, error TEXT
) STRICT;
CREATE INDEX queue ON instances (started_ms IS NULL, key) WHERE status = 'queued';
INSERT INTO instances (id, status, params, created_ms) VALUES ('i', 'queued', x'c0', 1)"""


def opened(root: Path, schema: str, sql: str) -> list[tuple[object, ...]]:
    async def work() -> list[tuple[object, ...]]:
        store = Store(root, asyncio.get_running_loop())
        try:
            return store.database("kv", "x", schema).execute(sql)
        finally:
            store.close()

    return run(work())


def file(root: Path) -> apsw.Connection:
    return apsw.Connection(str(root / "flarebed" / "kv" / "x.sqlite"))


def test_columns_indexes_and_tables_are_added(tmp_path: Path) -> None:
    opened(tmp_path, FIRST, "INSERT INTO t VALUES (1, 'one')")
    for _ in range(2):
        assert opened(tmp_path, SECOND, "SELECT a, b, c, d FROM t") == [(1, "one", None, "[]")]
        assert opened(tmp_path, SECOND, "SELECT name FROM sqlite_schema WHERE name IN ('t_by_c', 'u')") == [
            ("t_by_c",),
            ("u",),
        ]


def test_an_added_column_has_its_type_and_constraint(tmp_path: Path) -> None:
    opened(tmp_path, FIRST, "SELECT 1")
    for column, value in (("c", "'text'"), ("d", "NULL")):
        with pytest.raises(apsw.ConstraintError):
            opened(tmp_path, SECOND, f"INSERT INTO t (a, b, {column}) VALUES (1, 'x', {value})")


def test_instances_of_the_first_version(tmp_path: Path) -> None:
    (tmp_path / "flarebed" / "kv").mkdir(parents=True)
    file(tmp_path).execute(FIRST_WORKFLOWS)
    assert opened(tmp_path, SCHEMA, "SELECT id, status, wake_ms, schedule FROM instances") == [
        ("i", "queued", None, None)
    ]
    assert opened(tmp_path, SCHEMA, "SELECT name FROM sqlite_schema WHERE name IN ('queue', 'unfinished')") == [
        ("unfinished",)
    ]


def test_a_file_without_a_number_gets_one(tmp_path: Path) -> None:
    opened(tmp_path, FIRST, "PRAGMA user_version = 0")
    opened(tmp_path, FIRST, "SELECT 1")
    assert file(tmp_path).pragma("user_version") == STATE_VERSION


def test_a_later_version_is_refused(tmp_path: Path) -> None:
    opened(tmp_path, FIRST, "SELECT 1")
    file(tmp_path).pragma("user_version", STATE_VERSION + 1)
    with pytest.raises(UserError) as caught:
        opened(tmp_path, FIRST, "SELECT 1")
    path = tmp_path / "flarebed" / "kv" / "x.sqlite"
    assert (caught.value.message, caught.value.hint) == (
        f"The state in {path} was written by a newer flarebed (version {STATE_VERSION + 1} of its files; "
        f"this one knows version {STATE_VERSION}).",
        "Update flarebed, or keep state elsewhere with --persist-to.",
    )
