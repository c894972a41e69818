"""Migrations: which files, in which order, each all or nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from flarebed.bindings.d1.database import Database
from flarebed.bindings.d1.migrations import Migrations, apply_pending
from flarebed.bindings.d1.script import ScriptError
from flarebed.bindings.d1.spec import D1DatabaseSpec
from tests.bindings.d1.support import on_engine, rows

TRIGGER = "create trigger g after insert on t begin update t set n = case when n>1 then 1 else 0 end; end"


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


FOUND = [
    ("*.sql", ["1_a.sql", "0002_b.sql", "10_c.sql", "init.sql", "later.sql"], 11),
    ("*/migration.sql", ["0003_d/migration.sql"], 4),
    ("{1_*,{0003_d,e}/*}.sql", ["1_a.sql", "0003_d/migration.sql"], 4),
    ("[^0-9]*.sql", ["init.sql", "later.sql"], 1),
    ("**/*.sql", ["1_a.sql", "0002_b.sql", "0003_d/migration.sql", "10_c.sql", "init.sql", "later.sql"], 11),
]


@pytest.mark.parametrize(("pattern", "names", "after"), FOUND)
def test_order_and_pattern(tmp_path: Path, pattern: str, names: list[str], after: int) -> None:
    files = ["10_c.sql", "1_a.sql", "later.sql", "init.sql", "0002_b.sql", ".hidden.sql", "notes.txt"]
    write(tmp_path, dict.fromkeys([*files, "0003_d/migration.sql", ".git/1_x.sql"], ""))
    there = Migrations(tmp_path, ".", pattern, "d1_migrations")
    assert there.found() == names
    assert there.next_number() == after


PATTERNS = [
    (None, "./migrations", "*.sql"),
    ("migrations/*/migration.sql", "./migrations/", "*/migration.sql"),
    ("./db/**/*.sql", "db", "**/*.sql"),
    ("*/migration.sql", ".", "*/migration.sql"),
]


@pytest.mark.parametrize(("pattern", "folder", "relative"), PATTERNS)
def test_the_pattern_is_relative_to_the_config(pattern: str | None, folder: str, relative: str) -> None:
    spec = D1DatabaseSpec("DB", migrations_dir=folder, migrations_pattern=pattern, has_migrations_dir=True)
    there = Migrations.of(spec, Path("/project"))
    assert there.pattern == relative
    assert there.folder == Path("/project", folder)


def test_apply_pending(tmp_path: Path) -> None:
    def body(database: Database) -> None:
        write(tmp_path / "migrations", {
            "0001_t.sql": f"-- first; table\ncreate table t (n, s);\n{TRIGGER};\ninsert into t values (5, 'a;b');",
            "0002_it's.sql": "alter table t add column m;",
        })  # fmt: skip
        assert apply_pending(database, D1DatabaseSpec("DB"), tmp_path) == ["0001_t.sql", "0002_it's.sql"]
        assert rows(database, "SELECT * FROM t") == [(1, "a;b", None)]
        assert rows(database, "SELECT id, name FROM d1_migrations") == [(1, "0001_t.sql"), (2, "0002_it's.sql")]
        assert apply_pending(database, D1DatabaseSpec("DB"), tmp_path) == []
        assert rows(database, "SELECT sql FROM sqlite_master WHERE name = 'd1_migrations'") == [
            ('CREATE TABLE "d1_migrations"(\n'
             "\t\tid         INTEGER PRIMARY KEY AUTOINCREMENT,\n"
             "\t\tname       TEXT UNIQUE,\n"
             "\t\tapplied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL\n"
             ")",),
        ]  # fmt: skip

    on_engine(tmp_path, body)


def test_a_failed_migration_leaves_nothing(tmp_path: Path) -> None:
    def body(database: Database) -> None:
        write(tmp_path / "migrations", {
            "0001_a.sql": "create table a (x);", "0002_b.sql": "create table b (x); BAD;", "0003_c.sql": "select 1;",
        })  # fmt: skip
        with pytest.raises(ScriptError) as caught:
            apply_pending(database, D1DatabaseSpec("DB"), tmp_path)
        assert caught.value.message == 'near "BAD": syntax error at offset 0: SQLITE_ERROR'
        assert (caught.value.place, caught.value.hint) == ("migrations/0002_b.sql:1: BAD", "")
        assert Migrations.of(D1DatabaseSpec("DB"), tmp_path).pending(database) == ["0002_b.sql", "0003_c.sql"]
        assert rows(database, "SELECT name FROM sqlite_master WHERE name IN ('a', 'b')") == [("a",)]

    on_engine(tmp_path, body)
