"""Byte streams between the host and a Worker: bodies that go out, values of engines, and what keeps an event alive."""

from __future__ import annotations

import asyncio
import gzip
from types import SimpleNamespace
from typing import Any

import pytest
from tests.emulator.runtime.python.harness import Harness
from tests.emulator.runtime.python.js.worker import raised, read_all, view
from tests.support import run

from flarebed.bindings.errors import JsError
from flarebed.emulator.runtime.http import IncomingRequest, OutgoingResponse
from flarebed.emulator.runtime.python.ffi import to_js
from flarebed.emulator.runtime.python.js.globals import exports
from flarebed.emulator.runtime.python.js.readable import ReadableStream
from flarebed.emulator.runtime.python.js.request import Request
from flarebed.emulator.runtime.python.promise import start
from flarebed.emulator.runtime.python.proxy import from_python, to_python

js = SimpleNamespace(**exports())


async def answered(worker: Harness, make: Any) -> tuple[OutgoingResponse, Any]:
    """The response of an event as the server gets it, and the event's context."""
    io = worker.context()

    async def code() -> OutgoingResponse:
        response = make()
        outgoing: OutgoingResponse = (await response if asyncio.iscoroutine(response) else response).outgoing(io)
        return outgoing

    return await worker.start(code(), io), io


async def drained(body: Any) -> list[bytes]:
    return [chunk async for chunk in body]


def stream(pull: Any, **options: Any) -> Any:
    return js.ReadableStream.new(pull=pull, **options)


def pieces(*parts: bytes) -> Any:
    rest = iter(parts)

    async def pull(controller: Any) -> None:
        await asyncio.sleep(0)
        part = next(rest, None)
        if part is None:
            controller.close()
        else:
            controller.enqueue(view(part))

    return stream(pull)


def test_a_body_of_bytes_goes_out_as_it_is_and_the_event_is_over() -> None:
    async def hosted() -> None:
        outgoing, io = await answered(Harness(), lambda: js.Response.new("hi", status=201, statusText="Made"))
        headers = [("content-type", "text/plain;charset=UTF-8")]
        assert outgoing == OutgoingResponse(201, "Made", headers, b"hi")
        assert io.closed

    run(hosted())


def test_a_streamed_body_keeps_its_event_alive_until_it_is_sent() -> None:
    async def hosted() -> None:
        outgoing, io = await answered(Harness(), lambda: js.Response.new(pieces(b"one", b"two")))
        assert not io.closed
        assert await drained(outgoing.body) == [b"one", b"two"]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert io.closed

    run(hosted())


def test_a_worker_is_asked_for_a_chunk_only_when_the_client_took_the_last() -> None:
    async def hosted() -> None:
        log: list[int] = []

        def pull(controller: Any) -> None:
            log.append(len(log))
            controller.enqueue(view(b"x"))

        worker = Harness()
        outgoing, io = await answered(worker, lambda: js.Response.new(stream(pull)))
        await worker.clock.settle()
        assert len(log) == 1  # the stream's own high water mark
        body: Any = outgoing.body
        await anext(body)
        await worker.clock.settle()
        assert len(log) == 2
        assert not io.closed

    run(hosted())


def test_a_client_that_leaves_cancels_the_stream() -> None:
    async def hosted() -> None:
        reasons: list[Any] = []
        worker = Harness()

        def pull(controller: Any) -> None:
            controller.enqueue(view(b"x"))

        outgoing, io = await answered(worker, lambda: js.Response.new(stream(pull, cancel=reasons.append)))
        body: Any = outgoing.body
        await anext(body)
        await body.aclose()
        await worker.clock.settle()
        assert (list(map(str, reasons)), io.closed) == (["Error: Network connection lost."], True)

    run(hosted())


@pytest.mark.parametrize(
    ("pull", "complaint"),
    [
        (lambda controller: controller.error(js.Error.new("broken")), "Error: broken"),
        (lambda controller: controller.enqueue("text"), "TypeError: This ReadableStream did not return bytes."),
        (lambda _controller: None, "Error: Network connection lost."),
    ],
    ids=["error", "text", "nothing more can happen"],
)
def test_a_body_that_breaks(pull: Any, complaint: str) -> None:
    async def hosted() -> None:
        outgoing, io = await answered(Harness(), lambda: js.Response.new(stream(pull)))
        with pytest.raises(JsError) as caught:
            await drained(outgoing.body)
        assert str(caught.value) == complaint
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert io.closed

    run(hosted())


