"""The client's end of a Worker's WebSocket: frames to and from workerd, once it has answered with 101.

The frames are those of the `websockets` library, which uvicorn uses on the other side. Compression is not offered: the
connection does not leave this machine, and the client's own is uvicorn's matter.
"""

from __future__ import annotations

import asyncio
import base64
import os
from typing import Any, Final

from websockets.frames import Frame, Opcode
from websockets.protocol import CLIENT, OPEN, Protocol

from flarebed.emulator.runtime.http import Close

_LARGEST: Final = None
"""What is too large for a Worker or for the client, those will say."""
_ENOUGH_BYTES: Final = 1 << 20
"""No more messages of the Worker's are kept than these."""
_ABNORMAL: Final = 1006
_NO_CODE: Final = 1005


def handshake() -> list[tuple[str, str]]:
    """The headers that ask for a WebSocket (RFC 6455, section 4.1)."""
    key = base64.b64encode(os.urandom(16)).decode()
    return [
        ("connection", "Upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", key),
    ]


class Peer(asyncio.Protocol):
    """A `runtime.http.WebSocketPeer`; made the protocol of a connection that workerd has upgraded."""

    def __init__(self) -> None:
        self._transport: Any = None
        self._frames = Protocol(CLIENT, state=OPEN, max_size=_LARGEST)
        self._received: asyncio.Queue[str | bytes | Close] = asyncio.Queue()
        self._size = 0
        self._parts: list[bytes] = []
        self._is_text = False
        self._closed = False

    # The server's side

    async def receive(self) -> str | bytes | Close:
        message = await self._received.get()
        if not isinstance(message, Close):
            self._size -= len(message)
            if self._size <= _ENOUGH_BYTES and not self._transport.is_closing():
                self._transport.resume_reading()
        return message

    def deliver(self, data: str | bytes) -> None:
        if self._frames.state is not OPEN:
            return  # the Worker has closed: nothing more reaches it
        if isinstance(data, str):
            self._frames.send_text(data.encode("utf-8", "surrogatepass"))
        else:
            self._frames.send_binary(data)
        self._flush()

    def deliver_close(self, code: int, reason: str, was_clean: bool) -> None:
        if not was_clean:
            self._transport.abort()
        elif self._frames.state is OPEN:
            self._frames.send_close(*(() if code == _NO_CODE else (code, reason)))
            self._flush()

    # workerd's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._frames.receive_data(data)
        for event in self._frames.events_received():
            if isinstance(event, Frame):
                self._frame(event)
        self._flush()
        if self._size > _ENOUGH_BYTES and not self._transport.is_closing():
            self._transport.pause_reading()

    def eof_received(self) -> None:
        self._frames.receive_eof()

    def connection_lost(self, error: Exception | None) -> None:
        self._end(Close(_ABNORMAL))

    def _frame(self, frame: Frame) -> None:
        if frame.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            if frame.opcode is not Opcode.CONT:
                self._is_text = frame.opcode is Opcode.TEXT
            self._parts.append(bytes(frame.data))
            if frame.fin:
                data = b"".join(self._parts)
                self._parts.clear()
                self._size += len(data)
                self._received.put_nowait(data.decode("utf-8", "replace") if self._is_text else data)
        elif frame.opcode is Opcode.CLOSE:
            closed = self._frames.close_rcvd
            self._end(Close() if closed is None else Close(closed.code, closed.reason))

    def _end(self, close: Close) -> None:
        if not self._closed:
            self._closed = True
            self._received.put_nowait(close)

    def _flush(self) -> None:
        for data in self._frames.data_to_send():
            if data:
                self._transport.write(data)
            elif self._transport.can_write_eof():
                self._transport.write_eof()
