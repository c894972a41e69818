"""What a namespace holds, in all forms that a Worker can ask for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.kv.spec import KvNamespaceSpec
from flarebed.bindings.values import UNDEFINED, ArrayBuffer, BigInt, Stream, View
from tests.bindings.kv.bench import NOW_S, Chunks, KvBench
from tests.support import run

STORED: list[tuple[Any, str]] = [
    ("héllo", "héllo"),
    ("", ""),
    (5, "5"),
    (5.5, "5.5"),
    (1e21, "1e+21"),
    (True, "true"),
    (None, "null"),
    (UNDEFINED, "undefined"),
    (BigInt(2**60), "1152921504606846976"),
    ("a\ud800b", "a\ufffdb"),
    ("\ufeffbom", "\ufeffbom"),
    (ArrayBuffer(b"\x00\x01\xff"), "\x00\x01\ufffd"),
    (View(ArrayBuffer(b"0123456789"), "Uint16Array", 2, 4), "2345"),
    (Chunks(b"st", b"", b"reamed"), "streamed"),
    (Chunks(), ""),
]


@pytest.mark.parametrize(("value", "text"), STORED, ids=[repr(text) for _, text in STORED])
def test_put_takes_what_becomes_text_or_bytes(tmp_path: Path, value: Any, text: str) -> None:
    async def work() -> None:
        bench = KvBench(tmp_path)
        assert await bench.kv.put("k", value) is UNDEFINED
        assert await bench.kv.get("k") == text
        bench.store.close()

    run(work())


KEYS: list[tuple[Any, str]] = [
    (5, "5"),
    (None, "null"),
    (UNDEFINED, "undefined"),
    (True, "true"),
    ("é\U0001f600", "é\U0001f600"),
    ("\ud83d\ude00", "\U0001f600"),
    ("x\udc00", "x\ufffd"),
    ("k" * 512, "k" * 512),
    ("é" * 256, "é" * 256),
    ("with\0nul", "with\0nul"),
    (" ", " "),
    ("...", "..."),
    ({"a": 1}, "[object Object]"),
]


@pytest.mark.parametrize(("key", "name"), KEYS, ids=[repr(name)[:20] for _, name in KEYS])
def test_a_key_is_what_javascript_makes_a_string(tmp_path: Path, key: Any, name: str) -> None:
    async def work() -> None:
        bench = KvBench(tmp_path)
        await bench.kv.put(key, "v")
        assert await bench.kv.get(name, "text") == "v"
        assert (await bench.kv.list())["keys"] == [{"name": name}]
        await bench.kv.delete(key)
        assert await bench.kv.get(key) is None
        bench.store.close()

    run(work())


def test_every_type_gives_its_value(tmp_path: Path) -> None:
    async def work() -> None:
        bench = KvBench(tmp_path)
        text = '{"x":[1,2.5,null,true,"é"]}'
        await bench.kv.put("k", text)
        parsed = {"x": [1, 2.5, None, True, "é"]}
        for options in (UNDEFINED, None, "text", {}, {"type": "text", "cacheTtl": 30}, ["json"]):
            assert await bench.kv.get("k", options) == text
        for options in ("json", {"type": "json"}, {"type": "json", "cacheTtl": "60"}):
            assert await bench.kv.get("k", options) == parsed
        buffer = await bench.kv.get("k", "arrayBuffer")
        assert (type(buffer), bytes(buffer)) == (ArrayBuffer, text.encode())
        stream = await bench.kv.get("k", {"type": "stream"})
        assert isinstance(stream, Stream)
        assert [chunk async for chunk in stream] == [text.encode()]
        assert [chunk async for chunk in stream] == []
        for type_name in ("text", "json", "arrayBuffer", "stream"):
            assert await bench.kv.get("missing", type_name) is None
        bench.store.close()

    run(work())


def test_a_large_value_streams_in_pieces(tmp_path: Path) -> None:
    async def work() -> None:
        bench = KvBench(tmp_path)
        await bench.kv.put("k", Chunks(b"x" * 100_000, b"y" * 50_000))
        stream = await bench.kv.get("k", "stream")
        assert [len(chunk) async for chunk in stream] == [65_536, 65_536, 18_928]
        bench.store.close()

    run(work())


def test_an_array_buffer_is_the_callers_own(tmp_path: Path) -> None:
    async def work() -> None:
        bench = KvBench(tmp_path)
        await bench.kv.put("k", "abc")
        buffer = await bench.kv.get("k", "arrayBuffer")
        buffer.data[0] = 0
        assert await bench.kv.get("k") == "abc"
        bench.store.close()

    run(work())


METADATA: list[tuple[Any, Any]] = [
    ({"a": 1, "n": None, "l": [1]}, {"a": 1, "n": None, "l": [1]}),
    (None, None),
    (UNDEFINED, None),
    (0, 0),
    ("é", "é"),
    (False, False),
    ("x" * 1022, "x" * 1022),
]


@pytest.mark.parametrize(("metadata", "expected"), METADATA, ids=[repr(given)[:20] for given, _ in METADATA])
def test_metadata_comes_back_in_every_form(tmp_path: Path, metadata: Any, expected: Any) -> None:
    async def work() -> None:
        bench = KvBench(tmp_path)
        await bench.kv.put("e", "", {"metadata": metadata})
        single = {"value": "", "metadata": expected, "cacheStatus": None}
        assert await bench.kv.getWithMetadata("e") == single
        assert list(await bench.kv.getWithMetadata("e")) == ["value", "metadata", "cacheStatus"]
        bulk = await bench.kv.getWithMetadata(["e", "missing"])
        assert bulk.items() == [("e", {"value": "", "metadata": expected}), ("missing", None)]
        absent = metadata is None or metadata is UNDEFINED
        listed = {"name": "e"} if absent else {"name": "e", "metadata": expected}
        assert (await bench.kv.list())["keys"] == [listed]
        await bench.kv.put("e", "again")
        assert (await bench.kv.getWithMetadata("e"))["metadata"] is None
        bench.store.close()

    run(work())


def test_a_missing_key_has_null_metadata(tmp_path: Path) -> None:
    async def work() -> None:
        bench = KvBench(tmp_path)
        expected = {"value": None, "metadata": None, "cacheStatus": None}
        assert await bench.kv.getWithMetadata("missing", "json") == expected
        bench.store.close()

    run(work())


def test_bulk_loses_keys_that_are_array_indices(tmp_path: Path) -> None:
    """Observed on wrangler 4.164: the answer's integer-like properties are skipped."""

    async def work() -> None:
        bench = KvBench(tmp_path)
        for key in ("1", "01", "z"):
            await bench.kv.put(key, "v")
        keys = ["1", "01", "-1", "1.5", "4294967294", "4294967295", "z"]
        assert (await bench.kv.get(keys)).items() == [
            ("01", "v"), ("-1", None), ("1.5", None), ("4294967295", None), ("z", "v"),
        ]  # fmt: skip
        assert (await bench.kv.getWithMetadata(["1", "z"])).items() == [("z", {"value": "v", "metadata": None})]
        bench.store.close()

    run(work())