def test_what_is_received_and_not_read_is_passed_on_by_the_host_alone() -> None:
    async def hosted() -> None:
        async def chunks() -> Any:
            yield b"a"
            yield b"b"

        def make() -> Any:
            request = Request.incoming(IncomingRequest("POST", "http://h/", [], chunks()))
            return js.Response.new(request.body)

        outgoing, io = await answered(Harness(), make)
        assert io.closed
        assert await drained(outgoing.body) == [b"a", b"b"]

    run(hosted())


def test_content_length_is_known_of_bytes_and_of_fixed_length_streams() -> None:
    async def hosted() -> None:
        def fixed() -> Any:
            made = js.FixedLengthStream.new(5)
            writer = made.writable.getWriter()
            writer.write(view(b"hello"))
            writer.close()
            return js.Response.new(made.readable)

        for make in (fixed, lambda: js.Response.new(js.Blob.new(["hello"]).stream())):
            outgoing, _ = await answered(Harness(), make)
            assert outgoing.headers == [("content-length", "5")]
            assert await drained(outgoing.body) == [b"hello"]

    run(hosted())


def test_a_body_with_an_encoding_is_encoded_on_its_way_out() -> None:
    async def hosted() -> None:
        headers = {"content-encoding": "gzip"}
        whole, _ = await answered(Harness(), lambda: js.Response.new("plain", headers=to_js(headers)))
        assert isinstance(whole.body, bytes)
        assert gzip.decompress(whole.body) == b"plain"
        streamed, _ = await answered(Harness(), lambda: js.Response.new(pieces(b"pl", b"ain"), headers=to_js(headers)))
        assert gzip.decompress(b"".join(await drained(streamed.body))) == b"plain"
        manual, _ = await answered(
            Harness(), lambda: js.Response.new("packed", headers=to_js(headers), encodeBody="manual")
        )
        assert manual.body == b"packed"

    run(hosted())


def test_what_cannot_go_out() -> None:
    async def hosted() -> None:
        worker = Harness()

        async def code() -> list[str]:
            io = worker.context()
            used = js.Response.new("x")
            await used.text()
            return [raised(used.outgoing, io), raised(js.Response.error().outgoing, io)]

        assert await worker.run(code()) == [
            "TypeError: Body has already been used. It can only be used once. Use tee() first if you need to read it "
            "twice.",
            "TypeError: Return value from serve handler must not be an error response (like Response.error())",
        ]

    run(hosted())


def test_a_stream_crosses_into_an_engine_and_back() -> None:
    async def hosted() -> None:
        worker = Harness()

        async def code() -> Any:
            original = pieces(b"one", b"two")
            crossed = from_python(original)
            held = to_python({"stream": crossed})
            same = held.stream is original
            read: asyncio.Task[Any] = worker.clock.spawn(drained(crossed), "an engine")
            await asyncio.sleep(1)
            return same, read.result(), original.locked

        assert await worker.run(code()) == (True, [b"one", b"two"], True)

    run(hosted())


def test_what_the_network_gives_an_engine_reads_on_the_host_s_loop() -> None:
    async def hosted() -> None:
        async def chunks() -> Any:
            assert asyncio.current_task() is not None
            yield b"one"

        async def engine(value: Any) -> str:
            return b"".join(await drained(value)).decode()

        async def code() -> Any:
            return await start(engine(from_python(ReadableStream.of_host(chunks()))))

        assert await Harness().run(code()) == "one"

    run(hosted())


def test_an_engine_hears_of_a_locked_stream() -> None:
    async def hosted() -> None:
        async def code() -> str:
            original = pieces(b"x")
            original.getReader()
            with pytest.raises(JsError) as caught:
                aiter(from_python(original))
            return str(caught.value)

        assert await Harness().run(code()) == "TypeError: This ReadableStream is currently locked to a reader."

    run(hosted())


def test_a_stream_of_an_engine_in_a_worker() -> None:
    async def hosted() -> None:
        async def chunks() -> Any:
            yield b"one"
            yield b"two"

        async def code() -> Any:
            return await read_all(ReadableStream.of_host(chunks()))

        assert await Harness().run(code()) == [b"one", b"two"]

    run(hosted())


def test_a_failing_stream_of_the_host() -> None:
    async def hosted() -> None:
        async def chunks() -> Any:
            yield b"one"
            raise JsError("Network connection lost.")

        async def code() -> Any:
            reader = ReadableStream.of_host(chunks()).getReader()
            first = (await reader.read()).value.to_bytes()
            try:
                await reader.read()
            except Exception as error:
                return first, str(error)

        assert await Harness().run(code()) == (b"one", "Error: Network connection lost.")

    run(hosted())
