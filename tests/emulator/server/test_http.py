"""Connections: what one socket lives through, in process."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from flarebed.bindings.clock import VirtualClock
from flarebed.emulator.runtime.http import IncomingRequest, OutgoingResponse
from flarebed.emulator.server.asgi import Application
from flarebed.emulator.server.control import Control
from flarebed.emulator.server.http import HttpServer
from flarebed.emulator.server.log import Log
from tests.emulator.server.asking import FakeWorker
from tests.support import run

GET = b"GET /%b HTTP/1.1\r\nHost: localhost\r\n\r\n"
HELLO = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 5\r\n\r\nhello"


@dataclass
class Gate:
    is_closed: bool = False
    is_retired: bool = False
    given: list[tuple[int, bytes]] = field(default_factory=list)
    on_give: asyncio.Event = field(default_factory=asyncio.Event)

    def closed(self) -> bool:
        return self.is_closed or self.is_retired

    def retired(self) -> bool:
        return self.is_retired

    def give(self, fd: int, data: bytes) -> None:
        self.given.append((fd, data))
        self.on_give.set()


@dataclass
class Served:
    server: HttpServer
    gate: Gate
    port: int

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)


@asynccontextmanager
async def serving(worker: FakeWorker) -> AsyncIterator[Served]:
    loop = asyncio.get_running_loop()
    log = Log(loop, "none", lambda text: None)
    gate = Gate()
    server = HttpServer(Application(worker, log, Control(worker, VirtualClock(loop))), loop, gate)
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setblocking(False)
    await server.listen(listener)
    try:
        yield Served(server, gate, listener.getsockname()[1])
    finally:
        await server.stop()


def served(check: Callable[[Served], Awaitable[None]], worker: FakeWorker | None = None) -> None:
    async def work() -> None:
        async with serving(worker or FakeWorker()) as one:
            await check(one)

    run(work())


def test_requests_follow_each_other_on_one_connection() -> None:
    async def check(one: Served) -> None:
        reader, writer = await one.connect()
        for _ in range(2):
            writer.write(GET % b"")
            assert await reader.readexactly(len(HELLO)) == HELLO
        writer.write(GET % b"a" + GET % b"b")
        assert await reader.readexactly(2 * len(HELLO)) == 2 * HELLO
        writer.close()

    served(check)


def test_a_whole_response_is_on_the_wire_as_http_has_it() -> None:
    answers = iter(
        [
            OutgoingResponse(299, "Fine", [("X-A", "1"), ("x-a", "2")], b"abc"),
            OutgoingResponse(204),
            OutgoingResponse(200, body=b"head"),
            OutgoingResponse(200, body=b"last"),
        ]
    )

    async def answer(_request: IncomingRequest) -> OutgoingResponse:
        return next(answers)

    async def check(one: Served) -> None:
        reader, writer = await one.connect()
        writer.write(GET % b"" + GET % b"")
        writer.write(b"HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert await reader.read() == (
            b"HTTP/1.1 299 Fine\r\nx-a: 1\r\nx-a: 2\r\ncontent-length: 3\r\n\r\nabc"
            b"HTTP/1.1 204 No Content\r\n\r\n"
            b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n"
            b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\nlast"
        )
        writer.close()

    served(check, FakeWorker(answer))


def test_a_body_that_nobody_reads_stays_with_the_client() -> None:
    reading = asyncio.Event()
    total = 0

    async def answer(request: IncomingRequest) -> OutgoingResponse:
        nonlocal total
        assert request.body is not None
        await reading.wait()
        async for chunk in request.body:
            total += len(chunk)
        return OutgoingResponse(200, body=b"%d" % total)

    async def check(one: Served) -> None:
        size = 20_000_000
        reader, writer = await one.connect()
        writer.write(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % size)
        writer.write(bytes(size))
        waiting = asyncio.ensure_future(writer.drain())
        await asyncio.wait([waiting], timeout=0.05)
        assert not waiting.done()
        reading.set()
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 OK")
        assert int(await reader.readexactly(8)) == size
        await waiting
        writer.close()

    served(check, FakeWorker(answer))


def test_a_client_that_leaves_cancels_its_request() -> None:
    begun, cancelled = asyncio.Event(), asyncio.Event()

    async def answer(request: IncomingRequest) -> OutgoingResponse:
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        raise AssertionError

    async def check(one: Served) -> None:
        _, writer = await one.connect()
        writer.write(GET % b"")
        await begun.wait()
        writer.close()
        await cancelled.wait()

    served(check, FakeWorker(answer))


def test_a_client_that_leaves_ends_the_stream_that_it_was_sent() -> None:
    ended = asyncio.Event()

    async def endless() -> AsyncIterator[bytes]:
        try:
            while True:
                yield bytes(65536)
        finally:
            ended.set()

    async def answer(request: IncomingRequest) -> OutgoingResponse:
        return OutgoingResponse(200, body=endless())

    async def check(one: Served) -> None:
        reader, writer = await one.connect()
        writer.write(GET % b"")
        await reader.readexactly(100_000)
        assert not ended.is_set()
        writer.transport.abort()
        await ended.wait()

    served(check, FakeWorker(answer))


def test_what_is_not_http_is_refused() -> None:
    async def check(one: Served) -> None:
        reader, writer = await one.connect()
        writer.write(b"nonsense\r\n\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 400 Bad Request\r\n")
        writer.close()

    served(check)


def test_outdated_code_gives_a_new_request_away_with_its_bytes() -> None:
    async def check(one: Served) -> None:
        reader, writer = await one.connect()
        writer.write(GET % b"")
        await reader.readexactly(len(HELLO))
        one.gate.is_closed = True
        writer.write(GET % b"new")
        await one.gate.on_give.wait()
        [(fd, data)] = one.gate.given
        assert data == GET % b"new"
        one.gate.is_closed = False
        await one.server.adopt(fd, data)  # as the next process does
        assert await reader.readexactly(len(HELLO)) == HELLO
        writer.write(GET % b"")
        assert await reader.readexactly(len(HELLO)) == HELLO
        writer.close()

    served(check)


def test_retiring_gives_idle_connections_away_and_busy_ones_after_their_answer() -> None:
    release, begun = asyncio.Event(), asyncio.Event()

    async def answer(request: IncomingRequest) -> OutgoingResponse:
        if request.url.endswith("/slow"):
            begun.set()
            await release.wait()
        return OutgoingResponse(200, headers=[("content-type", "text/plain")], body=b"hello")

    async def check(one: Served) -> None:
        idle_reader, idle = await one.connect()
        idle.write(GET % b"")
        await idle_reader.readexactly(len(HELLO))
        busy_reader, busy = await one.connect()
        busy.write(GET % b"slow")
        await begun.wait()
        one.gate.is_retired = True
        one.server.retire()
        assert [data for _, data in one.gate.given] == [b""]
        one.gate.on_give.clear()
        release.set()
        assert await busy_reader.readexactly(len(HELLO)) == HELLO
        await one.gate.on_give.wait()
        assert [data for _, data in one.gate.given] == [b"", b""]
        await one.server.drained()
        for fd, _ in one.gate.given:
            os.close(fd)
        idle.close()
        busy.close()

    served(check, FakeWorker(answer))
