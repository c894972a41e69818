"""Instances that wait for long: out of memory, and back when their time or an event has come."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.errors import JsError
from flarebed.bindings.workflows.hibernation import GRACE_MS, MAX_RESTING
from tests.bindings.workflows.life import Life, Story
from tests.support import run

HOUR_MS = 3_600_000


def sleeper(story: Story) -> Any:
    async def body(event: Any, step: Any) -> Any:
        story.ran["run"] += 1
        first = await step.do("first", story.step("first", 1))
        await step.sleep("long", "1 hour")
        return [first, await step.do("second", story.step("second", 2))]

    return body


async def sleeping(root: Path, story: Story, instance_ids: tuple[str, ...] = ("i",), **spec: Any) -> Life:
    life = story.life = await Life.owning(root, sleeper(story), **spec)
    for instance_id in instance_ids:
        await life.flow.create({"id": instance_id})
    await life.settle()
    return life


def test_it_leaves_memory_after_the_grace_period_and_is_replayed_in_time(tmp_path: Path) -> None:
    async def work() -> None:
        story = Story()
        life = await sleeping(tmp_path, story)
        await life.advance(GRACE_MS - 1)
        assert life.in_memory() == {"i"}
        await life.advance(1)
        assert life.in_memory() == set()
        assert await life.outcome() == ("waiting", None)
        await life.advance(HOUR_MS - GRACE_MS - 1)
        assert (life.in_memory(), await life.outcome()) == (set(), ("waiting", None))
        await life.advance(1)
        assert await life.outcome() == ("complete", [1, 2])
        assert story.ran == {"run": 2, "first": 1, "second": 1}
        await life.end()

    run(work())


def test_each_has_its_own_grace_period(tmp_path: Path) -> None:
    async def work() -> None:
        story = Story()
        life = await sleeping(tmp_path, story, ("a",))
        await life.advance(1_000)
        await life.flow.create({"id": "b"})
        await life.settle()
        await life.advance(GRACE_MS - 1_000)
        assert life.in_memory() == {"b"}
        await life.advance(1_000)
        assert life.in_memory() == set()
        await life.end()

    run(work())


def test_all_of_them_are_one_entry_of_the_clock(tmp_path: Path) -> None:
    async def work() -> None:
        story = Story()
        life = await sleeping(tmp_path, story, tuple("abcdefgh"))
        await life.advance(GRACE_MS)
        entries = [timer for *_, timer in life.clock._heap if not timer.cancelled]
        assert [(timer.when_ms - life.clock.start_ms, timer.durable) for timer in entries] == [(HOUR_MS, True)]
        await life.advance(HOUR_MS)
        assert [await life.outcome(instance_id) for instance_id in "abcdefgh"] == [("complete", [1, 2])] * 8
        await life.end()

    run(work())


def test_a_run_that_does_not_say_what_is_under_way_stays_and_costs_no_time(tmp_path: Path) -> None:
    """As under `flarebed check`, which has its own `step` between: asking it every five minutes made years long."""

    async def body(event: Any, step: Any) -> Any:
        step.outstanding = None
        await step.sleep("long", "1 hour")
        return "slept"

    async def work() -> None:
        life = await Life.owning(tmp_path, body)
        await life.flow.create({"id": "i"})
        await life.settle()
        assert life.clock.next_ms() == life.clock.start_ms + HOUR_MS
        await life.advance(HOUR_MS - 1)
        assert life.in_memory() == {"i"}
        await life.advance(1)
        assert await life.outcome("i") == ("complete", "slept")
        await life.end()

    run(work())


def test_its_memory_is_given_back(tmp_path: Path) -> None:
    async def work() -> None:
        life = await sleeping(tmp_path, Story(), ("a", "b"))
        runs = [weakref.ref(one) for one in life.resources._own[0]._runs.values()]
        assert len(runs) == 2
        await life.advance(GRACE_MS)
        gc.collect()
        assert [one() for one in runs] == [None, None]
        await life.end()

    run(work())


def test_beyond_a_thousand_the_first_go_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flarebed.bindings.workflows.hibernation.MAX_RESTING", 3)

    async def work() -> None:
        story = Story()
        life = await sleeping(tmp_path, story, tuple("abcdefgh"))
        assert life.in_memory() == set("fgh")
        assert MAX_RESTING == 1_000
        await life.advance(HOUR_MS)
        assert [await life.outcome(instance_id) for instance_id in "abcdefgh"] == [("complete", [1, 2])] * 8
        assert story.ran == {"run": 16, "first": 8, "second": 8}
        await life.end()

    run(work())


def test_beyond_a_thousand_who_is_not_idle_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flarebed.bindings.workflows.hibernation.MAX_RESTING", 1)

    async def work() -> None:
        story = Story()
        life = story.life = await Life.owning(tmp_path, sleeper(story))
        life.worker.outside = 1
        await life.flow.createBatch([{"id": instance_id} for instance_id in "abcd"])
        await life.settle()
        turns = 0
        while life.clock.loop._ready and turns < 100:  # type: ignore[attr-defined]
            await life.clock.settle(1)
            turns += 1
        assert (life.in_memory(), turns) == (set("abcd"), 0)
        life.worker.outside = 0
        await life.flow.create({"id": "e"})
        await life.settle()
        assert len(life.in_memory()) == 1
        await life.end()

    run(work())


def test_short_waits_stay_however_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flarebed.bindings.workflows.hibernation.MAX_RESTING", 1)

    async def body(event: Any, step: Any) -> Any:
        await step.sleep("nap", event["payload"])

    async def work() -> None:
        life = await Life.owning(tmp_path, body)
        for instance_id, nap in (("a", 9_999), ("long", 10_000), ("b", 9_999), ("c", 9_999)):
            await life.flow.create({"id": instance_id, "params": nap})
        await life.settle()
        assert life.in_memory() == {"a", "b", "c"}
        await life.end()

    run(work())


def test_pause_and_resume_shift_its_time(tmp_path: Path) -> None:
    async def work() -> None:
        life = await sleeping(tmp_path, Story())
        await life.advance(GRACE_MS)
        instance = await life.flow.get("i")
        await instance.pause()
        assert await life.outcome() == ("paused", None)
        await life.advance(2 * HOUR_MS)
        assert (await life.outcome(), life.in_memory()) == (("paused", None), set())
        await instance.resume()
        await life.advance(HOUR_MS - GRACE_MS - 1)
        assert await life.outcome() == ("waiting", None)
        await life.advance(1)
        assert await life.outcome() == ("complete", [1, 2])
        await life.end()

    run(work())


@pytest.mark.parametrize(
    ("what", "status", "later"),
    [("terminate", "terminated", "terminated"), ("restart", "waiting", "complete"), ("delete", None, None)],
)
def test_what_else_is_done_to_it(tmp_path: Path, what: str, status: str | None, later: str | None) -> None:
    async def work() -> None:
        async def status_of(life: Life) -> str | None:
            instance = life.resources._own[0]._journal.instance("i")
            return None if instance is None else (await life.status("i"))["status"]

        life = await sleeping(tmp_path, Story())
        await life.advance(GRACE_MS)
        await getattr(await life.flow.get("i"), what)()
        await life.settle()
        assert await status_of(life) == status
        await life.advance(2 * HOUR_MS)
        assert await status_of(life) == later
        await life.end()

    run(work())


def test_not_while_the_worker_has_something_else_under_way(tmp_path: Path) -> None:
    async def work() -> None:
        life = await sleeping(tmp_path, Story())
        life.worker.outside = 1
        await life.advance(3 * GRACE_MS)
        assert life.in_memory() == {"i"}
        life.worker.outside = 0
        await life.advance(GRACE_MS)
        assert life.in_memory() == set()
        await life.end()

    run(work())


def test_not_while_an_attempt_is_made(tmp_path: Path) -> None:
    async def work() -> None:
        story = Story()

        async def body(event: Any, step: Any) -> Any:
            nap = life.clock.spawn(step.sleep("long", "1 hour"), "nap")
            await step.do("slow", {"timeout": "1 hour"}, story.step("slow", duration_ms=2 * GRACE_MS))
            await nap

        life = story.life = await Life.owning(tmp_path, body)
        await life.flow.create({"id": "i"})
        await life.settle()
        await life.advance(2 * GRACE_MS - 1)
        assert life.in_memory() == {"i"}
        await life.advance(1 + GRACE_MS)
        assert life.in_memory() == set()
        await life.advance(HOUR_MS)
        assert (await life.outcome(), story.ran) == (("complete", None), {"slow": 1})
        await life.end()

    run(work())


def test_a_long_delay_before_a_retry(tmp_path: Path) -> None:
    async def work() -> None:
        made: list[int] = []

        async def failing(context: Any) -> Any:
            made.append(context["attempt"])
            if len(made) == 1:
                raise JsError("no")

        async def body(event: Any, step: Any) -> Any:
            await step.do("f", {"retries": {"limit": 1, "delay": "1 hour"}}, failing)

        life = await Life.owning(tmp_path, body)
        await life.flow.create({"id": "i"})
        await life.settle()
        await life.advance(GRACE_MS)
        assert life.in_memory() == set()
        await life.advance(HOUR_MS - GRACE_MS)
        assert ((await life.outcome())[0], made) == ("complete", [1, 2])
        await life.end()

    run(work())


def test_who_wakes_goes_before_who_is_queued(tmp_path: Path) -> None:
    async def work() -> None:
        order: list[str] = []

        async def body(event: Any, step: Any) -> Any:
            async def busy(context: Any) -> None:
                order.append(event["instanceId"])
                await life.clock.sleep(1_000)

            if event["instanceId"] == "sleeper":
                await step.sleep("long", "1 hour")
            await step.do("busy", busy)

        life = await Life.owning(tmp_path, body, concurrency_limit=1)
        await life.flow.create({"id": "sleeper"})
        await life.settle()
        await life.advance(HOUR_MS - 500)
        for name in "abc":
            await life.flow.create({"id": name})
        await life.settle()
        assert life.in_memory() == {"a"}
        await life.advance(500)
        assert [(await life.outcome(name))[0] for name in ("a", "sleeper", "b")] == ["running", "queued", "queued"]
        await life.advance(10_000)
        assert order == ["a", "sleeper", "b", "c"]
        await life.end()

    run(work())


def test_a_retry_that_is_far_away_is_work_in_progress(tmp_path: Path) -> None:
    """Whoever lets time pass until work is done (`drain`) runs through it, in memory or not; sleeps are left alone."""

    async def body(event: Any, step: Any) -> Any:
        async def fail(context: Any) -> Any:
            raise JsError("no")

        if event["instanceId"] == "sleeps":
            await step.sleep("long", "2 hours")
        await step.do("fails", {"retries": {"limit": 1, "delay": "1 hour", "backoff": "constant"}}, fail)

    async def work() -> None:
        life = await Life.owning(tmp_path, body)
        await life.flow.create({"id": "sleeps"})
        await life.flow.create({"id": "retries"})
        await life.advance(GRACE_MS)
        assert life.in_memory() == set()
        assert life.clock.next_work_ms(durable=False) == life.clock.start_ms + HOUR_MS
        await life.advance(HOUR_MS)
        assert life.clock.next_work_ms(durable=False) is None
        assert life.clock.next_work_ms() == life.clock.start_ms + 2 * HOUR_MS
        await life.end()

    run(work())


def test_a_long_run_stays_longer(tmp_path: Path) -> None:
    """A loop that sleeps hour after hour would be made anew each hour, with ever more steps."""
    lives: list[float] = []

    async def body(event: Any, step: Any) -> Any:
        lives.append(life.clock.now_ms())
        for hour in range(200):
            await step.sleep(f"hour {hour}", "1 hour")

    life: Life

    async def work() -> None:
        nonlocal life
        life = await Life.owning(tmp_path, body)
        await life.flow.create({"id": "i"})
        await life.advance(200 * HOUR_MS)
        assert await life.outcome("i") == ("complete", None)
        assert len(lives) == 1 + 120  # from 240 entries of the journal on its grace period is an hour
        await life.end()

    run(work())
