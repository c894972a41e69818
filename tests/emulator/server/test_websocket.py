"""WebSockets, through a real client in process."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from flarebed.emulator.runtime.http import Close, IncomingRequest, OutgoingResponse
from tests.emulator.server.asking import FakeWorker
from tests.emulator.server.test_http import Served, served


@dataclass
class Echo:
    """A Worker's end that says everything again, and closes on "bye"."""

    outward: asyncio.Queue[str | bytes | Close] = field(default_factory=asyncio.Queue)
    closed: asyncio.Queue[tuple[int, str, bool]] = field(default_factory=asyncio.Queue)

    async def receive(self) -> str | bytes | Close:
        return await self.outward.get()

    def deliver(self, data: str | bytes) -> None:
        self.outward.put_nowait(Close(4000, "as you say") if data == "bye" else data)

    def deliver_close(self, code: int, reason: str, was_clean: bool) -> None:
        self.closed.put_nowait((code, reason, was_clean))


def worker(echo: Echo, requests: list[IncomingRequest]) -> FakeWorker:
    async def answer(request: IncomingRequest) -> OutgoingResponse:
        requests.append(request)
        if request.url.endswith("/refuse"):
            return OutgoingResponse(403, headers=[("x-why", "no")], body=b"not you")
        headers = [("X-A", "1"), ("Sec-WebSocket-Protocol", "chat")]
        return OutgoingResponse(101, headers=headers, websocket=echo)

    return FakeWorker(answer)


def test_messages_go_both_ways_and_the_upgrade_is_a_request() -> None:
    requests: list[IncomingRequest] = []

    async def check(one: Served) -> None:
        url = f"ws://127.0.0.1:{one.port}/ws?room=1"
        async with connect(url, subprotocols=["other", "chat"]) as client:  # type: ignore[list-item]
            assert client.subprotocol == "chat"
            assert client.response is not None
            assert client.response.headers["X-A"] == "1"
            await client.send("text ☃")
            assert await client.recv() == "text ☃"
            await client.send(b"\x00\xff")
            assert await client.recv() == b"\x00\xff"
        assert requests[0].url == url.replace("ws:", "http:")
        assert ("upgrade", "websocket") in requests[0].headers
        assert requests[0].body is None

    served(check, worker(Echo(), requests))


def test_the_workers_close_reaches_the_client() -> None:
    async def check(one: Served) -> None:
        async with connect(f"ws://127.0.0.1:{one.port}/", subprotocols=["chat"]) as client:  # type: ignore[list-item]
            await client.send("bye")
            with pytest.raises(ConnectionClosed) as closed:
                await client.recv()
        assert closed.value.rcvd is not None
        assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (4000, "as you say")

    served(check, worker(Echo(), []))


def test_the_clients_close_reaches_the_worker() -> None:
    echo = Echo()

    async def check(one: Served) -> None:
        client = await connect(f"ws://127.0.0.1:{one.port}/", subprotocols=["chat"])  # type: ignore[list-item]
        await client.close(4001, "done")
        assert await echo.closed.get() == (4001, "done", True)

    served(check, worker(echo, []))


def test_a_client_that_is_gone_is_an_unclean_close() -> None:
    echo = Echo()

    async def check(one: Served) -> None:
        client = await connect(f"ws://127.0.0.1:{one.port}/", subprotocols=["chat"])  # type: ignore[list-item]
        client.transport.abort()
        assert await echo.closed.get() == (1006, "", False)

    served(check, worker(echo, []))


def test_a_worker_may_refuse() -> None:
    async def check(one: Served) -> None:
        with pytest.raises(InvalidStatus) as refused:
            await connect(f"ws://127.0.0.1:{one.port}/refuse")
        assert refused.value.response.status_code == 403
        assert refused.value.response.headers["x-why"] == "no"
        assert refused.value.response.body == b"not you"

    served(check, worker(Echo(), []))