def test_bulk_gives_a_map_in_the_order_asked(tmp_path: Path) -> None:
    async def work() -> None:
        bench = KvBench(tmp_path)
        for key, value in (("a", "1"), ("b", '{"x":1}'), ("7.5", "0")):
            await bench.kv.put(key, value)
        assert (await bench.kv.get(["b", "none", 7.5, "a", "b"])).items() == [
            ("b", '{"x":1}'), ("none", None), ("7.5", "0"), ("a", "1"),
        ]  # fmt: skip
        assert (await bench.kv.get(["b", "7.5", "none"], {"type": "json", "cacheTtl": 30})).items() == [
            ("b", {"x": 1}), ("7.5", 0), ("none", None),
        ]  # fmt: skip
        assert (await bench.kv.getWithMetadata(["7.5"], "json")).items() == [("7.5", {"value": 0, "metadata": None})]
        await bench.kv.put("null", "null", {"metadata": 1})
        await bench.kv.put("bom", "\ufeff1")
        assert (await bench.kv.getWithMetadata(["null", "bom"], "json")).items() == [
            ("null", None), ("bom", {"value": 1, "metadata": None}),
        ]  # fmt: skip
        assert (await bench.kv.get(["null", "bom"])).items() == [("null", "null"), ("bom", "1")]
        bench.store.close()

    run(work())


