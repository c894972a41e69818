"""Byte streams as results of steps."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.errors import JsError
from flarebed.bindings.workflows.streams import CHUNK_BYTES, StoredStream
from tests.bindings.workflows.life import Life, returning, run_one, thrown
from tests.bindings.workflows.machine import Machine
from tests.bindings.workflows.undone import Undone
from tests.support import run

KIB = 1024
LONG = bytes(range(256)) * 4 * 1_200  # 1,200 KiB
ONE_RETRY = {"retries": {"limit": 1, "delay": 0}}
ENDED = (
    'The execution of the Workflow instance was terminated, as the step "f" returned an invalid ReadableStream output. '
)


class Source:
    """A Worker's stream; `closed` tells whether its reader gave it up."""

    def __init__(self, *parts: bytes | Exception) -> None:
        self._parts = list(parts)
        self.closed = False

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        if not self._parts:
            raise StopAsyncIteration
        part = self._parts.pop(0)
        if isinstance(part, Exception):
            raise part
        return part

    async def aclose(self) -> None:
        self.closed = True


class Locked:
    def __aiter__(self) -> AsyncIterator[bytes]:
        raise JsError("This ReadableStream is currently locked to a reader.", "TypeError")


async def whole(stream: Any) -> bytes:
    assert isinstance(stream, StoredStream)
    return b"".join([chunk async for chunk in stream])


def test_a_stream_comes_back_as_a_stream_now_and_in_a_replay(tmp_path: Path) -> None:
    machine = Machine(tmp_path)

    async def body(event: Any, step: Any) -> bool:
        read = await whole(await step.do("f", machine.step("f", Source(LONG[:1], b"", LONG[1:]))))
        await step.sleep("nap", 1_000)
        return read == LONG

    async def first(life: Life) -> None:
        await life.flow.create({"id": "i"})
        await life.settle()
        chunks = life.resources._own[0]._journal._db.read("SELECT number, length(chunk) FROM chunks")
        assert chunks == [(n, CHUNK_BYTES) for n in range(1, 5)] + [(5, 176 * KIB)]

    async def second(life: Life) -> None:
        await life.advance(2_000)
        assert await life.outcome() == ("complete", True)
        assert machine.ran == {"f": 1}

    machine.live(body, first)
    machine.live(body, second)


@pytest.mark.parametrize(
    ("data", "preview"),
    [
        (b"", ""),
        ("grün".encode(), "grün"),
        (b"x" * 1_024, "x" * 1_024),
        (b"x" * 1_025, "x" * 1_024 + "[truncated output]"),
        ("ü".encode() * 4_000, "ü" * 1_024 + "[truncated output]"),
        (b"x" + "🙂".encode() * 4_000, "x" + "🙂" * 1_023 + "[truncated output]"),
        (b"\xff\xfe", "[ReadableStream (binary): 2 bytes]"),
        (LONG, f"[ReadableStream (binary): {len(LONG)} bytes]"),
    ],
    ids=repr,
)
def test_status_shows_its_beginning(tmp_path: Path, data: bytes, preview: str) -> None:
    async def body(event: Any, step: Any) -> None:
        await step.do("f", returning(Source(data)))

    assert run(run_one(tmp_path, body))["__LOCAL_DEV_STEP_OUTPUTS"] == [preview]


@pytest.mark.parametrize(
    ("stream", "why"),
    [
        (
            Source(b"x" * (16 * KIB * KIB + 1)),
            "Step returned a ReadableStream chunk larger than the maximum allowed size of 16777216 bytes. "
            "Return smaller chunks from step.do().",
        ),
        (
            Source(b"fine", JsError("This ReadableStream did not return bytes.", "TypeError")),
            "Failed to read from step ReadableStream output. "
            "ReadableStream received over RPC disconnected prematurely.",
        ),
    ],
    ids=["oversized", "broken"],
)
def test_a_stream_that_fails_ends_the_instance(tmp_path: Path, stream: Any, why: str) -> None:
    """run() can't catch it, and nothing is rolled back."""
    undone = Undone()

    async def body(event: Any, step: Any) -> Any:
        await step.do("a", returning(1), undone.options())
        return [*await thrown(step.do("f", ONE_RETRY, returning(stream)))]

    shown = run(run_one(tmp_path, body, after_ms=1_000))
    assert (shown["status"], shown["error"]) == ("errored", {"name": "WorkflowFatalError", "message": ENDED + why})
    assert ("rollback" in shown, undone.calls) == (False, [])


