"""The file, and what happens to a query that is slow or has to wait."""

from __future__ import annotations

import asyncio
from pathlib import Path

import apsw

from flarebed.bindings.d1 import engine
from flarebed.bindings.d1.binding import D1Database
from flarebed.bindings.d1.database import Database
from flarebed.bindings.d1.errors import TIMED_OUT
from flarebed.bindings.d1.spec import D1DatabaseSpec
from tests.bindings.d1.support import SPEC, error_of, with_database
from tests.support import Bench

COUNT = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) "


def test_the_file_is_wranglers_own(tmp_path: Path) -> None:
    spec = D1DatabaseSpec("DB", database_id="x", preview_database_id="ns1")
    assert engine.path(tmp_path, spec).parent == tmp_path / "v3" / "d1" / "miniflare-D1DatabaseObject"
    assert len(engine.path(tmp_path, spec).stem) == 64
    assert engine.path(tmp_path, spec) == engine.path(tmp_path, D1DatabaseSpec("OTHER", database_id="ns1"))


def test_it_opens_when_first_asked_and_is_plain_sqlite(tmp_path: Path) -> None:
    async def body(db: D1Database, bench: Bench) -> None:
        assert not engine.path(tmp_path, D1DatabaseSpec("LATER")).exists()
        plain = apsw.Connection(str(engine.path(tmp_path, SPEC)))
        assert plain.execute("SELECT name FROM sqlite_master").fetchall() == [("a",)]
        assert plain.pragma("journal_mode") == "wal"
        plain.execute("INSERT INTO a VALUES (1)")
        assert await db.prepare("SELECT * FROM a").raw() == [[1]]
        plain.close()

    with_database(tmp_path, body, schema="CREATE TABLE a (x)")


def test_a_file_that_cannot_be_opened_is_an_error_of_the_query(tmp_path: Path) -> None:
    async def main() -> None:
        bench = Bench(tmp_path)
        broken = engine.path(tmp_path, SPEC)
        broken.parent.mkdir(parents=True)
        broken.write_bytes(b"no database" * 100)
        db = engine.open([SPEC], bench.around).bindings()["DB"]
        assert isinstance(db, D1Database)
        assert (await error_of(db.prepare("SELECT 1").run())).message == (
            "D1_ERROR: file is not a database: SQLITE_NOTADB"
        )
        bench.store.close()

    asyncio.run(main())


def test_two_bindings_of_one_id_share_a_database(tmp_path: Path) -> None:
    async def main() -> None:
        bench = Bench(tmp_path)
        specs = [D1DatabaseSpec("A", database_id="same"), D1DatabaseSpec("B", database_id="same")]
        resources = engine.open(specs, bench.around)
        assert resources.databases["A"] is resources.databases["B"]
        bench.store.close()

    asyncio.run(main())


def test_a_slow_read_leaves_the_loop_free(tmp_path: Path) -> None:
    async def body(db: D1Database, _: Bench) -> None:
        slow = asyncio.ensure_future(db.prepare(COUNT.format(100_000) + "SELECT max(i) FROM n").first("max(i)"))
        quick = await db.prepare("SELECT 1 a").first("a")
        assert (quick, slow.done()) == (1, False)
        assert await slow == 100_000

    with_database(tmp_path, body)


def test_a_slow_write_runs_once_and_others_wait_for_it(tmp_path: Path) -> None:
    async def body(db: D1Database, _: Bench) -> None:
        fill = db.prepare("INSERT INTO t (s) " + COUNT.format(30_000) + "SELECT 'x' FROM n")
        count = db.prepare("SELECT count(*) c FROM t")
        filled = asyncio.ensure_future(fill.run())
        await asyncio.wait([filled], timeout=0)
        assert await count.first("c") == 30_000
        meta = (await filled)["meta"]
        assert (meta["changes"], meta["last_row_id"]) == (30_000, 30_000)
        assert (await count.all())["meta"]["last_row_id"] == 30_000

    with_database(tmp_path, body)


def test_a_long_batch_is_whole(tmp_path: Path) -> None:
    async def body(db: D1Database, _: Bench) -> None:
        insert = db.prepare("INSERT INTO u VALUES (?, 1)")
        results = await db.batch([insert.bind(f"k{n}") for n in range(501)])
        assert results[500]["meta"]["last_row_id"] == 501

    with_database(tmp_path, body)


def test_a_runaway_query_is_stopped(tmp_path: Path) -> None:
    async def main() -> None:
        bench = Bench(tmp_path)
        database = Database(tmp_path / "d.sqlite", bench.around, timeout_s=0.01)
        error = await error_of(
            D1Database(database, has_jsrpc=False).prepare(COUNT.format(10**12) + "SELECT max(i) FROM n").first()
        )
        assert error.message == ("D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.")
        assert (await database.rows("SELECT 1", ()))[1] == [(1,)]
        database.close()

    asyncio.run(main())


def test_a_runaway_batch_leaves_nothing_and_others_go_on(tmp_path: Path) -> None:
    async def main() -> None:
        bench = Bench(tmp_path)
        database = Database(tmp_path / "d.sqlite", bench.around, timeout_s=0.02)
        db = D1Database(database, has_jsrpc=False)
        await db.exec("CREATE TABLE t (a)")
        endless = db.prepare("INSERT INTO t " + COUNT.format(10**12) + "SELECT i FROM n")
        batch = asyncio.ensure_future(error_of(db.batch([db.prepare("INSERT INTO t VALUES (1)"), endless])))
        line = asyncio.ensure_future(error_of(db.exec(endless.statement)))
        await asyncio.wait([batch], timeout=0)
        other = Database(tmp_path / "other.sqlite", bench.around)
        assert await other.rows("SELECT 1", ()) == (("1",), [(1,)])
        assert not batch.done()
        await batch
        other.close()
        assert batch.result().message == f"D1_ERROR: {TIMED_OUT}"
        assert (await line).message == f"D1_EXEC_ERROR: Error in line 1: {endless.statement}: {TIMED_OUT}"
        assert await db.prepare("SELECT count(*) n FROM t").first("n") == 0
        database.close()

    asyncio.run(main())


def test_a_lock_held_by_another_process_is_waited_for(tmp_path: Path) -> None:
    async def body(db: D1Database, _: Bench) -> None:
        other = apsw.Connection(str(engine.path(tmp_path, SPEC)))
        other.execute("BEGIN IMMEDIATE")
        insert = asyncio.ensure_future(db.prepare("INSERT INTO u VALUES ('a', 1)").run())
        batch = asyncio.ensure_future(db.batch([db.prepare("INSERT INTO u VALUES ('b', 1)")]))
        await asyncio.wait([insert, batch], timeout=0)
        assert not insert.done()
        other.execute("COMMIT")
        other.close()
        assert (await insert)["meta"]["changes"] == 1
        assert (await batch)[0]["meta"]["changes"] == 1

    with_database(tmp_path, body)
