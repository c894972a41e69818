"""Values of up to 25 MiB: held in memory piece by piece, and whole or not at all for whoever reads them."""

from __future__ import annotations

import tracemalloc
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from flarebed.bindings.errors import JsError
from flarebed.bindings.kv import large, namespace
from flarebed.bindings.kv.large import MAX_ROW_BYTES, PIECE_BYTES
from flarebed.bindings.values import ArrayBuffer
from tests.bindings.kv.bench import Chunks, KvBench, error_of
from tests.support import run

MIB = 2**20
OVER_A_ROW = MAX_ROW_BYTES + 1


class Repeated:
    """A stream of `count` chunks, made when they are asked for."""

    def __init__(self, count: int, size: int = MIB) -> None:
        self._count, self._size = count, size

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for number in range(self._count):
            yield bytes([number]) * self._size


class Broken:
    """A stream that fails after `size` bytes."""

    def __init__(self, size: int) -> None:
        self._size = size

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield b"x" * self._size
        raise JsError("Network connection lost.")


def pieces(bench: KvBench) -> list[tuple[Any, ...]]:
    sql = "SELECT key, count(*), sum(length(piece)) FROM pieces GROUP BY key"
    return bench.store.database("kv", "ns1", "SELECT 1").read(sql)


def test_25_mib_stream_in_and_out_in_little_memory(tmp_path: Path) -> None:
    async def work() -> None:
        bench = KvBench(tmp_path)
        apsw.memory_high_water(True)
        tracemalloc.start()
        await bench.kv.put("k", Repeated(25))
        stream = await bench.kv.get("k", "stream")
        sizes = [(len(chunk), chunk[0]) async for chunk in stream]
        peak_bytes = tracemalloc.get_traced_memory()[1] + apsw.memory_high_water()
        tracemalloc.stop()
        assert sizes == [(PIECE_BYTES, number) for number in range(25) for _ in range(16)]
        assert peak_bytes < 8 * MIB
        bench.store.close()

    run(work())


