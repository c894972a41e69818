"""Streams among Worker code: sources, sinks, tees, and the texts of their complaints."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from tests.emulator.runtime.python.js.worker import counting, in_worker, raised, thrown, view

from flarebed.emulator.runtime.python.ffi import to_js
from flarebed.emulator.runtime.python.js.globals import exports
from flarebed.emulator.runtime.python.promise import Promise
from flarebed.emulator.runtime.python.proxy import jsnull

js = SimpleNamespace(**exports())


def test_a_source_is_pulled_when_there_is_room_and_never_in_the_constructor() -> None:
    async def code() -> Any:
        log: list[Any] = []

        async def pull(controller: Any) -> None:
            log.append(("pull", controller.desiredSize))
            controller.enqueue(len(log))

        def start(controller: Any) -> None:
            log.append(("start", controller.desiredSize))

        stream = js.ReadableStream.new(to_js({"start": start, "pull": pull}), to_js({"highWaterMark": 2}))
        log.append("made")
        await asyncio.sleep(0.1)
        return log, [(await stream.getReader().read()).value]

    assert in_worker(code) == ([("start", 2), "made", ("pull", 2), ("pull", 1), ("pull", 1)], [3])


def test_reading_by_hand() -> None:
    async def code() -> Any:
        stream = counting(2)
        reader = stream.getReader()
        results = [await reader.read() for _ in range(3)]
        await reader.closed
        return [(result.value, result.done) for result in results], stream.locked

    assert in_worker(code) == ([(1, False), (2, False), (None, True)], True)


def test_async_for_releases_the_lock_at_the_end() -> None:
    async def code() -> Any:
        stream = counting(3)
        return [number async for number in stream], stream.locked

    assert in_worker(code) == ([1, 2, 3], False)


def test_reads_wait_for_a_slow_source() -> None:
    async def code() -> Any:
        async def pull(controller: Any) -> None:
            await asyncio.sleep(1)
            controller.enqueue("late")

        reader = js.ReadableStream.new(pull=pull).getReader()
        first, second = reader.read(), reader.read()
        return (await first).value, (await second).value

    assert in_worker(code) == ("late", "late")


def test_the_complaints_of_readers() -> None:
    async def code() -> list[str]:
        stream = counting(1)
        reader = stream.getReader()
        texts = [
            raised(stream.getReader),
            raised(stream.tee),
            await thrown(stream.cancel()),
            raised(counting(1).getReader, mode="other"),
        ]
        pending = js.ReadableStream.new().getReader()
        read, closed = pending.read(), pending.closed
        pending.releaseLock()
        reader.releaseLock()
        return [*texts, await thrown(read), await thrown(closed), await thrown(reader.read())]

    locked = "TypeError: This ReadableStream is currently locked to a reader."
    released = "TypeError: This ReadableStream reader has been released."
    mode = "TypeError: mode must be undefined or 'byob' in call to getReader()."
    assert in_worker(code) == [locked, locked, locked, mode, released, released, released]


def test_an_error_reaches_who_reads_and_what_is_queued_is_dropped() -> None:
    async def code() -> Any:
        def start(controller: Any) -> None:
            controller.enqueue(1)
            controller.error(js.RangeError.new("broken"))

        stream = js.ReadableStream.new(start=start)
        failing = js.ReadableStream.new(pull=lambda _controller: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            await failing.getReader().read()
        return await thrown(stream.getReader().read())

    assert in_worker(code) == "RangeError: broken"


def test_a_closed_stream_takes_no_more() -> None:
    async def code() -> str:
        controllers: list[Any] = []
        js.ReadableStream.new(start=controllers.append)
        controllers[0].close()
        return raised(controllers[0].enqueue, 1) + raised(controllers[0].close)

    assert in_worker(code) == "TypeError: This ReadableStream is closed." * 2


def test_cancel_tells_the_source_why() -> None:
    async def code() -> Any:
        reasons: list[Any] = []
        stream = js.ReadableStream.new(cancel=reasons.append)
        await stream.cancel("enough")
        return reasons, (await stream.getReader().read()).done

    assert in_worker(code) == (["enough"], True)


def test_both_branches_of_a_tee_get_everything() -> None:
    async def code() -> Any:
        one, two = counting(3).tee()
        return [number async for number in one], [number async for number in two]

    assert in_worker(code) == ([1, 2, 3], [1, 2, 3])


def test_a_tee_cancels_its_source_when_both_branches_are() -> None:
    async def code() -> Any:
        reasons: list[Any] = []
        one, two = js.ReadableStream.new(cancel=reasons.append).tee()
        first = one.cancel("one")
        before = list(reasons)
        await two.cancel("two")
        await first
        return before, reasons

    assert in_worker(code) == ([], ["two"])


def test_reading_into_a_buffer() -> None:
    async def code() -> Any:
        reader = js.Blob.new(["hello world"]).stream().getReader(mode="byob")
        results = [await reader.read(view(bytes(5))), await reader.readAtLeast(4, view(bytes(50)))]
        last = await reader.read(view(bytes(1)))
        return [result.value.to_bytes() for result in results], last.done, await thrown(reader.read(view(b"")))

    assert in_worker(code) == (
        [b"hello", b" world"],
        True,
        "TypeError: read() on a BYOB reader requires a positive-sized TypedArray",
    )


def test_streams_of_python_iterables() -> None:
    async def numbers() -> Any:
        yield 1
        yield 2

    async def code() -> Any:
        from_ = getattr(js.ReadableStream, "from")
        return [item async for item in from_(numbers())], [item async for item in from_(["a", "b"])]

    assert in_worker(code) == ([1, 2], ["a", "b"])


def test_a_sink_gets_one_chunk_at_a_time() -> None:
    async def code() -> Any:
        log: list[Any] = []

        async def write(chunk: Any, _controller: Any) -> None:
            await asyncio.sleep(1)
            log.append(chunk)

        stream = js.WritableStream.new(write=write, close=lambda: log.append("closed"))
        writer = stream.getWriter()
        sizes = [writer.desiredSize]
        first, second = writer.write("a"), writer.write("b")
        sizes.append(writer.desiredSize)
        waits = writer.ready.state
        await first
        seen = list(log)
        await writer.close()
        await writer.closed
        return sizes, waits, seen, second.state, log, writer.desiredSize

    assert in_worker(code) == ([1, -1], "pending", ["a"], "fulfilled", ["a", "b", "closed"], 0)


def test_the_complaints_of_writers() -> None:
    async def code() -> list[str]:
        stream = js.WritableStream.new()
        writer = stream.getWriter()
        texts = [raised(stream.getWriter), await thrown(stream.close())]
        await writer.close()
        texts += [await thrown(writer.write(1)), await thrown(writer.close())]
        writer.releaseLock()
        return [*texts, await thrown(writer.write(1)), await thrown(writer.closed)]

    locked = "TypeError: This WritableStream is currently locked to a writer."
    closed = "TypeError: This WritableStream has been closed."
    released = "TypeError: This WritableStream writer has been released."
    assert in_worker(code) == [locked, locked, closed, closed, released, released]


def test_a_failing_sink_fails_the_stream() -> None:
    async def code() -> Any:
        def write(_chunk: Any, _controller: Any) -> None:
            raise js.TypeError.new("full")

        writer = js.WritableStream.new(write=write).getWriter()
        texts = [await thrown(writer.write(1)), await thrown(writer.write(2)), await thrown(writer.closed)]
        return texts, writer.desiredSize

    assert in_worker(code) == (["TypeError: full"] * 3, jsnull)


def test_abort_drops_what_is_queued() -> None:
    async def code() -> Any:
        reasons: list[Any] = []
        waiting = Promise()

        def write(_chunk: Any, controller: Any) -> Promise:
            controller.signal.onabort = lambda event: reasons.append(event.type)
            return waiting

        stream = js.WritableStream.new(write=write, abort=reasons.append)
        writer = stream.getWriter()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        writes = [writer.write(1), writer.write(2)]
        aborted = writer.abort(js.Error.new("stop"))
        before = list(reasons)
        waiting.fulfil(None)
        await aborted
        return before, list(map(str, reasons)), writes[0].state, await thrown(writes[1])

    assert in_worker(code) == (["abort"], ["abort", "Error: stop"], "fulfilled", "Error: stop")
