"""KV as workerd's client asks for it."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.emulator.runtime.workerd.asking import answer, ask, whole
from tests.support import Bench, run

from flarebed.bindings.kind import Modes
from flarebed.bindings.kv import engine
from flarebed.bindings.kv.binding import service_of
from flarebed.emulator.runtime.workerd.host import Adapter, Asked
from flarebed.emulator.runtime.workerd.kv import adapter

MIB = 1024 * 1024


def namespace(root: Path, **modes: Any) -> tuple[Bench, Adapter]:
    bench = Bench(root, modes=Modes(**modes))
    return bench, adapter(engine.namespace("n", bench.around))


def test_a_value_with_its_metadata_and_its_end(tmp_path: Path) -> None:
    async def work() -> None:
        _, kv = namespace(tmp_path)
        put = await ask(kv, "PUT", "/a%2Fb?urlencoded=true&expiration_ttl=60", b"v\xff", cf_kv_metadata='{"m":"ü"}')
        assert put == (200, "", b"")
        got = await answer(kv, "GET", "/a%2Fb?urlencoded=true")
        assert (got.status, got.body) == (200, b"v\xff")
        assert got.headers == (("cf-expiration", "1767225660"), ("cf-kv-metadata", '{"m":"ü"}'))
        assert await ask(kv, "DELETE", "/a%2Fb?urlencoded=true") == (200, "", b"")
        assert await ask(kv, "GET", "/a%2Fb?urlencoded=true") == (404, "Not Found", b"Not Found")

    run(work())


def test_a_list_has_metadata_as_text(tmp_path: Path) -> None:
    async def work() -> None:
        _, kv = namespace(tmp_path)
        await ask(kv, "PUT", "/a1?expiration=1767226000", b"v", cf_kv_metadata="[1]")
        await ask(kv, "PUT", "/a2", b"v")
        await ask(kv, "PUT", "/b", b"v")
        first = json.loads((await ask(kv, "GET", "/?prefix=a&key_count_limit=1"))[2])
        key = {"name": "a1", "expiration": 1767226000, "metadata": "[1]"}
        assert first == {"keys": [key], "list_complete": False, "cursor": first["cursor"], "cacheStatus": None}
        second = json.loads((await ask(kv, "GET", f"/?prefix=a&cursor={first['cursor']}"))[2])
        assert second == {"keys": [{"name": "a2"}], "list_complete": True, "cacheStatus": None}

    run(work())


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"keys": ["a", "no"]}, {"a": "[1]", "no": None}),
        ({"keys": ["a"], "type": "json"}, {"a": [1]}),
        ({"keys": ["a"], "withMetadata": True, "cacheTtl": "30"}, {"a": {"value": "[1]", "metadata": {"m": 1}}}),
        ({"keys": ["__proto__", "a"], "type": "text"}, {"a": "[1]"}),
    ],
)
def test_many_at_once(tmp_path: Path, wanted: dict[str, Any], expected: dict[str, Any]) -> None:
    async def work() -> None:
        _, kv = namespace(tmp_path)
        await ask(kv, "PUT", "/a", b"[1]", cf_kv_metadata='{"m":1}')
        await ask(kv, "PUT", "/__proto__", b"v")
        assert json.loads((await ask(kv, "POST", "/bulk/get", json.dumps(wanted).encode()))[2]) == expected

    run(work())


@pytest.mark.parametrize(
    ("method", "target", "body", "status", "reason"),
    [
        ("PUT", "/k?expiration_ttl=5", b"", 400, "Invalid expiration_ttl of 5. Expiration TTL must be at least 60."),
        ("GET", "/k?cache_ttl=29", b"", 400, "Invalid cache_ttl of 29. Cache TTL must be at least 30."),
        ("PUT", "/a%ED%A0%80", b"v", 400, "Could not URL-decode key name"),
        ("POST", "/bulk/get", b'{"keys":[]}', 400, "You must request a minimum of 1 key"),
        ("POST", "/bulk/get", b'{"keys":["k"],"type":"a\\r\\nb"}', 400,
         '"a  b" is not a valid type. Use "json" or "text"'),
        ("GET", "/?key_count_limit=1001", b"", 400,
         "Invalid key_count_limit of 1001. Please specify an integer less than 1000."),
        ("PATCH", "/k", b"", 405, "Method Not Allowed"),
    ],
)  # fmt: skip
def test_refusals(tmp_path: Path, method: str, target: str, body: bytes, status: int, reason: str) -> None:
    async def work() -> None:
        _, kv = namespace(tmp_path)
        assert (await ask(kv, method, target, body))[:2] == (status, reason)

    run(work())


def test_metadata_of_a_function_is_no_json(tmp_path: Path) -> None:
    async def work() -> None:
        _, kv = namespace(tmp_path)
        assert (await ask(kv, "PUT", "/k", b"v", cf_kv_metadata="undefined"))[:2] == (500, "Internal Server Error")

    run(work())


def test_a_long_value_is_never_whole_in_memory(tmp_path: Path) -> None:
    async def work() -> None:
        _, kv = namespace(tmp_path)
        chunk = b"x" * 65_536
        tracemalloc.start()
        try:
            assert await ask(kv, "PUT", "/k", *[chunk] * 320) == (200, "", b"")
            got = await answer(kv, "GET", "/k")
            assert got.headers == (("content-length", str(20 * MIB)),)
            length = 0
            body: Any = got.body
            async for piece in body:
                length += len(piece)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert length == 20 * MIB
        assert peak < 4 * MIB

    run(work())


def test_a_value_that_is_too_long_is_read_to_its_end(tmp_path: Path) -> None:
    async def work() -> None:
        _, kv = namespace(tmp_path)
        given = await ask(kv, "PUT", "/k", *[b"x" * MIB] * 25, b"xy", content_length=str(25 * MIB + 2))
        assert given[:2] == (413, "Value length of 26214402 exceeds limit of 26214400.")
        assert (await ask(kv, "GET", "/k"))[0] == 404

    run(work())


def test_a_body_that_breaks_off_puts_nothing(tmp_path: Path) -> None:
    async def work() -> None:
        _, kv = namespace(tmp_path)

        async def broken() -> Any:
            yield b"half"
            raise ConnectionResetError

        asked = Asked("PUT", "/k", {}, {}, broken())
        with pytest.raises(ConnectionResetError):
            await kv(asked)
        assert (await ask(kv, "GET", "/k"))[0] == 404

    run(work())


def test_a_disk_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        bench = Bench(tmp_path)
        bound = engine.namespace("n", bench.around)
        kv = adapter(bound)

        def fail(*_: Any) -> None:
            raise apsw.FullError("database or disk is full")

        inner = service_of(bound)._namespace
        monkeypatch.setattr(inner, "put", fail)
        monkeypatch.setattr(inner, "get", fail)
        assert (await ask(kv, "PUT", "/k", b"v"))[:2] == (500, "Internal Server Error")
        assert (await ask(kv, "GET", "/k"))[:2] == (500, "Internal Server Error")
        assert bench.logged == [
            ("warn", 'KV namespace "n": PUT failed: database or disk is full'),
            ("warn", 'KV namespace "n": GET failed: database or disk is full'),
        ]

    run(work())


def test_eventual_consistency_keeps_what_was_read(tmp_path: Path) -> None:
    async def work() -> None:
        bench, kv = namespace(tmp_path, kv_consistency="eventual")
        assert (await ask(kv, "GET", "/k?cache_ttl=30"))[0] == 404
        await ask(kv, "PUT", "/k", b"v")
        assert (await ask(kv, "GET", "/k?cache_ttl=30"))[0] == 404
        await bench.clock.advance(30_000)
        assert await whole(await answer(kv, "GET", "/k?cache_ttl=30")) == b"v"

    run(work())
