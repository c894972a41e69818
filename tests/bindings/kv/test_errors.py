"""Each refusal with production's exact class and text."""

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
    "get empty key": (lambda kv: kv.get(""), "TypeError: Key name cannot be empty."),
    "put empty key": (lambda kv: kv.put("", "x"), "TypeError: Key name cannot be empty."),
    "delete empty key": (lambda kv: kv.delete(""), "TypeError: Key name cannot be empty."),
    "delete no keys": (lambda kv: kv.delete([]), "TypeError: Key name cannot be empty."),
    "dot": (lambda kv: kv.put(".", "x"), 'TypeError: "." is not allowed as a key name.'),
    "dots": (lambda kv: kv.get(".."), 'TypeError: ".." is not allowed as a key name.'),
    "get long key": (
        lambda kv: kv.get(LONG),
        "Error: KV GET failed: 414 UTF-8 encoded length of 513 exceeds key length limit of 512.",
    ),
    "put long key": (
        lambda kv: kv.put("é" * 300, "x"),
        "Error: KV PUT failed: 414 UTF-8 encoded length of 600 exceeds key length limit of 512.",
    ),
    "delete long key": (
        lambda kv: kv.delete(LONG),
        "Error: KV DELETE failed: 414 UTF-8 encoded length of 513 exceeds key length limit of 512.",
    ),
    "list long prefix": (
        lambda kv: kv.list({"prefix": LONG}),
        "Error: KV GET failed: 414 UTF-8 encoded length of 513 exceeds key length limit of 512.",
    ),
    "type": (lambda kv: kv.get("there", "bogus"), TYPES),
    "type in options": (lambda kv: kv.getWithMetadata("there", {"type": "Text"}), TYPES),
    "type null": (lambda kv: kv.get("there", {"type": None}), TYPES),
    "value object": (lambda kv: kv.put("k", {"a": 1}), OBJECT),
    "value array": (lambda kv: kv.put("k", [1, 2]), OBJECT),
    "value date": (lambda kv: kv.put("k", Date(0)), OBJECT),
    "ttl 59": (
        lambda kv: kv.put("k", "v", {"expirationTtl": 59}),
        "Error: KV PUT failed: 400 Invalid expiration_ttl of 59. Expiration TTL must be at least 60.",
    ),
    "ttl 0": (
        lambda kv: kv.put("k", "v", {"expirationTtl": 0}),
        "Error: KV PUT failed: 400 Invalid expiration_ttl of 0. Please specify integer greater than 0.",
    ),
    "ttl -1": (
        lambda kv: kv.put("k", "v", {"expirationTtl": -1}),
        "Error: KV PUT failed: 400 Invalid expiration_ttl of -1. Please specify integer greater than 0.",
    ),
    "ttl text": (
        lambda kv: kv.put("k", "v", {"expirationTtl": "abc"}),
        "Error: KV PUT failed: 400 Invalid expiration_ttl of 0. Please specify integer greater than 0.",
    ),
    "ttl null": (
        lambda kv: kv.put("k", "v", {"expirationTtl": None}),
        "Error: KV PUT failed: 400 Invalid expiration_ttl of 0. Please specify integer greater than 0.",
    ),
    "ttl too large": (lambda kv: kv.put("k", "v", {"expirationTtl": 2**31}), RANGE),
    "ttl bigint": (
        lambda kv: kv.put("k", "v", {"expirationTtl": BigInt(60)}),
        "TypeError: Cannot convert a BigInt value to a number",
    ),
    "expiration past": (
        lambda kv: kv.put("k", "v", {"expiration": 5}),
        f"Error: KV PUT failed: 400 Invalid expiration of 5. {PAST}",
    ),
    "expiration now": (
        lambda kv: kv.put("k", "v", {"expiration": NOW_S}),
        f"Error: KV PUT failed: 400 Invalid expiration of {NOW_S}. {PAST}",
    ),
    "expiration soon": (
        lambda kv: kv.put("k", "v", {"expiration": NOW_S + 59}),
        f"Error: KV PUT failed: 400 Invalid expiration of {NOW_S + 59}. "
        "Expiration times must be at least 60 seconds in the future.",
    ),
    "ttl is looked at first": (
        lambda kv: kv.put("k", "v", {"expiration": 5, "expirationTtl": 6}),
        "Error: KV PUT failed: 400 Invalid expiration_ttl of 6. Expiration TTL must be at least 60.",
    ),
    "metadata": (
        lambda kv: kv.put("k", "v", {"metadata": {"a": "x" * 1100}}),
        "Error: KV PUT failed: 413 Metadata length of 1108 exceeds limit of 1024.",
    ),
    "metadata in UTF-8": (
        lambda kv: kv.put("k", "v", {"metadata": "é" * 512}),
        "Error: KV PUT failed: 413 Metadata length of 1026 exceeds limit of 1024.",
    ),
    "metadata without JSON": (
        lambda kv: kv.put("k", "v", {"metadata": lambda: 1}),
        "Error: KV PUT failed: 500 Internal Server Error",
    ),
    "value": (
        lambda kv: kv.put("k", BIG),
        "Error: KV PUT failed: 413 Value length of 26214401 exceeds limit of 26214400.",
    ),
    "value of a stream": (
        lambda kv: kv.put("k", Chunks(BIG.encode(), b"abc", b"")),
        "Error: KV PUT failed: 413 Value length of 26214404 exceeds limit of 26214400.",
    ),
    "cacheTtl": (
        lambda kv: kv.get("missing", {"cacheTtl": 29}),
        "Error: KV GET failed: 400 Invalid cache_ttl of 29. Cache TTL must be at least 30.",
    ),
    "list limit": (
        lambda kv: kv.list({"limit": 1001}),
        "Error: KV GET failed: 400 Invalid key_count_limit of 1001. Please specify an integer less than 1000.",
    ),
    "json": (
        lambda kv: kv.get("there", "json"),
        "SyntaxError: Unexpected token 'v', \"v1\" is not valid JSON",
    ),
    "bulk of none": (lambda kv: kv.get([]), "Error: KV GET_BULK failed: 400 You must request a minimum of 1 key"),
    "bulk of 101": (
        lambda kv: kv.getWithMetadata([f"k{i}" for i in range(101)]),
        "Error: KV GET_BULK failed: 400 You can request a maximum of 100 keys",
    ),
    "bulk type": (
        lambda kv: kv.get(["there"], "arrayBuffer"),
        'Error: KV GET_BULK failed: 400 "arrayBuffer" is not a valid type. Use "json" or "text"',
    ),
    "bulk type in options": (
        lambda kv: kv.get([], {"type": "stream"}),
        'Error: KV GET_BULK failed: 400 "stream" is not a valid type. Use "json" or "text"',
    ),
    "bulk json": (
        lambda kv: kv.get(["missing", "there"], "json"),
        "Error: KV GET_BULK failed: 400 At least one of the requested keys corresponds to a non-json value",
    ),
    "bulk cacheTtl": (
        lambda kv: kv.get(["there"], {"cacheTtl": 10}),
        "Error: KV GET_BULK failed: 400 Invalid cache_ttl of 10. Cache TTL must be at least 30.",
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


def test_a_bulk_of_more_than_25_mib_is_refused_and_single_gets_are_not(tmp_path: Path) -> None:
    async def work() -> None:
        bench = KvBench(tmp_path)
        value = "x" * (9 * 1024 * 1024)
        for key in ("a", "b", "c"):
            await bench.kv.put(key, value)
        expected = "Error: KV GET_BULK failed: 413 Total size of request exceeds the limit of 25MB"
        assert await error_of(bench.kv.get(["a", "b", "c"])) == expected
        assert await bench.kv.get("c") == value
        assert (await bench.kv.get(["a", "b"])).get("b") == value
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
