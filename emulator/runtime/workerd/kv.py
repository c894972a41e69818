"""KV behind workerd's `kvNamespace` binding, which checks and coerces arguments itself: GET, PUT and DELETE of a key,
GET of / for a list, POST /bulk/get.

Sources: workerd src/workerd/api/kv.c++; what it is answered, miniflare's src/workers/kv/namespace.worker.ts.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from flarebed.bindings.ecma import json_stringify
from flarebed.bindings.kv import errors
from flarebed.bindings.kv.binding import KvNamespace, service_of
from flarebed.bindings.kv.large import MAX_ROW_BYTES, Kept
from flarebed.bindings.kv.namespace import MAX_LIST_KEYS, Key
from flarebed.bindings.kv.service import Service
from flarebed.emulator.runtime.workerd import wire
from flarebed.emulator.runtime.workerd.host import Adapter, Answered, Asked, refused

_BULK: Final = "/bulk/get"
_METADATA: Final = "cf-kv-metadata"
_EXPIRATION: Final = "cf-expiration"


def adapter(namespace: KvNamespace) -> Adapter:
    service = service_of(namespace)

    async def answer(asked: Asked) -> Answered:
        try:
            return await _answer(service, asked)
        except errors.Refused as refusal:
            return refused(refusal.status, refusal.text)

    return answer


async def _answer(service: Service, asked: Asked) -> Answered:
    match asked.method:
        case "GET" if asked.path == "/":
            return _list(service, asked)
        case "GET":
            return _get(service, asked)
        case "POST" if asked.path == _BULK:
            return _get_many(service, json.loads(await asked.body()))
        case "PUT":
            return await _put(service, asked)
        case "DELETE":
            await service.delete(_key(asked))
            return Answered()
    return refused(405, "Method Not Allowed")


def _get(service: Service, asked: Asked) -> Answered:
    found = service.get(_key(asked), _integer(asked, "cache_ttl"))
    if found is None:
        return refused(404, "Not Found")
    value, metadata, expiration_ms, _ = found
    headers = []
    if expiration_ms is not None:
        headers.append((_EXPIRATION, str(expiration_ms // 1000)))
    if metadata is not None:
        headers.append((_METADATA, metadata))
    if isinstance(value, bytes):
        return Answered(body=value, headers=tuple(headers))
    return Answered(body=_pieces(value), headers=(*headers, ("content-length", str(len(value)))))


async def _pieces(value: Kept) -> AsyncGenerator[bytes, None]:
    try:
        async for piece in value:
            yield piece
    finally:
        await value.aclose()


def _get_many(service: Service, wanted: dict[str, Any]) -> Answered:
    """`cacheTtl` comes as text."""
    cache_ttl_s = int(wanted["cacheTtl"]) if "cacheTtl" in wanted else None
    with_metadata = wanted.get("withMetadata", False)
    found = service.get_many(wanted["keys"], wanted.get("type", ""), cache_ttl_s, with_metadata=with_metadata)
    found.pop("__proto__", None)  # which becomes no property of the service's answer (observed on wrangler 4.164)
    return _json(found)


def _list(service: Service, asked: Asked) -> Answered:
    limit = _integer(asked, "key_count_limit")
    prefix, cursor = (asked.query.get(name, "") for name in ("prefix", "cursor"))
    page = service.list(prefix, MAX_LIST_KEYS if limit is None else limit, cursor)
    answer: dict[str, Any] = {"keys": list(map(_listed, page.keys)), "list_complete": page.cursor is None}
    if page.cursor is not None:
        answer["cursor"] = page.cursor
    return Answered(body=wire.dumps({**answer, "cacheStatus": None}).encode())


def _listed(key: Key) -> dict[str, Any]:
    """Metadata as JSON's text, which workerd parses."""
    listed: dict[str, Any] = {"name": key.name}
    if key.expiration_s is not None:
        listed["expiration"] = key.expiration_s
    if key.metadata is not None:
        listed["metadata"] = key.metadata
    return listed


async def _put(service: Service, asked: Asked) -> Answered:
    """A body that would not be kept in one row is never in memory as a whole."""
    length = asked.headers.get("content-length")
    body = await asked.body() if length is not None and int(length) <= MAX_ROW_BYTES else asked.chunks
    times = _integer(asked, "expiration"), _integer(asked, "expiration_ttl")
    await service.put(_key(asked), body, asked.headers.get(_METADATA), *times)
    return Answered()


def _key(asked: Asked) -> str:
    """A lone surrogate comes as three bytes, which are no UTF-8."""
    try:
        return unquote_to_bytes(asked.path[1:]).decode()
    except UnicodeDecodeError:
        raise errors.not_decoded() from None


def _integer(asked: Asked, name: str) -> int | None:
    return int(asked.query[name]) if name in asked.query else None


def _json(value: Any) -> Answered:
    text = json_stringify(value)
    return Answered(body=str(text).encode("utf-8", "surrogatepass"))
