"""Pause, resume, terminate and restart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.errors import JsError
from tests.bindings.workflows.life import START_MS, Life, Story, raising, returning, thrown
from tests.support import run


def test_pause_in_a_sleep_takes_place_at_once_and_resume_shifts_it(tmp_path: Path) -> None:
    async def check() -> None:
        story = Story()

        async def body(event: Any, step: Any) -> Any:
            await step.do("before", story.step("before"))
            await step.sleep("nap", "10 seconds")
            return life.clock.now_ms() - START_MS

        life = story.life = await Life.owning(tmp_path, body)
        instance = await life.flow.create({"id": "i"})
        await life.advance(4_000)
        await instance.pause()
        assert (await life.outcome())[0] == "paused"
        await life.advance(100_000)
        assert (await life.outcome())[0] == "paused"
        await instance.resume()
        await life.advance(5_999)
        assert await life.outcome() == ("waiting", None)
        await life.advance(1)
        assert await life.outcome() == ("complete", 110_000)
        assert story.ran == {"before": 1}
        await life.end()

    run(check())


def test_pause_waits_for_the_attempt_in_progress(tmp_path: Path) -> None:
    async def check() -> None:
        story = Story()

        async def body(event: Any, step: Any) -> Any:
            return [
                await step.do("a", story.step("a", 1, duration_ms=5_000)),
                await step.do("b", story.step("b", 2, duration_ms=5_000)),
            ]

        life = story.life = await Life.owning(tmp_path, body)
        instance = await life.flow.create({"id": "i"})
        await life.advance(1_000)
        await instance.pause()
        assert (await life.outcome())[0] == "waitingForPause"
        await life.advance(4_000)
        assert (await life.outcome())[0] == "paused"
        await life.advance(60_000)
        assert story.ran == {"a": 1}
        await instance.resume()
        await life.advance(5_000)
        assert await life.outcome() == ("complete", [1, 2])
        assert story.ran == {"a": 1, "b": 1}
        await life.end()

    run(check())


def test_pause_called_off(tmp_path: Path) -> None:
    async def check() -> None:
        story = Story()

        async def body(event: Any, step: Any) -> Any:
            slow = life.clock.spawn(step.do("slow", story.step("slow", 1, duration_ms=5_000)), "slow")
            await step.sleep("s", 1_000)
            return [await step.do("blocked", story.step("blocked", 2)), life.clock.now_ms() - START_MS, await slow]

        life = story.life = await Life.owning(tmp_path, body)
        instance = await life.flow.create({"id": "i"})
        await life.advance(500)
        await instance.pause()
        await life.advance(1_500)
        assert (await life.outcome(), story.ran) == (("waitingForPause", None), {"slow": 1})
        await instance.resume()
        await life.settle()
        assert story.ran == {"slow": 1, "blocked": 1}
        await life.advance(10_000)
        assert await life.outcome() == ("complete", [2, 2_000, 1])
        await life.end()

    run(check())


def test_pause_between_attempts(tmp_path: Path) -> None:
    async def check() -> None:
        times_ms: list[float] = []

        async def failing(context: Any) -> Any:
            times_ms.append(life.clock.now_ms() - START_MS)
            if context["attempt"] == 1:
                raise JsError("no")
            return context["attempt"]

        async def body(event: Any, step: Any) -> Any:
            return await step.do("f", {"retries": {"limit": 1, "delay": "10 seconds"}}, failing)

        life = await Life.owning(tmp_path, body)
        instance = await life.flow.create({"id": "i"})
        await life.advance(4_000)
        await instance.pause()
        assert (await life.outcome())[0] == "paused"
        await life.advance(20_000)
        await instance.resume()
        await life.advance(6_000)
        assert (await life.outcome(), times_ms) == (("complete", 2), [0, 30_000])
        await life.end()

    run(check())


def test_events_during_a_pause_are_kept_and_timeouts_shifted(tmp_path: Path) -> None:
    async def check() -> None:
        async def body(event: Any, step: Any) -> Any:
            return (await step.waitForEvent("w", {"type": "go", "timeout": "10 seconds"}))["payload"]

        life = await Life.owning(tmp_path, body)
        instance = await life.flow.create({"id": "i"})
        await life.advance(9_000)
        await instance.pause()
        await life.advance(50_000)
        await instance.sendEvent({"type": "go", "payload": "hi"})
        await life.settle()
        assert (await life.outcome())[0] == "paused"
        await instance.resume()
        await life.settle()
        assert await life.outcome() == ("complete", "hi")
        await life.end()

    run(check())


@pytest.mark.parametrize("swallow", [Exception, JsError])
def test_a_worker_cannot_swallow_a_stop(tmp_path: Path, swallow: type[Exception]) -> None:
    async def check() -> None:
        seen: list[BaseException] = []

        async def body(event: Any, step: Any) -> Any:
            while True:
                try:
                    await step.sleep("nap", "1 hour")
                except swallow as error:
                    seen.append(error)

        life = await Life.owning(tmp_path, body)
        instance = await life.flow.create({"id": "i"})
        await life.settle()
        await instance.terminate()
        await life.settle()
        assert (await life.outcome(), seen) == (("terminated", None), [])
        await life.end()

    run(check())


def test_a_stopped_run_writes_nothing_even_if_it_goes_on(tmp_path: Path) -> None:
    async def check() -> None:
        story = Story()

        async def body(event: Any, step: Any) -> Any:
            for name in ("a", "b"):
                try:
                    await step.sleep(name, "1 hour")
                except BaseException:
                    story.ran["swallowed"] += 1
            return "returned all the same"

        life = story.life = await Life.owning(tmp_path, body)
        instance = await life.flow.create({"id": "i"})
        await life.settle()
        await instance.terminate()
        await life.settle()
        assert (await life.outcome(), story.ran) == (("terminated", None), {"swallowed": 2})
        await life.end()

    run(check())


def test_final_states(tmp_path: Path) -> None:
    async def check() -> None:
        async def body(event: Any, step: Any) -> Any:
            if event["payload"]:
                await step.do("f", {"retries": {"limit": 0, "delay": 0}}, raising(JsError("no", "TypeError")))
            return "done"

        life = await Life.owning(tmp_path, body)
        final = "WorkflowError: (instance.cannot_terminate) Cannot terminate instance since its on a finite state"
        for instance_id, params, outcome in (
            ("complete", False, ("complete", "done")),
            ("errored", True, ("errored", {"message": "no", "name": "TypeError"})),
        ):
            instance = await life.flow.create({"id": instance_id, "params": params})
            await life.settle()
            assert await thrown(instance.terminate()) == ("Error", final)
            await instance.pause()
            await instance.resume()
            await life.settle()
            assert await life.outcome(instance_id) == outcome
        await life.end()

    run(check())


def test_terminate_a_paused_instance(tmp_path: Path) -> None:
    async def check() -> None:
        async def body(event: Any, step: Any) -> None:
            await step.sleep("nap", "1 hour")

        life = await Life.owning(tmp_path, body)
        instance = await life.flow.create({"id": "i"})
        await life.settle()
        await instance.pause()
        await instance.terminate()
        await instance.resume()
        await life.settle()
        assert await life.outcome() == ("terminated", None)
        await life.end()

    run(check())


def test_restart_begins_anew_with_the_same_event(tmp_path: Path) -> None:
    async def check() -> None:
        story, events = Story(), []

        async def body(event: Any, step: Any) -> Any:
            events.append((event["timestamp"].ms, event["payload"]))
            await step.do("a", story.step("a"))
            return (await step.waitForEvent("w", {"type": "go"}))["payload"]

        life = story.life = await Life.owning(tmp_path, body)
        instance = await life.flow.create({"id": "i", "params": "p"})
        await instance.sendEvent({"type": "go", "payload": 1})
        await instance.sendEvent({"type": "go", "payload": "undelivered"})
        await life.advance(1_000)
        assert await life.outcome() == ("complete", 1)
        await instance.restart()
        await life.settle()
        assert (await life.outcome(), story.ran) == (("waiting", None), {"a": 2})
        await instance.restart()
        await life.settle()
        await instance.sendEvent({"type": "go", "payload": 2})
        await life.settle()
        assert (await life.outcome(), story.ran) == (("complete", 2), {"a": 3})
        assert events == [(START_MS, "p")] * 3
        await life.end()

    run(check())


@pytest.mark.parametrize(
    ("since", "ran"),
    [
        ({"name": "b"}, {"a": 1, "b": 2, "c": 2}),
        ({"name": "b", "count": 1, "type": "do"}, {"a": 1, "b": 2, "c": 2}),
        ({"name": "nap", "type": "sleep"}, {"a": 1, "b": 1, "c": 2}),
        ({"name": "a"}, {"a": 2, "b": 2, "c": 2}),
    ],
)
def test_restart_from_a_step(tmp_path: Path, since: Any, ran: dict[str, int]) -> None:
    async def check() -> None:
        story = Story()

        async def body(event: Any, step: Any) -> Any:
            first = await step.do("a", story.step("a", 1))
            await step.do("b", story.step("b"))
            await step.sleep("nap", 1_000)
            await step.do("c", story.step("c"))
            return first

        life = story.life = await Life.owning(tmp_path, body)
        instance = await life.flow.create({"id": "i"})
        await life.advance(1_000)
        await instance.restart({"from": since})
        await life.advance(1_000)
        assert (await life.outcome(), story.ran) == (("complete", 1), ran)
        await life.end()

    run(check())


@pytest.mark.parametrize(
    ("since", "name"),
    [({"name": "zz"}, "zz"), ({"name": "a", "count": 2}, "a"), ({"name": "a", "type": "sleep"}, "a")],
)
def test_restart_from_an_unknown_step(tmp_path: Path, since: Any, name: str) -> None:
    async def check() -> None:
        async def body(event: Any, step: Any) -> Any:
            return await step.do("a", returning(1))

        life = await Life.owning(tmp_path, body)
        instance = await life.flow.create({"id": "i"})
        await life.settle()
        message = f'WorkflowError: (instance.cannot_restart) Step "{name}" not found in execution history'
        assert await thrown(instance.restart({"from": since})) == ("Error", message)
        assert await life.outcome() == ("complete", 1)
        await life.end()

    run(check())
