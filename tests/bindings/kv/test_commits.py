"""Commits and reads that fail, as on a bad disk: the Worker hears of it, and nobody is told of what is not on disk."""

from __future__ import annotations

import errno
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from flarebed.bindings.kv.binding import KvNamespace
from flarebed.bindings.kv.large import MAX_ROW_BYTES, Arriving
from tests.bindings.kv.bench import Chunks, KvBench, error_of
from tests.support import run

LARGE = "x" * (MAX_ROW_BYTES + 1)
REFUSED = "Error: KV {} failed: 500 Internal Server Error"


def connection(bench: KvBench) -> apsw.Connection:
    return bench.store.database("kv", "ns1", "SELECT 1").connection


WRITES: dict[str, tuple[str, Callable[[KvNamespace], Awaitable[Any]]]] = {
    "put": ("PUT", lambda kv: kv.put("k", "new")),
    "put of a large value": ("PUT", lambda kv: kv.put("k", LARGE)),
    "put of a stream": ("PUT", lambda kv: kv.put("k", Chunks(b"new"))),
    "delete": ("DELETE", lambda kv: kv.delete("k")),
}


@pytest.mark.parametrize(("operation", "write"), WRITES.values(), ids=list(WRITES))
def test_a_commit_fails(tmp_path: Path, operation: str, write: Callable[[KvNamespace], Awaitable[Any]]) -> None:
    async def work() -> None:
        bench = KvBench(tmp_path)
        await bench.kv.put("k", "old")
        connection(bench).set_commit_hook(lambda: True)
        assert await error_of(write(bench.kv)) == REFUSED.format(operation)
        connection(bench).set_commit_hook(None)
        assert await bench.kv.get("k") == "old"
        assert bench.logged == [("warn", f'KV namespace "ns1": {operation} failed: constraint failed')]
        bench.store.close()

    run(work())


def test_a_statement_has_no_room(tmp_path: Path) -> None:
    async def work() -> None:
        bench = KvBench(tmp_path)
        await bench.kv.put("k", "old")
        connection(bench).execute("PRAGMA max_page_count = 20").fetchall()
        assert await error_of(bench.kv.put("k", LARGE)) == REFUSED.format("PUT")
        assert await bench.kv.get("k") == "old"
        assert await bench.kv.put("k", "new") is not None
        assert await bench.kv.get("k") == "new"
        assert bench.logged == [("warn", 'KV namespace "ns1": PUT failed: database or disk is full')]
        bench.store.close()

    run(work())


def test_there_is_no_room_for_what_arrives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_arriving: Arriving, _chunk: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    async def work() -> None:
        bench = KvBench(tmp_path)
        await bench.kv.put("k", "old")
        monkeypatch.setattr(Arriving, "add", full)
        assert await error_of(bench.kv.put("k", Chunks(b"new"))) == REFUSED.format("PUT")
        assert await bench.kv.get("k") == "old"
        assert bench.logged == [("warn", 'KV namespace "ns1": PUT failed: [Errno 28] No space left on device')]
        bench.store.close()

    run(work())


READS: dict[str, tuple[Callable[[KvNamespace], Awaitable[Any]], Any]] = {
    "get": (lambda kv: kv.get("k"), "old"),
    "getWithMetadata": (lambda kv: kv.getWithMetadata("k"), {"value": "old", "metadata": None, "cacheStatus": None}),
    "list": (
        lambda kv: kv.list({"prefix": "n"}),
        {"keys": [], "list_complete": True, "cacheStatus": None},
    ),
}


@pytest.mark.parametrize(("read", "expected"), READS.values(), ids=list(READS))
def test_no_other_request_sees_a_put_whose_commit_fails(
    tmp_path: Path, read: Callable[[KvNamespace], Awaitable[Any]], expected: Any
) -> None:
    async def work() -> None:
        bench = KvBench(tmp_path)
        await bench.kv.put("k", "old")
        connection(bench).set_commit_hook(lambda: True)
        puts = [bench.clock.spawn(bench.kv.put(key, "new"), "put") for key in ("k", "n")]
        reading = bench.clock.spawn(read(bench.kv), "read")
        assert [await error_of(put) for put in puts] == [REFUSED.format("PUT")] * 2
        assert await reading == expected
        bench.store.close()

    run(work())


READS: dict[str, tuple[str, Callable[[KvNamespace], Awaitable[Any]]]] = {
    "get": ("GET", lambda kv: kv.get("k")),
    "getWithMetadata": ("GET", lambda kv: kv.getWithMetadata("k")),
    "bulk get": ("GET_BULK", lambda kv: kv.get(["k"])),
    "list": ("GET", lambda kv: kv.list()),
}


@pytest.mark.parametrize(("operation", "read"), READS.values(), ids=list(READS))
def test_a_read_fails(tmp_path: Path, operation: str, read: Callable[[KvNamespace], Awaitable[Any]]) -> None:
    async def work() -> None:
        bench = KvBench(tmp_path)
        connection(bench).execute("DROP TABLE entries")
        assert await error_of(read(bench.kv)) == REFUSED.format(operation)
        assert bench.logged == [("warn", f'KV namespace "ns1": {operation} failed: no such table: entries')]
        bench.store.close()

    run(work())
