"""What a Worker sees of a KV namespace: workerd's class KvNamespace (`api/kv.c++`).

Coerces arguments as workerd does, asks the namespace, and words a refusal for the Worker.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import apsw

from flarebed.bindings.ecma import is_index, is_object, json_parse, json_stringify
from flarebed.bindings.errors import JsError
from flarebed.bindings.kv import errors
from flarebed.bindings.kv.large import PIECE_BYTES, Kept
from flarebed.bindings.kv.namespace import (
    MAX_BULK_BYTES,
    MAX_BULK_KEYS,
    MAX_LIST_KEYS,
    MAX_METADATA_BYTES,
    Entry,
    Key,
    Namespace,
    check_cache_ttl,
    check_length,
)
from flarebed.bindings.values import UNDEFINED, ArrayBuffer, Map, Stream, View
from flarebed.bindings.webidl import ABSENT, members, optional_integer, string, wrong_parameter


class KvNamespace:
    """https://developers.cloudflare.com/kv/api/"""

    clone_error = "A KV namespace binding cannot be serialized."

    def __init__(self, namespace: Namespace, warn: Callable[[str], None]) -> None:
        """`warn` tells why something could not be stored or read."""
        self._namespace = namespace
        self._warn = warn

    async def get(self, key: Any = ABSENT, options: Any = UNDEFINED) -> Any:
        """The value or null; of a list of keys, a Map."""
        if isinstance(key, list):
            return self._bulk(key, options, with_metadata=False)
        if key is ABSENT:
            raise wrong_parameter("KvNamespace", "get", 1, "string or Array")
        name, type_name, cache_ttl_s = _get_arguments(key, options)
        found = self._found(errors.GET, name, cache_ttl_s)
        return None if found is None else _converted(found[0], type_name)

    async def getWithMetadata(self, key: Any = ABSENT, options: Any = UNDEFINED) -> Any:
        if isinstance(key, list):
            return self._bulk(key, options, with_metadata=True)
        if key is ABSENT:
            raise wrong_parameter("KvNamespace", "getWithMetadata", 1, "Array or string")
        name, type_name, cache_ttl_s = _get_arguments(key, options)
        found = self._found(errors.GET, name, cache_ttl_s)
        value, metadata = (None, None) if found is None else (_converted(found[0], type_name), _parsed(found[1]))
        return {"value": value, "metadata": metadata, "cacheStatus": None}

    async def list(self, options: Any = UNDEFINED) -> dict[str, Any]:
        fields = members(options)
        if fields is None:
            raise wrong_parameter("KvNamespace", "list", 1, "ListOptions")
        limit = optional_integer(fields.get("limit", UNDEFINED))
        prefix, cursor = (_text_or_none(fields.get(name)) for name in ("prefix", "cursor"))
        with errors.GET, self._told(errors.GET):
            # workerd does not send a limit below 1 (kv.c++, list).
            page = self._namespace.list(prefix, limit if limit and limit > 0 else MAX_LIST_KEYS, cursor)
        answer: dict[str, Any] = {"keys": [_listed(key) for key in page.keys], "list_complete": page.cursor is None}
        if page.cursor is not None:
            answer["cursor"] = page.cursor
        answer["cacheStatus"] = None
        return answer

    async def put(self, key: Any = ABSENT, value: Any = ABSENT, options: Any = UNDEFINED) -> Any:
        if key is ABSENT:
            raise wrong_parameter("KvNamespace", "put", 1, "string")
        if value is ABSENT:
            raise wrong_parameter("KvNamespace", "put", 2, "string or Object")
        fields = members(options)
        if fields is None:
            raise wrong_parameter("KvNamespace", "put", 3, "PutOptions")
        times = [optional_integer(fields.get(name, UNDEFINED)) for name in ("expiration", "expirationTtl")]
        name = _checked_key(errors.PUT, key)
        metadata = _metadata_json(fields.get("metadata"))
        body = _body(value)
        with errors.PUT:
            expiration_s = self._namespace.expiration(*times)
            _check_metadata(metadata)
            if isinstance(body, bytes):
                await self._written(errors.PUT, lambda: self._namespace.put(name, body, metadata, expiration_s))
            else:
                await self._put_stream(name, body, metadata, expiration_s)
        return UNDEFINED

    async def delete(self, key: Any = ABSENT) -> Any:
        """Of one key: a list is the key that its members joined by commas make (observed on wrangler 4.164)."""
        if key is ABSENT:
            raise wrong_parameter("KvNamespace", "delete", 1, "string")
        name = _checked_key(errors.DELETE, key)
        await self._written(errors.DELETE, lambda: self._namespace.delete(name))
        return UNDEFINED

    async def _put_stream(self, name: str, stream: Stream, metadata: str | None, expiration_s: int | None) -> None:
        """To the stream's end, also of what is too long: the refusal tells the length."""
        with self._namespace.arriving() as arriving:
            async for chunk in stream:
                with self._told(errors.PUT):
                    arriving.add(chunk)
            await self._written(errors.PUT, lambda: self._namespace.put(name, arriving, metadata, expiration_s))

    async def _written(self, operation: errors.Operation, write: Callable[[], None]) -> None:
        with self._told(operation):
            write()
            await self._namespace.durable()

    @contextmanager
    def _told(self, operation: errors.Operation) -> Iterator[None]:
        """A disk that is full, say, is the service's failure to the Worker."""
        try:
            yield
        except (apsw.Error, OSError) as error:
            raise self._failure(operation, error) from None

    def _found(self, operation: errors.Operation, name: str, cache_ttl_s: int | None) -> Entry | None:
        try:
            return self._namespace.get(name, cache_ttl_s)
        except apsw.Error as error:
            raise self._failure(operation, error) from None

    def _failure(self, operation: errors.Operation, error: Exception) -> JsError:
        self._warn(f"{operation.name} failed: {error}")
        return errors.out_of_order(operation)

    def _bulk(self, keys: Sequence[Any], options: Any, *, with_metadata: bool) -> Map:
        names = [string(key) for key in keys]
        type_name, cache_ttl_s = _get_options(options)
        with errors.GET_BULK:
            return self._read_many(names, type_name, cache_ttl_s, with_metadata)

    def _read_many(self, names: Sequence[str], type_name: str, cache_ttl_s: int | None, with_metadata: bool) -> Map:
        if type_name not in ("text", "json", ""):
            raise errors.bulk_type(type_name)
        if len(names) > MAX_BULK_KEYS:
            raise errors.too_many_keys(MAX_BULK_KEYS)
        if not names:
            raise errors.no_keys()
        answer = Map()
        size = 0
        for name in names:
            _check_bulk_key(name)
            check_cache_ttl(cache_ttl_s)
            found = self._found(errors.GET_BULK, name, cache_ttl_s)
            if found is None:
                _set(answer, name, None)
                continue
            size += len(found[0])
            if size > MAX_BULK_BYTES:
                raise errors.bulk_too_large()
            value = _bulk_value(found[0], type_name)
            if with_metadata and value is not None:
                value = {"value": value, "metadata": _parsed(found[1])}
            _set(answer, name, value)
        return answer


