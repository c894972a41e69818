"""`--kv-consistency eventual`: how long a read may be stale, and that it is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.kind import Modes
from flarebed.bindings.kv import engine, eventual
from flarebed.bindings.kv.binding import KvNamespace
from flarebed.bindings.kv.large import MAX_ROW_BYTES
from flarebed.bindings.kv.spec import KvNamespaceSpec
from tests.bindings.kv.bench import KvBench
from tests.support import run


class Location(KvBench):
    """`kv` reads as from a location of Cloudflare's; `center` sees what is stored."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.center = self.kv
        self.kv = self.open(modes=Modes(kv_consistency="eventual"))

    def location(self) -> KvNamespace:
        return self.open(modes=Modes(kv_consistency="eventual"))

    async def seconds(self, count: float) -> None:
        await self.clock.advance(count * 1000)


def found(value: Any) -> dict[str, Any]:
    return {"value": value, "metadata": None, "cacheStatus": None}


READS: dict[str, tuple[Callable[[KvNamespace], Awaitable[Any]], Any, Any]] = {
    "get": (lambda kv: kv.get("k"), "old", "new"),
    "getWithMetadata": (lambda kv: kv.getWithMetadata("k"), found("old"), found("new")),
    "get of a missing key": (lambda kv: kv.get("new"), None, "new"),
    "bulk": (
        lambda kv: kv.get(["k", "new"]),
        [("k", "old"), ("new", None)],
        [("k", "new"), ("new", "new")],
    ),
    "list": (
        lambda kv: kv.list({"prefix": "ne"}),
        {"keys": [], "list_complete": True, "cacheStatus": None},
        {"keys": [{"name": "new"}], "list_complete": True, "cacheStatus": None},
    ),
}


@pytest.mark.parametrize(("read", "before", "after"), READS.values(), ids=list(READS))
def test_a_read_is_stale_for_a_minute(
    tmp_path: Path, read: Callable[[KvNamespace], Awaitable[Any]], before: Any, after: Any
) -> None:
    async def answer(kv: KvNamespace) -> Any:
        given = await read(kv)
        return given.items() if hasattr(given, "items") and not isinstance(given, dict) else given

    async def work() -> None:
        bench = Location(tmp_path)
        await bench.kv.put("k", "old")
        assert await answer(bench.kv) == before
        for key in ("k", "new"):
            await bench.kv.put(key, "new")
        assert await answer(bench.kv) == before
        assert await answer(bench.location()) == after
        assert await answer(bench.center) == after
        await bench.seconds(59.999)
        assert await answer(bench.kv) == before
        await bench.seconds(0.001)
        assert await answer(bench.kv) == after
        bench.store.close()

    run(work())


def test_a_write_is_seen_at_once_by_who_has_not_read_before(tmp_path: Path) -> None:
    async def work() -> None:
        bench = Location(tmp_path)
        await bench.kv.put("k", "v")
        assert await bench.kv.get("k") == "v"
        await bench.kv.delete("k")
        assert await bench.kv.get("k") == "v"
        await bench.seconds(60)
        assert await bench.kv.get("k") is None
        bench.store.close()

    run(work())


@pytest.mark.parametrize(
    ("first_s", "then_s", "stale_s"),
    [(30, None, 30), (300, 300, 300), (300, None, 60), (300, 30, 30), (None, 300, 60), (None, None, 60)],
)
def test_cache_ttl_is_how_long(tmp_path: Path, first_s: int | None, then_s: int | None, stale_s: int) -> None:
    async def work() -> None:
        bench = Location(tmp_path)
        given = [{} if ttl_s is None else {"cacheTtl": ttl_s} for ttl_s in (first_s, then_s)]
        assert await bench.kv.get("k", given[0]) is None
        await bench.kv.put("k", "v")
        await bench.seconds(stale_s - 1)
        assert await bench.kv.get("k", given[1]) is None
        await bench.seconds(1)
        assert await bench.kv.get("k", given[1]) == "v"
        bench.store.close()

    run(work())


def test_a_key_that_expires_is_gone_from_a_cache_too(tmp_path: Path) -> None:
    async def work() -> None:
        bench = Location(tmp_path)
        await bench.kv.put("k", "v", {"expirationTtl": 60})
        await bench.seconds(30)
        assert await bench.kv.get("k") == "v"
        await bench.seconds(30)
        assert await bench.kv.get("k") is None
        bench.store.close()

    run(work())


def test_bindings_of_one_namespace_are_one_location(tmp_path: Path) -> None:
    async def work() -> None:
        bench = Location(tmp_path)
        around = replace(bench.around, modes=Modes(kv_consistency="eventual"))
        one, other = engine.open((KvNamespaceSpec("A", "ns1"), KvNamespaceSpec("B", "ns1")), around).bindings().values()
        assert isinstance(one, KvNamespace)
        assert isinstance(other, KvNamespace)
        assert await one.get("k") is None
        await other.put("k", "v")
        assert (await other.get("k"), await bench.location().get("k")) == (None, "v")
        bench.store.close()

    run(work())


def test_a_cache_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        bench = Location(tmp_path)
        monkeypatch.setattr(eventual, "MAX_CACHE_BYTES", 5 * MAX_ROW_BYTES)
        old, new = "o" * (2 * MAX_ROW_BYTES), "n"
        for key in ("a", "b", "c"):
            await bench.kv.put(key, old)
            assert await bench.kv.get(key) == old
        for key in ("a", "b", "c"):
            await bench.kv.put(key, new)
        assert await bench.kv.get("c") == old
        assert b"".join([chunk async for chunk in await bench.kv.get("b", "stream")]).decode() == old
        assert await bench.kv.get("a") == new
        bench.store.close()

    run(work())
