"""WebSockets of a JavaScript Worker, through the real workerd."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from tests.emulator.runtime.workerd.serving import Serving, serving, turns

from flarebed.emulator.runtime.http import Close, OutgoingResponse, WebSocketPeer

WORKER = """
export default {
  fetch(request) {
    if (request.url.endsWith("/no")) return Response.json([...request.headers], { status: 403 });
    const { 0: client, 1: server } = new WebSocketPair();
    server.binaryType = "arraybuffer";
    server.accept();
    server.addEventListener("message", ({ data }) => {
      if (typeof data !== "string") server.send(data);
      else if (data === "close") server.close(4001, "as you wish");
      else if (data === "bare") server.close();
      else if (data === "throw") throw new Error("in a listener");
      else if (data.startsWith("large")) server.send("x".repeat(Number(data.slice(5))));
      else if (data === "many") for (let i = 0; i < 1000; i++) server.send(String(i));
      else server.send(`echo ${data}`);
    });
    server.addEventListener("close", ({ code, reason, wasClean }) => {
      console.log(`closed ${code} ${reason} ${wasClean}`);
    });
    const headers = { "sec-websocket-protocol": "chat", "x-a": "1" };
    return new Response(null, { status: 101, webSocket: client, headers });
  },
};
"""
UPGRADE = (
    ("upgrade", "websocket"),
    ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ("sec-websocket-version", "13"),
    ("sec-websocket-extensions", "permessage-deflate"),
    ("sec-websocket-protocol", "chat, other"),
)


@pytest.fixture(scope="module")
def served() -> Iterator[Serving]:
    with serving({}, {"index.js": WORKER}) as serving_it:
        yield serving_it


async def opened(served: Serving) -> WebSocketPeer:
    response = await served.fetch("/", headers=UPGRADE)
    assert response.websocket is not None
    return response.websocket


def said(served: Serving, *messages: str | bytes) -> list[Any]:
    """What comes back for the messages, one each."""

    async def talk() -> list[Any]:
        peer = await opened(served)
        answers = []
        for message in messages:
            peer.deliver(message)
            answers.append(await peer.receive())
        peer.deliver_close(1000, "", True)
        return answers

    return served.run(talk())


def test_the_upgrade(served: Serving) -> None:
    async def upgrade() -> OutgoingResponse:
        response = await served.fetch("/", headers=UPGRADE)
        assert response.websocket is not None
        response.websocket.deliver_close(1000, "", True)
        return response

    response = served.run(upgrade())
    assert (response.status, response.body) == (101, None)
    assert {("sec-websocket-protocol", "chat"), ("x-a", "1")} <= set(response.headers)
    assert not [value for name, value in response.headers if name == "sec-websocket-extensions"]


def test_a_refusal_is_an_ordinary_answer(served: Serving) -> None:
    response = served.run(served.fetch("/no", headers=UPGRADE))
    assert (response.status, response.websocket) == (403, None)
    assert served.run(served.fetch("/no")).status == 403


def test_messages(served: Serving) -> None:
    assert said(served, "a", "h\u00e9", "", b"\x00\xff", b"") == ["echo a", "echo h\u00e9", "echo ", b"\x00\xff", b""]


def test_large_messages(served: Serving) -> None:
    data = bytes(range(256)) * 20_000
    text, back = said(served, "large3000000", data)
    assert len(text) == 3_000_000
    assert back == data


def test_many_messages_in_their_order(served: Serving) -> None:
    async def talk() -> list[Any]:
        peer = await opened(served)
        peer.deliver("many")
        received = [await peer.receive() for _ in range(1000)]
        peer.deliver_close(1000, "", True)
        return received

    assert served.run(talk()) == [str(number) for number in range(1000)]


@pytest.mark.parametrize(
    ("message", "close"), [("close", Close(4001, "as you wish")), ("bare", Close()), ("throw", Close(1006))]
)
def test_the_worker_ends_it(served: Serving, message: str, close: Close) -> None:
    async def talk() -> Any:
        peer = await opened(served)
        peer.deliver(message)
        received = await peer.receive()
        peer.deliver("nobody hears it")
        peer.deliver_close(1000, "", True)
        return received

    assert served.run(talk()) == close


@pytest.mark.parametrize(
    ("code", "clean", "heard", "back"),
    [
        (4444, True, "closed 4444 why true", Close(4444, "why")),
        (1005, True, "closed 1005  true", None),
        (1006, False, "closed 1006 WebSocket disconnected without sending Close frame. false", None),
    ],
)
def test_the_client_ends_it(served: Serving, code: int, clean: bool, heard: str, back: Close | None) -> None:
    async def talk() -> None:
        peer = await opened(served)
        peer.deliver_close(code, "why" if code == 4444 else "", clean)
        await served.until_logged("log", heard)
        if back is not None:
            assert await peer.receive() == back

    served.run(talk())


def test_what_nobody_receives_stays_with_the_worker(served: Serving) -> None:
    async def talk() -> None:
        peer: Any = await opened(served)
        for _ in range(40):
            peer.deliver("large1000000")
        await turns(100)
        assert peer._received.qsize() < 10
        for _ in range(40):
            assert len(await peer.receive()) == 1_000_000
        peer.deliver_close(1000, "", True)

    served.run(talk())


def test_a_listener_that_throws_is_logged(served: Serving) -> None:
    async def talk() -> None:
        del served.logged[:]
        peer = await opened(served)
        peer.deliver("throw")
        await peer.receive()
        await served.until_logged("error", "Uncaught Error: in a listener\n    at ")

    served.run(talk())


def test_an_end_of_workerd_ends_it(served: Serving) -> None:
    async def talk() -> Any:
        peer = await opened(served)
        received = asyncio.ensure_future(peer.receive())
        await served.app.close()
        return await received

    assert served.run(talk()) == Close(1006)
