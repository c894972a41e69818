"""A namespace as a service answers for it: what is wrong is Refused, with HTTP's status. `namespace.py` stands below.

Two clients stand above: `binding.py`, for a Worker in this process, and workerd's own, which asks over HTTP.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import apsw

from flarebed.bindings.ecma import json_parse
from flarebed.bindings.errors import JsError
from flarebed.bindings.kv import errors
from flarebed.bindings.kv.large import Kept
from flarebed.bindings.kv.namespace import Entry, Namespace, Page, check_length
from flarebed.bindings.values import Stream

MIN_CACHE_TTL_S: Final = 30
MAX_BULK_BYTES: Final = 25 * 1024 * 1024
MAX_BULK_KEYS: Final = 100
MAX_METADATA_BYTES: Final = 1024
_FORBIDDEN: Final = (".", "..")


class Service:
    """`warn` tells why something could not be stored or read: that a disk is full, say, the refusal does not tell."""

    def __init__(self, namespace: Namespace, warn: Callable[[str], None]) -> None:
        self._namespace = namespace
        self._warn = warn

    def get(self, key: str, cache_ttl_s: int | None) -> Entry | None:
        if cache_ttl_s is not None:
            _check_cache_ttl(cache_ttl_s)
        return self._found(errors.GET, key, cache_ttl_s)

    def get_many(
        self, keys: Sequence[str], type_name: str, cache_ttl_s: int | None, *, with_metadata: bool
    ) -> dict[str, Any]:
        """By key, the text, or with the type "json" what that is; null where there is none."""
        if type_name not in ("text", "json", ""):
            raise errors.bulk_type(type_name)
        if len(keys) > MAX_BULK_KEYS:
            raise errors.too_many_keys(MAX_BULK_KEYS)
        if not keys:
            raise errors.no_keys()
        found: dict[str, Any] = {}
        size = 0
        for key in keys:
            _check_bulk_key(key)
            if cache_ttl_s is not None:
                _check_cache_ttl(cache_ttl_s)
            entry = self._found(errors.GET_BULK, key, cache_ttl_s)
            if entry is not None:
                size += len(entry[0])
                if size > MAX_BULK_BYTES:
                    raise errors.bulk_too_large()
            found[key] = entry and _bulk_value(entry, type_name, with_metadata)
        return found

    def list(self, prefix: str, limit: int, cursor: str) -> Page:
        with self._told(errors.GET):
            return self._namespace.list(prefix, limit, cursor)

    async def put(
        self,
        key: str,
        body: bytes | Stream,
        metadata: str | None,
        expiration_s: int | None,
        expiration_ttl_s: int | None,
    ) -> None:
        """A stream is read to its end, also one that is too long: the refusal tells the length."""
        until_s = self._namespace.expiration(expiration_s, expiration_ttl_s)
        _check_metadata(metadata)
        if isinstance(body, bytes):
            await self._written(errors.PUT, lambda: self._namespace.put(key, body, metadata, until_s))
            return
        with self._namespace.arriving() as arriving:
            async for chunk in body:
                with self._told(errors.PUT):
                    arriving.add(chunk)
            await self._written(errors.PUT, lambda: self._namespace.put(key, arriving, metadata, until_s))

    async def delete(self, key: str) -> None:
        await self._written(errors.DELETE, lambda: self._namespace.delete(key))

    async def _written(self, operation: errors.Operation, write: Callable[[], None]) -> None:
        with self._told(operation):
            write()
            await self._namespace.durable()

    @contextmanager
    def _told(self, operation: errors.Operation) -> Iterator[None]:
        try:
            yield
        except (apsw.Error, OSError) as error:
            raise self._failure(operation, error) from None

    def _found(self, operation: errors.Operation, key: str, cache_ttl_s: int | None) -> Entry | None:
        try:
            return self._namespace.get(key, cache_ttl_s)
        except apsw.Error as error:
            raise self._failure(operation, error) from None

    def _failure(self, operation: errors.Operation, error: Exception) -> errors.Refused:
        self._warn(f"{operation.name} failed: {error}")
        return errors.out_of_order()


def _check_cache_ttl(ttl_s: int) -> None:
    """A wrong TTL is refused also where nothing is cached."""
    if ttl_s < MIN_CACHE_TTL_S:
        raise errors.cache_ttl_too_short(ttl_s, MIN_CACHE_TTL_S)


def _check_bulk_key(key: str) -> None:
    if key == "":
        raise errors.bulk_empty_key()
    if key in _FORBIDDEN:
        raise errors.bulk_forbidden_key(key)
    check_length(key)


def _bulk_value(entry: Entry, type_name: str, with_metadata: bool) -> Any:
    """Without a byte order mark, which the text of a single get keeps, and of a JSON null without metadata (observed on
    wrangler 4.164)."""
    text = text_of(entry[0]).removeprefix("\ufeff")
    try:
        value = json_parse(text) if type_name == "json" else text
    except JsError:
        raise errors.bulk_not_json() from None
    if value is None or not with_metadata:
        return value
    return {"value": value, "metadata": metadata_of(entry)}


def metadata_of(entry: Entry) -> Any:
    return None if entry[1] is None else json_parse(entry[1])


def text_of(value: bytes | Kept) -> str:
    return bytes(value).decode(errors="replace")


def _check_metadata(text: str | None) -> None:
    if text is None:
        return
    length = len(text.encode())
    if length > MAX_METADATA_BYTES:
        raise errors.metadata_too_long(length, MAX_METADATA_BYTES)
    if text == "undefined":  # what workerd's client sends for a function
        raise errors.metadata_not_json()
