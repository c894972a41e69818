"""One connection to workerd, and one exchange on it at a time. The parsing is httptools', uvicorn's own parser.

Backpressure goes through on both sides: what nobody reads of an answer stays in the socket, and no more of a request's
body is asked for than the socket takes.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import httptools

Headers = Sequence[tuple[str, str]]

LOST: Final = "Network connection lost."
_ENOUGH_BYTES: Final = 1 << 16
"""More than this of an answer is not kept."""
_WITHOUT_BODY: Final = frozenset((101, 204, 304))
"""RFC 9112, section 6.3: whatever their headers say."""


class LostConnection(ConnectionError):
    """workerd closed the connection before the answer was complete."""

    def __init__(self) -> None:
        super().__init__(LOST)


@dataclass(slots=True)
class Answer:
    """`headers` have lower-case names. `body` is bytes if all of it came with the head, else the stream of the rest.

    `upgraded` goes with status 101: it makes a protocol the connection's own.
    """

    status: int
    reason: str
    headers: list[tuple[str, str]]
    body: bytes | AsyncIterator[bytes]
    upgraded: Callable[[asyncio.Protocol], None] | None = None


class Connection(asyncio.Protocol):
    """`on_free` gets it after an exchange that leaves it usable, `on_gone` when it is closed."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        on_free: Callable[[Connection], None],
        on_gone: Callable[[Connection], None],
    ) -> None:
        self.idle_since_s = 0.0
        self._loop = loop
        self._on_free = on_free
        self._on_gone = on_gone
        self._transport: Any = None
        self._exchange: _Exchange | None = None
        self._sending: asyncio.Task[None] | None = None
        self._writable: asyncio.Future[None] | None = None

    @property
    def heard(self) -> bool:
        """Whether anything of an answer has come."""
        return self._exchange is not None and self._exchange.heard

    def is_closing(self) -> bool:
        return self._transport is None or bool(self._transport.is_closing())

    def hang_up(self) -> None:
        if self._sending is not None:
            self._sending.cancel()
        if self._transport is not None:
            self._transport.abort()

    # The exchange

    async def exchange(
        self, method: str, target: str, headers: Headers, body: bytes | AsyncIterator[bytes] | None
    ) -> Answer:
        exchange = self._exchange = _Exchange(method, self._loop.create_future())
        lines = [f"{name}: {value}" for name, value in headers if name != "transfer-encoding"]
        head = [f"{method} {target} HTTP/1.1", *lines]
        if isinstance(body, bytes):
            head.append(f"content-length: {len(body)}")
        chunked = body is not None and not isinstance(body, bytes) and _has_no_length(headers)
        if chunked:
            head.append("transfer-encoding: chunked")
        data = "\r\n".join([*head, "", ""]).encode("utf-8", "surrogateescape")
        self._transport.write(data + body if isinstance(body, bytes) else data)
        if body is not None and not isinstance(body, bytes):
            self._sending = self._loop.create_task(self._send(exchange, body, chunked=chunked))
        try:
            return await exchange.head
        except BaseException:
            self.hang_up()
            raise

    async def _send(self, exchange: _Exchange, body: AsyncIterator[bytes], *, chunked: bool) -> None:
        try:
            async for chunk in body:
                if chunk:
                    self._transport.write(b"%x\r\n%b\r\n" % (len(chunk), chunk) if chunked else chunk)
                if self._writable is not None:
                    await self._writable
            if chunked:
                self._transport.write(b"0\r\n\r\n")
        except Exception as error:
            if not exchange.head.done():
                exchange.head.set_exception(error)
            self.hang_up()  # workerd has to see that the body is not whole

    def release(self) -> None:
        """The exchange is over, or nobody wants its rest: keep the connection if both sides have said all."""
        exchange, self._exchange = self._exchange, None
        sending, self._sending = self._sending, None
        sent = sending is None or sending.done()
        if sending is not None:
            sending.cancel()
        if exchange is None or not exchange.complete or not sent or not exchange.keeps_alive or self.is_closing():
            self.hang_up()
            return
        self._transport.resume_reading()
        self.idle_since_s = self._loop.time()
        self._on_free(self)

    def read_on(self) -> None:
        if not self.is_closing():
            self._transport.resume_reading()

    # asyncio's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        self._on_gone(self)
        if self._sending is not None:
            self._sending.cancel()
        if self._exchange is not None:
            self._exchange.lost()
        self.resume_writing()

    def data_received(self, data: bytes) -> None:
        exchange = self._exchange
        if exchange is None:
            self.hang_up()  # an answer that nobody has asked for
            return
        try:
            rest = exchange.feed(data)
        except httptools.HttpParserError:
            self.hang_up()
            return
        if exchange.has_head and not exchange.head.done():
            self._answer(exchange, rest)
        elif exchange.size > _ENOUGH_BYTES and not exchange.complete:
            self._transport.pause_reading()
        exchange.wake()

    def _answer(self, exchange: _Exchange, rest: bytes) -> None:
        answer = Answer(exchange.status, exchange.reason.decode("latin-1"), exchange.headers, b"")
        if exchange.status == 101:
            answer.upgraded = lambda protocol: self._hand_over(protocol, rest)
        elif exchange.complete:
            answer.body = b"".join(exchange.chunks)
            self.release()
        else:
            answer.body = _Body(self, exchange, self._loop)
        exchange.head.set_result(answer)

    def _hand_over(self, protocol: asyncio.Protocol, rest: bytes) -> None:
        self._on_gone(self)
        self._transport.set_protocol(protocol)
        protocol.connection_made(self._transport)
        if rest:
            protocol.data_received(rest)

    def pause_writing(self) -> None:
        self._writable = self._loop.create_future()

    def resume_writing(self) -> None:
        writable, self._writable = self._writable, None
        if writable is not None and not writable.done():
            writable.set_result(None)


