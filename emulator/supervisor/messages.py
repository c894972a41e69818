"""What the supervisor and its processes say to each other: JSON, bytes and file descriptors over a socket pair.

A frame is a header, a JSON object and a payload; descriptors travel with its first byte. Stream sockets, because macOS
has no sequenced packets and short datagrams.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

_HEADER: Final = struct.Struct("!IIB")
_READ_SIZE: Final = 1 << 18
_MOST_DESCRIPTORS: Final = 8


@dataclass(frozen=True)
class Message:
    """`fields["is"]` or `fields["do"]` says what it is. Who takes a message owns its descriptors."""

    fields: dict[str, Any]
    payload: bytes = b""
    fds: tuple[int, ...] = ()

    def encode(self) -> bytes:
        text = json.dumps(self.fields).encode()
        return _HEADER.pack(len(text), len(self.payload), len(self.fds)) + text + self.payload


class Decoder:
    """Bytes and descriptors as they arrive -> messages."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._fds: deque[int] = deque()

    def feed(self, data: bytes, fds: Sequence[int]) -> list[Message]:
        self._data += data
        self._fds.extend(fds)
        messages = []
        while (message := self._take()) is not None:
            messages.append(message)
        return messages

    def _take(self) -> Message | None:
        if len(self._data) < _HEADER.size:
            return None
        text_size, payload_size, fd_count = _HEADER.unpack_from(self._data)
        start = _HEADER.size + text_size
        if len(self._data) < start + payload_size:
            return None
        fields = json.loads(self._data[_HEADER.size : start])
        payload = bytes(self._data[start : start + payload_size])
        del self._data[: start + payload_size]
        return Message(fields, payload, tuple(self._fds.popleft() for _ in range(fd_count)))


def receive(sock: socket.socket, decoder: Decoder) -> list[Message] | None:
    """The messages that one read completes; None at the end."""
    data, fds, _, _ = socket.recv_fds(sock, _READ_SIZE, _MOST_DESCRIPTORS)
    return decoder.feed(data, fds) if data else None


def send(sock: socket.socket, message: Message) -> None:
    """Send on a blocking socket. The descriptors stay open here."""
    frame = message.encode()
    sent = socket.send_fds(sock, [frame], message.fds) if message.fds else sock.send(frame)
    sock.sendall(frame[sent:])


class Channel:
    """One end of a socket pair on an event loop. `on_end` is called once, when the other end is gone."""

    def __init__(
        self,
        sock: socket.socket,
        loop: asyncio.AbstractEventLoop,
        on_message: Callable[[Message], None],
        on_end: Callable[[], None],
    ) -> None:
        sock.setblocking(False)
        self._sock = sock
        self._loop = loop
        self._on_message = on_message
        self._on_end = on_end
        self._decoder = Decoder()
        self._unsent: deque[tuple[bytes, tuple[int, ...]]] = deque()
        self._open = True
        loop.add_reader(sock.fileno(), self._readable)

    def send(self, fields: dict[str, Any], payload: bytes = b"", fds: tuple[int, ...] = ()) -> None:
        """Queue a message; its descriptors are closed here once they are sent."""
        if not self._open:
            _close_all(fds)
            return
        self._unsent.append((Message(fields, payload, fds).encode(), fds))
        if len(self._unsent) == 1:
            self._write()

    def drain(self) -> None:
        """Read what the other end said before it ended."""
        while self._open and self._readable():
            pass

    def close(self) -> None:
        if not self._open:
            return
        self._open = False
        self._loop.remove_reader(self._sock.fileno())
        self._loop.remove_writer(self._sock.fileno())
        self._sock.close()
        while self._unsent:
            _close_all(self._unsent.popleft()[1])

    def _readable(self) -> bool:
        """Whether there may be more."""
        try:
            messages = receive(self._sock, self._decoder)
        except BlockingIOError:
            return False
        except OSError:
            messages = None
        if messages is None:
            self.close()
            self._on_end()
            return False
        for message in messages:
            self._on_message(message)
        return True

    def _write(self) -> None:
        try:
            while self._unsent:
                frame, fds = self._unsent[0]
                sent = socket.send_fds(self._sock, [frame], fds) if fds else self._sock.send(frame)
                _close_all(fds)
                if sent == len(frame):
                    self._unsent.popleft()
                else:
                    self._unsent[0] = (frame[sent:], ())
        except BlockingIOError:
            self._loop.add_writer(self._sock.fileno(), self._write)
        except OSError:
            self.close()
            self._loop.call_soon(self._on_end)
        else:
            self._loop.remove_writer(self._sock.fileno())


def _close_all(fds: Sequence[int]) -> None:
    for fd in fds:
        os.close(fd)