def test_a_locked_stream_is_a_failed_attempt(tmp_path: Path) -> None:
    async def body(event: Any, step: Any) -> Any:
        async def callback(context: Any) -> Any:
            return Locked() if context["attempt"] == 1 else Source(b"second")

        caught = await thrown(step.do("g", {"retries": {"limit": 0, "delay": 0}}, returning(Locked())))
        return [*caught, (await whole(await step.do("f", ONE_RETRY, callback))).decode()]

    message = "The ReadableStream has been locked to a reader."
    assert run(run_one(tmp_path, body, after_ms=10))["output"] == ["TypeError", message, "second"]


def test_the_timeout_of_a_step_counts_for_its_stream_too(tmp_path: Path) -> None:
    async def check() -> None:
        sources: list[Source] = []

        async def body(event: Any, step: Any) -> Any:
            class Slow(Source):
                async def __anext__(self) -> bytes:
                    await step._run.host.clock.sleep(300)
                    return b"x"

            async def callback(context: Any) -> Source:
                sources.append(Slow() if context["attempt"] == 1 else Source(b"second"))
                return sources[-1]

            return (await whole(await step.do("f", {**ONE_RETRY, "timeout": 1_000}, callback))).decode()

        life = await Life.owning(tmp_path, body)
        await life.flow.create({"id": "i"})
        await life.advance(999)
        assert (await life.outcome())[0] == "running"
        await life.advance(1)
        assert await life.outcome() == ("complete", "second")
        await life.advance(1_000)
        assert sources[0].closed is True
        await life.end()

    run(check())


def test_what_an_attempt_left_behind_is_gone(tmp_path: Path) -> None:
    machine = Machine(tmp_path)

    async def body(event: Any, step: Any) -> Any:
        class Endless(Source):
            async def __anext__(self) -> bytes:
                await step._run.host.clock.sleep(100)
                return b"x" * CHUNK_BYTES

        async def callback(context: Any) -> Source:
            return Endless() if context["attempt"] == 1 else Source(b"all")

        return (await whole(await step.do("f", callback))).decode()

    async def first(life: Life) -> None:
        await life.flow.create({"id": "i"})
        await life.advance(500)
        assert len(life.resources._own[0]._journal._db.read("SELECT 1 FROM chunks")) >= 4

    async def second(life: Life) -> None:
        await life.settle()
        assert await life.outcome() == ("complete", "all")
        assert life.resources._own[0]._journal._db.read("SELECT attempt, chunk FROM chunks") == [(2, b"all")]
        await (await life.flow.get("i")).delete()
        assert life.resources._own[0]._journal._db.read("SELECT 1 FROM chunks") == []

    machine.live(body, first)
    machine.live(body, second)


def test_a_restart_from_a_later_step_keeps_it(tmp_path: Path) -> None:
    async def check() -> None:
        async def body(event: Any, step: Any) -> Any:
            stream = await step.do("f", returning(Source(LONG)))
            await step.do("g", returning(1))
            return len(await whole(stream))

        life = await Life.owning(tmp_path, body)
        instance = await life.flow.create({"id": "i"})
        await life.settle()
        await instance.restart({"from": {"name": "g"}})
        await life.settle()
        assert await life.outcome() == ("complete", len(LONG))
        await life.end()

    run(check())


def test_a_rollback_gets_it_as_output(tmp_path: Path) -> None:
    seen: list[bytes] = []

    async def body(event: Any, step: Any) -> None:
        async def rollback(argument: Any) -> None:
            seen.append(await whole(argument["output"]))

        await step.do("f", returning(Source(b"all of it")), {"rollback": rollback})
        raise JsError("no")

    run(run_one(tmp_path, body))
    assert seen == [b"all of it"]


def test_there_is_a_limit_to_all_results_of_an_instance(tmp_path: Path) -> None:
    async def body(event: Any, step: Any) -> Any:
        await step.do("a", returning(Source(b"x" * 100)))
        step._run.room_bytes -= 1_100 * KIB * KIB
        await step.do("b", returning("x" * 1_000))
        step._run.room_bytes = 500
        if event["payload"] == "stream":
            return await thrown(step.do("f", returning(Source(b"x" * 400, b"x" * 101))))
        return await thrown(step.do("f", returning("x" * 500)))

    error = {"name": "WorkflowFatalError", "message": "The instance has exceeded the 1GiB storage limit"}
    for kind in ("stream", "value"):
        shown = run(run_one(tmp_path / kind, body, kind))
        assert (shown["status"], shown["error"]) == ("errored", error)
