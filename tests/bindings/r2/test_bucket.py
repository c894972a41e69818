"""The engine's own promises: what is on disk when, and for how long. What a Worker sees is in tests/oracle."""

from __future__ import annotations

import tracemalloc
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from flarebed.bindings.errors import JsError
from flarebed.bindings.r2 import errors, multipart
from flarebed.bindings.r2.binding import R2Bucket
from flarebed.bindings.r2.bucket import Bucket, Upload
from flarebed.bindings.r2.engine import bucket
from flarebed.bindings.r2.multipart import Part
from flarebed.bindings.r2.objects import Range
from tests.support import Bench, run

MIB = 2**20


async def chunks(*given: bytes) -> AsyncIterator[bytes]:
    for chunk in given:
        yield chunk


async def broken() -> AsyncIterator[bytes]:
    yield b"half"
    raise ConnectionError("gone")


def files(root: Path) -> list[str]:
    return sorted(path.read_bytes().decode() for path in (root / "v3" / "r2" / "files" / "blobs").glob("*"))


def opened(root: Path) -> Bucket:
    return bucket("files", Bench(root).around)


def read(files: Bucket, key: str) -> bytes:
    return bytes(files.get(key, Range(), None)[2])


def test_what_is_replaced_or_deleted_leaves_no_file(tmp_path: Path) -> None:
    async def main() -> None:
        files_of = opened(tmp_path)
        await files_of.put("k", chunks(b"one"), Upload())
        await files_of.put("k", chunks(b"t", b"wo"), Upload())
        assert files(tmp_path) == ["two"]
        await files_of.delete(["k"])
        assert files(tmp_path) == []

    run(main())


@pytest.mark.parametrize("key", ["k", "x" * 1025])
def test_a_put_that_fails_leaves_the_old_value_and_no_file(tmp_path: Path, key: str) -> None:
    async def main() -> None:
        files_of = opened(tmp_path)
        await files_of.put("k", chunks(b"old"), Upload())
        with pytest.raises((ConnectionError, errors.Refused)):
            await files_of.put(key, broken() if key == "k" else chunks(b"new"), Upload())
        assert (read(files_of, "k"), files(tmp_path)) == (b"old", ["old"])

    run(main())


def test_a_full_disk_leaves_the_old_value_and_is_the_services_failure(tmp_path: Path) -> None:
    async def main() -> None:
        bench = Bench(tmp_path)
        files_of = bucket("files", bench.around)
        await files_of.put("k", chunks(b"old"), Upload())
        files_of.database.connection.execute("PRAGMA max_page_count = 1").fetchall()
        with pytest.raises(JsError) as raised:
            await R2Bucket(files_of).put("k" * 1000, "x", {"customMetadata": {"a": "x" * 8000}})
        assert str(raised.value) == "Error: put: We encountered an internal error. Please try again. (10001)"
        assert bench.logged == [("warn", 'R2 bucket "files": database or disk is full')]
        assert files(tmp_path) == ["old"]

    run(main())


def test_who_reads_goes_on_reading_what_is_deleted(tmp_path: Path) -> None:
    async def main() -> None:
        files_of = opened(tmp_path)
        await files_of.put("k", chunks(b"x" * MIB), Upload())
        _, span, value = files_of.get("k", Range(), None)
        await files_of.delete(["k"])
        assert (span.length, len(bytes(value))) == (MIB, MIB)

    run(main())


def test_a_large_value_is_not_held_in_memory(tmp_path: Path) -> None:
    async def large() -> AsyncIterator[bytes]:
        for _ in range(32):
            yield bytes(MIB)

    async def main() -> None:
        files_of = opened(tmp_path)
        tracemalloc.start()
        await files_of.put("k", large(), Upload())
        size = 0
        async for chunk in files_of.get("k", Range(), None)[2]:
            size += len(chunk)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert (size, peak < 4 * MIB) == (32 * MIB, True)

    run(main())


def test_state_outlives_the_process(tmp_path: Path) -> None:
    async def write() -> str:
        bench = Bench(tmp_path)
        files_of = bucket("files", bench.around)
        await files_of.put("k", chunks(b"kept"), Upload())
        upload = await multipart.begin(files_of, "parts", Upload(custom={"a": "b"}))
        etag = await multipart.put_part(files_of, "parts", upload, 1, chunks(b"part"))
        bench.store.close()
        return f"{upload} {etag}"

    async def go_on(upload: str, etag: str) -> None:
        files_of = opened(tmp_path)
        stored = await multipart.complete(files_of, "parts", upload, [Part(1, etag)])
        assert (read(files_of, "k"), read(files_of, "parts"), stored.custom) == (b"kept", b"part", {"a": "b"})

    run(go_on(*run(write()).split()))


@pytest.mark.parametrize(
    ("header", "span"),
    [
        ("bytes=2-4", (2, 3)), ("bytes=2-", (2, 9)), ("bytes=-3", (8, 3)), ("BYTES = 0 - 0", (0, 1)),
        ("bytes=2-100", (2, 9)), ("bytes=11-", (0, 11)), ("bytes=4-2", (0, 11)), ("bytes=0-1,3-4", (0, 11)),
        ("bytes=-0", (0, 11)), ("bytes=-100", (0, 11)), ("bytes=-", (0, 11)), ("lines=1-2", (0, 11)),
    ],
)  # fmt: skip
def test_range_headers(header: str, span: tuple[int, int]) -> None:
    """workers-sdk packages/miniflare/src/workers/shared/range.ts; what it can't meet or counts several of means all."""
    assert Range(header=header).of(11) == span
