"""A real Worker's instances over long times: what hibernates and runs again, what a schedule creates, what is kept."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.errors import JsError
from flarebed.emulator.config.load import load
from flarebed.emulator.testing.session import Session

HOUR_MS = 3_600_000
GRACE_MS = 300_000

ENTRY = """
import asyncio
from workers import WorkerEntrypoint, WorkflowEntrypoint

TRACE = []


class Flow(WorkflowEntrypoint):
    async def run(self, event, step):
        if event.get("schedule"):
            schedule = event["schedule"]
            return [event["instanceId"], schedule["cron"], schedule["scheduledTime"], len(event["payload"])]
        return await getattr(self, event["payload"])(event, step)

    async def at_once(self, event, step):
        return "done"

    async def sleeper(self, event, step):
        TRACE.append("run")
        try:
            await step.sleep("long", "1 hour")
        finally:
            TRACE.append("finally")
            await self.env.KV.put("finally", "reached")
            TRACE.append("after")

    async def beside_a_timer(self, event, step):
        TRACE.append("run")
        await asyncio.gather(step.sleep("long", "1 hour"), asyncio.sleep(1_800))
        return "both"

    async def both(self, event, step):
        TRACE.append("run")
        event, _ = await asyncio.gather(
            step.wait_for_event("w", "go", timeout="2 hours"), step.sleep("long", "1 hour")
        )
        return event["payload"]


class Default(WorkerEntrypoint):
    async def scheduled(self, controller, env, ctx):
        await self.env.FLOW.create(id="i", params="at_once", retention={"successRetention": "1 day"})
"""


def opened(folder: Path, **workflow: Any) -> Session:
    (folder / "src").mkdir(exist_ok=True)
    (folder / "src" / "entry.py").write_text(ENTRY)
    settings = {
        "name": "w",
        "main": "src/entry.py",
        "compatibility_date": "2026-06-01",
        "compatibility_flags": ["python_workers"],
        "workflows": [{"name": "flow", "binding": "FLOW", "class_name": "Flow", **workflow}],
        "kv_namespaces": [{"binding": "KV", "id": "kv"}],
    }
    (folder / "wrangler.jsonc").write_text(json.dumps(settings))
    return Session(load(None, cwd=folder, env="", environ={}), folder / "state", lambda level, text: None)


def flow(session: Session) -> Any:
    return session.app.env()["FLOW"]


def trace() -> list[str]:
    return list(sys.modules["entry"].TRACE)


def in_memory(session: Session) -> int:
    return len(session.app.resources["workflows"]._own[0]._runs)  # type: ignore[attr-defined]


def outcome(session: Session, instance_id: str = "i") -> tuple[str, Any]:
    shown = session.run(session.run(flow(session).get(instance_id)).status())
    return shown["status"], shown["output"]


@pytest.fixture
def session(tmp_path: Path) -> Any:
    session = opened(tmp_path)
    yield session
    session.close()


def create(session: Session, what: str) -> None:
    session.run(flow(session).create({"id": "i", "params": what}))
    session.settle()


def test_it_is_replayed_and_its_finally_reaches_nothing(session: Session) -> None:
    create(session, "sleeper")
    session.advance(GRACE_MS)
    assert (in_memory(session), trace()) == (0, ["run", "finally"])
    assert session.run(session.app.env()["KV"].get("finally")) is None
    assert outcome(session) == ("waiting", None)
    session.advance(HOUR_MS - GRACE_MS)
    assert outcome(session) == ("complete", None)
    assert trace() == ["run", "finally", "run", "finally", "after"]


def test_a_timer_of_run_keeps_it_in_memory_as_long_as_it_takes(session: Session) -> None:
    create(session, "beside_a_timer")
    session.advance(1_800_000 - 1)
    assert in_memory(session) == 1
    session.advance(1 + GRACE_MS)
    assert (in_memory(session), trace()) == (0, ["run"])
    session.advance(1_800_000 - GRACE_MS)
    assert outcome(session) == ("running", None)  # its sleep is over, its own timer has begun anew
    session.advance(HOUR_MS)
    assert (outcome(session), trace()) == (("complete", "both"), ["run", "run"])


def test_an_event_during_hibernation(session: Session) -> None:
    create(session, "both")
    session.advance(GRACE_MS)
    assert in_memory(session) == 0
    session.run(session.run(flow(session).get("i")).sendEvent({"type": "go", "payload": "yes"}))
    session.settle()
    assert (in_memory(session), outcome(session)) == (1, ("waiting", None))
    session.advance(GRACE_MS)
    assert in_memory(session) == 0
    session.advance(HOUR_MS - 2 * GRACE_MS)
    assert (outcome(session), trace()) == (("complete", "yes"), ["run", "run", "run"])


def test_what_a_schedule_creates(tmp_path: Path) -> None:
    session = opened(tmp_path, schedules="0 9 * * mon")
    session.advance(5 * 24 * HOUR_MS)  # from Thursday, the 1st of January 2026
    name = "0 9 * * mon-1767603600000"
    assert outcome(session, name) == ("complete", [name, "0 9 * * mon", 1_767_603_600_000, 0])
    session.close()


def test_retention_that_a_worker_asks_for(session: Session) -> None:
    session.run(session.app.scheduled("* * * * *", 0))
    session.settle()
    assert outcome(session) == ("complete", "done")
    session.advance(24 * HOUR_MS - 1)
    assert outcome(session) == ("complete", "done")
    session.advance(1)
    with pytest.raises(JsError, match=r"instance\.not_found"):
        outcome(session)