@pytest.mark.parametrize("length", [MAX_ROW_BYTES, OVER_A_ROW, 3 * MIB])
def test_a_value_comes_back_in_every_form(tmp_path: Path, length: int) -> None:
    async def work() -> None:
        bench = KvBench(tmp_path)
        text = "é" + "x" * (length - 2)
        for value in (text, ArrayBuffer(text.encode()), Chunks(text.encode())):
            await bench.kv.put("k", value, {"metadata": 1, "expirationTtl": 60})
            assert await bench.kv.get("k") == text
            assert bytes(await bench.kv.get("k", "arrayBuffer")) == text.encode()
            assert b"".join([chunk async for chunk in await bench.kv.get("k", "stream")]) == text.encode()
            assert await bench.kv.getWithMetadata("k") == {"value": text, "metadata": 1, "cacheStatus": None}
            assert (await bench.kv.get(["k"])).get("k") == text
        rows = -(-length // PIECE_BYTES)
        assert pieces(bench) == ([("k", rows, length)] if length > MAX_ROW_BYTES else [])
        bench.store.close()

    run(work())


@pytest.mark.parametrize("gone", ["deleted", "replaced", "expired"])
def test_no_piece_outlives_its_value(tmp_path: Path, gone: str) -> None:
    async def work() -> None:
        bench = KvBench(tmp_path)
        await bench.kv.put("stays", "x" * OVER_A_ROW)
        await bench.kv.put("k", "x" * OVER_A_ROW, {"expirationTtl": 60})
        if gone == "deleted":
            await bench.kv.delete("k")
        elif gone == "replaced":
            await bench.kv.put("k", "v")
        else:
            await bench.clock.advance(60_000)
            await bench.kv.put("other", "v", {"expirationTtl": 60})
        assert await bench.kv.get("k") == ("v" if gone == "replaced" else None)
        assert pieces(bench) == [("stays", 17, OVER_A_ROW)]
        bench.store.close()

    run(work())


def test_a_stream_goes_on_with_the_version_that_it_began_with(tmp_path: Path) -> None:
    async def work() -> None:
        bench = KvBench(tmp_path)
        await bench.kv.put("k", "a" * OVER_A_ROW)
        replaced = await bench.kv.get("k", "stream")
        await bench.kv.put("k", "b" * (2 * OVER_A_ROW))
        deleted = await bench.kv.get("k", "stream")
        await bench.kv.delete("k")
        assert b"".join([chunk async for chunk in deleted]) == b"b" * (2 * OVER_A_ROW)
        assert b"".join([chunk async for chunk in replaced]) == b"a" * OVER_A_ROW
        assert await bench.kv.get("k") is None
        bench.store.close()

    run(work())


def test_a_stream_that_is_left_does_not_hold_up_checkpoints(tmp_path: Path) -> None:
    async def work() -> None:
        bench = KvBench(tmp_path)
        await bench.kv.put("k", "a" * OVER_A_ROW)
        stream = await bench.kv.get("k", "stream")
        assert len(await anext(stream)) == PIECE_BYTES
        await stream.aclose()
        assert [chunk async for chunk in stream] == []
        checkpointed = bench.store.database("kv", "ns1", "SELECT 1").connection.wal_checkpoint(mode=3)
        assert checkpointed == (0, 0)
        bench.store.close()

    run(work())


@pytest.mark.parametrize("size", [10, OVER_A_ROW])
def test_a_stream_that_breaks_leaves_the_old_value(tmp_path: Path, size: int) -> None:
    async def work() -> None:
        bench = KvBench(tmp_path)
        await bench.kv.put("k", "old")
        assert await error_of(bench.kv.put("k", Broken(size))) == "Error: Network connection lost."
        assert await bench.kv.get("k") == "old"
        assert pieces(bench) == []
        bench.store.close()

    run(work())


def test_what_arrives_slowly_holds_up_nobody_and_is_seen_at_its_end(tmp_path: Path) -> None:
    async def work() -> None:
        bench = KvBench(tmp_path)
        arrives = bench.clock.loop.create_future()

        class Slow:
            async def __aiter__(self) -> AsyncIterator[bytes]:
                yield b"x" * OVER_A_ROW
                await arrives
                yield b"y"

        await bench.kv.put("k", "old")
        slow = bench.clock.spawn(bench.kv.put("k", Slow()), "slow")
        await bench.clock.settle(1)
        files = {path.name for path in bench.store.path("kv", "ns1").parent.iterdir()}
        assert files == {"ns1.sqlite", "ns1.sqlite-shm", "ns1.sqlite-wal"}  # nothing to clear up after a kill -9
        other = apsw.Connection(str(bench.store.path("kv", "ns1")))
        other.execute("INSERT INTO entries (key, value) VALUES ('by another process', x'61')")
        await bench.kv.put("k2", "v")
        assert (await bench.kv.get("k"), await bench.kv.get("by another process")) == ("old", "a")
        arrives.set_result(None)
        await slow
        assert len(await bench.kv.get("k")) == OVER_A_ROW + 1
        bench.store.close()

    run(work())


def test_a_large_value_that_another_process_replaces_is_read_as_it_became(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> None:
        bench = KvBench(tmp_path)
        await bench.kv.put("k", "x" * OVER_A_ROW)

        def replaced_before_it_is_read(path: Path) -> apsw.Connection:
            other = apsw.Connection(str(path))
            other.execute("UPDATE entries SET value = x'736d616c6c', metadata = '1', length = NULL")
            return large.reader(path)

        monkeypatch.setattr(namespace, "reader", replaced_before_it_is_read)
        assert await bench.kv.getWithMetadata("k") == {"value": "small", "metadata": 1, "cacheStatus": None}
        bench.store.close()

    run(work())


def test_state_of_an_earlier_flarebed_takes_large_values(tmp_path: Path) -> None:
    async def work() -> None:
        path = tmp_path / "flarebed" / "kv" / "ns1.sqlite"
        path.parent.mkdir(parents=True)
        earlier = apsw.Connection(str(path))
        earlier.execute(
            "CREATE TABLE entries (key TEXT PRIMARY KEY, expiration_ms INTEGER, metadata TEXT, value BLOB NOT NULL);"
            "INSERT INTO entries (key, value) VALUES ('k', x'6f6c64')"
        )
        earlier.close()
        bench = KvBench(tmp_path)
        assert await bench.kv.get("k") == "old"
        await bench.kv.put("k", "x" * OVER_A_ROW)
        assert pieces(bench) == [("k", 17, OVER_A_ROW)]
        bench.store.close()

    run(work())


def test_pieces_that_another_program_left_are_not_part_of_a_value(tmp_path: Path) -> None:
    async def work() -> None:
        bench = KvBench(tmp_path)
        await bench.kv.put("k", "old" * OVER_A_ROW)
        other = apsw.Connection(str(bench.store.path("kv", "ns1")))
        other.execute("REPLACE INTO entries (key, value) VALUES ('k', x'6e6577')")  # which fires no trigger
        assert await bench.kv.get("k") == "new"
        await bench.kv.put("k", "x" * OVER_A_ROW)
        assert await bench.kv.get("k") == "x" * OVER_A_ROW
        bench.store.close()

    run(work())
