"""Commands beside a running `flarebed dev`: on its workflows, and on its virtual time."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.real.command import Place, dev, edit, flarebed, until

pytestmark = pytest.mark.real

ENTRY = """\
import asyncio
import time

from workers import Response, WorkerEntrypoint, WorkflowEntrypoint


def note(env, text):
    with open(env.NOTES, "a") as notes:
        notes.write(f"{text} at {time.time():.0f}\\n")


class Flow(WorkflowEntrypoint):
    async def run(self, event, step):
        if event["payload"].get("waits"):
            got = await step.wait_for_event("approval", "approve")
            return got["payload"]
        await step.sleep("month", "30 days")

        @step.do("after")
        async def after():
            note(self.env, "after")
            await self.env.JOBS.send("later", delaySeconds=3600)

        await after()
        await step.sleep("year", "360 days")


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return Response(f"{time.time():.0f}")

    async def queue(self, batch, env, ctx):
        for message in batch.messages:
            await asyncio.sleep(60)
            note(self.env, message.body)
"""
BINDINGS = """\
"workflows": [{"name": "flow", "binding": "FLOW", "class_name": "Flow"}],
"queues": {
  "producers": [{"binding": "JOBS", "queue": "jobs"}],
  "consumers": [{"queue": "jobs", "max_batch_size": 1, "max_batch_timeout": 0}]
},
"vars": {"NOTES": "%s", "GO": "%s"}"""
DAY_S = 86_400
START_S = 1_767_225_600  # 2026-01-01


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, ENTRY, BINDINGS)


def said(place: Place, *arguments: str) -> str:
    ended = flarebed(place.folder, *arguments)
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


def detail(place: Place, instance_id: str) -> Any:
    return json.loads(said(place, "workflows", "instances", "describe", "flow", instance_id, "--json"))


def test_workflows_beside_a_running_dev(place: Place) -> None:
    with dev(place.folder):
        triggered = said(place, "workflows", "trigger", "flow", '{"waits": true}', "--id", "a")
        assert triggered == '🚀 Workflow instance "a" has been triggered successfully\n'
        until(lambda: detail(place, "a")["status"] == "waiting")
        said(place, "workflows", "instances", "pause", "flow", "a")
        said(place, "workflows", "instances", "send-event", "flow", "a", "--type", "approve", "--payload", '"ann"')
        said(place, "workflows", "instances", "resume", "flow", "latest")
        until(lambda: detail(place, "a")["output"] == "ann")
        refused = flarebed(place.folder, "clock", "advance", "1 day")
        assert (refused.returncode, "runs on the machine's time" in refused.stderr) == (1, True)


def test_thirty_days_and_on_after_kill_9(place: Place) -> None:
    with dev(place.folder, "--virtual-time", "2026-01-01") as running:
        assert "Time is virtual and stands at 2026-01-01T00:00:00.000Z." in "".join(running.output)
        assert running.get() == str(START_S)
        said(place, "workflows", "trigger", "flow", "--id", "a")
        began_s = time.monotonic()
        assert said(place, "clock", "advance", "30 days") == "2026-01-31T00:00:00.000Z\n"
        assert time.monotonic() - began_s < 5  # that of a busy machine
        # The answer came when all was done.
        assert place.notes() == [f"after at {START_S + 30 * DAY_S}"]
        assert running.get() == str(START_S + 30 * DAY_S)
        said(place, "clock", "advance", "1 hour")
        running.kill()
    assert flarebed(place.folder, "clock", "now").returncode == 1
    with dev(place.folder, "--virtual-time") as running:
        assert running.get() == str(START_S + 30 * DAY_S + 3600)
        assert said(place, "clock", "run-until", "idle") == "2027-01-26T00:00:00.000Z\n"
        # The delivery that kill -9 interrupted was made anew.
        assert place.notes()[1:] == [f"later at {START_S + 30 * DAY_S + 3600 + 60}"]
        assert detail(place, "a")["status"] == "complete"


def test_virtual_time_goes_on_over_a_reload(place: Place) -> None:
    with dev(place.folder, "--virtual-time", "2026-01-01") as running:
        said(place, "clock", "advance", "1 day")
        edit(place.folder / "src" / "entry.py", ':.0f}")', ':.0f} again")')
        assert running.get() == f"{START_S + DAY_S} again"
        assert said(place, "clock", "run-until", "2026-01-03") == "2026-01-03T00:00:00.000Z\n"
        edit(place.folder / "src" / "entry.py", "class Default", "class Default(")
        running.wait_for("The last version that worked")
        assert said(place, "clock", "advance", "1 day") == "2026-01-04T00:00:00.000Z\n"
