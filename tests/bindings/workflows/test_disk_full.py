"""Commits that fail, as on a full disk: nobody is told of what is not on disk, and instances go on from what is."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import apsw
import pytest

from flarebed.bindings.errors import JsError
from tests.bindings.workflows.life import START_MS, Life, Story
from tests.support import run

LOGGED = (
    "error",
    'The state of workflow "flow" can\'t be written: constraint failed. Its instances go on from what is.',
)


class Disk:
    """Counts the commits of a life from here on; those of the numbers `full` fail."""

    def __init__(self, life: Life, *full: int) -> None:
        self.full = set(full)
        self.count = 0
        (database,) = life.bench.store._open.values()
        database.connection.set_commit_hook(self._refuses)

    def _refuses(self) -> bool:
        self.count += 1
        return self.count in self.full


def rich(story: Story) -> Any:
    """Steps, one of which fails once, a sleep and a wait; an error that run() could catch would change its result."""

    async def body(event: Any, step: Any) -> Any:
        patient = {"retries": {"limit": 9, "delay": 100, "backoff": "constant"}}

        async def flaky(context: Any) -> Any:
            if context["attempt"] == 1:
                raise JsError("no")
            return "b"

        try:
            a = await step.do("a", patient, story.step("a", "a", duration_ms=50))
            b = await step.do("b", patient, flaky)
            await step.sleep("nap", "1 second")
            word = (await step.waitForEvent("word", {"type": "word"}))["payload"]
            story.ran["word"] += 1
            return [a, b, word, await step.do("c", patient, story.step("c", "c"))]
        except Exception as error:
            return repr(error)

    return body


@pytest.mark.parametrize("number", range(1, 15))
def test_any_commit_fails_once(tmp_path: Path, number: int) -> None:
    async def work() -> None:
        story = Story()
        life = story.life = await Life.owning(tmp_path, rich(story))
        await life.settle()
        disk = Disk(life, number)
        for _ in range(2):
            try:
                await life.flow.create({"id": "i"})
            except apsw.ConstraintError:
                continue
            break
        await life.advance(60_000)
        handle = await life.flow.get("i")
        try:
            await handle.sendEvent({"type": "word", "payload": "word"})
        except apsw.ConstraintError:
            assert story.ran["word"] == 0
            await life.advance(60_000)
            assert story.ran["word"] == 0
            await handle.sendEvent({"type": "word", "payload": "word"})
        await life.advance(60_000)
        assert await life.outcome() == ("complete", ["a", "b", "word", "c"])
        assert disk.count >= number
        assert life.bench.logged.count(LOGGED) == 1
        await life.end()

    run(work())


def test_while_the_disk_is_full_nothing_goes_on(tmp_path: Path) -> None:
    async def work() -> None:
        story = Story()
        life = story.life = await Life.owning(tmp_path, rich(story))
        await life.flow.create({"id": "i"})
        disk = Disk(life, *range(1, 1_000))
        await life.advance(50_000)
        assert (story.ran, life.in_memory()) == ({}, set())
        assert life.bench.logged.count(LOGGED) == 51
        disk.full.clear()
        await life.advance(1_000)
        assert story.ran["a"] == 1
        await life.end()

    run(work())


def test_an_attempt_whose_result_is_not_on_disk_counts(tmp_path: Path) -> None:
    async def work() -> None:
        story = Story()

        async def body(event: Any, step: Any) -> Any:
            return await step.do("a", {"retries": {"limit": 0, "delay": 0}}, story.step("a", 1, duration_ms=50))

        life = story.life = await Life.owning(tmp_path, body)
        await life.flow.create({"id": "i"})
        await life.settle()
        Disk(life, 1)
        await life.advance(5_000)
        status, error = await life.outcome()
        assert (status, story.ran) == ("errored", {"a": 1})
        assert error["message"] == "WorkflowInternalError: Attempt failed due to internal workflows error"
        await life.end()

    run(work())


@pytest.mark.parametrize("method", ["pause", "terminate", "restart", "delete"])
def test_what_is_refused_has_not_happened(tmp_path: Path, method: str) -> None:
    async def work() -> None:
        story = Story()
        life = story.life = await Life.owning(tmp_path, rich(story))
        await life.flow.create({"id": "i"})
        await life.advance(10_000)
        handle = await life.flow.get("i")
        await handle.sendEvent({"type": "other", "payload": 1})
        Disk(life, 1)
        with pytest.raises(apsw.ConstraintError):
            await getattr(handle, method)()
        assert await life.outcome() == ("waiting", None)
        await life.advance(1_000)
        await handle.sendEvent({"type": "word", "payload": "word"})
        await life.advance(1_000)
        assert await life.outcome() == ("complete", ["a", "b", "word", "c"])
        assert story.ran == {"a": 1, "word": 1, "c": 1}
        await life.end()

    run(work())


def test_hibernating_and_waking(tmp_path: Path) -> None:
    async def work(full: int) -> None:
        story = Story()

        async def body(event: Any, step: Any) -> Any:
            await step.sleep("long", "1 hour")
            return await step.do("a", story.step("a", life.clock.now_ms()))

        life = story.life = await Life.owning(tmp_path / str(full), body)
        await life.flow.create({"id": "i"})
        await life.settle()
        Disk(life, full)
        await life.advance(3_600_000 + 5_000)
        assert life.bench.logged.count(LOGGED) == 1
        status, woken_ms = await life.outcome()
        assert status == "complete"
        assert 0 <= woken_ms - START_MS - 3_600_000 <= 1_000
        await life.end()

    for full in range(1, 5):
        run(work(full))


def test_a_schedule_loses_no_instant(tmp_path: Path) -> None:
    async def work() -> None:
        story = Story()

        async def body(event: Any, step: Any) -> Any:
            return await step.do("a", story.step("a", event["schedule"]["scheduledTime"]))

        life = story.life = await Life.owning(tmp_path, body, schedules=("0 * * * *",))
        await life.settle()
        Disk(life, 1)
        await life.advance(2 * 3_600_000)
        first, second = (f"0 * * * *-{int(START_MS) + hours * 3_600_000}" for hours in (1, 2))
        assert await life.outcome(first) == ("complete", START_MS + 3_600_000)
        assert await life.outcome(second) == ("complete", START_MS + 7_200_000)
        await life.end()

    run(work())


def test_the_end_of_a_process_goes_on_and_the_next_owner_counts_the_attempt(tmp_path: Path) -> None:
    contexts: list[Any] = []

    async def body(event: Any, step: Any) -> Any:
        async def callback(context: Any) -> Any:
            contexts.append(context["attempt"])
            await life.clock.sleep(10_000)
            return "done"

        return await step.do("a", callback)

    async def first() -> None:
        nonlocal life
        life = await Life.owning(tmp_path, body)
        await life.flow.create({"id": "i"})
        await life.settle()
        Disk(life, 1)
        await life.end()
        assert LOGGED in life.bench.logged

    async def second() -> None:
        nonlocal life
        life = await Life.owning(tmp_path, body)
        await life.advance(30_000)
        assert (await life.outcome(), contexts) == (("complete", "done"), [1, 2])
        await life.end()

    life: Any = None
    run(first())
    run(second())


def test_a_subscription_does_not_tell_what_is_rolled_back(tmp_path: Path) -> None:
    async def work() -> None:
        story = Story()
        life = story.life = await Life.owning(tmp_path, rich(story))
        await life.flow.create({"id": "i"})
        await life.advance(10_000)
        handle = await life.flow.get("i")
        subscription = await handle.subscribe({"filter": ["workflow_paused", "step_completed"]})
        told = [(await subscription.next())["value"]["type"] for _ in range(2)]
        Disk(life, 1)
        refused = await asyncio.gather(handle.pause(), subscription.next(), return_exceptions=True)
        assert (told, [type(error) for error in refused]) == (["step_completed"] * 2, [apsw.ConstraintError] * 2)
        await handle.pause()
        assert (await subscription.next())["value"]["type"] == "workflow_paused"
        await life.end()

    run(work())
