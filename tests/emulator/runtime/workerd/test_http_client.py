"""The client of workerd's sockets: what goes out, what comes back, and when a connection can be used again."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.emulator.runtime.workerd.sockets import OK, SSE, Side, chunks, once, served, text, turns, twice

from flarebed.emulator.runtime.workerd.folder import made, removed
from flarebed.emulator.runtime.workerd.http_client import HttpClient, LostConnection


async def test_an_answer_and_the_connection_kept() -> None:
    async with served(twice) as server:
        answer = await server.get("http://h/%7e?a=%20")
        assert (answer.status, answer.reason, answer.body) == (200, "OK", b"hello")
        assert answer.headers == [("content-length", "5"), ("x-a", "1"), ("x-a", "é")]
        assert (await server.get()).body == b"hello"
        assert len(server.sides) == 1


async def test_the_request_as_it_goes_out() -> None:
    heads = []

    async def script(side: Side) -> None:
        heads.append(await side.head())
        await side.answer()
        heads.append(await side.head())
        heads.append([(await side.reader.readexactly(18)).decode()])
        await side.answer()
        heads.append(await side.head())
        heads.append([(await side.reader.readexactly(4)).decode()])
        await side.answer()
        await side.gone()

    async with served(script) as server:
        await server.client.send("PATCH", "http://h/a b", [("x", "é"), ("x", "2")], b"")
        await server.client.send("POST", "/", [], chunks(b"ab", b"", b"c"))
        await server.client.send("PUT", "/", [("content-length", "4")], chunks(b"ab", b"cd"))
    assert heads == [
        ["PATCH http://h/a b HTTP/1.1", "x: é", "x: 2", "content-length: 0"],
        ["POST / HTTP/1.1", "transfer-encoding: chunked"],
        ["2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"],
        ["PUT / HTTP/1.1", "content-length: 4"],
        ["abcd"],
    ]


@pytest.mark.parametrize(
    ("method", "data"),
    [
        ("HEAD", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"),
        ("GET", b"HTTP/1.1 204 No Content\r\n\r\n"),
        ("GET", b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"),
    ],
)
async def test_answers_without_a_body_leave_the_connection(method: str, data: bytes) -> None:
    async def script(side: Side) -> None:
        await side.head()
        await side.answer(data)
        await once(side)

    async with served(script) as server:
        assert (await server.client.send(method, "/", [])).body == b""
        assert (await server.get()).body == b"hello"


async def test_an_interim_answer_is_passed_over() -> None:
    async def script(side: Side) -> None:
        await side.head()
        await side.answer(b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n")
        await side.answer()
        await side.gone()

    async with served(script) as server:
        answer = await server.get()
        assert (answer.status, answer.reason, answer.body) == (200, "OK", b"hello")
        assert ("link", "x") not in answer.headers


async def test_a_stream_chunk_by_chunk() -> None:
    go_on = asyncio.Event()

    async def script(side: Side) -> None:
        await side.head()
        await side.answer(SSE + b"3\r\none\r\n")
        await go_on.wait()
        await side.answer(b"3\r\ntwo\r\n0\r\nx-trailer: 1\r\n\r\n")
        await once(side)

    async with served(script) as server:
        answer = await server.get()
        assert await anext(answer.body) == b"one"
        go_on.set()
        assert await text(answer.body) == b"two"
        assert answer.headers == [("transfer-encoding", "chunked")]
        assert (await server.get()).body == b"hello"


async def test_what_nobody_reads_stays_with_the_sender() -> None:
    sent = 0

    async def script(side: Side) -> None:
        nonlocal sent
        await side.head()
        await side.answer(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            while True:
                await side.answer(bytes(1 << 16))
                sent += 1 << 16

    async with served(script) as server:
        answer = await server.get()
        await anext(answer.body)
        last = -1
        while sent != last:  # until nothing more goes through
            last = sent
            await turns()
        assert 0 < sent < 2_000_000
        await answer.body.aclose()


async def test_a_body_is_asked_for_as_fast_as_it_is_taken() -> None:
    asked = 0
    go_on = asyncio.Event()

    async def body() -> AsyncIterator[bytes]:
        nonlocal asked
        for _ in range(300):
            asked += 1
            yield bytes(1 << 16)

    async def script(side: Side) -> None:
        await side.head()
        await go_on.wait()
        await side.reader.readexactly(300 << 16)
        await once_more(side)

    async def once_more(side: Side) -> None:
        await side.answer()
        await side.gone()

    async with served(script) as server:
        sending = asyncio.ensure_future(server.client.send("POST", "/", [("content-length", str(300 << 16))], body()))
        await turns()
        assert 0 < asked < 50
        go_on.set()
        assert (await sending).body == b"hello"
        assert asked == 300


async def test_an_answer_before_the_body_is_read_ends_the_connection() -> None:
    async def endless() -> AsyncIterator[bytes]:
        while True:
            await turns()
            yield b"x"

    async def script(side: Side) -> None:
        await side.head()
        await side.answer()
        assert await side.gone()

    async with served(script, once) as server:
        assert (await server.client.send("POST", "/", [], endless())).body == b"hello"
        assert (await server.get()).body == b"hello"


async def test_a_body_that_fails_is_the_senders_error() -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"x"
        raise KeyError("mine")

    async def script(side: Side) -> None:
        await side.head()
        assert await side.gone()

    async with served(script) as server:
        with pytest.raises(KeyError, match="mine"):
            await server.client.send("POST", "/", [], broken())


async def test_a_cancelled_request_hangs_up() -> None:
    asked = asyncio.Event()

    async def script(side: Side) -> None:
        await side.head()
        asked.set()
        assert await side.gone()

    async with served(script, once) as server:
        sending = asyncio.ensure_future(server.get())
        await asked.wait()
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        assert (await server.get()).body == b"hello"


@pytest.mark.parametrize("reads", [0, 1])
async def test_a_stream_that_is_let_go_hangs_up(reads: int) -> None:
    async def script(side: Side) -> None:
        await side.head()
        await side.answer(SSE + b"3\r\none\r\n")
        assert await side.gone()

    async with served(script) as server:
        answer = await server.get()
        for _ in range(reads):
            await anext(answer.body)
        await answer.body.aclose()
        await answer.body.aclose()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"HTTP/1.1 200 OK\r\ncontent-le",
        b"no HTTP at all\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n",
    ],
)
async def test_no_answer(data: bytes) -> None:
    async def script(side: Side) -> None:
        await side.head()
        await side.answer(data)

    async with served(script) as server:
        with pytest.raises(LostConnection, match=r"^Network connection lost\.$"):
            await server.get()


async def test_a_stream_that_breaks_off() -> None:
    async def script(side: Side) -> None:
        await side.head()
        await side.answer(SSE + b"3\r\none\r\n")

    async with served(script) as server:
        answer = await server.get()
        assert await anext(answer.body) == b"one"
        with pytest.raises(LostConnection):
            await anext(answer.body)
        await answer.body.aclose()


async def test_more_than_was_asked_for_ends_the_connection() -> None:
    async def script(side: Side) -> None:
        await side.head()
        await side.answer(OK + OK)
        assert await side.gone()

    async with served(script, once) as server:
        with pytest.raises(LostConnection):
            await server.get()
        assert (await server.get()).body == b"hello"


async def test_an_answer_that_closes() -> None:
    async def script(side: Side) -> None:
        await side.head()
        await side.answer(b"HTTP/1.1 500 Internal Server Error\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno")

    async with served(script, once) as server:
        assert (await server.get()).body == b"no"
        assert (await server.get()).body == b"hello"


async def closes_after_one(side: Side) -> None:
    await side.head()
    await side.answer()
    await side.head()


async def test_a_kept_connection_that_was_closed_is_replaced_for_what_is_safe() -> None:
    async with served(closes_after_one, once) as server:
        await server.get()
        assert (await server.get()).body == b"hello"
        assert len(server.sides) == 2


@pytest.mark.parametrize("body", [None, b"x"])
async def test_what_may_have_been_done_is_not_done_again(body: bytes | None) -> None:
    async with served(closes_after_one) as server:
        await server.get()
        with pytest.raises(LostConnection):
            await server.client.send("POST", "/", [], body)


async def test_what_took_its_time_is_not_done_again(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()
    time = loop.time
    later_s = 0.0

    async def script(side: Side) -> None:
        nonlocal later_s
        await closes_after_one(side)
        later_s = 1.0

    async with served(script) as server:
        await server.get()
        monkeypatch.setattr(loop, "time", lambda: time() + later_s)
        with pytest.raises(LostConnection):
            await server.get()


async def test_a_connection_that_was_idle_for_long_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()
    async with served(once, once) as server:
        await server.get()
        time = loop.time
        monkeypatch.setattr(loop, "time", lambda: time() + 4.5)
        assert (await server.client.send("POST", "/", [], b"x")).body == b"hello"


async def test_idle_connections_are_dropped_when_the_other_end_is_gone() -> None:
    async with served(once, once) as server:
        await server.get()
        server.client.drop_idle()
        assert (await server.client.send("POST", "/", [], b"x")).body == b"hello"


async def test_as_many_connections_as_requests_at_once() -> None:
    async with served(once, once, once) as server:
        answers = await asyncio.gather(*[server.get() for _ in range(3)])
        assert [answer.body for answer in answers] == [b"hello"] * 3


async def test_while_nobody_listens_a_request_waits() -> None:
    loop = asyncio.get_running_loop()
    folder = made()
    listening = asyncio.Event()
    listening.set()
    client = HttpClient(str(folder / "s"), loop, listening)
    waiting = asyncio.ensure_future(client.send("GET", "/", []))
    while listening.is_set():
        await turns()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(OK)
        writer.close()

    server = await asyncio.start_unix_server(answer, folder / "s")
    assert not waiting.done()
    listening.set()
    assert (await waiting).body == b"hello"
    server.close()
    client.close()
    await turns()
    removed(folder)


async def test_closed_it_answers_nobody() -> None:
    listening = asyncio.Event()
    client = HttpClient("/nowhere/at/all", asyncio.get_running_loop(), listening)
    waiting = asyncio.ensure_future(client.send("GET", "/", []))
    await turns()
    client.close()
    listening.set()
    with pytest.raises(LostConnection):
        await waiting


async def test_an_upgrade_hands_the_connection_over() -> None:
    class Taker(asyncio.Protocol):
        def __init__(self) -> None:
            self.data = b""

        def connection_made(self, transport: Any) -> None:
            self.transport = transport

        def data_received(self, data: bytes) -> None:
            self.data += data

    async def script(side: Side) -> None:
        await side.head()
        await side.answer(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nfirst")
        assert await side.reader.readexactly(4) == b"mine"
        await side.answer(b"second")
        assert await side.gone()

    async with served(script) as server:
        answer = await server.get()
        taker = Taker()
        assert (answer.status, answer.upgraded is not None) == (101, True)
        answer.upgraded(taker)
        taker.transport.write(b"mine")
        while taker.data != b"firstsecond":
            await turns()
        taker.transport.abort()
