"""KV behind workerd's `kvNamespace` binding, which checks and coerces arguments itself: GET, PUT and DELETE of a key,
GET of / for a list, POST /bulk/get.

Source: workerd src/workerd/api/kv.c++.
"""

from __future__ import annotations

from urllib.parse import unquote

from flarebed.bindings.kv import errors
from flarebed.bindings.kv.binding import KvNamespace
from flarebed.bindings.kv.namespace import Namespace
from flarebed.emulator.runtime.workerd import wire
from flarebed.emulator.runtime.workerd.host import Adapter, Answered, Asked


def adapter(binding: KvNamespace) -> Adapter:
    namespace = binding._namespace

    async def answer(asked: Asked) -> Answered:
        try:
            return await _answer(namespace, asked)
        except errors.Refused as refused:
            return Answered(refused.status, reason=refused.text)

    return answer


async def _answer(namespace: Namespace, asked: Asked) -> Answered:
    key = unquote(asked.path[1:])
    match asked.method:
        case "GET" if key:
            return _get(namespace, key)
        case "GET":
            return _list(namespace, asked)
        case "PUT":
            return await _put(namespace, key, asked)
        case "DELETE":
            namespace.delete(key)
            await namespace.durable()
            return Answered()
    return Answered(405)


def _get(namespace: Namespace, key: str) -> Answered:
    found = namespace.get(key)
    if found is None:
        return Answered(404)
    value, metadata, _, _ = found
    headers = () if metadata is None else (("CF-KV-Metadata", metadata),)
    return Answered(body=bytes(value), headers=headers)


def _list(namespace: Namespace, asked: Asked) -> Answered:
    query = asked.query
    page = namespace.list(query.get("prefix", ""), int(query.get("key_count_limit", 1000)), query.get("cursor", ""))
    keys = [
        {"name": key.name, **({"expiration": key.expiration_s} if key.expiration_s else {}),
         **({"metadata": key.metadata} if key.metadata is not None else {})}
        for key in page.keys
    ]  # fmt: skip
    answer = {"keys": keys, "list_complete": page.cursor is None}
    if page.cursor is not None:
        answer["cursor"] = page.cursor
    return Answered(body=wire.dumps(answer).encode())


async def _put(namespace: Namespace, key: str, asked: Asked) -> Answered:
    times = [int(asked.query[name]) if name in asked.query else None for name in ("expiration", "expiration_ttl")]
    expiration_s = namespace.expiration(*times)
    namespace.put(key, await asked.body(), asked.headers.get("cf-kv-metadata"), expiration_s)
    await namespace.durable()
    return Answered()