def _set(answer: Map, name: str, value: Any) -> None:
    """workerd's kv.c++ goes over the own properties of an object that it made of the answer, and skips indices: a key
    like "42" is missing from the Map, and so is "__proto__", which became no property (observed on wrangler 4.164)."""
    if name != "__proto__" and not is_index(name):
        answer.set(name, value)


class ValueStream:
    """A value that is in memory, as a byte stream."""

    def __init__(self, value: bytes) -> None:
        self._chunks: Iterator[bytes] = (
            value[start : start + PIECE_BYTES] for start in range(0, len(value), PIECE_BYTES)
        )

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        for chunk in self._chunks:
            return chunk
        raise StopAsyncIteration


def _text(value: bytes | Kept) -> str:
    return bytes(value).decode(errors="replace")


_CONVERTERS: Final[dict[str, Callable[[bytes | Kept], Any]]] = {
    "text": _text,
    "json": lambda value: json_parse(_text(value)),
    "arrayBuffer": lambda value: ArrayBuffer(bytearray(bytes(value))),
    "stream": lambda value: ValueStream(value) if isinstance(value, bytes) else value,
}


def _bulk_value(value: bytes | Kept, type_name: str) -> Any:
    """Without a byte order mark, which the text of a single get keeps (observed on wrangler 4.164)."""
    text = _text(value).removeprefix("\ufeff")
    try:
        return json_parse(text) if type_name == "json" else text
    except JsError:
        raise errors.bulk_not_json() from None


