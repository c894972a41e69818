"""What a Worker sees of a file that can't be written or read: a D1_ERROR with SQLite's text, nothing half written."""

from __future__ import annotations

import resource
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from flarebed.bindings.d1 import engine, lane, neighbours
from flarebed.bindings.d1.binding import D1Database
from tests.bindings.d1.support import SPEC, cause_of, error_of, with_database
from tests.support import Bench, run

FULL = "database or disk is full: SQLITE_FULL"
NOT_WRITTEN = "disk I/O error: SQLITE_IOERR (extended: SQLITE_IOERR_WRITE)"
READ_ONLY = "attempt to write a readonly database: SQLITE_READONLY"
LOCKED = "database is locked: SQLITE_BUSY"
PAGE = "INSERT INTO t (s) VALUES (hex(randomblob(3000)))"


def with_file(root: Path, body: Callable[[D1Database, Bench], Awaitable[None]]) -> None:
    """Run `body` on the database whose file is there already, or can't be made."""

    async def main() -> None:
        bench = Bench(root)
        await body(engine.open([SPEC], bench.around).bindings()["DB"], bench)  # type: ignore[arg-type]
        bench.store.close()

    run(main())


async def assert_fails(db: D1Database, sql: str, text: str) -> None:
    """In all ways, with what went before in the same call undone."""
    before = await db.prepare("SELECT count(*) FROM t").first("count(*)")
    write, small = db.prepare(sql), db.prepare("INSERT INTO t (s) VALUES ('small')")
    for call in (write.run(), write.all(), write.first(), write.raw(), db.batch([write] * 3), db.batch([small, write])):
        error = await error_of(call)
        assert (error.message, cause_of(error)) == (f"D1_ERROR: {text}", text)
    error = await error_of(db.exec(sql))
    assert error.message == f"D1_EXEC_ERROR: Error in line 1: {sql}: {text}"
    assert await db.prepare("SELECT count(*) FROM t").first("count(*)") == before


def connection(db: D1Database) -> apsw.Connection:
    return db._session.database._open().connection


def control(db: D1Database, sql: str) -> None:
    db._session.database._open().control(sql)


def test_a_full_disk(tmp_path: Path) -> None:
    async def body(db: D1Database, _: Bench) -> None:
        control(db, "PRAGMA max_page_count = 7")
        await assert_fails(db, PAGE.replace("3000", "9000"), FULL)
        control(db, "PRAGMA max_page_count = 1000")
        await db.prepare(PAGE).run()

    with_database(tmp_path, body)


def test_a_read_only_file(tmp_path: Path) -> None:
    async def body(db: D1Database, _: Bench) -> None:
        control(db, "PRAGMA query_only = ON")
        await assert_fails(db, PAGE, READ_ONLY)
        assert await db.prepare("SELECT 1 a").first() == {"a": 1}

    with_database(tmp_path, body)


@contextmanager
def no_file_grows_beyond(file: Path) -> Iterator[None]:
    """Its size now."""
    size = file.stat().st_size
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_commit_that_can_not_be_written(tmp_path: Path) -> None:
    async def body(db: D1Database, _: Bench) -> None:
        write = db.prepare(PAGE)
        log = Path(f"{engine.path(tmp_path, SPEC)}-wal")
        for call in (db.batch([write, write]), write.run()):
            with no_file_grows_beyond(log):
                error = await error_of(call)
            assert (error.message, cause_of(error)) == (f"D1_ERROR: {NOT_WRITTEN}", NOT_WRITTEN)
            assert not connection(db).in_transaction
        assert await db.prepare("SELECT count(*) n FROM t").first("n") == 0
        await db.batch([write, write])
        assert await db.prepare("SELECT count(*) n FROM t").first("n") == 2

    with_database(tmp_path, body)


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = engine.path(tmp_path, SPEC)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"not a database at all" * 500)
    text = "file is not a database: SQLITE_NOTADB"

    async def body(db: D1Database, bench: Bench) -> None:
        for call in (db.prepare("SELECT 1").first(), db.batch([db.prepare("SELECT 1")])):
            assert (await error_of(call)).message == f"D1_ERROR: {text}"
        assert bench.logged == [("error", f"The D1 database {path} can't be opened: {text}")] * 2

    with_file(tmp_path, body)
    assert path.read_bytes() == b"not a database at all" * 500


