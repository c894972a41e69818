"""The loop that Worker code sees."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from tests.emulator.runtime.python.harness import Harness, StuckError
from tests.support import run

from flarebed.emulator.runtime.python import patches
from flarebed.emulator.runtime.python.promise import GLOBAL_SCOPE, Promise, start
from flarebed.emulator.runtime.python.proxy import JsException


def in_worker(*works: Any) -> list[Any]:
    """The results of Worker coroutine functions, each in a context of its own."""

    async def main() -> list[Any]:
        harness = Harness()
        return [await harness.run(work()) for work in works]

    return run(main())


def test_an_hour_of_sleep_takes_no_time() -> None:
    async def sleeper() -> float:
        loop = asyncio.get_running_loop()
        began = loop.time()
        await asyncio.sleep(3600)
        return loop.time() - began

    assert in_worker(sleeper) == [3600.0]


def test_worker_code_sees_pyodides_loop() -> None:
    async def which() -> str:
        return f"{type(asyncio.get_running_loop()).__module__}.{type(asyncio.get_running_loop()).__qualname__}"

    assert in_worker(which) == ["pyodide.webloop.WebLoop"]


def test_gather_wait_for_and_timeouts_work_on_the_clock() -> None:
    async def gathered() -> list[int]:
        return await asyncio.gather(asyncio.sleep(2, 1), asyncio.sleep(1, 2))

    async def late() -> str:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.sleep(5), 0.1)
        return "timed out"

    assert in_worker(gathered, late) == [[1, 2], "timed out"]


def test_run_sync_waits_while_other_contexts_go_on() -> None:
    async def main() -> list[str]:
        harness = Harness()
        order: list[str] = []

        async def blocking() -> None:
            order.append("blocks")
            asyncio.get_running_loop().run_until_complete(asyncio.sleep(10))
            order.append("unblocked")
            await asyncio.sleep(0)
            order.append("and goes on as a task")

        async def other() -> None:
            await asyncio.sleep(1)
            order.append("other")

        first = harness.start(blocking())
        second = harness.start(other())
        await harness.clock.advance(20_000)
        assert first.done()
        assert second.done()
        return order

    assert run(main()) == ["blocks", "other", "unblocked", "and goes on as a task"]


def test_nested_run_sync() -> None:
    async def outer() -> int:
        loop = asyncio.get_running_loop()

        async def inner() -> int:
            await asyncio.sleep(1)
            return int(loop.run_until_complete(asyncio.sleep(1, 7)))

        return int(loop.run_until_complete(inner())) + 1

    assert in_worker(outer) == [8]


def test_run_sync_raises_what_the_awaitable_raises() -> None:
    async def outer() -> str:
        async def failing() -> None:
            await asyncio.sleep(1)
            raise ValueError("no")

        with pytest.raises(ValueError, match=r"^no$"):
            asyncio.get_running_loop().run_until_complete(failing())
        return "caught"

    assert in_worker(outer) == ["caught"]


def test_time_sleep_and_asyncio_run_wait_on_the_clock() -> None:
    patches.install()

    async def sleeper() -> tuple[float, int]:
        loop = asyncio.get_running_loop()
        began = loop.time()
        time.sleep(60)
        return loop.time() - began, asyncio.run(asyncio.sleep(1, 5))

    assert in_worker(sleeper) == [(60.0, 5)]


def test_what_can_never_end_is_noticed() -> None:
    async def hang() -> None:
        await asyncio.get_running_loop().create_future()

    async def main() -> None:
        await Harness().run(hang())

    with pytest.raises(StuckError):
        run(main())


def test_a_hang_in_run_sync_is_noticed() -> None:
    async def hang() -> None:
        loop = asyncio.get_running_loop()
        loop.run_until_complete(loop.create_future())

    async def main() -> None:
        await Harness().run(hang())

    with pytest.raises(StuckError):
        run(main())


def test_a_timer_of_another_context_does_not_count_as_progress() -> None:
    async def hang() -> None:
        await asyncio.get_running_loop().create_future()

    async def main() -> None:
        harness = Harness()
        other = harness.start(asyncio.sleep(10))
        with pytest.raises(StuckError):
            await harness.start(hang())
        assert not other.done()

    run(main())


def test_a_closed_context_runs_nothing_any_more() -> None:
    async def main() -> list[str]:
        harness = Harness()
        reached: list[str] = []

        async def worker() -> None:
            async def later() -> None:
                await asyncio.sleep(1)
                reached.append("late")

            asyncio.get_running_loop().create_task(later())

        io = harness.context()
        await harness.start(worker(), io)
        io.answer()
        await harness.clock.advance(10_000)
        return reached

    assert run(main()) == []


def test_waituntil_keeps_the_context_alive() -> None:
    async def main() -> list[str]:
        harness = Harness()
        reached: list[str] = []
        io = harness.context()

        async def later() -> None:
            await asyncio.sleep(1)
            reached.append("late")

        async def worker() -> None:
            io.wait_until(later())

        await harness.start(worker(), io)
        io.answer()
        await harness.clock.advance(10_000)
        assert io.closed
        return reached

    assert run(main()) == ["late"]


def test_a_binding_call_that_answers_at_once_still_lets_others_run() -> None:
    async def answer() -> str:
        return "value"

    async def worker() -> list[str]:
        order: list[str] = []

        async def other() -> None:
            order.append("other")

        task = asyncio.get_running_loop().create_task(other())
        order.append(await start(answer()))
        await task
        return order

    assert in_worker(worker) == [["other", "value"]]


def test_a_binding_call_may_wait_for_the_host() -> None:
    async def main() -> Any:
        harness = Harness()

        async def slow() -> dict[str, Any]:
            await harness.clock.sleep(5)
            return {"a": None}

        async def worker() -> Any:
            promise = start(slow())
            assert isinstance(promise, Promise)
            return (await promise).to_py()

        return await harness.run(worker())

    from flarebed.emulator.runtime.python.proxy import jsnull

    assert run(main()) == {"a": jsnull}


def test_no_io_at_the_top_level() -> None:
    async def main() -> str:
        harness = Harness()

        async def top_level() -> str:
            work = asyncio.sleep(0)
            try:
                start(work)
            except JsException as error:
                return str(error)
            finally:
                work.close()
            return ""

        return str(await harness.run(top_level(), harness.context(allows_io=False)))

    assert run(main()) == f"Error: {GLOBAL_SCOPE}"


def test_a_library_with_its_own_protocol_reaches_the_network() -> None:
    async def main() -> bytes:
        harness = Harness()

        async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"hello " + await reader.readline())
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(greet, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]

        async def worker() -> bytes:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"worker\n")
            answer = await reader.read()
            writer.close()
            return answer

        answer = bytes(await harness.start(worker()))
        server.close()
        await server.wait_closed()
        return answer

    assert run(main()) == b"hello worker\n"
