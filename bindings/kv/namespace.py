"""One KV namespace: its limits and its SQL. The service stands above it, the store below.

Reads answer at once with what is committed; writes are when `durable()` resolves. An expired key is hidden from the
very millisecond, and its row goes when another key with an expiration is put. Values of more than a row are in
`large.py`; what a read gives where KV is eventually consistent, in `eventual.py`.

https://developers.cloudflare.com/kv/platform/limits/
"""

from __future__ import annotations

import asyncio
import base64
import re
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

from flarebed.bindings.clock import Clock
from flarebed.bindings.kv import errors
from flarebed.bindings.kv.large import MAX_ROW_BYTES, Arriving, Kept, pieces, reader
from flarebed.bindings.sql_text import end_of
from flarebed.bindings.store import Database, Store

MAX_KEY_BYTES: Final = 512
MAX_VALUE_BYTES: Final = 25 * 1024 * 1024
MAX_LIST_KEYS: Final = 1000
MIN_EXPIRATION_S: Final = 60

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS entries (
    key TEXT PRIMARY KEY, expiration_ms INTEGER, metadata TEXT, value BLOB NOT NULL, length INTEGER
);
CREATE INDEX IF NOT EXISTS expirations ON entries (expiration_ms) WHERE expiration_ms IS NOT NULL;
CREATE TABLE IF NOT EXISTS namespace (id TEXT NOT NULL, title TEXT);
CREATE TABLE IF NOT EXISTS pieces (
    key TEXT NOT NULL, position INTEGER NOT NULL, piece BLOB NOT NULL, PRIMARY KEY (key, position)
);
CREATE TRIGGER IF NOT EXISTS replaced AFTER UPDATE ON entries WHEN old.length IS NOT NULL
BEGIN DELETE FROM pieces WHERE key = old.key; END;
CREATE TRIGGER IF NOT EXISTS deleted AFTER DELETE ON entries WHEN old.length IS NOT NULL
BEGIN DELETE FROM pieces WHERE key = old.key; END
"""
"""`length` is that of a value in pieces. The one row of `namespace` is for `directory.py`."""

_GET: Final = "SELECT value, metadata, expiration_ms, length FROM entries WHERE key = ?"
_PUT: Final = """
INSERT INTO entries (key, expiration_ms, metadata, value, length) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE SET
expiration_ms = excluded.expiration_ms, metadata = excluded.metadata, value = excluded.value, length = excluded.length
"""
_PUT_PIECE: Final = "INSERT INTO pieces (key, position, piece) VALUES (?, ?, ?)"
_DELETE: Final = "DELETE FROM entries WHERE key = ?"
_LIST: Final = """
SELECT key, expiration_ms, metadata FROM entries
WHERE key >= :start AND key <> :after AND key < :end
AND (expiration_ms IS NULL OR expiration_ms > :now_ms) ORDER BY key LIMIT :limit
"""
_PURGE: Final = """
DELETE FROM entries WHERE rowid IN (SELECT rowid FROM entries WHERE expiration_ms <= ? LIMIT 100)
"""


class Key(NamedTuple):
    """A listed key. `expiration_s` is Unix time; `metadata` is JSON text."""

    name: str
    expiration_s: int | None
    metadata: str | None


@dataclass(frozen=True)
class Page:
    """A list's answer; without `cursor` it is the last page."""

    keys: list[Key]
    cursor: str | None


Entry: TypeAlias = tuple[bytes | Kept, str | None, int | None, int | None]
"""What is under a key: value, metadata (JSON text), expiration in ms, and the length of a value in pieces."""