def test_a_folder_that_can_not_be_made(tmp_path: Path) -> None:
    (tmp_path / "v3").mkdir()
    (tmp_path / "v3" / "d1").write_text("in the way")

    async def body(db: D1Database, _: Bench) -> None:
        error = await error_of(db.prepare("SELECT 1").run())
        assert error.message == "D1_ERROR: unable to open database file: SQLITE_CANTOPEN"

    with_file(tmp_path, body)


def test_a_damaged_page(tmp_path: Path) -> None:
    async def fill(db: D1Database, _: Bench) -> None:
        await db.batch([db.prepare(PAGE)] * 9)

    with_database(tmp_path, fill)
    path = engine.path(tmp_path, SPEC)
    data = bytearray(path.read_bytes())
    data[4096 : 2 * 4096] = b"\xff" * 4096
    path.write_bytes(data)

    async def body(db: D1Database, _: Bench) -> None:
        text = "database disk image is malformed: SQLITE_CORRUPT"
        for call in (db.prepare("SELECT * FROM t").all(), db.prepare(PAGE).run()):
            error = await error_of(call)
            assert error.message.startswith(f"D1_ERROR: {text}")
        assert await db.prepare("SELECT count(*) n FROM u").first("n") == 0

    with_file(tmp_path, body)


def test_a_lock_that_is_not_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lane, "BUSY_TIMEOUT_MS", 1)
    monkeypatch.setattr(neighbours, "warning", lambda path: f"workerd has {path.name}")
    path = engine.path(tmp_path, SPEC)
    warned = ("warn", f"workerd has {path.name}")

    async def body(db: D1Database, bench: Bench) -> None:
        assert bench.logged == [warned]
        other = apsw.Connection(str(path))
        other.execute("BEGIN IMMEDIATE")
        await assert_fails(db, PAGE, LOCKED)
        assert set(bench.logged) == {warned}
        assert len(bench.logged) == 8
        other.execute("ROLLBACK")
        other.close()
        assert (await db.prepare(PAGE).run())["meta"]["changes"] == 1

    with_database(tmp_path, body)


def locks(root: Path, *lines: str) -> Path:
    proc = root / "proc"
    for pid, name in (("714", "workerd"), ("715", "python"), ("716", "workerd")):
        (proc / pid).mkdir(parents=True)
        (proc / pid / "comm").write_text(f"{name}\n")
    (proc / "locks").write_text("".join(f"{at}: {line}\n" for at, line in enumerate(lines, 1)))
    return proc


def test_who_else_has_the_file(tmp_path: Path) -> None:
    path = tmp_path / "d.sqlite"
    path.write_text("")
    inode = path.stat().st_ino
    proc = locks(
        tmp_path,
        f"POSIX  ADVISORY  READ 714 00:1b:{inode} 1073741826 1073742335",
        f"POSIX  ADVISORY  READ 715 00:1b:{inode} 1073741826 1073742335",
        f"-> POSIX  ADVISORY  READ 716 00:1b:{inode} 1073741826 1073742335",
        f"POSIX  ADVISORY  READ 716 00:1b:{inode + 1} 1073741826 1073742335",
        f"POSIX  ADVISORY  READ 999 00:1b:{inode} 1073741826 1073742335",
    )
    assert neighbours.warning(path, proc) == (
        f"wrangler dev (workerd, process 714) has the D1 database {path} open too. It does not wait while "
        "flarebed writes, so its queries may fail: stop one of the two, they can take turns."
    )
    assert neighbours.warning(tmp_path / "none", proc) is None
    assert neighbours.warning(path, tmp_path / "nowhere") is None
