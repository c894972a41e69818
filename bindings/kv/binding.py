"""What a Worker sees of a KV namespace: workerd's class KvNamespace (`api/kv.c++`).

Coerces arguments as workerd does, asks the service, and words a refusal for the Worker.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any, Final

from flarebed.bindings.ecma import is_index, is_object, json_parse, json_stringify
from flarebed.bindings.kv import errors
from flarebed.bindings.kv.large import PIECE_BYTES, Kept
from flarebed.bindings.kv.namespace import MAX_LIST_KEYS, Key, check_length
from flarebed.bindings.kv.service import Service, metadata_of, text_of
from flarebed.bindings.values import UNDEFINED, ArrayBuffer, Map, Stream, View
from flarebed.bindings.webidl import ABSENT, members, optional_integer, string, wrong_parameter


class KvNamespace:
    """https://developers.cloudflare.com/kv/api/"""

    clone_error = "A KV namespace binding cannot be serialized."

    def __init__(self, service: Service) -> None:
        self._service = service

    async def get(self, key: Any = ABSENT, options: Any = UNDEFINED) -> Any:
        """The value or null; of a list of keys, a Map."""
        if isinstance(key, list):
            return self._bulk(key, options, with_metadata=False)
        if key is ABSENT:
            raise wrong_parameter("KvNamespace", "get", 1, "string or Array")
        name, type_name, cache_ttl_s = _get_arguments(key, options)
        with errors.GET:
            found = self._service.get(name, cache_ttl_s)
        return None if found is None else _converted(found[0], type_name)

    async def getWithMetadata(self, key: Any = ABSENT, options: Any = UNDEFINED) -> Any:
        if isinstance(key, list):
            return self._bulk(key, options, with_metadata=True)
        if key is ABSENT:
            raise wrong_parameter("KvNamespace", "getWithMetadata", 1, "Array or string")
        name, type_name, cache_ttl_s = _get_arguments(key, options)
        with errors.GET:
            found = self._service.get(name, cache_ttl_s)
        value, metadata = (None, None) if found is None else (_converted(found[0], type_name), metadata_of(found))
        return {"value": value, "metadata": metadata, "cacheStatus": None}

    async def list(self, options: Any = UNDEFINED) -> dict[str, Any]:
        fields = members(options)
        if fields is None:
            raise wrong_parameter("KvNamespace", "list", 1, "ListOptions")
        limit = optional_integer(fields.get("limit", UNDEFINED))
        prefix, cursor = (_text_or_none(fields.get(name)) for name in ("prefix", "cursor"))
        with errors.GET:
            # workerd does not send a limit below 1 (kv.c++, list).
            page = self._service.list(prefix, limit if limit and limit > 0 else MAX_LIST_KEYS, cursor)
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
            await self._service.put(name, body, metadata, *times)
        return UNDEFINED

    async def delete(self, key: Any = ABSENT) -> Any:
        """Of one key: a list is the key that its members joined by commas make (observed on wrangler 4.164)."""
        if key is ABSENT:
            raise wrong_parameter("KvNamespace", "delete", 1, "string")
        name = _checked_key(errors.DELETE, key)
        with errors.DELETE:
            await self._service.delete(name)
        return UNDEFINED

    def _bulk(self, keys: Sequence[Any], options: Any, *, with_metadata: bool) -> Map:
        names = [string(key) for key in keys]
        type_name, cache_ttl_s = _get_options(options)
        answer = Map()
        with errors.GET_BULK:
            found = self._service.get_many(names, type_name, cache_ttl_s, with_metadata=with_metadata)
        for name, value in found.items():
            _set(answer, name, value)
        return answer


def service_of(namespace: KvNamespace) -> Service:
    """What a binding asks, for a client that does the rest itself."""
    return namespace._service


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


_CONVERTERS: Final[dict[str, Callable[[bytes | Kept], Any]]] = {
    "text": text_of,
    "json": lambda value: json_parse(text_of(value)),
    "arrayBuffer": lambda value: ArrayBuffer(bytearray(bytes(value))),
    "stream": lambda value: ValueStream(value) if isinstance(value, bytes) else value,
}


def _converted(value: bytes | Kept, type_name: str) -> Any:
    """The type is looked at only here: kv.c++ answers null to a missing key of any type."""
    convert = _CONVERTERS.get(type_name)
    if convert is None:
        raise errors.unknown_type()
    return convert(value)


def _get_arguments(key: Any, options: Any) -> tuple[str, str, int | None]:
    """The key, the type's name and the cache TTL in seconds of a get of one key."""
    type_name, cache_ttl_s = _get_options(options)
    return _checked_key(errors.GET, key), type_name, cache_ttl_s


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


def _text_or_none(value: Any) -> str:
    return "" if value is None or value is UNDEFINED else string(value)


def _listed(key: Key) -> dict[str, Any]:
    listed: dict[str, Any] = {"name": key.name}
    if key.expiration_s is not None:
        listed["expiration"] = key.expiration_s
    if key.metadata is not None:
        listed["metadata"] = json_parse(key.metadata)
    return listed
