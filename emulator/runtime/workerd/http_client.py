"""HTTP/1.1 to workerd over its private Unix sockets: one request in, one answer out, bodies streamed both ways.

What a general client does for the network (redirects, proxies, cookies) would change a request, and this one has to
arrive as the user's client sent it. The parsing is httptools', uvicorn's own parser.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import httptools

Headers = Sequence[tuple[str, str]]

_ENOUGH_BYTES: Final = 1 << 16
"""More than this of an answer is not kept: what nobody reads stays in the socket."""
LOST: Final = "Network connection lost."


class LostConnection(ConnectionError):
    """workerd closed the connection before the answer was complete."""

    def __init__(self) -> None:
        super().__init__(LOST)


@dataclass(slots=True)
class Answer:
    """`body` is bytes if all of it came with the head, else the stream of the rest. `closes`: workerd hangs up."""

    status: int
    reason: str
    headers: list[tuple[str, str]]
    body: bytes | AsyncIterator[bytes]
    closes: bool


async def whole(answer: Answer) -> bytes:
    """All of the body."""
    if isinstance(answer.body, bytes):
        return answer.body
    return b"".join([chunk async for chunk in answer.body])


class HttpClient:
    """Keeps connections alive, as many as were in use at once."""

    def __init__(self, path: str, loop: asyncio.AbstractEventLoop) -> None:
        self._path = path
        self._loop = loop
        self._idle: list[_Connection] = []
        self._all: set[_Connection] = set()

    async def send(
        self, method: str, target: str, headers: Headers, body: bytes | AsyncIterator[bytes] | None = None
    ) -> Answer:
        """Raises LostConnection, or ConnectionError when nobody listens. Cancelled, it hangs up."""
        connection = await self._connection()
        try:
            return await connection.exchange(method, target, headers, body)
        except BaseException:
            connection.hang_up()
            raise

    def close(self) -> None:
        for connection in list(self._all):
            connection.hang_up()

    async def _connection(self) -> _Connection:
        while self._idle:
            connection = self._idle.pop()
            if not connection.is_closed():
                return connection
        _, made = await self._loop.create_unix_connection(lambda: _Connection(self), self._path)
        self._all.add(made)
        return made

    def _free(self, connection: _Connection) -> None:
        self._idle.append(connection)

    def _gone(self, connection: _Connection) -> None:
        self._all.discard(connection)


class _Connection(asyncio.Protocol):
    """One exchange at a time."""

    def __init__(self, client: HttpClient) -> None:
        self._client = client
        self._loop = client._loop
        self._transport: Any = None
        self._parser: Any = None
        self._writable: asyncio.Future[None] | None = None
        self._sending: asyncio.Task[None] | None = None
        self._begin()

    def _begin(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._head: asyncio.Future[Answer] | None = None
        self._more: asyncio.Future[None] | None = None
        self._headers: list[tuple[str, str]] = []
        self._reason = b""
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self._has_head = self._complete = self._bodiless = False

    # The exchange

    async def exchange(
        self, method: str, target: str, headers: Headers, body: bytes | AsyncIterator[bytes] | None
    ) -> Answer:
        self._head = self._loop.create_future()
        self._bodiless = method == "HEAD"
        lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]
        if isinstance(body, bytes):
            lines.append(f"content-length: {len(body)}")
        elif body is not None and not any(name == "content-length" for name, _ in headers):
            lines.append("transfer-encoding: chunked")
        head = "\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape")
        self._transport.write(head + body if isinstance(body, bytes) else head)
        if body is not None and not isinstance(body, bytes):
            self._sending = self._loop.create_task(self._send(body, chunked="transfer-encoding" in lines[-1]))
        return await self._head

    async def _send(self, body: AsyncIterator[bytes], *, chunked: bool) -> None:
        try:
            async for chunk in body:
                if chunk:
                    self._transport.write(b"%x\r\n%b\r\n" % (len(chunk), chunk) if chunked else chunk)
                if self._writable is not None:
                    await self._writable
            if chunked:
                self._transport.write(b"0\r\n\r\n")
        except Exception:  # the body's source is gone: workerd has to see that it is not whole
            self.hang_up()

    async def _stream(self) -> AsyncIterator[bytes]:
        try:
            while True:
                while self._chunks:
                    chunk = self._chunks.popleft()
                    self._size -= len(chunk)
                    yield chunk
                if self._complete:
                    return
                if self.is_closed():
                    raise LostConnection
                self._transport.resume_reading()
                self._more = self._loop.create_future()
                await self._more
        finally:
            self._release()

    def _release(self) -> None:
        """The exchange is over: keep the connection if both sides have said all."""
        sending, self._sending = self._sending, None
        if not self._complete or self._bodiless or (sending is not None and not sending.done()) or self.is_closed():
            if sending is not None:
                sending.cancel()
            self.hang_up()
            return
        keeps = self._parser.should_keep_alive()
        self._begin()
        if keeps:
            self._client._free(self)
        else:
            self.hang_up()

    def hang_up(self) -> None:
        if self._sending is not None:
            self._sending.cancel()
        if self._transport is not None:
            self._transport.abort()

    def is_closed(self) -> bool:
        return self._transport is None or bool(self._transport.is_closing())

    # asyncio's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        self._client._gone(self)
        if self._head is not None and not self._head.done():
            self._head.set_exception(LostConnection())
        self._wake()
        self.resume_writing()

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self.hang_up()
            return
        if self._head is not None and self._has_head and not self._head.done():
            self._answer()
        elif self._size > _ENOUGH_BYTES:
            self._transport.pause_reading()
        self._wake()

    def _answer(self) -> None:
        assert self._head is not None
        closes = not self._parser.should_keep_alive()
        whole = self._complete or self._bodiless
        head, status, headers = self._head, self._parser.get_status_code(), self._headers
        reason = self._reason.decode("latin-1")
        if whole:
            body = b"".join(self._chunks)
            self._release()
            head.set_result(Answer(status, reason, headers, body, closes))
        else:
            head.set_result(Answer(status, reason, headers, self._stream(), closes))

    def pause_writing(self) -> None:
        self._writable = self._loop.create_future()

    def resume_writing(self) -> None:
        writable, self._writable = self._writable, None
        if writable is not None and not writable.done():
            writable.set_result(None)

    def _wake(self) -> None:
        more, self._more = self._more, None
        if more is not None and not more.done():
            more.set_result(None)

    # The parser's side

    def on_status(self, reason: bytes) -> None:
        self._reason += reason

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name.decode("latin-1").lower(), value.decode("utf-8", "surrogateescape")))

    def on_headers_complete(self) -> None:
        self._has_head = True

    def on_body(self, body: bytes) -> None:
        self._chunks.append(body)
        self._size += len(body)

    def on_message_complete(self) -> None:
        self._complete = True