class Namespace:
    """Key length and names are the caller's to check; everything else is refused here (errors.Refused)."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._reader = database.connection.cursor()  # kept, since a new one costs a fifth of a read

    def get(self, key: str, _cache_ttl_s: int | None = None) -> Entry | None:
        """There is one location here, so nothing is cached."""
        self._database.flush()
        rows: list[Any] = self._reader.execute(_GET, (key,)).fetchall()
        for entry in rows:
            if entry[3] is not None:
                return self._in_pieces(key)
            if not self._is_over(entry[2]):
                return entry  # type: ignore[no-any-return]
        return None

    def arriving(self) -> Arriving:
        """Where a stream's chunks go until it ends; close it."""
        return Arriving(self._database.path.parent, MAX_VALUE_BYTES)

    def put(self, key: str, value: bytes | Arriving, metadata: str | None, expiration_s: int | None) -> None:
        """`expiration_s` is Unix time, from `expiration()`."""
        if len(value) > MAX_VALUE_BYTES:
            raise errors.value_too_long(len(value), MAX_VALUE_BYTES)
        expiration_ms = None if expiration_s is None else expiration_s * 1000
        if expiration_ms is not None:
            self._database.execute(_PURGE, (self._clock.now_ms(),))
        if len(value) <= MAX_ROW_BYTES:
            self._database.execute(_PUT, (key, expiration_ms, metadata, bytes(value), None))
            return
        with self._database.write() as connection:
            connection.execute(_PUT, (key, expiration_ms, metadata, b"", len(value)))
            connection.execute("DELETE FROM pieces WHERE key = ?", (key,))
            rows = ((key, position, piece) for position, piece in enumerate(pieces(value)))
            connection.executemany(_PUT_PIECE, rows)

    def delete(self, key: str) -> None:
        self._database.execute(_DELETE, (key,))

    def list(self, prefix: str, limit: int, cursor: str) -> Page:
        """Keys in UTF-8 byte order. A cursor is the last key seen, so keys put between two pages are not missed."""
        if limit > MAX_LIST_KEYS:
            raise errors.limit_too_large(limit, MAX_LIST_KEYS)
        check_length(prefix)
        self._database.flush()
        after = _key_of(cursor)
        parameters = {
            "start": max(after, prefix), "after": after, "end": end_of(prefix),
            "now_ms": self._clock.now_ms(), "limit": limit + 1,
        }  # fmt: skip
        rows = self._database.read(_LIST, parameters)
        keys = [Key(key, expiration_ms and expiration_ms // 1000, text) for key, expiration_ms, text in rows[:limit]]
        return Page(keys, base64.b64encode(keys[-1].name.encode()).decode() if len(rows) > limit else None)

    def expiration(self, expiration_s: int | None, ttl_s: int | None) -> int | None:
        """When a put with these options expires, in Unix seconds; a TTL wins over a time."""
        now_s = int(self._clock.now_ms() // 1000)
        if ttl_s is not None:
            if ttl_s <= 0:
                raise errors.ttl_not_positive(ttl_s)
            if ttl_s < MIN_EXPIRATION_S:
                raise errors.ttl_too_short(ttl_s, MIN_EXPIRATION_S)
            return now_s + ttl_s
        if expiration_s is not None:
            if expiration_s <= now_s:
                raise errors.expiration_past(expiration_s)
            if expiration_s < now_s + MIN_EXPIRATION_S:
                raise errors.expiration_too_soon(expiration_s, MIN_EXPIRATION_S)
        return expiration_s

    def durable(self) -> asyncio.Future[None]:
        return self._database.durable()

    def _is_over(self, expiration_ms: int | None) -> bool:
        return expiration_ms is not None and expiration_ms <= self._clock.now_ms()

    def _in_pieces(self, key: str) -> Entry | None:
        """The entry as a connection of its own goes on seeing it. Another process may have put something smaller."""
        connection = reader(self._database.path)
        entry: Any = connection.execute(_GET, (key,)).fetchone()
        if entry is not None and self._is_over(entry[2]):
            entry = None
        if entry is not None and entry[3] is not None:
            return Kept(connection, key, entry[3]), *entry[1:]
        connection.close(True)
        return entry  # type: ignore[no-any-return]


def database(store: Store, namespace_id: str) -> Database:
    """The namespace's file, which knows whose it is: its name may be only a hash of the id."""
    found = store.database("kv", namespace_id, SCHEMA)
    if not found.read("SELECT 1 FROM namespace"):
        found.execute("INSERT INTO namespace (id) SELECT ? WHERE NOT EXISTS (SELECT 1 FROM namespace)", (namespace_id,))
    return found


def check_length(key: str) -> None:
    length = len(key.encode())
    if length > MAX_KEY_BYTES:
        raise errors.key_too_long(length, MAX_KEY_BYTES)


def _key_of(cursor: str) -> str:
    """Any text is a cursor (observed: no error)."""
    return base64_bytes(cursor).decode(errors="replace")


def base64_bytes(text: str) -> bytes:
    """Like Node's Buffer, this skips what is not base64."""
    digits = re.sub(r"[^A-Za-z0-9+/]", "", text.partition("=")[0].translate({0x2D: "+", 0x5F: "/"}))
    digits = digits[: len(digits) - (len(digits) % 4 == 1)]
    return base64.b64decode(digits + "=" * (-len(digits) % 4))
