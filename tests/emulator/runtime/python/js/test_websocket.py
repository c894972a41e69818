"""WebSocketPair between a Worker and the server's pump, and outbound WebSockets over a real socket."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from tests.emulator.runtime.python.harness import Harness
from tests.emulator.runtime.python.js.worker import FLAGS, in_worker, raised, view
from tests.support import run
from websockets.asyncio.server import serve

from flarebed.emulator.runtime.http import Close
from flarebed.emulator.runtime.python.ffi import to_js
from flarebed.emulator.runtime.python.js.globals import exports
from flarebed.emulator.runtime.python.proxy import jsnull

js = SimpleNamespace(**exports())
NOT_ACCEPTED = (
    "TypeError: You must call one of accept() or state.acceptWebSocket() on this WebSocket before sending messages."
)


def logging(socket: Any) -> list[Any]:
    """The events of a socket as they come."""
    log: list[Any] = []
    socket.addEventListener("open", lambda _event: log.append("open"))
    socket.addEventListener("message", lambda event: log.append(event.data))
    socket.addEventListener("close", lambda event: log.append((event.code, event.reason, event.wasClean)))
    socket.addEventListener("error", lambda event: log.append(("error", event.message)))
    return log


def test_a_pair() -> None:
    async def code() -> Any:
        pair = js.WebSocketPair.new()
        one, two = pair.object_values()
        assert [one, two] == list(pair) == [pair[0], getattr(pair, "1")]
        two.binaryType = "arraybuffer"
        one.accept()
        two.accept()
        log = logging(two)
        one.send("text")
        one.send(view(b"bytes"))
        one.send(5)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        states = [one.readyState]
        one.close(1000, "done")
        states.append(one.readyState)
        await asyncio.sleep(1)
        two.close()
        await asyncio.sleep(1)
        return [item.to_bytes() if hasattr(item, "to_bytes") else item for item in log], [*states, two.readyState]

    assert in_worker(code) == (["text", b"bytes", "5", (1000, "done", True)], [1, 2, 3])


def test_messages_wait_until_the_other_end_accepts() -> None:
    async def code() -> Any:
        one, two = js.WebSocketPair.new()
        one.accept()
        one.send("early")
        log = logging(two)
        two.accept()
        await asyncio.sleep(1)
        return log, type(one).js_name, one.url, one.protocol

    assert in_worker(code) == (["early"], "WebSocket", jsnull, jsnull)


@pytest.mark.parametrize(("flags", "kind"), [(FLAGS, "blob"), (frozenset(), "arraybuffer")])
def test_the_form_of_binary_messages_depends_on_the_date(flags: Any, kind: str) -> None:
    async def code() -> Any:
        one, two = js.WebSocketPair.new()
        one.accept()
        two.accept()
        log = logging(two)
        one.send(js.Blob.new(["x"]))
        await asyncio.sleep(1)
        return two.binaryType, type(log[0]).js_name.lower()

    assert in_worker(code, flags=flags) == (kind, kind)


def test_complaints() -> None:
    async def code(worker: Harness) -> list[str]:
        one, two = js.WebSocketPair.new()
        texts = [raised(one.send, "x"), raised(one.close)]
        one.accept()
        texts += [raised(one.close, code) for code in (999, 1005, 5000)]
        texts += [
            raised(one.close, 1000, "x" * 124),
            raised(one.close, None, "why"),
            raised(one.hand_over, worker.context()),
        ]
        one.close()
        one.close()
        texts.append(raised(one.send, "x"))
        two.hand_over(worker.context())
        return [*texts, raised(two.accept), raised(two.hand_over, worker.context())]

    assert in_worker(code) == [
        NOT_ACCEPTED,
        NOT_ACCEPTED,
        "InvalidAccessError: Invalid WebSocket close code: 999.",
        "InvalidAccessError: Invalid WebSocket close code: 1005.",
        "InvalidAccessError: Invalid WebSocket close code: 5000.",
        "SyntaxError: WebSocket close reason must not be longer than 123 bytes when UTF-8 encoded.",
        "InvalidAccessError: If you specify a WebSocket close reason, you must also specify a code.",
        "TypeError: Can't return WebSocket in a Response after calling accept().",
        "TypeError: Can't call WebSocket send() after close().",
        "TypeError: Can't accept() WebSocket that was already used in a response.",
        "TypeError: Can't return WebSocket that was already used in a response.",
    ]


def test_attachments() -> None:
    async def code() -> Any:
        one, _ = js.WebSocketPair.new()
        before = one.deserializeAttachment()
        one.serializeAttachment(to_js({"a": [1]}))
        return before, one.deserializeAttachment().a[0], raised(one.serializeAttachment, "x" * 20_000)

    before, kept, complaint = in_worker(code)
    assert (before, kept) == (jsnull, 1)
    assert complaint.startswith("Error: A WebSocket 'attachment' cannot be larger than 16384 bytes.'attachment' was 20")


class Pumped:
    """An event that answered with one end of a pair; the test is the server."""

    def __init__(self, flags: frozenset[str] = FLAGS) -> None:
        self.worker = Harness()
        self.worker.services.flags = flags
        self.io = self.worker.context()
        self.log: list[Any] = []

    async def begin(self) -> Any:
        async def code() -> Any:
            client, self.end = js.WebSocketPair.new()
            self.end.accept()
            self.log = logging(self.end)
            self.end.addEventListener("message", lambda event: self.end.send(f"echo {event.data}"))
            return js.Response.new(None, status=101, webSocket=client).outgoing(self.io)

        outgoing = await self.worker.start(code(), self.io)
        assert (outgoing.status, outgoing.body, self.io.closed) == (101, None, False)
        return outgoing.websocket


def test_the_server_pumps_the_client_end() -> None:
    async def hosted() -> None:
        pumped = Pumped()
        peer = await pumped.begin()
        peer.deliver("hi")
        assert await peer.receive() == "echo hi"
        peer.deliver_close(4000, "bye", True)
        await pumped.worker.clock.settle()
        assert pumped.log == ["hi", (4000, "bye", True)]
        assert pumped.io.closed

    run(hosted())


def test_a_close_by_the_worker_ends_with_the_client_s_answer() -> None:
    async def hosted() -> None:
        pumped = Pumped()
        peer = await pumped.begin()
        pumped.end.close(1001, "over")
        assert await peer.receive() == Close(1001, "over")
        assert not pumped.io.closed
        peer.deliver_close(1001, "over", True)
        await pumped.worker.clock.settle()
        assert (pumped.log, pumped.io.closed, pumped.end.readyState) == ([(1001, "over", True)], True, 3)

    run(hosted())


def test_a_client_that_is_gone_did_not_close_cleanly() -> None:
    async def hosted() -> None:
        pumped = Pumped()
        peer = await pumped.begin()
        peer.deliver_close(1006, "", False)
        await pumped.worker.clock.settle()
        assert pumped.log == [(1006, "WebSocket disconnected without sending Close frame.", False)]

    run(hosted())


def test_a_close_is_answered_by_itself_from_a_date_on() -> None:
    async def hosted() -> None:
        pumped = Pumped(FLAGS | {"web_socket_auto_reply_to_close"})
        peer = await pumped.begin()
        peer.deliver_close(4000, "bye", True)
        assert await peer.receive() == Close(4000, "bye")

    run(hosted())


# Outbound.


async def echo(connection: Any) -> None:
    async for message in connection:
        if message == "bye":
            await connection.close(4001, "as you wish")
        else:
            await connection.send(message)


async def with_server(code: Any) -> Any:
    """Run Worker code beside a WebSocket server on a real socket."""
    async with serve(echo, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        return await Harness().start(code(port))


def test_a_connection_of_the_worker_s_own() -> None:
    async def code(port: int) -> Any:
        arrived: asyncio.Queue[Any] = asyncio.Queue()
        socket = js.WebSocket.new(f"ws://127.0.0.1:{port}/path")
        socket.binaryType = "arraybuffer"
        states = [socket.readyState]
        socket.onopen = lambda event: arrived.put_nowait(event.type)
        socket.onmessage = lambda event: arrived.put_nowait(event.data)
        socket.onclose = lambda event: arrived.put_nowait((event.code, event.reason, event.wasClean))
        opened = await arrived.get()
        states.append(socket.readyState)
        socket.send("text")
        socket.send(view(b"bytes"))
        text, data = await arrived.get(), (await arrived.get()).to_bytes()
        socket.send("bye")
        return states, opened, text, data, await arrived.get(), socket.protocol

    assert run(with_server(code)) == ([0, 1], "open", "text", b"bytes", (4001, "as you wish", True), "")


def test_an_upgrade_by_fetch() -> None:
    async def code(port: int) -> Any:
        response = await js.fetch(f"http://127.0.0.1:{port}/", headers=to_js({"Upgrade": "websocket"}))
        socket = response.webSocket
        arrived: asyncio.Queue[Any] = asyncio.Queue()
        socket.addEventListener("message", lambda event: arrived.put_nowait(event.data))
        socket.accept()
        socket.send("hi")
        text = await arrived.get()
        socket.close(1000, "done")
        return response.status, text

    assert run(with_server(code)) == (101, "hi")


def test_a_connection_that_is_refused() -> None:
    async def code() -> Any:
        arrived: asyncio.Queue[Any] = asyncio.Queue()
        socket = js.WebSocket.new("ws://127.0.0.1:1/")
        socket.onerror = lambda event: arrived.put_nowait(event.message)
        socket.onclose = lambda event: arrived.put_nowait((event.code, event.reason, event.wasClean))
        return await arrived.get(), await arrived.get(), socket.readyState

    async def hosted() -> Any:
        return await Harness().start(code())

    assert run(hosted()) == (
        "Network connection lost.",
        (1006, "Failed to establish websocket connection", False),
        3,
    )


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("nope",), "The url is invalid."),
        (("http://h/",), "The url scheme must be ws or wss."),
        (("ws://h/#frag",), "The url fragment must be empty."),
        (("ws://h/", "a b"), "The protocol header token is invalid."),
        (("ws://h/", ["a", "b c"]), "One of the protocol header tokens is invalid."),
        (("ws://h/", ["a", "a"]), "The protocols header cannot have repeating values."),
    ],
)
def test_what_no_connection_can_be_made_to(arguments: Any, complaint: str) -> None:
    async def code() -> str:
        return raised(js.WebSocket.new, *arguments)

    assert in_worker(code) == f"SyntaxError: WebSocket Constructor: {complaint}"


def test_the_constants() -> None:
    assert (js.WebSocket.CONNECTING, js.WebSocket.OPEN, js.WebSocket.CLOSING, js.WebSocket.CLOSED) == (0, 1, 2, 3)
