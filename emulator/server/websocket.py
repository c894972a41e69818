"""A WebSocket: the upgrade is an ordinary fetch, then messages are pumped both ways until one side closes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from flarebed.emulator.runtime.http import Close, IncomingRequest, OutgoingResponse, WebSocketPeer
from flarebed.emulator.server.request import Receive, Send
from flarebed.emulator.server.response import encode_headers

_ABNORMAL: Final = 1006
_NO_CODE: Final = 1005
_HANDSHAKE: Final = frozenset(
    ("sec-websocket-accept", "sec-websocket-protocol", "sec-websocket-extensions", "content-length")
)
Fetch = Callable[[IncomingRequest], Awaitable[OutgoingResponse]]


async def serve(request: IncomingRequest, receive: Receive, send: Send, fetch: Fetch) -> OutgoingResponse:
    """Ask the Worker, then accept and pump, or send its refusal. Returns the Worker's answer, for the log."""
    await receive()  # websocket.connect
    response = await fetch(request)
    if response.status != 101 or response.websocket is None:
        await _refuse(response, send)
        return response
    chosen = next((value for name, value in response.headers if name.lower() == "sec-websocket-protocol"), None)
    headers = [pair for pair in response.headers if pair[0].lower() not in _HANDSHAKE]
    await send(
        {
            "type": "websocket.accept",
            "subprotocol": chosen,
            "headers": encode_headers(headers, keep_length=False),
        }
    )
    await _pump(response.websocket, receive, send)
    return response


async def _refuse(response: OutgoingResponse, send: Send) -> None:
    headers = encode_headers(response.headers, keep_length=False)
    body = b"" if response.body is None else response.body
    if isinstance(body, bytes):
        headers.append((b"content-length", b"%d" % len(body)))
    await send({"type": "websocket.http.response.start", "status": response.status, "headers": headers})
    if isinstance(body, bytes):
        await send({"type": "websocket.http.response.body", "body": body})
        return
    async for chunk in body:
        await send({"type": "websocket.http.response.body", "body": chunk, "more_body": True})
    await send({"type": "websocket.http.response.body", "body": b""})


async def _pump(peer: WebSocketPeer, receive: Receive, send: Send) -> None:
    outward = asyncio.ensure_future(_to_client(peer, send))
    try:
        await _to_worker(peer, receive)
        if not outward.done():
            outward.cancel()
        await asyncio.wait([outward])
    finally:
        outward.cancel()


async def _to_worker(peer: WebSocketPeer, receive: Receive) -> None:
    while True:
        message = await receive()
        if message["type"] == "websocket.disconnect":
            code, reason = message["code"], message.get("reason")
            if reason is None and code == _NO_CODE:
                code = _ABNORMAL  # uvicorn's word for a connection that was lost without a closing handshake
            peer.deliver_close(code, reason or "", code != _ABNORMAL)
            return
        data = message.get("text")
        peer.deliver(data if data is not None else message["bytes"])


async def _to_client(peer: WebSocketPeer, send: Send) -> None:
    while True:
        data = await peer.receive()
        if isinstance(data, Close):
            # ASGI has no word for a close without a code.
            code = 1000 if data.code == _NO_CODE else data.code
            await send({"type": "websocket.close", "code": code, "reason": data.reason})
            return
        await send({"type": "websocket.send", "text" if isinstance(data, str) else "bytes": data})
