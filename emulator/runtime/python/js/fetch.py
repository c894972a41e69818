"""`fetch`: a request of Worker code to the network, or to a data: URL.

Source: https://developers.cloudflare.com/workers/runtime-apis/fetch/ and workerd src/workerd/api/http.c++.
"""

from __future__ import annotations

import base64
import importlib
import re
from collections.abc import Sequence
from types import ModuleType
from typing import Any, cast
from urllib.parse import unquote_to_bytes

from flarebed.bindings.errors import JsError
from flarebed.emulator.runtime.python.context import IoContext
from flarebed.emulator.runtime.python.js import idl, mime, websocket_client
from flarebed.emulator.runtime.python.js.body import Source
from flarebed.emulator.runtime.python.js.headers import Headers
from flarebed.emulator.runtime.python.js.host_stream import host_iterator
from flarebed.emulator.runtime.python.js.readable import ReadableStream
from flarebed.emulator.runtime.python.js.request import Request
from flarebed.emulator.runtime.python.js.response import NULL_BODY, Response
from flarebed.emulator.runtime.python.js.websocket import WebSocket
from flarebed.emulator.runtime.python.js.websocket_peer import SocketPeer
from flarebed.emulator.runtime.python.js.work import as_error, outside, when_dropped
from flarebed.emulator.runtime.python.promise import Promise, io_context
from flarebed.emulator.runtime.python.proxy import throw

_DATA = re.compile(r"data:([^,]*?)(;\s*base64)?,(.*)", re.IGNORECASE | re.DOTALL)


def fetch(input: Any, init: Any = None, **options: Any) -> Promise:
    """A promise of the Response."""
    try:
        io = io_context()
        request = Request(input, init, **options)
        if not idl.is_nothing(request.fetcher):
            return cast("Promise", request.fetcher.fetch(request))
        if request._signal is not None and request._signal.aborted:
            raise as_error(request._signal.reason)
        if request.url.startswith("data:"):
            return Promise.fulfilled(_data_response(request))
        if not request.url.startswith(("http:", "https:")):
            raise throw(f"Fetch API cannot load: {request.url}", "TypeError")
        return _send(request, io)
    except Exception as error:
        return Promise.rejected(error)


def _send(request: Request, io: IoContext) -> Promise:
    if io.services.on_fetch is not None:
        io.services.on_fetch(request.method, request.url, request.headers.raw(), request._source)
    if (request.headers.get("upgrade") or "").lower() == "websocket":
        return outside(upgrade(request, io))
    outbound = _outbound()
    source = request._source
    stream = source if isinstance(source, ReadableStream) else None
    exchange = outbound.Exchange(
        method=request.method,
        url=request.url,
        headers=_headers(request),
        body=source if stream is None else host_iterator(stream, io),
        length=None if stream is None else stream._length,
        follow=request.redirect == "follow",
        worker=io.services.worker,
    )
    promise = outside(_exchange(exchange, request, io))
    return promise if request._signal is None else _abortable(promise, exchange, request)


def _outbound() -> ModuleType:
    """httpx takes 90 ms to import, and many Workers never need it."""
    return importlib.import_module("flarebed.emulator.runtime.python.js.outbound")


def _headers(request: Request) -> list[tuple[str, str]]:
    headers = request.headers.raw()
    if request.cache is not None:
        for name in ("cache-control", "pragma"):
            if not request.headers.has(name):
                headers.append((name, "no-cache"))
    return headers


def _abortable(promise: Promise, exchange: Any, request: Request) -> Promise:
    """Settled by whichever comes first, the response or the abort."""
    result = Promise()
    signal = request._signal
    assert signal is not None

    def aborted() -> None:
        error = as_error(signal.reason)
        exchange.abort(error)
        result.reject(error)

    promise.when_settled(lambda: result._settle(promise.state, promise.value))
    signal.when_aborted(aborted)
    return result


async def _exchange(exchange: Any, request: Request, io: IoContext) -> Response:
    outbound = _outbound()
    received = await exchange.run(io.services.http())
    headers = Headers.of_raw(
        [(name.decode("latin-1"), value.decode(errors="replace")) for name, value in received.headers.raw]
    )
    body: Source = None
    if exchange.method == "HEAD" or received.status_code in NULL_BODY:
        await received.aclose()
    else:
        chunks = outbound.ReceivedBody(exchange, received)
        body = ReadableStream.of_host(chunks, io, chunks.encoding)
        assert body._host is not None
        when_dropped(io, body._host.dropped)
    response = Response.of(
        received.status_code, headers, body, status_text=received.reason_phrase, url=exchange.urls[-1].partition("#")[0]
    )
    response.redirected = len(exchange.urls) > 1
    return response


async def upgrade(
    request: Request, io: IoContext, path: str | None = None, more: Sequence[tuple[str, str]] = ()
) -> Response:
    """A WebSocket for the Worker to accept, or what the server answered instead; `path` is the Unix socket of another
    Worker, which is told `more` headers.
    """
    protocols = request.headers.get("sec-websocket-protocol") or ""
    hidden = ("upgrade", "connection", "host")
    headers = [pair for pair in request.headers.raw() if pair[0].lower() not in hidden and "websocket" not in pair[0]]
    scheme, _, rest = request.url.partition(":")
    url = f"{'wss' if scheme == 'https' and path is None else 'ws'}:{rest}"
    try:
        connection = await websocket_client.open_connection(
            url, [name.strip() for name in protocols.split(",") if name.strip()], [*headers, *more], path
        )
    except websocket_client.Refused as refused:
        return Response.of(refused.status, Headers.of_raw(refused.headers), refused.body, url=request.url)
    except OSError as error:
        raise JsError(websocket_client.LOST) from error
    socket = WebSocket()
    peer = SocketPeer(socket.arrive, io.services.clock.loop)
    socket._send = peer.put
    io.services.clock.spawn(websocket_client.pump(connection, peer), "websocket")
    response = Response.of(101, Headers.of_raw(connection.response.headers.raw_items()), url=request.url)
    response.webSocket = socket
    return response


def _data_response(request: Request) -> Response:
    found = _DATA.fullmatch(request.url)
    if found is None:
        raise throw(f"Invalid URL: {request.url}", "TypeError")
    kind = mime.parse(found[1]) or mime.MimeType("text/plain", {"charset": "US-ASCII"})
    data = unquote_to_bytes(found[3])
    if found[2]:
        data = base64.b64decode(data + b"==")
    body = data if request.method == "GET" else None
    return Response.of(200, Headers.of_raw([("content-type", str(kind))], immutable=False), body)
