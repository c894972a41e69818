"""Instances that hibernate, events for them, and other processes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flarebed.bindings.workflows.hibernation import GRACE_MS
from tests.bindings.workflows.life import Life
from tests.bindings.workflows.machine import Machine
from tests.support import run

HOUR_MS = 3_600_000


async def waiting(root: Path) -> tuple[Life, list[int]]:
    runs: list[int] = []

    async def body(event: Any, step: Any) -> Any:
        runs.append(len(runs))
        return (await step.waitForEvent("w", {"type": "go", "timeout": "2 hours"}))["payload"]

    life = await Life.owning(root, body)
    await life.flow.create({"id": "i"})
    await life.settle()
    await life.advance(GRACE_MS)
    assert life.in_memory() == set()
    return life, runs


def test_an_event_for_it_brings_it_back(tmp_path: Path) -> None:
    async def work() -> None:
        life, runs = await waiting(tmp_path)
        instance = await life.flow.get("i")
        await instance.sendEvent({"type": "other", "payload": "no"})
        await life.settle()
        assert (await life.outcome(), len(runs)) == (("waiting", None), 1)
        await instance.sendEvent({"type": "go", "payload": "yes"})
        await life.settle()
        assert (await life.outcome(), len(runs)) == (("complete", "yes"), 2)
        await life.end()

    run(work())


def test_an_event_that_another_process_sends(tmp_path: Path) -> None:
    async def work() -> None:
        life, _ = await waiting(tmp_path)
        other = Life(tmp_path, life.worker.body, start_ms=life.clock.now_ms())
        rung: list[tuple[str, str]] = []
        other.bench.store.doorbell = lambda kind, resource: rung.append((kind, resource))
        await (await other.flow.get("i")).sendEvent({"type": "go", "payload": "from afar"})
        assert rung == [("workflows", "flow")]
        life.resources.ring("flow")
        await life.settle()
        assert await life.outcome() == ("complete", "from afar")
        other.bench.store.close()
        await life.end()

    run(work())


def test_an_event_that_came_unnoticed_keeps_it_in_memory(tmp_path: Path) -> None:
    """Another process has written it and not rung yet."""

    async def body(event: Any, step: Any) -> Any:
        return (await step.waitForEvent("w", {"type": "go"}))["payload"]

    async def work() -> None:
        life = await Life.owning(tmp_path, body)
        await life.flow.create({"id": "i"})
        await life.settle()
        other = Life(tmp_path, body, start_ms=life.clock.now_ms())
        await (await other.flow.get("i")).sendEvent({"type": "go", "payload": 1})
        await life.advance(GRACE_MS)
        assert life.in_memory() == {"i"}
        life.resources.ring("flow")
        await life.settle()
        assert await life.outcome() == ("complete", 1)
        other.bench.store.close()
        await life.end()

    run(work())


def test_its_time_out(tmp_path: Path) -> None:
    async def work() -> None:
        life, _ = await waiting(tmp_path)
        await life.advance(2 * HOUR_MS)
        status, error = await life.outcome()
        assert (status, error["message"]) == ("errored", "WorkflowTimeoutError: Execution timed out after 7200000ms")
        await life.end()

    run(work())


def test_a_new_process_leaves_it_asleep(tmp_path: Path) -> None:
    machine = Machine(tmp_path)

    async def body(event: Any, step: Any) -> Any:
        machine.ran["run"] += 1
        await step.sleep("long", "1 hour")
        return "awake"

    async def first(life: Life) -> None:
        await life.flow.create({"id": "i"})
        await life.settle()
        await life.advance(GRACE_MS)

    async def second(life: Life) -> None:
        await life.settle()
        assert (life.in_memory(), await life.outcome()) == (set(), ("waiting", None))
        await life.advance(HOUR_MS - GRACE_MS)
        assert await life.outcome() == ("complete", "awake")

    machine.live(body, first)
    machine.live(body, second)
    assert machine.ran["run"] == 2


def test_a_new_process_wakes_who_is_overdue(tmp_path: Path) -> None:
    machine = Machine(tmp_path)

    async def body(event: Any, step: Any) -> Any:
        await step.sleep("long", "1 hour")
        return "awake"

    async def first(life: Life) -> None:
        await life.flow.create({"id": "i"})
        await life.settle()
        await life.advance(GRACE_MS)

    async def second(life: Life) -> None:
        await life.settle()
        assert await life.outcome() == ("complete", "awake")

    machine.live(body, first)
    machine.now_ms += 2 * HOUR_MS
    machine.live(body, second)