class _Exchange:
    """What has come of an answer. httptools calls the `on_` methods."""

    def __init__(self, method: str, head: asyncio.Future[Answer]) -> None:
        self.head = head
        self.heard = self.has_head = self.complete = self.keeps_alive = self.is_lost = False
        self.status = 0
        self.reason = b""
        self.headers: list[tuple[str, str]] = []
        self.chunks: deque[bytes] = deque()
        self.size = 0
        self.more: asyncio.Future[None] | None = None
        self._to_head = method == "HEAD"
        self._parser: Any = httptools.HttpResponseParser(self)

    def feed(self, data: bytes) -> bytes:
        """Returns what is no longer HTTP. Raises HttpParserError."""
        self.heard = True
        if self.complete:
            raise httptools.HttpParserError("Data after the end")
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            return data[upgrade.args[0] :]
        return b""

    def take(self) -> bytes:
        chunk = self.chunks.popleft()
        self.size -= len(chunk)
        return chunk

    def lost(self) -> None:
        self.is_lost = True
        if not self.head.done():
            self.head.set_exception(LostConnection())
        self.wake()

    def wake(self) -> None:
        more, self.more = self.more, None
        if more is not None and not more.done():
            more.set_result(None)

    def on_message_begin(self) -> None:
        if self.complete:
            raise httptools.HttpParserError("A second answer")

    def on_status(self, reason: bytes) -> None:
        self.reason += reason

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self.has_head:  # else it is a trailer
            self.headers.append((name.decode("latin-1").lower(), value.decode("utf-8", "surrogateescape")))

    def on_headers_complete(self) -> None:
        self.status = self._parser.get_status_code()
        if self.status < 200 and self.status != 101:  # more is to come
            self.reason = b""
            self.headers = []
            return
        self.has_head = True
        self.keeps_alive = self._parser.should_keep_alive()
        self.complete = self._to_head or self.status in _WITHOUT_BODY

    def on_body(self, body: bytes) -> None:
        self.chunks.append(body)
        self.size += len(body)

    def on_message_complete(self) -> None:
        if self.has_head:
            self.complete = True


class _Body(AsyncIterator[bytes]):
    """The stream of an answer's body, to be read to its end or closed."""

    def __init__(self, connection: Connection, exchange: _Exchange, loop: asyncio.AbstractEventLoop) -> None:
        self._connection: Connection | None = connection
        self._exchange = exchange
        self._loop = loop

    async def __anext__(self) -> bytes:
        exchange = self._exchange
        while not exchange.chunks:
            if self._connection is None or exchange.complete:
                await self.aclose()
                raise StopAsyncIteration
            if exchange.is_lost:
                raise LostConnection
            self._connection.read_on()
            exchange.more = self._loop.create_future()
            await exchange.more
        return exchange.take()

    async def aclose(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.release()


def _has_no_length(headers: Headers) -> bool:
    return not any(name == "content-length" for name, _ in headers)
