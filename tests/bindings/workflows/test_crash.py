"""A process that ends at any point, and the next one: what was recorded stays, what was ahead is still ahead."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from flarebed.bindings.errors import JsError

from tests.bindings.workflows.life import START_MS, Life, thrown
from tests.support import run

INTERRUPTED = "WorkflowInternalError: Attempt failed due to internal workflows error"


class Machine:
    """One state folder, and the processes that have it one after another. Time goes on between them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.now_ms = START_MS
        self.ran: Counter[str] = Counter()
        self.life: Life | None = None

    def live(
        self, body: Callable[..., Awaitable[Any]], story: Callable[[Life], Awaitable[None]], *, graceful: bool = False
    ) -> None:
        """A process that runs `body` for all instances, until `story` is over; then it is killed."""

        async def process() -> None:
            life = self.life = await Life.owning(self.root, body, start_ms=self.now_ms)
            await story(life)
            self.now_ms = life.clock.now_ms()
            if graceful:
                await life.end()
            else:
                life.kill()

        asyncio.run(process())

    def since_start_ms(self) -> float:
        assert self.life is not None
        return self.life.clock.now_ms() - START_MS

    def step(self, name: str, value: Any = None, duration_ms: float = 0) -> Callable[..., Awaitable[Any]]:
        async def callback(context: Any) -> Any:
            self.ran[name] += 1
            assert self.life is not None
            if duration_ms:
                await self.life.clock.sleep(duration_ms)
            return value

        return callback


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


def test_events_are_neither_lost_nor_delivered_twice(tmp_path: Path) -> None:
    machine = Machine(tmp_path)

    async def body(event: Any, step: Any) -> Any:
        got = [(await step.waitForEvent(f"w{number}", {"type": "go"}))["payload"] for number in range(2)]
        await step.sleep("nap", 1_000)
        return [*got, (await step.waitForEvent("last", {"type": "go"}))["payload"]]

    async def first(life: Life) -> None:
        instance = await life.flow.create({"id": "i"})
        await instance.sendEvent({"type": "go", "payload": 1})
        await life.settle()
        await instance.sendEvent({"type": "go", "payload": 2})
        await instance.sendEvent({"type": "go", "payload": 3})

    async def second(life: Life) -> None:
        await life.settle()

    async def third(life: Life) -> None:
        await life.advance(1_000)
        assert await life.outcome() == ("complete", [1, 2, 3])

    machine.live(body, first)
    machine.live(body, second)
    machine.live(body, third)


def test_a_wait_keeps_its_deadline(tmp_path: Path) -> None:
    machine = Machine(tmp_path)

    async def body(event: Any, step: Any) -> Any:
        error = await thrown(step.waitForEvent("w", {"type": "go", "timeout": "10 seconds"}))
        return [error[1], machine.since_start_ms()]

    async def first(life: Life) -> None:
        await life.flow.create({"id": "i"})
        await life.advance(6_000)

    async def second(life: Life) -> None:
        await life.advance(4_000)
        message = "WorkflowTimeoutError: Execution timed out after 10000ms"
        assert await life.outcome() == ("complete", [message, 10_000])

    machine.live(body, first)
    machine.live(body, second)


def test_an_event_that_came_after_the_deadline_while_nobody_owned(tmp_path: Path) -> None:
    machine = Machine(tmp_path)

    async def body(event: Any, step: Any) -> Any:
        late = await thrown(step.waitForEvent("w1", {"type": "go", "timeout": "1 second"}))
        return [late[0], (await step.waitForEvent("w2", {"type": "go"}))["payload"]]

    async def first(life: Life) -> None:
        await life.flow.create({"id": "i"})
        await life.settle()

    async def send() -> None:
        life = Life(tmp_path, body, start_ms=machine.now_ms)
        await (await life.flow.get("i")).sendEvent({"type": "go", "payload": "late"})
        life.kill()

    async def third(life: Life) -> None:
        await life.settle()
        assert await life.outcome() == ("complete", ["Error", "late"])

    machine.live(body, first)
    machine.now_ms += 5_000
    run(send())
    machine.live(body, third)


def test_a_pause_that_waited_for_an_attempt_when_the_process_ended(tmp_path: Path) -> None:
    machine = Machine(tmp_path)

    async def body(event: Any, step: Any) -> Any:
        return await step.do("f", machine.step("f", 1, duration_ms=1_000))

    async def first(life: Life) -> None:
        instance = await life.flow.create({"id": "i"})
        await life.advance(500)
        await instance.pause()

    async def second(life: Life) -> None:
        await life.advance(5_000)
        assert (await life.outcome())[0] == "paused"
        await (await life.flow.get("i")).resume()
        await life.advance(1_000)
        assert await life.outcome() == ("complete", 1)

    machine.live(body, first)
    machine.live(body, second)
    assert machine.ran == {"f": 2}


@pytest.mark.parametrize("seed", range(12))
def test_a_random_life(tmp_path: Path, seed: int) -> None:
    """Three instances, whatever is done to them and however often the process dies: each effect once, in order."""
    dice = random.Random(seed)
    machine = Machine(tmp_path)
    finished: dict[tuple[str, str], int] = Counter()
    sent: Counter[str] = Counter()

    async def body(event: Any, step: Any) -> Any:
        instance_id, seen = event["instanceId"], []
        for number in range(4):

            async def callback(context: Any, label: str = f"s{number}") -> str:
                assert machine.life is not None
                await machine.life.clock.sleep(300)
                finished[instance_id, label] += 1
                return label

            seen.append(await step.do(f"s{number}", callback))
            await step.sleep("nap", 700)
            seen.append((await step.waitForEvent("w", {"type": "go", "timeout": "30 days"}))["payload"])
        return seen

    async def act(life: Life) -> None:
        instance_id = f"i{dice.randrange(3)}"
        instance = await life.flow.get(instance_id)
        action = dice.choice(["pause", "resume", "resume", "send", "send", "send"])
        if action == "send":
            await instance.sendEvent({"type": "go", "payload": sent[instance_id]})
            sent[instance_id] += 1
        else:
            await getattr(instance, action)()

    async def begin(life: Life) -> None:
        await life.flow.createBatch([{"id": f"i{number}"} for number in range(3)])

    async def go_on(life: Life) -> None:
        for _ in range(dice.randrange(1, 9)):
            await act(life)
            await life.clock.advance(dice.randrange(0, 900))

    async def finish(life: Life) -> None:
        for number in range(3):
            instance = await life.flow.get(f"i{number}")
            await instance.resume()
            for payload in range(sent[instance.id], 4):
                await instance.sendEvent({"type": "go", "payload": payload})
        await life.advance(60_000)
        for number in range(3):
            expected = [part for index in range(4) for part in (f"s{index}", index)]
            assert await life.outcome(f"i{number}") == ("complete", expected)

    machine.live(body, begin)
    for _ in range(8):
        machine.live(body, go_on, graceful=dice.random() < 0.5)
        machine.now_ms += dice.randrange(0, 500)
    machine.live(body, finish)
    assert finished == {(f"i{number}", f"s{index}"): 1 for number in range(3) for index in range(4)}
