"""A process that ends at any point, and the next one: steps and sleeps. What was recorded stays as it was."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import apsw
import pytest

from flarebed.bindings.errors import JsError
from tests.bindings.workflows.life import START_MS, Life, thrown
from tests.bindings.workflows.machine import Machine

INTERRUPTED = "WorkflowInternalError: Attempt failed due to internal workflows error"


@pytest.mark.parametrize("graceful", [False, True])
@pytest.mark.parametrize("killed_after_ms", range(0, 8_000, 500))
def test_steps_and_sleeps_are_made_once_wherever_it_ends(tmp_path: Path, killed_after_ms: int, graceful: bool) -> None:
    machine = Machine(tmp_path)

    async def body(event: Any, step: Any) -> Any:
        a = await step.do("a", machine.step("a", 1, duration_ms=1_000))
        await step.sleep("nap", 2_000)
        times = [machine.since_start_ms()]
        b = await step.do("b", machine.step("b", 2, duration_ms=1_000))
        await step.sleep("nap", 2_000)
        return [a, b, *times, machine.since_start_ms()]

    async def first(life: Life) -> None:
        await life.flow.create({"id": "i"})
        await life.advance(killed_after_ms)

    async def second(life: Life) -> None:
        await life.advance(20_000)
        status, output = await life.outcome()
        assert (status, output[:2]) == ("complete", [1, 2])
        in_a, in_b = killed_after_ms < 1_000, 3_000 <= killed_after_ms < 4_000
        assert machine.ran == {"a": 2 if in_a else 1, "b": 2 if in_b else 1}
        again = killed_after_ms if in_a else killed_after_ms - 3_000 if in_b else 0
        assert output[3] == max(6_000 + again, killed_after_ms if killed_after_ms < 6_000 else 6_000)

    machine.live(body, first, graceful=graceful)
    machine.live(body, second)


@pytest.mark.parametrize("turns", range(48))
def test_killed_at_any_turn_of_the_loop(tmp_path: Path, turns: int) -> None:
    """Once create() has returned the instance ends; steps that are on disk are not made again, the others once more."""
    machine = Machine(tmp_path)
    names = ["a", "b", "c"]
    was_created: list[bool] = []
    before: Counter[str] = Counter()

    async def body(event: Any, step: Any) -> Any:
        return [await step.do(name, machine.step(name, name)) for name in names]

    async def first(life: Life) -> None:
        creating = life.clock.spawn(life.flow.create({"id": "i"}), "create")
        await life.clock.settle(turns)
        was_created.append(creating.done())

    async def second(life: Life) -> None:
        recorded = len((await life.status("i"))["__LOCAL_DEV_STEP_OUTPUTS"]) if was_created[0] else 0
        await life.settle()
        if was_created[0]:
            assert await life.outcome() == ("complete", names)
            assert machine.ran - before == Counter(names[recorded:])

    machine.live(body, first)
    before.update(machine.ran)
    machine.live(body, second)


def test_a_sleep_whose_duration_is_computed_anew_ends_when_it_was_to_end(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    durations = iter([10_000, 99_000, 1])

    async def body(event: Any, step: Any) -> Any:
        await step.sleep("nap", next(durations))
        return machine.since_start_ms()

    async def first(life: Life) -> None:
        await life.flow.create({"id": "i"})
        await life.advance(4_000)

    async def second(life: Life) -> None:
        await life.advance(1_000)
        assert await life.outcome() == ("waiting", None)

    async def third(life: Life) -> None:
        await life.advance(5_000)
        assert await life.outcome() == ("complete", 10_000)

    machine.live(body, first)
    machine.live(body, second)
    machine.live(body, third)


def test_a_sleep_until_a_time_that_has_passed_meanwhile_is_over(tmp_path: Path) -> None:
    machine = Machine(tmp_path)

    async def body(event: Any, step: Any) -> Any:
        await step.sleepUntil("u", START_MS + 5_000)
        return "awake"

    async def first(life: Life) -> None:
        await life.flow.create({"id": "i"})
        await life.settle()

    async def second(life: Life) -> None:
        await life.settle()
        assert await life.outcome() == ("complete", "awake")

    machine.live(body, first)
    machine.now_ms += 60_000
    machine.live(body, second)


def test_attempts_and_the_time_of_the_next_one_survive(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    attempts: list[tuple[int, float]] = []

    async def failing(context: Any) -> Any:
        attempts.append((context["attempt"], machine.since_start_ms()))
        if context["attempt"] < 4:
            raise JsError("no")
        return "at last"

    async def body(event: Any, step: Any) -> Any:
        return await step.do("f", {"retries": {"limit": 3, "delay": "10 seconds"}}, failing)

    async def first(life: Life) -> None:
        await life.flow.create({"id": "i"})
        await life.advance(15_000)

    async def second(life: Life) -> None:
        await life.advance(5_000)

    async def third(life: Life) -> None:
        await life.advance(100_000)
        assert await life.outcome() == ("complete", "at last")

    machine.live(body, first)
    machine.live(body, second)
    machine.live(body, third)
    assert attempts == [(1, 0), (2, 10_000), (3, 30_000), (4, 70_000)]


@pytest.mark.parametrize(("limit", "outcome"), [(0, ["Error", INTERRUPTED]), (1, "second")])
def test_an_interrupted_attempt_counts(tmp_path: Path, limit: int, outcome: Any) -> None:
    machine = Machine(tmp_path)

    async def dying(context: Any) -> Any:
        machine.ran["attempt"] += 1
        if context["attempt"] == 1:
            assert machine.life is not None
            machine.life.kill()
            await asyncio.get_running_loop().create_future()
        return "second"

    async def body(event: Any, step: Any) -> Any:
        try:
            return await step.do("f", {"retries": {"limit": limit, "delay": "1 day"}}, dying)
        except JsError as error:
            return [error.name, error.message]

    async def first(life: Life) -> None:
        await life.flow.create({"id": "i"})
        await life.settle()

    async def second(life: Life) -> None:
        await life.settle()
        assert await life.outcome() == ("complete", outcome)

    machine.live(body, first)
    machine.live(body, second)
    assert machine.ran["attempt"] == limit + 1


def test_what_run_has_seen_is_on_disk(tmp_path: Path) -> None:
    machine = Machine(tmp_path)

    async def body(event: Any, step: Any) -> Any:
        result = await step.do("a", machine.step("a", 1))
        if not machine.ran["killed"]:
            machine.ran["killed"] += 1
            assert machine.life is not None
            machine.life.kill()
            await asyncio.get_running_loop().create_future()
        return result

    async def first(life: Life) -> None:
        await life.flow.create({"id": "i"})
        await life.settle()

    async def second(life: Life) -> None:
        await life.settle()
        assert await life.outcome() == ("complete", 1)

    machine.live(body, first)
    machine.live(body, second)
    assert machine.ran == {"a": 1, "killed": 1}


def test_what_status_tells_is_on_disk(tmp_path: Path) -> None:
    """Asked when the end is written, and not committed yet."""
    machine = Machine(tmp_path)
    told: list[str] = []

    async def ask(life: Life) -> None:
        told.append((await life.status("i"))["status"])
        disk = apsw.Connection(str(tmp_path / "flarebed" / "workflows" / "flow.sqlite"))
        told.extend(status for (status,) in disk.execute("SELECT status FROM instances"))
        disk.close()

    async def body(event: Any, step: Any) -> None:
        assert machine.life is not None
        machine.life.clock.spawn(ask(machine.life), "asks in this very turn")

    async def story(life: Life) -> None:
        await life.flow.create({"id": "i"})
        await life.settle()

    machine.live(body, story)
    assert told == ["complete", "complete"]


def test_an_attempt_that_a_graceful_end_cut_short_does_not_count(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    attempts: list[int] = []

    async def slow(context: Any) -> Any:
        attempts.append(context["attempt"])
        assert machine.life is not None
        await machine.life.clock.sleep(1_000)
        return "done"

    async def body(event: Any, step: Any) -> Any:
        return await step.do("f", {"retries": {"limit": 0, "delay": 0}}, slow)

    async def first(life: Life) -> None:
        await life.flow.create({"id": "i"})
        await life.advance(500)

    async def second(life: Life) -> None:
        await life.advance(1_000)
        assert await life.outcome() == ("complete", "done")

    machine.live(body, first, graceful=True)
    machine.live(body, second)
    assert attempts == [1, 1]


def test_after_a_hand_over_the_old_run_does_nothing_more(tmp_path: Path) -> None:
    machine = Machine(tmp_path)

    async def body(event: Any, step: Any) -> Any:
        try:
            await step.sleep("nap", 1_000)
        except BaseException:
            machine.ran["swallowed"] += 1
        return await step.do("a", machine.step("a", "made once"))

    async def first(life: Life) -> None:
        await life.flow.create({"id": "i"})
        await life.advance(500)

    async def second(life: Life) -> None:
        await life.settle()
        assert await life.outcome() == ("waiting", None)
        await life.advance(500)
        assert await life.outcome() == ("complete", "made once")

    machine.live(body, first, graceful=True)
    assert machine.ran == {"swallowed": 1}
    machine.live(body, second)
    assert machine.ran == {"swallowed": 1, "a": 1}


def test_recorded_errors_are_thrown_again_without_an_attempt(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    failures = {"retryable": JsError("no", "TypeError"), "final": JsError("no", "NonRetryableError")}

    async def body(event: Any, step: Any) -> Any:
        seen = []
        for name, failure in failures.items():

            async def callback(context: Any, name: str = name, failure: JsError = failure) -> None:
                machine.ran[name] += 1
                raise failure

            seen.append(list(await thrown(step.do(name, {"retries": {"limit": 0, "delay": 0}}, callback))))
        seen.append(list(await thrown(step.waitForEvent("w", {"type": "never", "timeout": 10}))))
        await step.sleep("nap", 1_000)
        return seen

    async def first(life: Life) -> None:
        await life.flow.create({"id": "i"})
        await life.advance(500)

    async def second(life: Life) -> None:
        await life.advance(510)
        assert await life.outcome() == (
            "complete",
            [
                ["TypeError", "no"],
                ["Error", "NonRetryableError: no"],
                ["Error", "WorkflowTimeoutError: Execution timed out after 10ms"],
            ],
        )

    machine.live(body, first)
    machine.live(body, second)
    assert machine.ran == {"retryable": 1, "final": 1}