def _converted(value: bytes | Kept, type_name: str) -> Any:
    """The type is looked at only here: kv.c++ answers null to a missing key of any type."""
    convert = _CONVERTERS.get(type_name)
    if convert is None:
        raise errors.unknown_type()
    return convert(value)


def _get_arguments(key: Any, options: Any) -> tuple[str, str, int | None]:
    """The key, the type's name and the cache TTL in seconds of a get of one key."""
    type_name, cache_ttl_s = _get_options(options)
    name = _checked_key(errors.GET, key)
    if cache_ttl_s is not None:
        with errors.GET:
            check_cache_ttl(cache_ttl_s)
    return name, type_name, cache_ttl_s


def _get_options(options: Any) -> tuple[str, int | None]:
    """The type's name and the cache TTL in seconds: a primitive is the type, an object has both."""
    if options is UNDEFINED:
        return "text", None
    fields = members(options)
    if fields is None:
        return string(options), None
    type_name = fields.get("type", UNDEFINED)
    return "text" if type_name is UNDEFINED else string(type_name), optional_integer(fields.get("cacheTtl", UNDEFINED))


def _checked_key(operation: errors.Operation, key: Any) -> str:
    name = string(key)
    if name == "":
        raise errors.empty_key()
    if name in (".", ".."):
        raise errors.forbidden_key(name)
    with operation:
        check_length(name)
    return name


def _check_bulk_key(name: str) -> None:
    if name == "":
        raise errors.bulk_empty_key()
    if name in (".", ".."):
        raise errors.bulk_forbidden_key(name)
    check_length(name)


def _body(value: Any) -> bytes | Stream:
    """Strings and what JavaScript makes a string of are text; of objects only those that hold bytes are taken."""
    if isinstance(value, ArrayBuffer | View):
        return bytes(value)
    if not is_object(value):
        return string(value).encode()
    if isinstance(value, Stream):
        return value
    raise errors.wrong_value()


def _metadata_json(metadata: Any) -> str | None:
    """ "undefined" of what has no JSON, as kv.c++ sends it."""
    if metadata is None or metadata is UNDEFINED:
        return None
    text = json_stringify(metadata)
    return "undefined" if text is UNDEFINED else str(text)


def _check_metadata(text: str | None) -> None:
    if text is None:
        return
    length = len(text.encode())
    if length > MAX_METADATA_BYTES:
        raise errors.metadata_too_long(length, MAX_METADATA_BYTES)
    if text == "undefined":
        raise errors.metadata_not_json()


def _parsed(metadata: str | None) -> Any:
    return None if metadata is None else json_parse(metadata)


def _text_or_none(value: Any) -> str:
    return "" if value is None or value is UNDEFINED else string(value)


def _listed(key: Key) -> dict[str, Any]:
    listed: dict[str, Any] = {"name": key.name}
    if key.expiration_s is not None:
        listed["expiration"] = key.expiration_s
    if key.metadata is not None:
        listed["metadata"] = _parsed(key.metadata)
    return listed
