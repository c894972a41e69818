"""`caches`: what is kept, for how long, and what is refused."""

from __future__ import annotations

import asyncio
from email.utils import formatdate
from types import SimpleNamespace
from typing import Any

import pytest
from tests.emulator.runtime.python.js.worker import in_worker, thrown

from flarebed.emulator.runtime.python.ffi import to_js
from flarebed.emulator.runtime.python.js.globals import exports

NOW_S = 1_767_225_600
URL = "http://host/a?q"


@pytest.fixture
def js() -> Any:
    return SimpleNamespace(**exports())


def response(js: Any, headers: Any, **options: Any) -> Any:
    return js.Response.new("kept", headers=to_js(headers), **options)


def test_put_match_delete(js: Any) -> None:
    async def code() -> Any:
        cache = js.caches.default
        missing = await cache.match(URL)
        await cache.put(URL, response(js, {"cache-control": "max-age=60", "x": "y"}, status=201))
        hit = await cache.match(js.Request.new(URL))
        again = await (await cache.match(URL)).text()
        facts = (hit.status, hit.headers.get("x"), hit.headers.get("cf-cache-status"), await hit.text(), again)
        return missing, facts, await cache.delete(URL), await cache.delete(URL), await cache.match(URL)

    assert in_worker(code) == (None, (201, "y", "HIT", "kept", "kept"), True, False, None)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0),
        ({"cache-control": "max-age=60"}, 60),
        ({"cache-control": "public, max-age=5, s-maxage=60"}, 60),
        ({"cache-control": "no-store, max-age=60"}, 0),
        ({"cache-control": "private, max-age=60"}, 0),
        ({"cache-control": "max-age=60", "set-cookie": "a=1"}, 0),
        ({"cache-control": "private=Set-Cookie, max-age=60", "set-cookie": "a=1"}, 60),
        ({"expires": formatdate(NOW_S + 60, usegmt=True)}, 60),
        ({"expires": "nonsense"}, 0),
        ({"last-modified": formatdate(NOW_S - 600, usegmt=True)}, 60),
    ],
)
def test_how_long_a_response_is_kept(js: Any, headers: Any, seconds: int) -> None:
    async def code() -> Any:
        await js.caches.default.put(URL, response(js, headers))
        found = [await js.caches.default.match(URL) is not None]
        await asyncio.sleep(59)
        found.append(await js.caches.default.match(URL) is not None)
        await asyncio.sleep(1)
        found.append(await js.caches.default.match(URL) is not None)
        return found

    assert in_worker(code) == ([True, True, False] if seconds else [False, False, False])


def test_caches_have_names(js: Any) -> None:
    async def code() -> Any:
        one, two = await js.caches.open("one"), await js.caches.open("two")
        await one.put(URL, response(js, {"cache-control": "max-age=60"}))
        return (
            await two.match(URL),
            (await one.match(URL)).status,
            await js.caches.open("one") == one,
            await thrown(js.caches.open("x" * 1024)),
        )

    assert in_worker(code) == (None, 200, True, "TypeError: Cache name is too long.")


def test_only_get_finds_anything(js: Any) -> None:
    async def code() -> Any:
        await js.caches.default.put(URL, response(js, {"cache-control": "max-age=60"}))
        request = js.Request.new(URL, method="HEAD")
        ignoring = await js.caches.default.match(request, ignoreMethod=True)
        return await js.caches.default.match(request), ignoring.status

    assert in_worker(code) == (None, 200)


@pytest.mark.parametrize(
    ("put", "complaint"),
    [
        (lambda js: ("/rel", response(js, {})), "Invalid URL. Cache API keys must be fully-qualified, valid URLs."),
        (lambda js: (URL, js.Response.error()), "Cache is unable to store an error response"),
        (lambda js: (js.Request.new(URL, method="PUT"), response(js, {})), "Cannot cache response to non-GET request."),
        (
            lambda js: (URL, response(js, {}, status=206)),
            "Cannot cache response to a range request (206 Partial Content).",
        ),
        (lambda js: (URL, response(js, {"vary": "*"})), "Cannot cache response with 'Vary: *' header."),
        (
            lambda js: (URL, js.Response.new(None, status=101, webSocket=js.WebSocketPair.new()[0])),
            "Cannot cache WebSocket upgrade response.",
        ),
        (lambda js: (URL, "text"), "Failed to execute 'put' on 'Cache': parameter 2 is not of type 'Response'."),
    ],
)
def test_what_is_refused(js: Any, put: Any, complaint: str) -> None:
    async def code() -> str:
        return await thrown(js.caches.default.put(*put(js)))

    assert in_worker(code) == f"TypeError: {complaint}"
