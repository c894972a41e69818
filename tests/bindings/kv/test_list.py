"""Order, prefixes, pages and cursors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.values import UNDEFINED
from tests.bindings.kv.bench import KvBench
from tests.support import run

ORDERED = ["A", "a", "a,b", "aa", "b", "b\U0010ffffx", "bé", "m", "mv", "t", "é", "\ue000", "\uffff", "\U0001f600"]
"""Sorted as UTF-8 bytes, where U+FFFF stands before what UTF-16 writes with surrogates."""
ORDERED.sort(key=str.encode)


def names(page: dict[str, Any]) -> list[str]:
    return [key["name"] for key in page["keys"]]


async def filled(root: Path, keys: list[str]) -> KvBench:
    bench = KvBench(root)
    for key in sorted(keys, reverse=True):
        await bench.kv.put(key, "v")
    return bench


@pytest.mark.parametrize(
    "prefix",
    [UNDEFINED, None, "", "a", "b", "b\U0010ffff", "\ud7ff", "\U0010ffff", "A", "é", "zzz", "%", "_", "m"],
    ids=repr,
)
def test_lists_a_prefix_in_byte_order(tmp_path: Path, prefix: Any) -> None:
    async def work() -> None:
        bench = await filled(tmp_path, ORDERED)
        page = await bench.kv.list({"prefix": prefix})
        assert names(page) == [key for key in ORDERED if key.startswith(prefix or "")]
        assert (page["list_complete"], "cursor" in page) == (True, False)
        bench.store.close()

    run(work())


@pytest.mark.parametrize("options", [{"limit": limit} for limit in (0, -1, None, "x", 1000, 100.5)], ids=repr)
def test_a_limit_that_is_none_is_1000(tmp_path: Path, options: dict[str, Any]) -> None:
    async def work() -> None:
        bench = await filled(tmp_path, ["a", "b"])
        expected = {"keys": [{"name": "a"}, {"name": "b"}], "list_complete": True, "cacheStatus": None}
        assert await bench.kv.list({"prefix": None, "cursor": None, **options}) == expected
        bench.store.close()

    run(work())


def test_pages_follow_their_cursors_and_see_what_was_put_between(tmp_path: Path) -> None:
    async def work() -> None:
        bench = await filled(tmp_path, ["k1", "k3", "k4", "l"])
        first = await bench.kv.list({"limit": 1, "prefix": "k"})
        assert first == {"keys": [{"name": "k1"}], "list_complete": False, "cursor": "azE=", "cacheStatus": None}
        await bench.kv.put("k2", "v")
        second = await bench.kv.list({"limit": 2, "prefix": "k", "cursor": first["cursor"]})
        assert (names(second), second["cursor"]) == (["k2", "k3"], "azM=")
        last = await bench.kv.list({"limit": 2, "prefix": "k", "cursor": second["cursor"]})
        assert (names(last), last["list_complete"], "cursor" in last) == (["k4"], True, False)
        bench.store.close()

    run(work())


def test_a_full_last_page_is_complete(tmp_path: Path) -> None:
    async def work() -> None:
        bench = await filled(tmp_path, ["a", "b"])
        page = await bench.kv.list({"limit": 2})
        assert (names(page), page["list_complete"]) == (["a", "b"], True)
        bench.store.close()

    run(work())


def test_more_than_1000_keys_need_a_second_page(tmp_path: Path) -> None:
    async def work() -> None:
        bench = await filled(tmp_path, [f"{number:04}" for number in range(1001)])
        page = await bench.kv.list()
        assert (len(page["keys"]), page["list_complete"]) == (1000, False)
        assert names(await bench.kv.list({"cursor": page["cursor"]})) == ["1000"]
        bench.store.close()

    run(work())


CURSORS = {
    "bogus": ["t", "\x7f"],  # the bytes 6e 88 2e: after "n"
    "": ["a", "b", "t", "\x7f"],
    "YQ": ["b", "t", "\x7f"],
    "YQ==": ["b", "t", "\x7f"],
    " Y\nQ! = ignored": ["b", "t", "\x7f"],
    "Y": ["a", "b", "t", "\x7f"],
    "fw": [],
    "___": [],
}


@pytest.mark.parametrize(("cursor", "expected"), CURSORS.items(), ids=[repr(cursor) for cursor in CURSORS])
def test_any_text_is_a_cursor(tmp_path: Path, cursor: str, expected: list[str]) -> None:
    async def work() -> None:
        bench = await filled(tmp_path, ["a", "b", "t", "\x7f"])
        assert names(await bench.kv.list({"cursor": cursor})) == expected
        bench.store.close()

    run(work())
