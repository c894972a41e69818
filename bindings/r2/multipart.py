"""Uploads in parts: begun, filled part by part, then completed or aborted.

An upload that is over stays known, so that a part which comes late is refused with the right words.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final, NamedTuple

import apsw

from flarebed.bindings.r2 import errors
from flarebed.bindings.r2.bucket import Bucket, Upload, check_key, check_size, new_version
from flarebed.bindings.r2.objects import StoredObject

MIN_PART_BYTES: Final = 5 * 1024 * 1024
_OPEN, _COMPLETE, _ABORTED = 0, 1, 2

_BEGIN: Final = """
INSERT INTO _mf_multipart_uploads (upload_id, key, http_metadata, custom_metadata) VALUES (?, ?, ?, ?)
"""
_UPLOAD: Final = """
SELECT state, http_metadata, custom_metadata FROM _mf_multipart_uploads WHERE upload_id = ? AND key = ?
"""
_END: Final = "UPDATE _mf_multipart_uploads SET state = ? WHERE upload_id = ?"
_PUT_PART: Final = """
INSERT OR REPLACE INTO _mf_multipart_parts (upload_id, part_number, blob_id, size, etag, checksum_md5)
VALUES (?, ?, ?, ?, ?, ?)
"""
_OLD_PART: Final = "SELECT blob_id FROM _mf_multipart_parts WHERE upload_id = ? AND part_number = ?"
_PARTS: Final = "SELECT part_number, size, etag, checksum_md5 FROM _mf_multipart_parts WHERE upload_id = ?"
_LINK: Final = "UPDATE _mf_multipart_parts SET object_key = ? WHERE upload_id = ? AND part_number = ?"
_DROP_UNUSED: Final = """
DELETE FROM _mf_multipart_parts WHERE upload_id = ? AND object_key IS NULL RETURNING blob_id
"""


class Part(NamedTuple):
    """An uploaded part, by which `complete` is told which make the object."""

    number: int
    etag: str


class _Kept(NamedTuple):
    number: int
    size: int
    etag: str
    md5: str


async def begin(bucket: Bucket, key: str, upload: Upload) -> str:
    """The new upload's id."""
    check_key(key)
    upload_id = secrets.token_urlsafe(128)
    bucket.database.execute(_BEGIN, (upload_id, key, *upload.texts()))
    await bucket.durable()
    return upload_id


async def put_part(bucket: Bucket, key: str, upload_id: str, number: int, value: AsyncIterator[bytes]) -> str:
    """The part's etag. A part of the same number is replaced."""
    with bucket.blobs.arriving({"md5"}) as arriving:
        async for chunk in value:
            arriving.add(chunk)
        check_key(key)
        check_size(arriving.length)
        etag = secrets.token_urlsafe(128)
        md5 = arriving.keep()["md5"].hex()
        with bucket.database.write() as connection:
            _find(connection, key, upload_id, errors.no_such_upload())
            old: Any = connection.execute(_OLD_PART, (upload_id, number)).fetchall()
            connection.execute(_PUT_PART, (upload_id, number, arriving.name, arriving.length, etag, md5))
        await bucket.durable()
    bucket.blobs.delete([name for (name,) in old])
    return etag


async def complete(bucket: Bucket, key: str, upload_id: str, parts: Sequence[Part]) -> StoredObject:
    check_key(key)
    with bucket.database.write() as connection:
        http, custom = _find(connection, key, upload_id, errors.internal_error())
        chosen = _chosen(connection, upload_id, parts)
        stored = StoredObject(
            key, new_version(), sum(part.size for part in chosen), _etag(chosen), int(bucket.clock.now_ms()), {},
            http, custom, None,
        )  # fmt: skip
        gone = bucket.remove(connection, key)
        bucket.write(connection, stored)
        for part in chosen:
            connection.execute(_LINK, (key, upload_id, part.number))
        unused: Any = connection.execute(_DROP_UNUSED, (upload_id,)).fetchall()
        connection.execute(_END, (_COMPLETE, upload_id))
    await bucket.durable()
    bucket.blobs.delete([*gone, *(name for (name,) in unused)])
    return stored


async def abort(bucket: Bucket, key: str, upload_id: str) -> None:
    """Of no effect on an upload that is over."""
    check_key(key)
    with bucket.database.write() as connection:
        found: Any = connection.execute(_UPLOAD, (upload_id, key)).fetchall()
        if not found:
            raise errors.internal_error()
        if found[0][0] != _OPEN:
            return
        gone: Any = connection.execute(_DROP_UNUSED, (upload_id,)).fetchall()
        connection.execute(_END, (_ABORTED, upload_id))
    await bucket.durable()
    bucket.blobs.delete([name for (name,) in gone])


def _find(connection: apsw.Connection, key: str, upload_id: str, absent: errors.Refused) -> tuple[Any, Any]:
    """The HTTP and custom metadata of an upload that is open."""
    found: Any = connection.execute(_UPLOAD, (upload_id, key)).fetchall()
    if not found:
        raise absent
    state, http, custom = found[0]
    if state != _OPEN:
        raise errors.no_such_upload()
    return Upload.read(http, custom)


def _chosen(connection: apsw.Connection, upload_id: str, parts: Sequence[Part]) -> list[_Kept]:
    """In the order of their numbers. All but the last have one size, which is not too small."""
    if len({part.number for part in parts}) < len(parts):
        raise errors.internal_error()
    rows: Any = connection.execute(_PARTS, (upload_id,)).fetchall()
    kept = {row[0]: _Kept(*row) for row in rows}
    chosen = []
    for part in parts:
        found = kept.get(part.number)
        if found is None or found.etag != part.etag:
            raise errors.invalid_part()
        chosen.append(found)
    if any(part.size < MIN_PART_BYTES for part in chosen[:-1]):
        raise errors.entity_too_small()
    chosen.sort()
    sizes = {part.size for part in chosen[:-1]}
    if len(sizes) > 1 or (sizes and (min(sizes) < MIN_PART_BYTES or chosen[-1].size > min(sizes))):
        raise errors.bad_upload()
    return chosen


def _etag(parts: Sequence[_Kept]) -> str:
    digest = hashlib.md5(b"".join(bytes.fromhex(part.md5) for part in parts), usedforsecurity=False)
    return f"{digest.hexdigest()}-{len(parts)}"
