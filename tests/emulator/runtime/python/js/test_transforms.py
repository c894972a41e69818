"""Transforms and pipes among Worker code, and the texts of their complaints."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from tests.emulator.runtime.python.js.worker import counting, in_worker, raised, read_all, thrown, view

from flarebed.emulator.runtime.python.js.globals import exports

js = SimpleNamespace(**exports())


def test_a_write_to_a_transform_waits_for_a_reader() -> None:
    async def code() -> Any:
        stream = js.TransformStream.new()
        writer = stream.writable.getWriter()
        log: list[Any] = []

        async def write() -> None:
            for chunk in "abc":
                await writer.write(chunk)
                log.append(chunk)
            await writer.close()

        writing = asyncio.ensure_future(write())
        await asyncio.sleep(1)
        before = list(log)
        reader = stream.readable.getReader()
        first = (await reader.read()).value
        await asyncio.sleep(1)
        between = list(log)
        rest = [(await reader.read()).value, (await reader.read()).value, (await reader.read()).done]
        await writing
        return before, first, between, rest

    assert in_worker(code) == ([], "a", ["a"], ["b", "c", True])


def test_a_transformer() -> None:
    async def code() -> Any:
        def transform(chunk: Any, controller: Any) -> None:
            controller.enqueue(chunk * 2)
            controller.enqueue(-chunk)

        doubled = js.TransformStream.new(transform=transform, flush=lambda controller: controller.enqueue("end"))
        return [item async for item in counting(2).pipeThrough(doubled)]

    assert in_worker(code) == [2, -1, 4, -2, "end"]


def test_a_failing_transformer_fails_both_sides() -> None:
    async def code() -> list[str]:
        def transform(_chunk: Any, _controller: Any) -> None:
            raise js.Error.new("bad chunk")

        stream = js.TransformStream.new(transform=transform)
        writer = stream.writable.getWriter()
        written = writer.write(1)
        return [await thrown(stream.readable.getReader().read()), await thrown(written), await thrown(writer.closed)]

    assert in_worker(code) == ["Error: bad chunk"] * 3


def test_terminate_ends_the_readable_side() -> None:
    async def code() -> Any:
        stream = js.TransformStream.new(transform=lambda _chunk, controller: controller.terminate())
        writer = stream.writable.getWriter()
        writer.write(1)
        return (await stream.readable.getReader().read()).done, await thrown(writer.closed)

    assert in_worker(code) == (True, "TypeError: The transform stream has been terminated")


def test_pipe_to_closes_the_target_unless_told_not_to() -> None:
    async def code() -> Any:
        log: list[Any] = []
        target = js.WritableStream.new(
            write=lambda chunk, _controller: log.append(chunk), close=lambda: log.append("!")
        )
        await counting(1).pipeTo(target, preventClose=True)
        await counting(2).pipeTo(target)
        return log, target.locked

    assert in_worker(code) == ([1, 1, 2, "!"], False)


def test_errors_cross_a_pipe_both_ways() -> None:
    async def code() -> Any:
        aborted: list[Any] = []
        cancelled: list[Any] = []
        broken = js.ReadableStream.new(start=lambda controller: controller.error(js.Error.new("source")))
        forward = await thrown(broken.pipeTo(js.WritableStream.new(abort=aborted.append)))
        refusing = js.WritableStream.new(start=lambda controller: controller.error(js.Error.new("sink")))
        endless = js.ReadableStream.new(cancel=cancelled.append)
        backward = await thrown(endless.pipeTo(refusing))
        return forward, list(map(str, aborted)), backward, list(map(str, cancelled))

    assert in_worker(code) == ("Error: source", ["Error: source"], "Error: sink", ["Error: sink"])


def test_an_abort_signal_stops_a_pipe() -> None:
    async def code() -> str:
        signal = js.AbortSignal.abort(js.Error.new("stop"))
        return await thrown(counting(5).pipeTo(js.WritableStream.new(), signal=signal))

    assert in_worker(code) == "Error: stop"


@pytest.mark.parametrize("format", ["gzip", "deflate", "deflate-raw"])
def test_compression(format: str) -> None:
    async def code() -> Any:
        packed = js.Blob.new(["hello " * 100]).stream().pipeThrough(js.CompressionStream.new(format))
        small = b"".join(await read_all(packed))
        plain = js.Blob.new([view(small)]).stream().pipeThrough(js.DecompressionStream.new(format))
        return len(small) < 60, b"".join(await read_all(plain))

    assert in_worker(code) == (True, b"hello " * 100)


def test_the_complaints_of_compression() -> None:
    async def code() -> list[str]:
        broken = js.Blob.new(["nonsense"]).stream().pipeThrough(js.DecompressionStream.new("gzip"))
        cut = js.Blob.new([view(b"\x1f\x8b\x08")]).stream().pipeThrough(js.DecompressionStream.new("gzip"))
        texts = [await thrown(read_all(broken)), await thrown(read_all(cut))]
        return [*texts, raised(js.CompressionStream.new, "zip")]

    assert in_worker(code) == [
        "TypeError: Decompression failed.",
        "TypeError: Called close() on a decompression stream with incomplete data",
        "TypeError: The compression format must be either 'deflate', 'deflate-raw' or 'gzip'.",
    ]


def test_text_streams() -> None:
    async def code() -> Any:
        text = js.ReadableStream.new(start=lambda controller: (controller.enqueue("é☃"), controller.close()))
        data = await read_all(text.pipeThrough(js.TextEncoderStream.new()))
        chunks = iter([b"\xc3", b"\xa9\xe2\x98", b"\x83"])

        def pull(controller: Any) -> None:
            chunk = next(chunks, None)
            if chunk is None:
                controller.close()
            else:
                controller.enqueue(view(chunk))

        decoded = js.ReadableStream.new(pull=pull).pipeThrough(js.TextDecoderStream.new())
        return data, [item async for item in decoded]

    assert in_worker(code) == ([b"\xc3\xa9\xe2\x98\x83"], ["é", "☃"])


def test_a_fixed_length_stream_counts() -> None:
    async def code() -> Any:
        exact, short, long = (js.FixedLengthStream.new(5) for _ in range(3))
        writer = exact.writable.getWriter()
        written = writer.write(view(b"hello"))
        reader = exact.readable.getReader()
        data = (await reader.read()).value.to_bytes()
        await written
        await writer.close()
        too_long = long.writable.getWriter().write("hello!")
        await thrown(long.readable.getReader().read())
        return data, await thrown(short.writable.getWriter().close()), await thrown(too_long)

    assert in_worker(code) == (
        b"hello",
        "TypeError: FixedLengthStream did not see all expected bytes before close().",
        "TypeError: Attempt to write too many bytes through a FixedLengthStream.",
    )


def test_identity_streams_take_bytes_alone() -> None:
    async def code() -> str:
        stream = js.IdentityTransformStream.new()
        written = stream.writable.getWriter().write(5)
        await thrown(stream.readable.getReader().read())
        return await thrown(written)

    assert in_worker(code) == (
        "TypeError: This TransformStream is being used as a byte stream, but received an object of "
        "non-ArrayBuffer/ArrayBufferView type on its writable side."
    )
