"""A workflow of another Worker: used here, run there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.bindings.workflows.life import Life
from tests.support import run


async def body(event: Any, step: Any) -> Any:
    return (await step.waitForEvent("w", {"type": "go"}))["payload"]


def test_it_is_not_run_here(tmp_path: Path) -> None:
    async def work() -> None:
        life = await Life.owning(tmp_path, body, script_name="other", schedules=("* * * * *",))
        rung: list[tuple[str, str]] = []
        life.bench.store.doorbell = lambda kind, resource: rung.append((kind, resource))
        await life.flow.create({"id": "i"})
        await life.advance(60_000)
        assert await life.outcome() == ("queued", None)
        await (await life.flow.get("i")).sendEvent({"type": "go", "payload": 1})
        assert (rung, life.resources.claims()) == ([("workflows", "flow")] * 2, [])
        await life.end()
        there = await Life.owning(tmp_path, body, script_name="worker")
        await there.settle()
        assert await there.outcome() == ("complete", 1)
        assert there.resources.claims() == ["flow"]
        await there.end()

    run(work())


def test_settings_that_are_for_the_other_worker(tmp_path: Path) -> None:
    async def work() -> None:
        settings = {
            "limits_steps": 5, "concurrency_limit": 1, "schedules": ("* * * * *",), "error_retention_ms": 1.0,
        }  # fmt: skip
        life = Life(tmp_path, body, script_name="other", **settings)
        assert life.bench.logged == [
            (
                "warn",
                f'Workflow "flow" has "{name}" configured but references external script "other". '
                f"Configure {name} on the worker that defines the workflow.",
            )
            for name in ("limits", "concurrency", "schedules", "default_retention")
        ]
        assert Life(tmp_path, body, script_name="worker", **settings).bench.logged == []
        life.bench.store.close()

    run(work())
