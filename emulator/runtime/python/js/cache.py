"""The Cache API: `caches.default` and `caches.open(name)`, in memory, for as long as the Worker runs.

A response is kept for as long as its headers allow a shared cache to; one without freshness is taken and not found
again (observed). Source: https://developers.cloudflare.com/workers/runtime-apis/cache/ and workerd
src/workerd/api/cache.c++.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flarebed.bindings.values import UNDEFINED
from flarebed.emulator.runtime import freshness
from flarebed.emulator.runtime.python.context import current
from flarebed.emulator.runtime.python.js import idl
from flarebed.emulator.runtime.python.js.body import Body
from flarebed.emulator.runtime.python.js.headers import Headers
from flarebed.emulator.runtime.python.js.request import Request
from flarebed.emulator.runtime.python.js.response import Response
from flarebed.emulator.runtime.python.js.url import parse
from flarebed.emulator.runtime.python.promise import Promise, io_context, promise_of
from flarebed.emulator.runtime.python.proxy import JsProxy, throw

_MAX_NAME = 1024


@dataclass
class _Stored:
    status: int
    headers: Headers
    body: bytes
    expires_ms: float


class Cache(JsProxy):
    """One cache."""

    __slots__ = ("__weakref__", "_entries")

    def __init__(self) -> None:
        self._entries: dict[str, _Stored] = {}

    def put(self, request: Any, response: Any) -> Promise:
        io_context()
        try:
            asked = _request(request)
            _check(asked, response)
        except Exception as error:
            return Promise.rejected(error)
        return promise_of(self._put(asked.url, response))

    async def _put(self, url: str, response: Response) -> None:
        body = (await response.arrayBuffer()).to_bytes()
        now_ms = current().services.clock.now_ms()
        lifetime_ms = freshness.lifetime_ms(lambda name: response.headers.get(name) or None, now_ms)
        if lifetime_ms > 0 and response.status != 304:
            headers = response.headers.copy()
            headers.set("cf-cache-status", "HIT")
            self._entries[url] = _Stored(response.status, headers, body, now_ms + lifetime_ms)

    def match(self, request: Any, init: Any = None, **options: Any) -> Promise:
        io_context()
        try:
            asked = _request(request)
        except Exception as error:
            return Promise.rejected(error)
        stored = self._entries.get(asked.url)
        ignores_method = idl.truthy(idl.member(init, options, "ignoreMethod"))
        if stored is None or stored.expires_ms <= current().services.clock.now_ms():
            return Promise.fulfilled(UNDEFINED)
        if asked.method != "GET" and not ignores_method:
            return Promise.fulfilled(UNDEFINED)
        return Promise.fulfilled(Response.of(stored.status, stored.headers.copy(immutable=True), stored.body))

    def delete(self, request: Any, _init: Any = None, **_options: Any) -> Promise:
        io_context()
        try:
            asked = _request(request)
        except Exception as error:
            return Promise.rejected(error)
        return Promise.fulfilled(self._entries.pop(asked.url, None) is not None)


def _request(request: Any) -> Request:
    if isinstance(request, Request):
        return request
    text = idl.string(request)
    url = parse(text)
    if url is None or not str(url.protocol).startswith("http"):
        raise throw("Invalid URL. Cache API keys must be fully-qualified, valid URLs.", "TypeError")
    return Request(text)


def _check(request: Request, response: Any) -> None:
    if not isinstance(response, Response):
        raise idl.not_of_type("put", "Cache", 2, "Response")
    if response.type == "error":
        raise throw("Cache is unable to store an error response", "TypeError")
    if request.method != "GET":
        raise throw("Cannot cache response to non-GET request.", "TypeError")
    if response.status == 206:
        raise throw("Cannot cache response to a range request (206 Partial Content).", "TypeError")
    if "*" in (response.headers.get("vary") or ""):
        raise throw("Cannot cache response with 'Vary: *' header.", "TypeError")
    if isinstance(response, Body) and response.status == 101:
        raise throw("Cannot cache WebSocket upgrade response.", "TypeError")


class CacheStorage(JsProxy):
    """`caches`."""

    __slots__ = ("_named", "default")

    def __init__(self) -> None:
        self.default = Cache()
        self._named: dict[str, Cache] = {}

    def open(self, name: Any) -> Promise:
        text = idl.string(name)
        if len(text) >= _MAX_NAME:
            return Promise.rejected(throw("Cache name is too long.", "TypeError"))
        return Promise.fulfilled(self._named.setdefault(text, Cache()))
