"""Refusals with production's exact class and text that the tables of `data/rows.json` do not have."""

from __future__ import annotations

import tracemalloc
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.kv.binding import KvNamespace
from flarebed.bindings.values import UNDEFINED, BigInt, Date
from tests.bindings.kv.bench import NOW_S, Chunks, KvBench, error_of
from tests.support import run

Call = Callable[[KvNamespace], Awaitable[Any]]

LONG = "k" * 513
TYPES = 'TypeError: Unknown response type. Possible types are "text", "arrayBuffer", "json", and "stream".'
OBJECT = "TypeError: KV put() accepts only strings, ArrayBuffers, ArrayBufferViews, and ReadableStreams as values."
PAST = "Please specify integer greater than the current number of seconds since the UNIX epoch."
RANGE = "TypeError: Value out of range. Must be between -2147483648 and 2147483647 (inclusive)."
BIG = "x" * (25 * 1024 * 1024 + 1)


def parameter(method: str, position: int, expected: str) -> str:
    return (
        f"TypeError: Failed to execute '{method}' on 'KvNamespace': parameter {position} is not of type '{expected}'."
    )


CASES: dict[str, tuple[Call, str]] = {
    "get without key": (lambda kv: kv.get(), parameter("get", 1, "string or Array")),
    "getWithMetadata without key": (
        lambda kv: kv.getWithMetadata(),
        parameter("getWithMetadata", 1, "Array or string"),
    ),
    "put without key": (lambda kv: kv.put(), parameter("put", 1, "string")),
    "put without value": (lambda kv: kv.put("k"), parameter("put", 2, "string or Object")),
    "put with a primitive for options": (lambda kv: kv.put("k", "v", 5), parameter("put", 3, "PutOptions")),
    "delete without key": (lambda kv: kv.delete(), parameter("delete", 1, "string")),
    "list with a primitive for options": (lambda kv: kv.list("p"), parameter("list", 1, "ListOptions")),
    "delete no keys": (lambda kv: kv.delete([]), "TypeError: Key name cannot be empty."),
    "put long key": (
        lambda kv: kv.put("é" * 300, "x"),
        "Error: KV PUT failed: 414 UTF-8 encoded length of 600 exceeds key length limit of 512.",
    ),
    "list long prefix": (
        lambda kv: kv.list({"prefix": LONG}),
        "Error: KV GET failed: 414 UTF-8 encoded length of 513 exceeds key length limit of 512.",
    ),
    "type in options": (lambda kv: kv.getWithMetadata("there", {"type": "Text"}), TYPES),
    "type null": (lambda kv: kv.get("there", {"type": None}), TYPES),
    "value date": (lambda kv: kv.put("k", Date(0)), OBJECT),
    "ttl null": (
        lambda kv: kv.put("k", "v", {"expirationTtl": None}),
        "Error: KV PUT failed: 400 Invalid expiration_ttl of 0. Please specify integer greater than 0.",
    ),
    "ttl too large": (lambda kv: kv.put("k", "v", {"expirationTtl": 2**31}), RANGE),
    "ttl bigint": (
        lambda kv: kv.put("k", "v", {"expirationTtl": BigInt(60)}),
        "TypeError: Cannot convert a BigInt value to a number",
    ),
    "expiration now": (
        lambda kv: kv.put("k", "v", {"expiration": NOW_S}),
        f"Error: KV PUT failed: 400 Invalid expiration of {NOW_S}. {PAST}",
    ),
    "metadata in UTF-8": (
        lambda kv: kv.put("k", "v", {"metadata": "é" * 512}),
        "Error: KV PUT failed: 413 Metadata length of 1026 exceeds limit of 1024.",
    ),
    "metadata without JSON": (
        lambda kv: kv.put("k", "v", {"metadata": lambda: 1}),
        "Error: KV PUT failed: 500 Internal Server Error",
    ),
    "value of a stream": (
        lambda kv: kv.put("k", Chunks(BIG.encode(), b"abc", b"")),
        "Error: KV PUT failed: 413 Value length of 26214404 exceeds limit of 26214400.",
    ),
    "bulk type in options": (
        lambda kv: kv.get([], {"type": "stream"}),
        'Error: KV GET_BULK failed: 400 "stream" is not a valid type. Use "json" or "text"',
    ),
    "bulk empty key": (lambda kv: kv.get(["a", ""]), "Error: KV GET_BULK failed: 400 Key names must not be empty"),
    "bulk dot": (
        lambda kv: kv.get(["."]),
        'Error: KV GET_BULK failed: 400 Illegal key name ".". Please use a different name.',
    ),
    "bulk long key": (
        lambda kv: kv.get([LONG]),
        "Error: KV GET_BULK failed: 414 UTF-8 encoded length of 513 exceeds key length limit of 512.",
    ),
}


@pytest.mark.parametrize(("call", "expected"), CASES.values(), ids=list(CASES))
def test_refuses_in_productions_words(tmp_path: Path, call: Call, expected: str) -> None:
    async def work() -> None:
        bench = KvBench(tmp_path)
        await bench.kv.put("there", "v1")
        assert await error_of(call(bench.kv)) == expected
        assert await bench.kv.list() == {"keys": [{"name": "there"}], "list_complete": True, "cacheStatus": None}
        bench.store.close()

    run(work())


def test_a_stream_that_is_too_long_is_not_kept(tmp_path: Path) -> None:
    async def work() -> None:
        bench = KvBench(tmp_path)
        chunk = b"x" * 2**20
        tracemalloc.start()
        text = await error_of(bench.kv.put("k", Chunks(*[chunk] * 100)))
        peak_bytes = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert text == "Error: KV PUT failed: 413 Value length of 104857600 exceeds limit of 26214400."
        assert peak_bytes < 60 * 2**20
        bench.store.close()

    run(work())


def test_a_missing_key_is_null_before_its_type_is_looked_at(tmp_path: Path) -> None:
    async def work() -> None:
        bench = KvBench(tmp_path)
        assert await bench.kv.get("missing", "bogus") is None
        assert await bench.kv.put("k", "v", {"metadata": UNDEFINED, "expiration": UNDEFINED}) is UNDEFINED
        bench.store.close()

    run(work())