def test_delete_takes_one_key_and_a_list_is_one_key(tmp_path: Path) -> None:
    async def work() -> None:
        bench = KvBench(tmp_path)
        for key in ("a", "b", "a,b"):
            await bench.kv.put(key, "v")
        assert await bench.kv.delete(["a", "b"]) is UNDEFINED
        assert [key["name"] for key in (await bench.kv.list())["keys"]] == ["a", "b"]
        assert await bench.kv.delete("never-existed") is UNDEFINED
        bench.store.close()

    run(work())


EXPIRING: list[dict[str, Any]] = [
    {"expirationTtl": 60},
    {"expirationTtl": "60"},
    {"expirationTtl": 60.9},
    {"expiration": NOW_S + 60},
    {"expiration": NOW_S + 9000, "expirationTtl": 60},
]


@pytest.mark.parametrize("options", EXPIRING, ids=repr)
def test_an_expired_key_is_gone_everywhere(tmp_path: Path, options: dict[str, Any]) -> None:
    async def work() -> None:
        bench = KvBench(tmp_path)
        await bench.kv.put("k", "v", options)
        await bench.kv.put("stays", "v")
        await bench.clock.advance(59_999)
        assert await bench.kv.get("k") == "v"
        assert (await bench.kv.list())["keys"] == [{"name": "k", "expiration": NOW_S + 60}, {"name": "stays"}]
        await bench.clock.advance(1)
        assert await bench.kv.get("k") is None
        assert (await bench.kv.get(["k"])).items() == [("k", None)]
        assert (await bench.kv.list())["keys"] == [{"name": "stays"}]
        bench.store.close()

    run(work())


def test_rows_of_expired_keys_go_when_another_expiring_key_is_put(tmp_path: Path) -> None:
    async def work() -> None:
        bench = KvBench(tmp_path)
        for number in range(250):
            await bench.kv.put(f"k{number}", "v", {"expirationTtl": 60})
        await bench.clock.advance(60_000)
        left = []
        for _ in range(4):
            await bench.kv.put("new", "v", {"expirationTtl": 60})
            left.append(len(bench.store.database("kv", "ns1", "SELECT 1").read("SELECT key FROM entries")))
        assert left == [151, 51, 1, 1]
        bench.store.close()

    run(work())


def test_a_put_without_expiration_keeps_the_key(tmp_path: Path) -> None:
    async def work() -> None:
        bench = KvBench(tmp_path)
        await bench.kv.put("k", "v", {"expirationTtl": 60})
        await bench.kv.put("k", "w")
        await bench.clock.advance(3_600_000)
        assert await bench.kv.get("k") == "w"
        bench.store.close()

    run(work())


@pytest.mark.parametrize(
    ("spec", "shared"),
    [
        (KvNamespaceSpec("OTHER", "ns1"), True),
        (KvNamespaceSpec("OTHER", "prod", "ns1"), True),
        (KvNamespaceSpec("ns1"), True),
        (KvNamespaceSpec("OTHER", "NS1"), False),
        (KvNamespaceSpec("KV", "ns2"), False),
    ],
    ids=repr,
)
def test_bindings_share_a_namespace_by_its_id(tmp_path: Path, spec: KvNamespaceSpec, shared: bool) -> None:
    async def work() -> None:
        bench = KvBench(tmp_path)
        await bench.kv.put("k", "v")
        assert await bench.open(spec).get("k") == ("v" if shared else None)
        bench.store.close()

    run(work())


def test_what_was_put_is_there_after_a_restart(tmp_path: Path) -> None:
    async def work(*, first: bool) -> None:
        bench = KvBench(tmp_path)
        if first:
            await bench.kv.put("k", "v", {"metadata": {"a": 1}, "expirationTtl": 60})
        else:
            await bench.clock.advance(59_999)
            assert await bench.kv.getWithMetadata("k") == {"value": "v", "metadata": {"a": 1}, "cacheStatus": None}
            await bench.clock.advance(1)
            assert await bench.kv.get("k") is None
        bench.store.close()

    run(work(first=True))
    run(work(first=False))


def test_a_write_finishes_when_committed_and_a_read_without_a_turn_of_the_loop_with_what_is(tmp_path: Path) -> None:
    async def work() -> None:
        bench = KvBench(tmp_path)
        writing = bench.kv.put("k", "v")
        committed = writing.send(None)
        assert not committed.done()
        with pytest.raises(StopIteration) as read:
            bench.kv.get("k").send(None)
        assert (read.value.value, committed.done()) == ("v", True)
        writing.close()
        bench.store.close()

    run(work())
