"""A process that ends at any point, and the next one: events, deadlines, pauses, and a random life."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.bindings.workflows.life import Life, thrown
from tests.bindings.workflows.machine import Machine
from tests.support import run


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


def test_a_pause_before_an_interrupted_attempt_is_made_anew(tmp_path: Path) -> None:
    """Nobody makes the attempt that the journal still has: there is nothing to wait for."""
    machine = Machine(tmp_path)

    async def body(event: Any, step: Any) -> Any:
        return await step.do("f", machine.step("f", 1, duration_ms=1_000))

    async def first(life: Life) -> None:
        await life.flow.create({"id": "i"})
        await life.advance(500)

    async def second(life: Life) -> None:
        instance = await life.flow.get("i")
        await instance.pause()
        await life.settle()
        assert await life.outcome() == ("paused", None)
        await instance.resume()
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
