"""Foreign keys are always on: what tries to turn them off is accepted, does nothing, and is warned about."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from flarebed.bindings.d1.binding import D1Database
from flarebed.bindings.d1.database import FOREIGN_KEYS_WARNING, Database
from flarebed.bindings.d1.migrations import apply_pending
from flarebed.bindings.d1.spec import D1DatabaseSpec
from tests.bindings.d1.support import error_of, with_database
from tests.support import Bench

FAMILY = "CREATE TABLE p (id INTEGER PRIMARY KEY)\nCREATE TABLE c (p REFERENCES p(id))"
ORPHAN = "INSERT INTO c VALUES (9)"
FAILED = "FOREIGN KEY constraint failed: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_FOREIGNKEY)"
OFF = [
    "PRAGMA foreign_keys=OFF", "pragma foreign_keys = off;", "PRAGMA foreign_keys(0)", "PRAGMA foreign_keys ( 'no' )",
    'PRAGMA foreign_keys = "false"', "PRAGMA main.foreign_keys=0", "PRAGMA/* why */foreign_keys /* */ =off",
    "SELECT 1; PRAGMA foreign_keys=OFF",
]  # fmt: skip
QUIET = [
    "PRAGMA foreign_keys", "PRAGMA foreign_keys=ON", "PRAGMA foreign_keys(1)", "PRAGMA defer_foreign_keys=OFF",
    "PRAGMA foreign_key_check", "SELECT 'PRAGMA foreign_keys=OFF'", "SELECT 1 -- ;PRAGMA foreign_keys=OFF",
]  # fmt: skip
WARNED = [("warn", FOREIGN_KEYS_WARNING)]


@pytest.mark.parametrize("sql", OFF)
def test_off_is_warned_about_and_does_nothing(tmp_path: Path, sql: str) -> None:
    async def body(db: D1Database, bench: Bench) -> None:
        off, orphan = db.prepare(sql), db.prepare(ORPHAN)
        await off.run()
        assert bench.logged == WARNED
        assert (await error_of(db.batch([off, orphan]))).message == f"D1_ERROR: {FAILED}"
        assert bench.logged == WARNED * 2
        error = await error_of(db.exec(f"{sql}\n{ORPHAN}"))
        assert error.message == f"D1_EXEC_ERROR: Error in line 1: {sql}: {FAILED}"
        assert bench.logged == WARNED * 3
        assert await db.prepare("PRAGMA foreign_keys").first() == {"foreign_keys": 1}

    with_database(tmp_path, body, schema=FAMILY)


@pytest.mark.parametrize("sql", QUIET)
def test_nothing_is_said_of_others(tmp_path: Path, sql: str) -> None:
    async def body(db: D1Database, bench: Bench) -> None:
        await db.prepare(sql).run()
        assert bench.logged == []

    with_database(tmp_path, body, schema=FAMILY)


def test_migrations_are_warned_about_too(tmp_path: Path) -> None:
    async def main() -> None:
        bench = Bench(tmp_path / "state")
        database = Database(tmp_path / "d.sqlite", bench.around)
        (tmp_path / "migrations").mkdir()
        sql = f"PRAGMA foreign_keys=OFF;\n{FAMILY.replace(chr(10), ';')};\nPRAGMA foreign_keys=ON;"
        (tmp_path / "migrations" / "0001_a.sql").write_text(sql)
        assert apply_pending(database, D1DatabaseSpec("DB"), tmp_path) == ["0001_a.sql"]
        assert bench.logged == WARNED
        database.close()

    asyncio.run(main())
