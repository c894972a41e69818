"""A transaction that is lost: who hears of it, in which order, and that the next one is whole."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from flarebed.bindings.store import Database, Store
from tests.support import run

SCHEMA = "CREATE TABLE IF NOT EXISTS t (a)"


LARGE = "INSERT INTO t VALUES (zeroblob(100000))"


def put_alone(database: Database) -> None:
    database.execute(LARGE)


def put_together(database: Database) -> None:
    with database.write() as connection:
        connection.execute(LARGE)


def lost(root: Path, lose: Callable[[Database], None]) -> list[str]:
    """What is heard when a tick's writes are lost by `lose`, and what another tick leaves."""
    heard: list[str] = []

    async def work() -> None:
        database = Store(root, asyncio.get_running_loop()).database("kv", "x", SCHEMA)
        database.on_loss(lambda error: heard.append(f"lost: {type(error).__name__}"))
        database.execute("INSERT INTO t VALUES ('lost')")
        durable = database.durable()
        lose(database)
        with pytest.raises(apsw.Error) as caught:
            await durable
        heard.append(f"refused: {caught.type.__name__}")
        database.connection.set_commit_hook(None)
        database.execute("PRAGMA max_page_count = 1000")
        database.execute("INSERT INTO t VALUES ('kept')")
        await database.durable()
        assert database.read("SELECT a FROM t") == [("kept",)]
        database.close()

    run(work())
    return heard


def test_a_commit_fails(tmp_path: Path) -> None:
    def lose(database: Database) -> None:
        database.connection.set_commit_hook(lambda: True)

    assert lost(tmp_path, lose) == ["lost: ConstraintError", "refused: ConstraintError"]


@pytest.mark.parametrize("put", [put_alone, put_together])
def test_a_statement_has_no_room(tmp_path: Path, put: Callable[[Database], None]) -> None:
    def lose(database: Database) -> None:
        database.connection.execute("PRAGMA max_page_count = 3").fetchall()
        with pytest.raises(apsw.FullError):
            put(database)
        assert not database.connection.in_transaction

    assert lost(tmp_path, lose) == ["lost: FullError", "refused: FullError"]
