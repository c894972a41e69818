"""A state folder as `wrangler dev` 4.164 leaves it: `tests/oracle/test_state.py` compares it with a real one."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import apsw

from flarebed.bindings.ids import id_from_name

ENTRIES = """
CREATE TABLE IF NOT EXISTS _mf_entries (
  key TEXT PRIMARY KEY, blob_id TEXT NOT NULL, expiration INTEGER, metadata TEXT
);
CREATE INDEX IF NOT EXISTS _mf_entries_expiration_idx ON _mf_entries(expiration)
"""
OBJECTS = """
CREATE TABLE IF NOT EXISTS _mf_objects (
  key TEXT PRIMARY KEY, blob_id TEXT, version TEXT NOT NULL, size INTEGER NOT NULL, etag TEXT NOT NULL,
  uploaded INTEGER NOT NULL, checksums TEXT NOT NULL, http_metadata TEXT NOT NULL, custom_metadata TEXT NOT NULL
)
"""
ALARMS = "CREATE TABLE IF NOT EXISTS _cf_ALARM (actor_id TEXT PRIMARY KEY, scheduled_time INTEGER) WITHOUT ROWID"


class WranglersState:
    """What is put here is what wrangler's own commands would have written."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._blobs = 0

    def kv(self, namespace_id: str, entries: dict[str, tuple[bytes, int | None, str | None]], folder: str = "") -> None:
        """`entries`: value, expiration in ms, metadata by key. `folder`: for an id that can't be a file's name."""
        rows = [
            (key, self._blob(f"kv/{folder or namespace_id}", value), expiration_ms, metadata)
            for key, (value, expiration_ms, metadata) in entries.items()
        ]
        self._database("kv", "miniflare-KVNamespaceObject", namespace_id, ENTRIES, "_mf_entries", rows)

    def d1(self, database_id: str, sql: str) -> None:
        self._database("d1", "miniflare-D1DatabaseObject", database_id, sql, "", [])

    def r2(self, bucket: str, objects: dict[str, bytes]) -> None:
        rows = [
            (key, self._blob(f"r2/{bucket}", value), "v", len(value), "etag", 0, "{}", "{}", "{}")
            for key, value in objects.items()
        ]
        self._database("r2", "miniflare-R2BucketObject", bucket, OBJECTS, "_mf_objects", rows)

    def blobs(self, part: str) -> list[Path]:
        return sorted((self.root / "v3" / part / "blobs").iterdir())

    def _blob(self, part: str, value: bytes) -> str:
        self._blobs += 1
        name = f"{self._blobs:064x}000001a22d74b6a3"
        path = self.root / "v3" / part / "blobs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(value)
        return name

    def _database(self, kind: str, unique_key: str, name: str, schema: str, table: str, rows: list[Any]) -> None:
        folder = self.root / "v3" / kind / unique_key
        folder.mkdir(parents=True, exist_ok=True)
        for file, sql in (("metadata", ALARMS), (id_from_name(unique_key, name), schema)):
            with closing(apsw.Connection(str(folder / f"{file}.sqlite"))) as connection:
                connection.pragma("journal_mode", "wal")
                connection.execute(sql)
                if rows and file != "metadata":
                    connection.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(rows[0]))})", rows)
