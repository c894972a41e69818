"""Wrangler's KV namespaces, read into ours."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import apsw
import pytest

from flarebed.bindings.clock import VirtualClock
from flarebed.bindings.kv import wrangler
from flarebed.bindings.kv.wrangler import Copied
from flarebed.bindings.store import Store
from tests.support import run
from tests.wrangler_state import WranglersState

NOW_MS = 1_767_225_600_000
MINUTE_MS = 60_000
OURS = Path("flarebed/kv/ns1.sqlite")


@pytest.fixture
def state(tmp_path: Path) -> WranglersState:
    return WranglersState(tmp_path / "state")


def copied(state: WranglersState, root: Path) -> Copied:
    """The only namespace, ns1, at NOW_MS."""

    async def work() -> Copied:
        [source] = wrangler.namespaces(state.root, ())
        loop = asyncio.get_running_loop()
        store = Store(root, loop)
        try:
            return await wrangler.copy(source, "ns1", store, VirtualClock(loop, NOW_MS))
        finally:
            store.close()

    return run(work())


def rows(file: Path) -> list[tuple[Any, ...]]:
    return apsw.Connection(str(file)).execute(
        "SELECT key, value, expiration_ms, metadata FROM entries ORDER BY key"
    ).fetchall()  # fmt: skip


def found(state: WranglersState, *ids: str) -> list[str | None]:
    return [namespace.id for namespace in wrangler.namespaces(state.root, ids)]


def test_values_metadata_and_expiration(state: WranglersState, tmp_path: Path) -> None:
    state.kv(
        "ns1",
        {
            "a": ("é".encode(), None, '{"x":1}'),
            "b": (b"\0\xff", NOW_MS + MINUTE_MS, None),
            "empty": (b"", None, None),
            "gone": (b"g", NOW_MS, None),
        },
    )
    assert copied(state, tmp_path) == Copied(keys=3, expired=1)
    assert rows(tmp_path / OURS) == [
        ("a", "é".encode(), None, '{"x":1}'),
        ("b", b"\0\xff", NOW_MS + MINUTE_MS, None),
        ("empty", b"", None, None),
    ]


def test_a_value_that_is_not_there(state: WranglersState, tmp_path: Path) -> None:
    state.kv("ns1", {"a": (b"1", None, None), "b": (b"2", None, None)})
    state.blobs("kv/ns1")[1].unlink()
    assert copied(state, tmp_path) == Copied(keys=1, lost=1)


def test_a_blob_is_a_file_beside_the_others(state: WranglersState, tmp_path: Path) -> None:
    """A folder from elsewhere must not make us read what lies elsewhere."""
    state.kv("ns1", {"a": (b"1", None, None), "b": (b"2", None, None)})
    [file] = (state.root / "v3/kv/miniflare-KVNamespaceObject").glob("[0-9a-f]*.sqlite")
    (tmp_path / "secret").write_text("s")
    apsw.Connection(str(file)).execute("UPDATE _mf_entries SET blob_id = '../../../../../secret' WHERE key = 'b'")
    assert (state.root / "v3/kv/ns1/blobs/../../../../../secret").read_text() == "s"
    assert copied(state, tmp_path) == Copied(keys=1, lost=1)


def test_the_id_is_a_folders_name_or_the_configs(state: WranglersState) -> None:
    state.kv("ns1", {"a": (b"1", None, None)})
    state.kv("odd/id", {"a": (b"1", None, None)}, folder="odd_id")
    assert sorted(found(state), key=str) == [None, "ns1"]
    assert set(found(state, "odd/id")) == {"ns1", "odd/id"}


def test_a_namespace_without_keys_is_none(state: WranglersState) -> None:
    state.kv("ns1", {})
    assert found(state, "ns1") == []
    assert found(WranglersState(state.root / "nowhere")) == []


def test_what_was_not_imported_yet(state: WranglersState, tmp_path: Path) -> None:
    ours = tmp_path / OURS
    assert not wrangler.not_imported(state.root, "ns1", ours)
    state.kv("ns1", {})
    assert not wrangler.not_imported(state.root, "ns1", ours)
    state.kv("ns1", {"a": (b"1", None, None)})
    assert wrangler.not_imported(state.root, "ns1", ours)
    copied(state, tmp_path)
    assert not wrangler.not_imported(state.root, "ns1", ours)
    apsw.Connection(str(ours)).execute("DELETE FROM entries")
    assert wrangler.not_imported(state.root, "ns1", ours)
