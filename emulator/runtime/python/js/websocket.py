"""WebSocket and WebSocketPair: a Worker's ends of connections.

An end that Worker code accepted gets events; one that goes out with a response is handed to the server, which pumps it
(`WebSocketPeer`). Whatever one end sends is given to its other end, or to the network (`websocket_client.py`).
Source: https://developers.cloudflare.com/workers/runtime-apis/websockets/ and workerd src/workerd/api/web-socket.c++.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from contextvars import Context, copy_context
from typing import Any

from flarebed.bindings import codec
from flarebed.bindings.values import ArrayBuffer
from flarebed.emulator.runtime.http import Close
from flarebed.emulator.runtime.python.context import IoContext, current
from flarebed.emulator.runtime.python.js import idl, websocket_client
from flarebed.emulator.runtime.python.js.blob import Blob
from flarebed.emulator.runtime.python.js.events import (
    CloseEvent,
    ErrorEvent,
    Event,
    EventTarget,
    MessageEvent,
    handler_attribute,
)
from flarebed.emulator.runtime.python.js.websocket_peer import ABNORMAL, NO_CODE, Message, SocketPeer
from flarebed.emulator.runtime.python.proxy import Constructor, JsProxy, from_python, jsnull, throw, to_python

NOT_ACCEPTED = "You must call one of accept() or state.acceptWebSocket() on this WebSocket before sending messages."
DISCONNECTED = "WebSocket disconnected without sending Close frame."
_RESERVED_CODES = (1004, NO_CODE, ABNORMAL, 1015)
_MAX_REASON = 123
_MAX_ATTACHMENT = 16_384


class WebSocket(EventTarget):
    """One end. `_state` is new, connecting, accepted or released (to a response)."""

    __slots__ = (
        "_attachment", "_binary_type", "_closed_in", "_closed_out", "_context", "_failed", "_held", "_io", "_send",
        "_state", "_take", "_unread", "extensions", "protocol", "url",
    )  # fmt: skip

    class Static(Constructor, js="Function"):
        __slots__ = ()
        CONNECTING = READY_STATE_CONNECTING = 0
        OPEN = READY_STATE_OPEN = 1
        CLOSING = READY_STATE_CLOSING = 2
        CLOSED = READY_STATE_CLOSED = 3

    CONNECTING = READY_STATE_CONNECTING = 0
    OPEN = READY_STATE_OPEN = 1
    CLOSING = READY_STATE_CLOSING = 2
    CLOSED = READY_STATE_CLOSED = 3

    def __init__(self, url: Any = None, protocols: Any = None) -> None:
        """With a URL a connection to it; else one end of a pair."""
        super().__init__()
        self._state = "new"
        self._closed_in = self._closed_out = self._failed = False
        self._unread: deque[Message] = deque()
        self._take: Callable[[Message], object] = self._unread.append
        self._send: Callable[[Message], object] = _nowhere
        self._io: IoContext | None = None
        self._context: Context | None = None
        self._held: asyncio.Future[None] | None = None
        self._binary_type: str | None = None
        self._attachment: bytes | None = None
        self.url: Any = jsnull
        self.protocol: Any = jsnull
        self.extensions: Any = jsnull
        if url is not None:
            websocket_client.connect(self, idl.string(url), websocket_client.protocol_names(protocols))

    onopen = handler_attribute("open")
    onmessage = handler_attribute("message")
    onclose = handler_attribute("close")
    onerror = handler_attribute("error")

    # What Worker code calls.

    @property
    def readyState(self) -> int:
        if self._failed or (self._closed_in and self._closed_out):
            return self.CLOSED
        if self._closed_in or self._closed_out:
            return self.CLOSING
        return self.CONNECTING if self._state == "connecting" else self.OPEN

    @property
    def binaryType(self) -> str:
        if self._binary_type is None:
            standard = "websocket_standard_binary_type" in current().services.flags
            self._binary_type = "blob" if standard else "arraybuffer"
        return self._binary_type

    @binaryType.setter
    def binaryType(self, value: Any) -> None:
        if idl.string(value) in ("blob", "arraybuffer"):
            self._binary_type = idl.string(value)

    def accept(self, _init: Any = None, **_options: Any) -> None:
        if self._state == "connecting":
            raise throw("Websockets obtained from the 'new WebSocket()' constructor cannot call accept", "TypeError")
        if self._state == "released":
            raise throw("Can't accept() WebSocket that was already used in a response.", "TypeError")
        if self._state == "new":
            self.begin()

    def send(self, message: Any) -> None:
        if self._closed_out:
            raise throw("Can't call WebSocket send() after close().", "TypeError")
        if self._failed or self._state == "released":
            return
        if self._state != "accepted":
            raise throw(NOT_ACCEPTED, "TypeError")
        data = bytes(message) if isinstance(message, Blob) else idl.buffer(message)
        self._send(idl.string(message) if data is None else data)

    def close(self, code: Any = None, reason: Any = None) -> None:
        number = None if code is None else idl.integer(code)
        text = None if reason is None else idl.string(reason)
        _check_close(number, text)
        if self._state == "connecting":
            self._state, self._failed = "released", True
            self._send(Close())
            return
        if self._closed_out or self._failed or self._state == "released":
            return
        if self._state != "accepted":
            raise throw(NOT_ACCEPTED, "TypeError")
        self._closed_out = True
        self._send(Close(NO_CODE if number is None else number, text or ""))
        if self._closed_in:
            self._let_go()

    def serializeAttachment(self, value: Any) -> None:
        data = codec.encode(from_python(value))
        if len(data) > _MAX_ATTACHMENT:
            raise throw(
                f"A WebSocket 'attachment' cannot be larger than {_MAX_ATTACHMENT} bytes."
                f"'attachment' was {len(data)} bytes."
            )
        self._attachment = data

    def deserializeAttachment(self) -> Any:
        return jsnull if self._attachment is None else to_python(codec.decode(self._attachment))

    # What the runtime calls.

    def begin(self, state: str = "accepted") -> None:
        """Events go to Worker code from now on; the context lives as long as the connection."""
        self._state = state
        self._io = current()
        self._context = copy_context()
        self._held = self._io.loop.create_future()
        self._io.begin_outside()
        self._io.wait_until(self._held)
        self._take = self._schedule
        while self._unread:
            self._schedule(self._unread.popleft())

    def hand_over(self, io: IoContext) -> SocketPeer:
        """The end that goes out with a response."""
        if self._state == "connecting":
            raise throw("Can't return WebSocket in a Response if it was created with `new WebSocket()`", "TypeError")
        if self._state == "released":
            raise throw("Can't return WebSocket that was already used in a response.", "TypeError")
        if self._state == "accepted":
            raise throw("Can't return WebSocket in a Response after calling accept().", "TypeError")
        self._state = "released"
        peer = SocketPeer(self._send, io.services.clock.loop)
        for message in self._unread:
            peer.put(message)
        self._take = peer.put
        return peer

    def arrive(self, message: Message) -> None:
        """The other side sent something."""
        self._take(message)

    def _schedule(self, message: Message) -> None:
        """A message came in, on whichever loop."""
        assert self._io is not None
        self._io.loop.call_soon(self._receive, message, context=self._context)

    def _receive(self, message: Message) -> None:
        if self._closed_in or self._failed:
            return
        if not isinstance(message, Close):
            self._emit(MessageEvent("message", data=self._data(message)))
            return
        self._closed_in = True
        clean = message.code != ABNORMAL
        if clean and not self._closed_out and "web_socket_auto_reply_to_close" in current().services.flags:
            self._closed_out = True
            self._send(Close(message.code, message.reason))
        self._emit(
            CloseEvent(
                "close", code=message.code, reason=message.reason or ("" if clean else DISCONNECTED), wasClean=clean
            )
        )
        self._let_go()

    def _data(self, message: str | bytes) -> Any:
        if isinstance(message, str):
            return message
        return Blob.of(message) if self.binaryType == "blob" else to_python(ArrayBuffer(message))

    def opened(self, protocol: str | None) -> None:
        """The connection of `new WebSocket(url)` stands."""
        self._state = "accepted"
        self.protocol = protocol or ""
        self.extensions = ""
        self._emit(Event("open"))

    def fail(self, message: str, error: BaseException) -> None:
        """The connection could not be made: an error event and a close event."""
        self._failed = True
        self._emit(ErrorEvent("error", message=message, error=error))
        self._emit(CloseEvent("close", code=ABNORMAL, reason="Failed to establish websocket connection"))
        self._let_go()

    def _emit(self, event: Event) -> None:
        event.isTrusted = True
        self.dispatchEvent(event)

    def _let_go(self) -> None:
        held, self._held = self._held, None
        if held is not None and self._io is not None:
            held.set_result(None)
            self._io.end_outside()


def _nowhere(_message: Message) -> None:
    """Where an end sends that is not connected."""


def _check_close(code: int | None, reason: str | None) -> None:
    if code is not None and (not 1000 <= code < 5000 or code in _RESERVED_CODES):
        raise throw(f"Invalid WebSocket close code: {code}.", "InvalidAccessError")
    if reason is not None and len(reason.encode()) > _MAX_REASON:
        raise throw("WebSocket close reason must not be longer than 123 bytes when UTF-8 encoded.", "SyntaxError")
    if reason is not None and code is None:
        raise throw("If you specify a WebSocket close reason, you must also specify a code.", "InvalidAccessError")


class WebSocketPair(JsProxy):
    """Two ends of one connection, "0" and "1"."""

    __slots__ = ("__weakref__", "_ends")

    def __init__(self) -> None:
        one, two = WebSocket(), WebSocket()
        one._send = two.arrive
        two._send = one.arrive
        self._ends = (one, two)

    def own_properties(self) -> dict[str, Any]:
        return {"0": self._ends[0], "1": self._ends[1]}

    def __iter__(self) -> Iterator[WebSocket]:
        return iter(self._ends)

    def __getitem__(self, index: int) -> WebSocket:
        return self._ends[index]

    def __getattr__(self, name: str) -> WebSocket:
        if name in ("0", "1"):
            return self._ends[int(name)]
        raise AttributeError(name)
