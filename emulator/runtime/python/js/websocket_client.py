"""Outbound WebSockets: `new WebSocket(url)` and `fetch` with an Upgrade header, over the `websockets` library.

Source: workerd src/workerd/api/web-socket.c++ and http.c++.
"""

from __future__ import annotations

import asyncio
import importlib
import re
from typing import TYPE_CHECKING, Any

from ada_url import URL as AdaUrl

from flarebed.emulator.runtime.http import Close
from flarebed.emulator.runtime.python.js import idl
from flarebed.emulator.runtime.python.js.url import parse
from flarebed.emulator.runtime.python.js.websocket_peer import ABNORMAL, NO_CODE, SocketPeer
from flarebed.emulator.runtime.python.js.work import outside
from flarebed.emulator.runtime.python.promise import io_context
from flarebed.emulator.runtime.python.proxy import throw

if TYPE_CHECKING:
    from flarebed.emulator.runtime.python.js.websocket import WebSocket

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~\w]+", re.ASCII)
_PREFIX = "WebSocket Constructor: "
LOST = "Network connection lost."


class Refused(Exception):
    """The server answered with something else than 101."""

    def __init__(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        super().__init__(
            "Failed to establish the WebSocket connection: expected server to reply with HTTP status code 101 "
            f"(switching protocols), but received {status} instead."
        )
        self.status = status
        self.headers = headers
        self.body = body


def protocol_names(protocols: Any) -> list[str]:
    """The subprotocols that a Worker offers, checked."""
    if protocols is None:
        return []
    if isinstance(protocols, str):
        names, complaint = [protocols], "The protocol header token is invalid."
    else:
        names, complaint = [idl.string(name) for name in protocols], "One of the protocol header tokens is invalid."
    if not all(_TOKEN.fullmatch(name) for name in names):
        raise throw(_PREFIX + complaint, "SyntaxError")
    if len(set(names)) != len(names):
        raise throw(f"{_PREFIX}The protocols header cannot have repeating values.", "SyntaxError")
    return names


def checked_url(url: str) -> AdaUrl:
    parsed = parse(url)
    if parsed is None:
        raise throw(f"{_PREFIX}The url is invalid.", "SyntaxError")
    if parsed.protocol not in ("ws:", "wss:"):
        raise throw(f"{_PREFIX}The url scheme must be ws or wss.", "SyntaxError")
    if parsed.hash:
        raise throw(f"{_PREFIX}The url fragment must be empty.", "SyntaxError")
    return parsed


def connect(socket: WebSocket, url: str, protocols: list[str]) -> None:
    """Begin the connection of `new WebSocket(url)`; an open or an error event follows."""
    io = io_context()
    parsed = checked_url(url)
    socket.url = url
    peer = SocketPeer(socket.arrive, io.services.clock.loop)
    socket._send = peer.put
    socket.begin("connecting")
    opening = outside(open_connection(str(parsed.href), protocols, []))
    context = socket._context

    def opened() -> None:
        if socket._failed:
            return
        if opening.state == "rejected":
            io.loop.call_soon(_fail, socket, opening.value, context=context)
            return
        connection = opening.value
        io.loop.call_soon(socket.opened, connection.subprotocol, context=context)
        io.services.clock.spawn(pump(connection, peer), "websocket")

    opening.when_settled(opened)


def _fail(socket: WebSocket, error: Exception) -> None:
    socket.fail(str(error) if isinstance(error, Refused) else LOST, throw(LOST))


async def open_connection(
    url: str, protocols: list[str], headers: list[tuple[str, str]], path: str | None = None
) -> Any:
    """A connection of the `websockets` library, to a Unix socket if `path` is given; Refused if the server did not
    switch protocols.
    """
    client = importlib.import_module("websockets.asyncio.client")
    exceptions = importlib.import_module("websockets.exceptions")
    try:
        return await client.connect(
            url, subprotocols=protocols or None, additional_headers=headers, max_size=None, user_agent_header=None,
            compression=None, proxy=None, **({} if path is None else {"unix": True, "path": path}),
        )  # fmt: skip
    except exceptions.InvalidStatus as error:
        answer = error.response
        raise Refused(answer.status_code, list(answer.headers.raw_items()), answer.body or b"") from None


async def pump(connection: Any, peer: SocketPeer) -> None:
    """Until one side closes: what the Worker sends out, what the network sends in."""
    closed = importlib.import_module("websockets.exceptions").ConnectionClosedError
    outward = asyncio.ensure_future(_outward(connection, peer))
    try:
        async for message in connection:
            peer.deliver(message)
    except closed:
        pass  # with any other code than 1000 and 1001
    finally:
        outward.cancel()
        code = connection.close_code
        peer.deliver_close(code or NO_CODE, connection.close_reason or "", code not in (None, ABNORMAL))


async def _outward(connection: Any, peer: SocketPeer) -> None:
    while True:
        message = await peer.receive()
        if isinstance(message, Close):
            await connection.close(1000 if message.code == NO_CODE else message.code, message.reason)
            return
        await connection.send(message)
