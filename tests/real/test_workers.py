"""Two Workers, each served by a command of its own, on one state folder: what one asks for the other runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.real.command import dev, pause, project, until

pytestmark = pytest.mark.real

SHOP = """\
from urllib.parse import urlparse

from workers import Response, WorkerEntrypoint


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        verb, _, name = urlparse(request.url).path.strip("/").partition("/")
        match verb:
            case "create":
                await self.env.BILLING.create({"id": name, "params": {"cents": 5}})
            case "pay":
                await (await self.env.BILLING.get(name)).send_event({"type": "paid", "payload": "cash"})
            case "send":
                await self.env.JOBS.send(name)
            case "status":
                return Response.json(await (await self.env.BILLING.get(name)).status())
        return Response("ok")
"""
SHOP_CONFIG = {
    "name": "shop",
    "workflows": [
        {"name": "billing", "binding": "BILLING", "class_name": "Billing", "script_name": "office"},
        {"name": "own", "binding": "OWN", "class_name": "Own"},
    ],
    "queues": {"producers": [{"binding": "JOBS", "queue": "jobs"}]},
}
OFFICE = """\
from workers import Response, WorkerEntrypoint, WorkflowEntrypoint

SEEN = []


class Billing(WorkflowEntrypoint):
    async def run(self, event, step):
        paid = await step.wait_for_event("payment", "paid", timeout="1 hour")
        return [event["payload"]["cents"], paid["payload"]]


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return Response.json(SEEN)

    async def queue(self, batch, env, ctx):
        SEEN.extend(message.body for message in batch.messages)
"""
OFFICE_CONFIG = {
    "name": "office",
    "workflows": [{"name": "billing", "binding": "BILLING", "class_name": "Billing"}],
    "queues": {"consumers": [{"queue": "jobs", "max_batch_timeout": 0}]},
}


def made(folder: Path, entry: str, config: dict[str, object]) -> Path:
    folder.mkdir()
    project(folder, entry)
    settings = json.loads((folder / "wrangler.jsonc").read_text()) | config
    (folder / "wrangler.jsonc").write_text(json.dumps(settings))
    return folder


def test_a_workflow_and_a_queue_of_another_worker(tmp_path: Path) -> None:
    shop = made(tmp_path / "shop", SHOP, SHOP_CONFIG)
    office = made(tmp_path / "office", OFFICE, OFFICE_CONFIG)
    state = ("--persist-to", str(tmp_path / "state"))
    with dev(shop, *state) as asking:
        asking.get("/create/before")
        asking.get("/send/before")
        pause(0.2)
        assert asking.json("/status/before")["status"] == "queued"
        with dev(office, *state) as running:
            until(lambda: asking.json("/status/before")["status"] == "waiting")
            until(lambda: running.json("/") == ["before"])
            asking.get("/create/beside")
            until(lambda: asking.json("/status/beside")["status"] == "waiting")
            for name in ("before", "beside"):
                asking.get(f"/pay/{name}")
                until(lambda: asking.json(f"/status/{name}")["output"] == [5, "cash"])  # noqa: B023
            asking.get("/send/beside")
            until(lambda: running.json("/") == ["before", "beside"])


def test_two_workers_that_claim_the_same_workflow(tmp_path: Path) -> None:
    first = made(tmp_path / "first", OFFICE, OFFICE_CONFIG)
    second = made(tmp_path / "second", OFFICE, OFFICE_CONFIG | {"name": "branch"})
    state = ("--persist-to", str(tmp_path / "state"))
    with dev(first, *state), dev(second, *state) as waiting:
        waiting.wait_for('"jobs" \\(queues\\) is run by another Worker on this state folder')
        assert waiting.json("/") == []
