"""The tenant onboarding: a workflow writes to D1, sends to a queue, sleeps; the consumer writes to D1 and KV."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.served import ROOT, START_MS, Served, served
from tests.support import run

FOLDER = ROOT / "fixtures" / "onboarding"
TENANT = {"tenantId": "t1", "requestedBy": "me"}
EXISTS = 'WorkflowError: (instance.already_exists) Workflow instance with id "tenant-t1" already exists'
COMPLETE = {"ok": True, "tenantId": "t1", "tenant": {"id": "t1"}}


async def status(worker: Served) -> dict[str, Any]:
    answer = await worker.get("/status/tenant-t1")
    assert answer.status == 200
    found: dict[str, Any] = answer.json
    return {name: found[name] for name in ("status", "output", "error")}


def test_from_the_request_to_the_verified_tenant(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(FOLDER, tmp_path) as worker:
            worker.migrate()
            assert (await worker.post("/", TENANT)).json == {"id": "tenant-t1"}
            assert (await worker.get("/tenants/t1")).json == {"id": "t1", "state": "created"}
            await worker.advance(2)
            assert (await worker.get("/tenants/t1")).json == {"id": "t1", "state": "provisioned"}
            await worker.advance(27.5)
            assert await status(worker) == {"status": "waiting", "output": None, "error": None}
            await worker.advance(1)
            assert await status(worker) == {"status": "complete", "output": COMPLETE, "error": None}

    run(scenario())


def test_the_same_tenant_twice_is_what_production_answers(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(FOLDER, tmp_path) as worker:
            worker.migrate()
            await worker.post("/", TENANT)
            second = await worker.post("/", TENANT)
            assert second.status == 500
            assert EXISTS in second.text
            assert (await worker.get("/tenants/nobody")).status == 404

    run(scenario())


def test_a_restart_in_the_sleep_runs_no_step_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(FOLDER, tmp_path) as worker:
            worker.migrate()
            await worker.post("/", TENANT)
            await worker.advance(10)
        async with served(FOLDER, tmp_path, start_ms=START_MS + 12_000) as worker:
            await worker.advance(17)
            assert (await status(worker))["status"] == "waiting"
            await worker.advance(2)
            # The row came from the first run: a second INSERT would return none.
            assert await status(worker) == {"status": "complete", "output": COMPLETE, "error": None}

    run(scenario())


def test_a_wake_up_that_is_overdue_after_a_restart(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(FOLDER, tmp_path) as worker:
            worker.migrate()
            await worker.post("/", TENANT)
        async with served(FOLDER, tmp_path, start_ms=START_MS + 3_600_000) as worker:
            await worker.advance(2)
            assert (await status(worker))["output"] == COMPLETE
            assert (await worker.get("/tenants/t1")).json == {"id": "t1", "state": "provisioned"}

    run(scenario())


def test_a_failing_step_is_tried_again_after_5_10_and_20_seconds(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(FOLDER, tmp_path) as worker:
            await worker.post("/", TENANT)
            await worker.advance(34)
            assert (await status(worker))["status"] == "running"
            await worker.advance(2)
            found = await status(worker)
            assert found["status"] == "errored"
            assert "no such table: tenants" in found["error"]["message"]

    run(scenario())


def test_a_retry_finds_what_was_mended(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(FOLDER, tmp_path) as worker:
            await worker.post("/", TENANT)
            await worker.advance(14)
            worker.migrate()
            await worker.advance(32)
            assert await status(worker) == {"status": "complete", "output": COMPLETE, "error": None}

    run(scenario())
