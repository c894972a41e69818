"""With synchronous=FULL a write is durable when the log is synced; what is committed meanwhile shares the next sync."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path

import apsw
import pytest

from flarebed.bindings.store import Database, Store
from tests.support import run

SCHEMA = "CREATE TABLE IF NOT EXISTS notes (text TEXT)"


class Disk:
    """Counts syncs, and holds them up until it is told to go on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.may_go_on = threading.Event()
        self.begun = threading.Semaphore(0)
        self.syncs = 0
        self.failure: OSError | None = None
        monkeypatch.setattr(os, "fsync", self._sync)

    def _sync(self, file: int) -> None:
        self.syncs += 1
        self.begun.release()
        self.may_go_on.wait(10)
        if self.failure is not None:
            raise self.failure


def opened(root: Path, synchronous: str) -> tuple[Store, Database]:
    store = Store(root, asyncio.get_running_loop(), synchronous)
    return store, store.database("notes", "n", SCHEMA)


def write(database: Database) -> asyncio.Future[None]:
    database.execute("INSERT INTO notes VALUES ('a')")
    return database.durable()


def test_durable_means_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        store, database = opened(tmp_path, "FULL")
        disk = Disk(monkeypatch)
        durable, committed = write(database), database.committed()
        await committed
        await asyncio.to_thread(disk.begun.acquire)
        assert not durable.done()
        disk.may_go_on.set()
        await durable
        assert disk.syncs == 1
        await database.durable()
        assert disk.syncs == 1
        store.close()

    run(work())


def test_commits_share_a_sync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        store, database = opened(tmp_path, "FULL")
        disk = Disk(monkeypatch)
        first = write(database)
        await asyncio.to_thread(disk.begun.acquire)
        later = []
        for _ in range(3):
            later.append(write(database))
            await database.committed()
        disk.may_go_on.set()
        await first
        assert [future.done() for future in later] == [False, False, False]
        await asyncio.gather(*later)
        assert disk.syncs == 2
        store.close()

    run(work())


def test_what_nobody_waited_for_is_synced_for_who_asks_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        store, database = opened(tmp_path, "FULL")
        disk = Disk(monkeypatch)
        disk.may_go_on.set()
        database.execute("INSERT INTO notes VALUES ('a')")
        await database.committed()
        assert disk.syncs == 0
        await database.durable()
        assert disk.syncs == 1
        store.close()

    run(work())


def test_a_disk_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        store, database = opened(tmp_path, "FULL")
        disk = Disk(monkeypatch)
        disk.failure = OSError(5, "Input/output error")
        lost: list[Exception] = []
        database.on_loss(lost.append)
        disk.may_go_on.set()
        with pytest.raises(apsw.IOError, match="Input/output error"):
            await write(database)
        assert [type(error) for error in lost] == [apsw.IOError]
        disk.failure = None
        await database.durable()
        assert disk.syncs == 2
        store.close()

    run(work())


def test_normal_syncs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        store, database = opened(tmp_path, "NORMAL")
        disk = Disk(monkeypatch)
        await write(database)
        assert disk.syncs == 0
        store.close()

    run(work())
