"""Scenarios of the rows about events, and about what an instance meets from outside; each gives a text."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from flarebed.bindings.errors import JsError
from tests.bindings.workflows.life import Life
from tests.bindings.workflows.machine import Machine
from tests.bindings.workflows.rows_binding import said
from tests.bindings.workflows.rows_steps import DAY_MS
from tests.support import run


def interrupted(root: Path, limit: int) -> str:
    """What run() sees of a step whose first attempt the end of the process interrupted."""
    machine = Machine(root)

    async def body(event: Any, step: Any) -> str:
        config = {"retries": {"limit": limit, "delay": 0}}
        return await said(step.do("f", config, machine.step("f", "done", duration_ms=1_000)))

    async def begin(life: Life) -> None:
        await life.flow.create({"id": "i"})
        await life.advance(500)

    ends: list[str] = []

    async def finish(life: Life) -> None:
        await life.advance(10_000)
        ends.append((await life.outcome())[1])

    machine.live(body, begin)
    machine.live(body, finish)
    return f"{machine.ran['f']} attempts, {ends[0]}"


def replayed(root: Path, configs: list[Any]) -> str:
    """The calls of a step that always fails, and its error, in two processes with the one and the other configuration.

    The first process ends 5 s after the beginning.
    """
    machine = Machine(root)
    seen: dict[str, str] = {}

    async def fail(context: Any) -> None:
        machine.ran["f"] += 1
        raise JsError("nope", "RangeError")

    def body(process: str, config: Any) -> Callable[[Any, Any], Awaitable[None]]:
        async def body(event: Any, step: Any) -> None:
            seen[process] = await said(step.do("f", config, fail))
            await step.sleep("nap", "1 hour")

        return body

    async def begin(life: Life) -> None:
        await life.flow.create({"id": "i"})
        await life.advance(5_000)

    machine.live(body("first", configs[0]), begin)
    machine.live(body("second", configs[1]), lambda life: life.advance(DAY_MS))
    return f"{machine.ran['f']} calls, {seen}"


def events(root: Path, given: dict[str, Any]) -> str:
    """The payloads that waits for the type "go" get, one after another, of events sent at once."""

    async def body(event: Any, step: Any) -> str:
        await step.sleep("first", given.get("begin_ms", 0))
        return " ".join(
            [await _payload(step, number, given.get("timeout_ms", DAY_MS)) for number in range(given["waits"])]
        )

    async def check() -> str:
        life = await Life.owning(root, body)
        handle = await life.flow.create({"id": "i"})
        await life.advance(given.get("sent_ms", 0))
        for payload in given["payloads"]:
            await handle.sendEvent({"type": "go", "payload": payload})
        await life.advance(DAY_MS)
        end: str = (await life.outcome())[1]
        await life.end()
        return end

    return run(check())


async def _payload(step: Any, number: int, timeout_ms: float) -> str:
    try:
        got = await step.waitForEvent(f"wait {number}", {"type": "go", "timeout": timeout_ms})
    except JsError:
        return "-"
    return f"{got['payload']}"


def event_object(root: Path, given: Any) -> str:
    async def body(event: Any, step: Any) -> Any:
        return await step.waitForEvent("w", {"type": "go"})

    async def check() -> str:
        life = await Life.owning(root, body)
        await (await life.flow.create({"id": "i"})).sendEvent({"type": "go", "payload": given})
        await life.settle()
        end = (await life.outcome())[1]
        await life.end()
        return json.dumps(end)

    return run(check())


def swallowing(root: Path, act: str) -> str:
    """What a run() that catches every Exception catches when the act takes place during its sleep."""
    seen: list[str] = []

    async def body(event: Any, step: Any) -> None:
        try:
            await step.sleep("nap", "1 hour")
        except Exception as error:
            seen.append(repr(error))

    async def check() -> None:
        life = await Life.owning(root, body)
        handle = await life.flow.create({"id": "i"})
        await life.settle()
        await getattr(handle, act)()
        await life.settle()
        await life.end()

    run(check())
    return " ".join(seen) or "nothing"


SCENARIOS: dict[str, Callable[[Path, Any], str]] = {
    "interrupted": interrupted,
    "replayed": replayed,
    "events": events,
    "event object": event_object,
    "swallowing": swallowing,
}
