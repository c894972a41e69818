"""Rollbacks in a Python Worker under the real SDK, which hands the engine's own step on as `step._js_step`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.served import served
from tests.support import run

CONFIG = {
    "name": "saga",
    "main": "main.py",
    "compatibility_date": "2026-11-01",
    "compatibility_flags": ["python_workers"],
    "workflows": [{"binding": "FLOW", "name": "saga", "class_name": "Saga"}],
    "kv_namespaces": [{"binding": "KV", "id": "kv"}],
}

MAIN = """
import asyncio
import json

from js import Object
from pyodide.ffi import to_js
from workers import Response, WorkerEntrypoint, WorkflowEntrypoint


def options(**fields):
    return to_js(fields, dict_converter=Object.fromEntries)


class Saga(WorkflowEntrypoint):
    async def run(self, event, step):
        async def pay(ctx):
            return to_js({"charge": 7}, dict_converter=Object.fromEntries)

        async def refund(undo):
            await asyncio.sleep(1)
            await self.note(f"refund {undo.output.charge} {undo.stepName} {undo.ctx.step.name} because {undo.error}")

        async def cancel(undo):
            await asyncio.sleep(1)
            await self.note(f"cancel {undo.output}")

        async def ship(ctx):
            raise ValueError("no truck")

        once = {"retries": {"limit": 0, "delay": 0}}
        await step._js_step.do("pay", pay, options(rollback=refund, rollbackConfig=once))
        if event.payload.get("wait"):
            await step.sleep("wait", "1 day")
        await step._js_step.do("ship", options(**once), ship, options(rollback=cancel))

    async def note(self, text):
        await self.env.KV.put("notes", json.dumps([*json.loads(await self.env.KV.get("notes") or "[]"), text]))


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        if request.method.value == "POST":
            await self.env.FLOW.create(id="i", params=await request.json())
        elif request.method.value == "DELETE":
            await (await self.env.FLOW.get("i")).terminate(rollback=True)
        status = await (await self.env.FLOW.get("i")).status()
        return Response.json({"notes": json.loads(await self.env.KV.get("notes") or "[]"), **status})
"""


def project(root: Path) -> Path:
    root.mkdir()
    (root / "wrangler.jsonc").write_text(json.dumps(CONFIG))
    (root / "main.py").write_text(MAIN)
    return root


async def shown(worker: Any) -> Any:
    return (await worker.get("/")).json


@pytest.mark.parametrize("restarted", [False, True])
def test_a_failed_instance_is_rolled_back(tmp_path: Path, restarted: bool) -> None:
    folder, state = project(tmp_path / "app"), tmp_path / "state"

    async def scenario() -> None:
        async with served(folder, state) as worker:
            await worker.post("/", {})
            await worker.advance(0.5 if restarted else 3)
            found = await shown(worker)
        if restarted:
            assert (found["status"], found["notes"]) == ("rollingBack", [])
            async with served(folder, state) as worker:
                await worker.advance(3)
                found = await shown(worker)
        assert found["status"] == "errored"
        assert found["rollback"] == {"outcome": "complete", "error": None}
        cancelled, refunded = found["notes"]
        assert cancelled == "cancel None"
        assert refunded.startswith("refund 7 pay-1 pay because Error: PythonError: Traceback")
        assert refunded.rstrip().endswith("ValueError: no truck")

    run(scenario())


def test_a_terminated_instance_is_rolled_back_first(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(project(tmp_path / "app"), tmp_path / "state") as worker:
            await worker.post("/", {"wait": True})
            await worker.advance(10)
            found = (await worker.ask("DELETE", "/")).json
            assert (found["status"], found["rollback"]["outcome"]) == ("terminated", "complete")
            assert found["notes"] == ["refund 7 pay-1 pay because Error: Instance terminated during rollback"]

    run(scenario())
