"""Who runs an instance, who may act on it, and how many run at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.bindings.workflows.life import Life, Story, returning, thrown
from tests.support import run


def two_steps() -> tuple[Story, Callable[[Any, Any], Awaitable[Any]]]:
    """A Workflow of a step of a second and a step that takes no time."""
    story = Story()

    async def body(event: Any, step: Any) -> Any:
        await step.do("a", story.step("a", duration_ms=1_000))
        return await step.do("b", story.step("b"))

    return story, body


def test_an_instance_that_acts_on_itself(tmp_path: Path) -> None:
    async def check() -> None:
        after: list[str] = []

        async def body(event: Any, step: Any) -> None:
            instance = await life.flow.get(event["instanceId"])
            await getattr(instance, event["payload"])()
            after.append(event["payload"])

        life = await Life.owning(tmp_path, body)
        await life.flow.create({"id": "terminate", "params": "terminate"})
        await life.flow.create({"id": "pause", "params": "pause"})
        await life.flow.create({"id": "delete", "params": "delete"})
        await life.settle()
        assert after == []
        assert [(await life.outcome(name))[0] for name in ("terminate", "pause")] == ["terminated", "paused"]
        assert await thrown(life.flow.get("delete")) == ("Error", "instance.not_found")
        await life.end()

    run(check())


@pytest.mark.parametrize(
    ("method", "status"), [("pause", "paused"), ("terminate", "terminated"), ("restart", "waiting")]
)
def test_another_process_acts_on_an_instance(tmp_path: Path, method: str, status: str) -> None:
    async def check() -> None:
        story = Story()

        async def body(event: Any, step: Any) -> None:
            await step.do("a", story.step("a"))
            await step.sleep("nap", "1 hour")

        owner = story.life = await Life.owning(tmp_path, body)
        await owner.flow.create({"id": "i"})
        await owner.settle()
        other = Life(tmp_path, body)
        other.bench.store.doorbell = lambda kind, resource: owner.resources.ring(resource)
        await getattr(await other.flow.get("i"), method)()
        await owner.settle()
        assert (await owner.outcome())[0] == status
        assert story.ran == {"a": 2 if method == "restart" else 1}
        other.bench.store.close()
        await owner.end()

    run(check())


def test_a_stale_run_cannot_write_into_a_restarted_instance(tmp_path: Path) -> None:
    async def check() -> None:
        story, body = two_steps()
        owner = story.life = await Life.owning(tmp_path, body)
        await owner.flow.create({"id": "i"})
        await owner.settle()
        other = Life(tmp_path, body)  # its bell is not heard
        await (await other.flow.get("i")).restart()
        await owner.advance(999)
        assert (await owner.outcome(), story.ran) == (("queued", None), {"a": 1})
        await owner.advance(1_001)  # the old run finds that its next step is refused, and makes way
        assert (await owner.outcome(), story.ran) == (("complete", None), {"a": 2, "b": 1})
        other.bench.store.close()
        await owner.end()

    run(check())


def test_a_pause_takes_place_even_if_the_bell_was_not_heard(tmp_path: Path) -> None:
    async def check() -> None:
        story, body = two_steps()
        owner = story.life = await Life.owning(tmp_path, body)
        await owner.flow.create({"id": "i"})
        await owner.settle()
        other = Life(tmp_path, body)
        await (await other.flow.get("i")).pause()
        assert (await other.outcome())[0] == "waitingForPause"
        await owner.advance(1_000)
        assert ((await owner.outcome())[0], story.ran) == ("paused", {"a": 1})
        other.bench.store.close()
        await owner.end()

    run(check())


def test_no_more_than_the_limit_run_at_a_time_and_sleepers_do_not_count(tmp_path: Path) -> None:
    async def check() -> None:
        now: Counter[str] = Counter()
        most = 0

        async def busy(context: Any) -> None:
            nonlocal most
            now["busy"] += 1
            most = max(most, now["busy"])
            await life.clock.sleep(1_000)
            now["busy"] -= 1

        async def body(event: Any, step: Any) -> None:
            await step.do("busy", busy)
            await step.sleep("nap", "1 hour")

        life = await Life.owning(tmp_path, body, concurrency_limit=2)
        await life.flow.createBatch([{"id": f"i{number}"} for number in range(6)])
        await life.settle()
        statuses = [(await life.outcome(f"i{number}"))[0] for number in range(6)]
        assert statuses == ["running", "running", "queued", "queued", "queued", "queued"]
        await life.advance(3_000)
        assert [(await life.outcome(f"i{number}"))[0] for number in range(6)] == ["waiting"] * 6
        assert most == 2
        await life.end()

    run(check())


def test_a_workflow_of_another_worker_is_not_run_here(tmp_path: Path) -> None:
    async def check() -> None:
        life = await Life.owning(tmp_path, lambda event, step: returning(1)(), script_name="other")
        await life.flow.create({"id": "i"})
        await life.settle()
        assert await life.outcome() == ("queued", None)
        await life.end()

    run(check())
