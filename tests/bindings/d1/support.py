"""A D1 database as a Worker has it, in a temporary folder."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from flarebed.bindings.d1 import engine
from flarebed.bindings.d1.binding import D1Database
from flarebed.bindings.d1.database import Database
from flarebed.bindings.d1.spec import D1DatabaseSpec
from flarebed.bindings.errors import JsError
from tests.support import Bench

SPEC = D1DatabaseSpec("DB")
SCHEMA = (
    "CREATE TABLE t (id INTEGER PRIMARY KEY, s TEXT, r REAL, b BLOB, x)\n"
    "CREATE TABLE u (k TEXT UNIQUE NOT NULL, v INTEGER CHECK (v > 0)); CREATE INDEX ui ON u(v);"
)


def with_database(
    root: Path, body: Callable[[D1Database, Bench], Awaitable[None]], *, schema: str = SCHEMA, flags: str = ""
) -> None:
    """Run `body(env.DB, bench)` on a fresh database."""

    async def main() -> None:
        bench = Bench(root, flags=frozenset(flags.split()))
        bindings = engine.open([SPEC], bench.around).bindings()
        database = bindings["DB"]
        assert isinstance(database, D1Database)
        await database.exec(schema)
        await body(database, bench)
        bench.store.close()

    asyncio.run(main())


def on_engine(root: Path, body: Callable[[Database], None]) -> None:
    """Run `body` on a fresh database that no Worker is bound to, as commands have it."""

    async def main() -> None:
        database = Database(root / "d.sqlite", Bench(root / "state").around)
        body(database)
        database.close()

    asyncio.run(main())


def rows(database: Database, sql: str) -> list[tuple[object, ...]]:
    return database.query_now([(sql, ())])[0].rows


async def error_of(call: Awaitable[Any]) -> JsError:
    try:
        value = await call
    except JsError as error:
        return error
    raise AssertionError(f"no error but {value!r}")


def cause_of(error: JsError) -> str | None:
    return None if error.cause is None else error.cause.message
