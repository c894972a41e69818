"""HTTP clients in Worker code that bring their own connections send by `fetch`, as Pyodide's builds of them do.

So what a test, or a check, does about outbound requests reaches them too. `patches.py` puts `send` in the place of
httpx's transports, for callers on a WebLoop.
"""

from __future__ import annotations

import asyncio
import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

from flarebed.emulator.runtime.python.ffi import to_js
from flarebed.emulator.runtime.python.js.abort import aborted_after
from flarebed.emulator.runtime.python.js.fetch import fetch
from flarebed.emulator.runtime.python.proxy import JsException

if TYPE_CHECKING:
    import httpx

_TIMED_OUT = "TimeoutError"
_DECODED = frozenset(("content-encoding", "content-length"))
"""What no longer holds of a body that `fetch` has decoded."""


async def send(transport: Any, request: httpx.Request) -> httpx.Response:
    """In place of `AsyncHTTPTransport.handle_async_request`. Raises httpx's ConnectError or ReadTimeout."""
    body = await request.aread()
    return await _fetched(request, body)


def send_now(transport: Any, request: httpx.Request) -> httpx.Response:
    """In place of `HTTPTransport.handle_request`: other requests go on meanwhile."""
    loop: Any = asyncio.get_running_loop()
    sent: httpx.Response = loop.run_sync(_fetched(request, request.read()))
    return sent


async def _fetched(request: httpx.Request, body: bytes) -> httpx.Response:
    library = _httpx()
    options: dict[str, Any] = {"method": request.method, "headers": request.headers.multi_items(), "redirect": "manual"}
    if body:
        options["body"] = to_js(body)
    if (seconds := _patience_s(request)) is not None:
        options["signal"] = aborted_after(seconds * 1000)
    try:
        response = await fetch(str(request.url), **options)
        content = (await response.arrayBuffer()).to_bytes()
    except JsException as error:
        kind = library.ReadTimeout if error.name == _TIMED_OUT else library.ConnectError
        raise kind(error.message, request=request) from error
    headers = [(name, value) for name, value in response.headers.raw() if name.lower() not in _DECODED]
    made: httpx.Response = library.Response(response.status, headers=headers, content=content, request=request)
    return made


def _patience_s(request: httpx.Request) -> float | None:
    """The longest of httpx's time limits: `fetch` does not tell connecting from reading."""
    limits = [limit for limit in request.extensions.get("timeout", {}).values() if limit is not None]
    return max(limits, default=None)


def _httpx() -> ModuleType:
    return importlib.import_module("httpx")
