"""Migrations and the splitting of SQL files."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from flarebed.bindings.d1 import migrations
from flarebed.bindings.d1.database import Database
from flarebed.bindings.d1.spec import D1DatabaseSpec
from flarebed.bindings.d1.splitter import split_queries
from flarebed.bindings.errors import UserError
from flarebed.bindings.sql import SqlError
from tests.support import Bench

TRIGGER = "create trigger g after insert on t begin update t set n = case when n>1 then 1 else 0 end; end"

SPLITS = [
    ("SELECT 1", ["SELECT 1"]),
    ("SELECT 1 -- a;b", ["SELECT 1"]),
    ("-- only\nSELECT 1;", ["-- only\nSELECT 1;"]),
    ("SELECT 1; SELECT 2;", ["SELECT 1", "SELECT 2"]),
    ("SELECT 1; -- a;b\nSELECT /* ; */ 2;\n", ["SELECT 1", "SELECT  2"]),
    ("INSERT INTO t VALUES ('a;b', \"--\"); SELECT ';'", ["INSERT INTO t VALUES ('a;b', \"--\")", "SELECT ';'"]),
    (f"{TRIGGER};\nSELECT 1;", [TRIGGER, "SELECT 1"]),
    ("PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nSELECT 1;\nCOMMIT;", ["PRAGMA foreign_keys=OFF", "SELECT 1"]),
]


@pytest.mark.parametrize(("sql", "queries"), SPLITS)
def test_split_queries(sql: str, queries: list[str]) -> None:
    assert split_queries(sql) == queries


def test_several_transactions_are_refused() -> None:
    with pytest.raises(UserError, match="Wrangler could not process the provided SQL file"):
        split_queries("BEGIN TRANSACTION; COMMIT; BEGIN TRANSACTION; COMMIT;")


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


FOUND = [
    ("*.sql", ["1_a.sql", "0002_b.sql", "10_c.sql", "init.sql", "later.sql"]),
    ("*/migration.sql", ["0003_d/migration.sql"]),
    ("**/*.sql", ["1_a.sql", "0002_b.sql", "0003_d/migration.sql", "10_c.sql", "init.sql", "later.sql"]),
]


@pytest.mark.parametrize(("pattern", "names"), FOUND)
def test_order_and_pattern(tmp_path: Path, pattern: str, names: list[str]) -> None:
    files = ["10_c.sql", "1_a.sql", "later.sql", "init.sql", "0002_b.sql", ".hidden.sql", "notes.txt"]
    write(tmp_path, dict.fromkeys([*files, "0003_d/migration.sql", ".git/1_x.sql"], ""))
    assert migrations.found(tmp_path, pattern) == names
    assert migrations.next_number(tmp_path, pattern) == (4 if pattern == "*/migration.sql" else 11)


PATTERNS = [
    (None, "./migrations", "*.sql"),
    ("migrations/*/migration.sql", "./migrations/", "*/migration.sql"),
    ("./db/**/*.sql", "db", "**/*.sql"),
]


@pytest.mark.parametrize(("pattern", "folder", "relative"), PATTERNS)
def test_the_pattern_is_relative_to_the_config(pattern: str | None, folder: str, relative: str) -> None:
    spec = D1DatabaseSpec("DB", migrations_dir=folder, migrations_pattern=pattern)
    assert migrations.pattern_of(spec) == relative


def with_engine(root: Path, body: Callable[[Database], None]) -> None:
    async def main() -> None:
        database = Database(root / "d.sqlite", Bench(root / "state").around)
        body(database)
        database.close()

    asyncio.run(main())


def rows(database: Database, sql: str) -> list[tuple[object, ...]]:
    return database.query_now([(sql, ())])[0].rows


def test_apply_pending(tmp_path: Path) -> None:
    def body(database: Database) -> None:
        write(tmp_path / "migrations", {
            "0001_t.sql": f"-- first; table\ncreate table t (n, s);\n{TRIGGER};\ninsert into t values (5, 'a;b');",
            "0002_it's.sql": "alter table t add column m;",
        })  # fmt: skip
        assert migrations.apply_pending(database, D1DatabaseSpec("DB"), tmp_path) == ["0001_t.sql", "0002_it's.sql"]
        assert rows(database, "SELECT * FROM t") == [(1, "a;b", None)]
        assert rows(database, "SELECT id, name FROM d1_migrations") == [(1, "0001_t.sql"), (2, "0002_it's.sql")]
        assert migrations.apply_pending(database, D1DatabaseSpec("DB"), tmp_path) == []
        assert rows(database, "SELECT sql FROM sqlite_master WHERE name = 'd1_migrations'") == [
            ('CREATE TABLE "d1_migrations"(\n'
             "\t\tid         INTEGER PRIMARY KEY AUTOINCREMENT,\n"
             "\t\tname       TEXT UNIQUE,\n"
             "\t\tapplied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL\n"
             ")",),
        ]  # fmt: skip

    with_engine(tmp_path, body)


def test_a_failed_migration_leaves_nothing(tmp_path: Path) -> None:
    def body(database: Database) -> None:
        write(tmp_path / "migrations", {
            "0001_a.sql": "create table a (x);", "0002_b.sql": "create table b (x); BAD;", "0003_c.sql": "select 1;",
        })  # fmt: skip
        with pytest.raises(SqlError) as caught:
            migrations.apply_pending(database, D1DatabaseSpec("DB"), tmp_path)
        assert caught.value.message == 'near "BAD": syntax error at offset 0: SQLITE_ERROR'
        assert migrations.pending(database, tmp_path / "migrations", "d1_migrations") == ["0002_b.sql", "0003_c.sql"]
        assert rows(database, "SELECT name FROM sqlite_master WHERE name IN ('a', 'b')") == [("a",)]

    with_engine(tmp_path, body)
