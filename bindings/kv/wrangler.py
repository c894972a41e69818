"""The KV namespaces that `wrangler dev` keeps below the state folder, which are read into files of ours.

A namespace is a SQLite file whose name is the hash of its id, and a folder of blobs whose name is the id, with what no
file name can have replaced (seen on wrangler 4.164; workers-sdk packages/miniflare/src/workers/kv/namespace.worker.ts).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import apsw

from flarebed.bindings.clock import Clock
from flarebed.bindings.ids import id_from_name
from flarebed.bindings.kv.namespace import Namespace, database
from flarebed.bindings.store import BUSY_TIMEOUT_MS, Store

_FOLDER: Final = "v3/kv"
_NAMESPACE: Final = "miniflare-KVNamespaceObject"
_FILES: Final = "[0-9a-f]" * 64 + ".sqlite"
_BLOB: Final = re.compile(r"[0-9a-f]+")
_ENTRIES: Final = "SELECT key, blob_id, expiration, metadata FROM _mf_entries ORDER BY key"
_PUTS_AT_ONCE: Final = 500


@dataclass(frozen=True)
class WranglersNamespace:
    """`id` is None if nothing tells it; `blobs` are its values."""

    file: Path
    id: str | None
    blobs: Path


@dataclass
class Copied:
    """How many keys there are now, and how many were left out: expired, or without their value's file."""

    keys: int = 0
    expired: int = 0
    lost: int = 0


def namespaces(root: Path, ids: Iterable[str]) -> Iterator[WranglersNamespace]:
    """Those that hold something. `ids` are those of the config."""
    folders = [path.parent for path in (root / _FOLDER).glob("*/blobs")]
    known = {_file_name(each): each for each in (*(folder.name for folder in folders), *ids)}
    for file in sorted((root / _FOLDER / _NAMESPACE).glob(_FILES)):
        if (blob := _first_blob(file)) is not None:
            holding = (folder / "blobs" for folder in folders if (folder / "blobs" / blob).exists())
            yield WranglersNamespace(file, known.get(file.name), next(holding, root / _FOLDER / "blobs"))


def not_imported(root: Path, namespace_id: str, ours: Path) -> bool:
    """Whether wrangler has something of the namespace, and we nothing."""
    theirs = root / _FOLDER / _NAMESPACE / _file_name(namespace_id)
    if not theirs.exists() or _first_blob(theirs) is None:
        return False
    if not ours.exists():
        return True
    with closing(_opened(ours)) as connection:
        return not list(connection.execute("SELECT 1 FROM entries LIMIT 1"))


async def copy(source: WranglersNamespace, namespace_id: str, store: Store, clock: Clock) -> Copied:
    """Put all that it holds into the namespace of this id, which is empty."""
    copied = Copied()
    namespace = Namespace(database(store, namespace_id), clock)
    with closing(_opened(source.file)) as connection:
        for key, blob, expiration_ms, metadata in connection.execute(_ENTRIES):
            value = _value(source.blobs, blob)
            if expiration_ms is not None and expiration_ms <= clock.now_ms():
                copied.expired += 1
            elif value is None:
                copied.lost += 1
            else:
                namespace.put(key, value, metadata, None if expiration_ms is None else expiration_ms // 1000)
                copied.keys += 1
                if copied.keys % _PUTS_AT_ONCE == 0:
                    await namespace.durable()
    await namespace.durable()
    return copied


def _value(blobs: Path, blob: str) -> bytes | None:
    path = blobs / blob
    return path.read_bytes() if _BLOB.fullmatch(blob) and path.is_file() else None


def _first_blob(file: Path) -> str | None:
    with closing(_opened(file)) as connection:
        if not list(connection.execute("SELECT 1 FROM sqlite_schema WHERE name = '_mf_entries'")):
            return None
        blobs: list[tuple[str]] = list(connection.execute("SELECT blob_id FROM _mf_entries LIMIT 1"))
    return blobs[0][0] if blobs else None


def _file_name(namespace_id: str) -> str:
    return f"{id_from_name(_NAMESPACE, namespace_id)}.sqlite"


def _opened(file: Path) -> apsw.Connection:
    connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    return connection
