"""One bucket: its limits, its SQL, and the files of its objects. Bindings stand above it.

A put's bytes are in their file before the row that names it is written; the file of what was replaced goes after that.
The tables are wrangler's (miniflare src/workers/r2), at wrangler's place, so both work on one bucket.

https://developers.cloudflare.com/r2/platform/limits/
"""

from __future__ import annotations

import asyncio
import base64
import json
import secrets
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import apsw

from flarebed.bindings.clock import Clock
from flarebed.bindings.r2 import errors
from flarebed.bindings.r2.blobs import Blobs, Bytes
from flarebed.bindings.r2.objects import ALGORITHMS, Condition, Range, Span, StoredObject
from flarebed.bindings.sql_text import end_of
from flarebed.bindings.store import Database

MAX_KEY_BYTES: Final = 1024
MAX_VALUE_BYTES: Final = 5 * 1024**3 - 5 * 1024**2
MAX_METADATA_BYTES: Final = 8192
MAX_LIST_KEYS: Final = 1000
MAX_LIST_WITH_METADATA: Final = 100

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS _mf_objects (
    key TEXT PRIMARY KEY, blob_id TEXT, version TEXT NOT NULL, size INTEGER NOT NULL, etag TEXT NOT NULL,
    uploaded INTEGER NOT NULL, checksums TEXT NOT NULL, http_metadata TEXT NOT NULL, custom_metadata TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS _mf_multipart_uploads (
    upload_id TEXT PRIMARY KEY, key TEXT NOT NULL, http_metadata TEXT NOT NULL, custom_metadata TEXT NOT NULL,
    state TINYINT DEFAULT 0 NOT NULL
);
CREATE TABLE IF NOT EXISTS _mf_multipart_parts (
    upload_id TEXT NOT NULL REFERENCES _mf_multipart_uploads(upload_id), part_number INTEGER NOT NULL,
    blob_id TEXT NOT NULL, size INTEGER NOT NULL, etag TEXT NOT NULL, checksum_md5 TEXT NOT NULL,
    object_key TEXT REFERENCES _mf_objects(key) DEFERRABLE INITIALLY DEFERRED,
    PRIMARY KEY (upload_id, part_number)
)
"""
_COLUMNS: Final = "key, version, size, etag, uploaded, checksums, http_metadata, custom_metadata, blob_id"
_GET: Final = f"SELECT {_COLUMNS} FROM _mf_objects WHERE key = ?"
_PARTS: Final = "SELECT blob_id, size FROM _mf_multipart_parts WHERE object_key = ? ORDER BY part_number"
_PUT: Final = f"INSERT OR REPLACE INTO _mf_objects ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_DELETE: Final = "DELETE FROM _mf_objects WHERE key = ? RETURNING blob_id"
_DELETE_PARTS: Final = "DELETE FROM _mf_multipart_parts WHERE object_key = ? RETURNING blob_id"
_LIST: Final = f"SELECT {_COLUMNS} FROM _mf_objects WHERE key > ? AND key >= ? AND key < ? ORDER BY key LIMIT ?"
_LAST: Final = "SELECT max(key) FROM _mf_objects WHERE key >= ? AND key < ?"


@dataclass(frozen=True)
class Upload:
    """What comes with a put beside the bytes. `checksums`: those that the caller expects, by algorithm."""

    http: Mapping[str, Any] = field(default_factory=dict)
    custom: Mapping[str, str] = field(default_factory=dict)
    checksums: Mapping[str, bytes] = field(default_factory=dict)
    only_if: Condition | None = None

    def texts(self) -> tuple[str, str]:
        """The metadata as the tables have it."""
        return json.dumps(dict(self.http)), json.dumps(dict(self.custom))

    @staticmethod
    def read(http: str, custom: str) -> tuple[Any, Any]:
        return json.loads(http), json.loads(custom)


@dataclass(frozen=True)
class Page:
    """A list's answer; without `cursor` it is the last page."""

    objects: list[StoredObject]
    prefixes: list[str]
    cursor: str | None


class Bucket:
    """Raises errors.Refused."""

    def __init__(self, database: Database, blobs: Blobs, clock: Clock, warn: Callable[[str], None]) -> None:
        self.database = database
        self.blobs = blobs
        self.clock = clock
        self._warn = warn

    @contextmanager
    def told(self) -> Iterator[None]:
        """A disk that is full, say, is the service's failure to the Worker; `warn` tells why."""
        try:
            yield
        except ConnectionError:  # of who sends a value
            raise
        except (apsw.Error, OSError) as error:
            self._warn(str(error))
            raise errors.internal_error() from None

    def head(self, key: str) -> StoredObject:
        check_key(key)
        found = self.find(key)
        if found is None:
            raise errors.no_such_key()
        return found

    def get(self, key: str, wanted: Range, only_if: Condition | None) -> tuple[StoredObject, Span, Bytes]:
        found = self.head(key)
        if only_if is not None and not only_if.holds(found):
            raise errors.PreconditionFailed(found)
        span = wanted.of(found.size)
        parts: Any = [(found.blob, found.size)] if found.blob is not None else self.database.read(_PARTS, (key,))
        try:
            return found, span, self.blobs.read(parts, span)
        except FileNotFoundError:
            raise errors.no_such_key() from None

    async def put(self, key: str, value: AsyncIterator[bytes], upload: Upload) -> StoredObject:
        """To the value's end, also of what is refused then."""
        with self.blobs.arriving({"md5", *upload.checksums}) as arriving:
            async for chunk in value:
                arriving.add(chunk)
            check_key(key)
            check_size(arriving.length)
            _check_metadata(upload.custom)
            digests = arriving.keep()
            checksums = _checked(upload.checksums, digests)
            stored = StoredObject(
                key, new_version(), arriving.length, digests["md5"].hex(), int(self.clock.now_ms()), checksums,
                upload.http, upload.custom, arriving.name,
            )  # fmt: skip
            await self.replace(stored, upload.only_if)
        return stored

    async def replace(self, stored: StoredObject, only_if: Condition | None = None) -> None:
        """Write the row; what was under its key goes."""
        with self.database.write() as connection:
            if only_if is not None and not only_if.holds(self.find(stored.key)):
                raise errors.PreconditionFailed
            gone = self.remove(connection, stored.key)
            self.write(connection, stored)
        await self.database.durable()
        self.blobs.delete(gone)

    async def delete(self, keys: Sequence[str]) -> None:
        for key in keys:
            check_key(key)
        with self.database.write() as connection:
            gone = [name for key in keys for name in self.remove(connection, key)]
        await self.database.durable()
        self.blobs.delete(gone)

    def page(self, prefix: str, limit: int, cursor: str | None, delimiter: str | None, start_after: str | None) -> Page:
        """In UTF-8 byte order. A cursor is the last key seen, so what is put between two pages is not missed."""
        if not 1 <= limit <= MAX_LIST_KEYS:
            raise errors.invalid_limit()
        after = start_after or ""
        if cursor is not None:
            after = max(after, _decoded(cursor), key=str.encode)
        page = Page([], [], None)
        while found := self._next(prefix, after, limit + 1 - _length(page), grouped=bool(delimiter)):
            for stored in found:
                if _length(page) == limit:
                    return Page(page.objects, page.prefixes, base64.b64encode(after.encode()).decode())
                at = stored.key.find(delimiter, len(prefix)) if delimiter else -1
                if at < 0:
                    page.objects.append(stored)
                    after = stored.key
                else:
                    page.prefixes.append(stored.key[: at + len(delimiter or "")])
                    after = self._last(page.prefixes[-1])
        return page

    def durable(self) -> asyncio.Future[None]:
        return self.database.durable()

    def find(self, key: str) -> StoredObject | None:
        rows = self.database.read(_GET, (key,))
        return _stored(rows[0]) if rows else None

    def write(self, connection: apsw.Connection, stored: StoredObject) -> None:
        connection.execute(_PUT, _row(stored))

    def remove(self, connection: apsw.Connection, key: str) -> list[str]:
        """Delete the row; the names of the files that go with it."""
        rows: Any = connection.execute(_DELETE, (key,)).fetchall()
        if rows and rows[0][0] is None:
            rows = connection.execute(_DELETE_PARTS, (key,)).fetchall()
        return [name for (name,) in rows]

    def _next(self, prefix: str, after: str, count: int, *, grouped: bool) -> list[StoredObject]:
        """The next keys; one at a time where the one that follows depends on it."""
        rows = self.database.read(_LIST, (after, prefix, end_of(prefix), 1 if grouped else count))
        return [_stored(row) for row in rows]

    def _last(self, prefix: str) -> str:
        return str(self.database.read(_LAST, (prefix, end_of(prefix)))[0][0])


def check_key(key: str) -> None:
    if len(key.encode()) > MAX_KEY_BYTES:
        raise errors.invalid_name()


def check_size(length: int) -> None:
    if length > MAX_VALUE_BYTES:
        raise errors.entity_too_large()


def new_version() -> str:
    return secrets.token_hex(16)


def _length(page: Page) -> int:
    return len(page.objects) + len(page.prefixes)


def _check_metadata(custom: Mapping[str, str]) -> None:
    """Two bytes for each character of a text that Latin-1 can't hold."""
    texts = [text for pair in custom.items() for text in pair]
    if (
        sum(len(text) if text.isascii() or max(text) < "\u0100" else 2 * len(text) for text in texts)
        > MAX_METADATA_BYTES
    ):
        raise errors.metadata_too_large()


def _checked(expected: Mapping[str, bytes], digests: Mapping[str, bytes]) -> dict[str, str]:
    for name, shown in ALGORITHMS.items():
        if name in expected and expected[name] != digests[name]:
            raise errors.bad_digest(shown, expected[name], digests[name])
    return {name: digests[name].hex() for name in ALGORITHMS if name in expected}


def _row(stored: StoredObject) -> tuple[Any, ...]:
    texts = [json.dumps(dict(each)) for each in (stored.checksums, stored.http, stored.custom)]
    return stored.key, stored.version, stored.size, stored.etag, stored.uploaded_ms, *texts, stored.blob


def _stored(row: Iterable[Any]) -> StoredObject:
    key, version, size, etag, uploaded_ms, checksums, http, custom, blob = row
    return StoredObject(
        key, version, size, etag, uploaded_ms, json.loads(checksums), json.loads(http), json.loads(custom), blob
    )


def _decoded(cursor: str) -> str:
    try:
        return base64.b64decode(cursor).decode()
    except ValueError:
        return ""
