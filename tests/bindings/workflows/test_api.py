"""What is told of instances from outside of a Worker: lists and details, as wrangler's local API gives them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from flarebed.bindings.errors import JsError
from flarebed.bindings.values import ArrayBuffer, View
from flarebed.bindings.workflows.api import WorkflowApi
from flarebed.bindings.workflows.listing import Wanted
from flarebed.bindings.workflows.spec import WorkflowSpec
from tests.bindings.workflows.life import START_MS, Life, raising, returning, thrown
from tests.support import Bench, run

MINUTE_MS = 60_000
DEFAULTS = {"retries": {"limit": 5, "backoff": "exponential", "delay": 1000}, "timeout": "10 minutes"}
RETRIES = {"limit": 1, "delay": "1 minute", "backoff": "constant"}


def api(life: Life) -> WorkflowApi:
    return WorkflowApi(WorkflowSpec("FLOW", "flow", "Flow"), life.bench.around)


def at(minutes: int) -> str:
    return f"2026-01-01T00:{minutes:02}:00.000Z"


def attempt(start: int, end: int | None, success: bool | None = True, error: Any = None) -> dict[str, Any]:
    return {"start": at(start), "end": None if end is None else at(end), "success": success, "error": error}


def test_the_details_of_a_long_way(tmp_path: Path) -> None:
    error = {"name": "RangeError", "message": "nope"}
    failures = [JsError("nope", "RangeError")]

    async def flaky(context: Any) -> Any:
        if failures:
            raise failures.pop()
        await life.clock.sleep(MINUTE_MS)
        return View(ArrayBuffer(b"ab"))

    async def body(event: Any, step: Any) -> Any:
        await step.do("secret", {"sensitive": "output"}, returning("it"))
        await step.do("flaky", {"retries": RETRIES}, flaky)
        await step.sleep("nap", "2 minutes")
        got = await step.waitForEvent("go", {"type": "go"})
        return got["payload"]

    async def check() -> None:
        nonlocal life
        life = await Life.owning(tmp_path, body)
        instance = await life.flow.create({"id": "i", "params": {"n": 1}})
        await life.advance(3 * MINUTE_MS)
        detail = api(life).detail("i")
        assert list(detail) == [
            "status", "params", "queued", "start", "end", "success", "output", "error", "steps", "step_count",
        ]  # fmt: skip
        assert (detail["status"], detail["params"], detail["queued"], detail["start"]) == (
            "waiting", {"n": 1}, at(0), at(0),
        )  # fmt: skip
        assert (detail["end"], detail["success"], detail["output"], detail["error"]) == (None, None, None, None)
        secret, again, nap = detail["steps"]
        assert secret == {
            "name": "secret-1", "start": at(0), "end": at(0), "success": True, "type": "step", "output": "[REDACTED]",
            "config": {**DEFAULTS, "sensitive": "output"}, "attempts": [attempt(0, 0)],
        }  # fmt: skip
        assert again["output"] == "[Uint8Array(2 bytes)]"
        assert (again["config"], again["attempts"]) == (
            {"retries": RETRIES, "timeout": "10 minutes"}, [attempt(0, 0, False, error), attempt(1, 2)],
        )  # fmt: skip
        assert nap == {
            "name": "nap-1", "start": at(2), "end": None, "finished": False, "type": "sleep", "error": None,
        }  # fmt: skip
        await life.advance(MINUTE_MS)
        await instance.sendEvent({"type": "go", "payload": "on"})
        await life.settle()
        detail = api(life).detail("i")
        assert (detail["status"], detail["success"], detail["output"]) == ("complete", True, "on")
        assert (detail["end"], detail["step_count"]) == (at(4), 4)
        assert detail["steps"][3] == {
            "name": "go-1", "start": at(4), "end": at(4), "finished": True, "type": "waitForEvent", "error": None,
            "output": {"payload": "on", "type": "go", "timestamp": at(4)},
        }  # fmt: skip
        await life.end()

    life: Any = None
    run(check())


def test_what_is_under_way_and_what_has_failed(tmp_path: Path) -> None:
    async def body(event: Any, step: Any) -> Any:
        if event["payload"] == "long":
            return await step.do("long", lambda context: life.clock.sleep(MINUTE_MS))
        try:
            await step.waitForEvent("go", {"type": "go", "timeout": "1 minute"})
        except JsError:
            return await step.do("bad", {"retries": {"limit": 0, "delay": 0}}, raising(JsError("no", "TypeError")))

    async def check() -> None:
        nonlocal life
        life = await Life.owning(tmp_path, body)
        await life.flow.create({"id": "long", "params": "long"})
        await life.flow.create({"id": "late"})
        await life.settle()
        [step] = api(life).detail("long")["steps"]
        assert (step["success"], step["end"], step["attempts"]) == (None, None, [attempt(0, None, None)])
        assert "output" not in step
        await life.advance(MINUTE_MS)
        detail = api(life).detail("late")
        wait, bad = detail["steps"]
        timeout = {"name": "Error", "message": "WorkflowTimeoutError: Execution timed out after 60000ms"}
        assert (wait["finished"], wait["error"], wait["output"]) == (True, timeout, None)
        error = {"name": "TypeError", "message": "no"}
        assert (bad["success"], bad["attempts"], "output" in bad) == (False, [attempt(1, 1, False, error)], False)
        assert (detail["status"], detail["success"], detail["error"]) == ("errored", False, error)
        await life.end()

    life: Any = None
    run(check())


def test_instances_are_listed_newest_first_by_status_and_time(tmp_path: Path) -> None:
    async def body(event: Any, step: Any) -> Any:
        if event["payload"] == "sleeps":
            await step.sleep("nap", "1 day")

    async def check() -> None:
        life = await Life.owning(tmp_path, body)
        for id, params in (("a", None), ("b", "sleeps"), ("c", None)):
            await life.flow.create({"id": id, "params": params})
            await life.advance(MINUTE_MS)
        await (await life.flow.get("a")).restart()
        await life.settle()
        row = {"id": "b", "status": "waiting", "created_on": at(1)}

        def ids(wanted: Wanted = Wanted(), page: int = 1, per_page: int = 25) -> list[str]:  # noqa: B008
            return [one["id"] for one in api(life).instances(wanted, page=page, per_page=per_page)]

        assert api(life).instances(Wanted("waiting"), page=1, per_page=25) == [row]
        assert ids() == ["c", "b", "a"]  # a restart makes nothing newer
        assert (ids(page=2, per_page=2), ids(page=3, per_page=2)) == (["a"], [])
        assert (ids(Wanted("complete")), ids(Wanted("running"))) == (["c", "a"], [])
        assert ids(Wanted(None, START_MS + 1, START_MS + MINUTE_MS)) == ["b"]
        assert api(life).latest() == "c"
        assert {status: count for status, count in api(life).status_counts().items() if count} == {
            "complete": 2, "waiting": 1,
        }  # fmt: skip
        await life.end()

    run(check())


def test_a_page_costs_no_scan_of_all_instances(tmp_path: Path) -> None:
    async def check() -> None:
        bench = Bench(tmp_path)
        outside = WorkflowApi(WorkflowSpec("FLOW", "flow", "Flow"), bench.around)
        database = outside._listing._db
        plans: list[str] = []

        def explain(sql: str, parameters: Any) -> Any:
            plans.extend(row[3] for row in database.connection.execute(f"EXPLAIN QUERY PLAN {sql}", parameters))
            return []

        outside._listing._db = type("Explained", (), {"read": staticmethod(explain)})()  # type: ignore[assignment]
        outside.instances(Wanted(), page=1, per_page=25)
        assert plans[0] == "SEARCH instances USING INDEX created (created_ms>? AND created_ms<?)"
        assert not any("TEMP B-TREE" in plan for plan in plans)
        bench.store.close()

    run(check())


def test_another_process_may_act_and_rings(tmp_path: Path) -> None:
    async def check() -> None:
        bench = Bench(tmp_path)
        rung: list[tuple[str, str]] = []
        bench.store.doorbell = lambda kind, resource: rung.append((kind, resource))
        outside = WorkflowApi(WorkflowSpec("FLOW", "flow", "Flow", "other"), bench.around)
        assert outside.summary() == {"name": "flow", "class_name": "Flow", "script_name": "other"}
        assert await outside.create("a", {"n": 1}) == "a"
        assert await outside.change("a", "pause") == {"status": "paused", "timestamp": at(0)}
        assert await outside.send_event("a", "go", None) == {"success": True}
        assert outside.buffered("a") == [("go", START_MS)]
        assert await outside.change("a", "restart") == {"status": "queued", "timestamp": at(0)}
        assert rung == [("workflows", "flow")] * 4
        assert await thrown(outside.change("a", "restart", {"from": {"name": "x"}})) == (
            "Error", 'WorkflowError: (instance.cannot_restart) Step "x" not found in execution history',
        )  # fmt: skip
        assert await outside.delete(["a", "b"]) == {
            "deleted": [{"id": "a"}],
            "errors": [{"id": "b", "code": 10400, "message": "workflows.api.error.instance.not_found"}],
        }
        await outside.create("c")
        assert await outside.delete_all() == {"status": "ok", "success": True}
        assert outside.latest() is None
        bench.store.close()

    run(check())


def test_all_are_deleted_while_they_run(tmp_path: Path) -> None:
    async def body(event: Any, step: Any) -> Any:
        await step.sleep("nap", "1 day")

    async def check() -> None:
        life = await Life.owning(tmp_path, body)
        await life.flow.create({"id": "i"})
        await life.settle()
        await api(life).delete_all()
        life.resources.ring("flow")
        await life.advance(2 * 24 * 60 * MINUTE_MS)
        assert await thrown(life.flow.get("i")) == ("Error", "instance.not_found")
        assert len(asyncio.all_tasks()) == 1
        await life.end()

    run(check())
