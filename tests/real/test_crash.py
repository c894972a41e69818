"""kill -9 of the command at the worst moments, and what the next start makes of it."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.real.command import ROOT, Place, Running, dev, edit, flarebed, pause, until

pytestmark = pytest.mark.real

TENANT = {"tenantId": "t1", "requestedBy": "me"}
EXISTS = 'WorkflowError: (instance.already_exists) Workflow instance with id "tenant-t1" already exists'

ENTRY = """\
import asyncio
from pathlib import Path
from urllib.parse import urlparse

from workers import Response, WorkerEntrypoint, WorkflowEntrypoint


def note(env, text):
    with open(env.NOTES, "a") as notes:
        notes.write(text + "\\n")


class Flow(WorkflowEntrypoint):
    async def run(self, event, step):
        @step.do("first")
        async def first():
            note(self.env, "first")

        @step.do("long")
        async def long():
            note(self.env, "long begins")
            while not Path(self.env.GO).exists():
                await asyncio.sleep(0.01)
            note(self.env, "long ends")
            return "done"

        await first()
        return await long()


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        path = urlparse(request.url).path
        if path.startswith("/create/"):
            await self.env.FLOW.create(id=path.removeprefix("/create/"))
        if path.startswith("/status/"):
            return Response.json(await (await self.env.FLOW.get(path.removeprefix("/status/"))).status())
        if path.startswith("/send/"):
            name = path.removeprefix("/send/")
            await self.env.JOBS.sendBatch([{"body": f"{name} now"}, {"body": f"{name} later", "delaySeconds": 1}])
        return Response("ok")

    async def queue(self, batch, env, ctx):
        for message in batch.messages:
            note(self.env, f"{message.body} {message.attempts}")
            if message.body.startswith("held"):
                while not Path(self.env.GO).exists():
                    await asyncio.sleep(0.01)
            message.ack()
"""
BINDINGS = """\
"workflows": [{"name": "flow", "binding": "FLOW", "class_name": "Flow"}],
"queues": {
  "producers": [{"binding": "JOBS", "queue": "jobs"}],
  "consumers": [{"queue": "jobs", "max_batch_size": 1, "max_batch_timeout": 0}]
},
"vars": {"NOTES": "%s", "GO": "%s"}"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, ENTRY, BINDINGS)


def ended(running: Running, instance: str) -> object:
    """The output of an instance, once it is complete."""
    until(lambda: running.json(f"/status/{instance}")["status"] == "complete")
    return running.json(f"/status/{instance}")["output"]


def test_the_onboarding_sleeps_on_for_what_is_left(tmp_path: Path) -> None:
    """Until the time that was noted when it fell asleep; if that is past at the next start, no longer."""
    folder = tmp_path / "onboarding"
    shutil.copytree(ROOT / "fixtures" / "onboarding", folder, ignore=shutil.ignore_patterns(".wrangler"))
    entry = folder / "src" / "entry.py"
    edit(entry, '"30 seconds"', '"5 seconds"')
    edit(entry, "for message in batch.messages:", f"for message in batch.messages:\n            {noting(tmp_path)}")
    edit(entry, "await self.env.JOBS.send", f"{noting(tmp_path, 'sent')}\n            await self.env.JOBS.send")
    edit(folder / "wrangler.jsonc", '"max_batch_timeout": 1', '"max_batch_timeout": 0')
    assert flarebed(folder, "d1", "migrations", "apply", "DB").returncode == 0
    with dev(folder) as running:
        assert running.ask("POST", "/", TENANT) == (200, '{"id": "tenant-t1"}')
        status, text = running.ask("POST", "/", TENANT)
        assert (status, EXISTS in text) == (500, True)
        until(lambda: running.json("/tenants/t1")["state"] == "provisioned")
        until(lambda: sleeps(folder))
        running.kill()
    ((asleep_ms, wake_ms, ended_ms),) = sleeps(folder)
    assert (wake_ms - asleep_ms, ended_ms) == (5000, None)
    with dev(folder) as running:
        started_ms = time.time() * 1000  # noqa: TID251 - the machine's, as that of the command
        until(lambda: running.json("/status/tenant-t1")["status"] == "complete")
        assert running.json("/status/tenant-t1")["output"] == {"ok": True, "tenantId": "t1", "tenant": {"id": "t1"}}
        assert running.json("/tenants/t1") == {"id": "t1", "state": "provisioned"}
    ((began_ms, _, ended_ms),) = sleeps(folder)
    assert began_ms == asleep_ms
    assert wake_ms <= ended_ms < max(wake_ms, started_ms) + 5000  # a sleep from its beginning would take longer
    assert (tmp_path / "notes").read_text().splitlines() == ["sent", "delivered"]


def sleeps(folder: Path) -> list[tuple[float, float, float]]:
    """When each began, is to end, and has ended."""
    path = folder / ".wrangler" / "state" / "flarebed" / "workflows" / "onboarding.sqlite"
    with closing(sqlite3.connect(path)) as journal:
        return journal.execute("SELECT started_ms, wake_ms, ended_ms FROM steps WHERE kind = 'sleep'").fetchall()


def noting(folder: Path, text: str = "delivered") -> str:
    return f"open({str(folder / 'notes')!r}, 'a').write('{text}\\n')"


def test_killed_during_an_attempt(place: Place) -> None:
    with dev(place.folder) as running:
        running.get("/create/a")
        until(lambda: place.notes() == ["first", "long begins"])
        running.kill()
    with dev(place.folder) as running:
        until(lambda: len(place.notes()) == 3)
        place.go.touch()
        assert ended(running, "a") == "done"
    assert place.notes() == ["first", "long begins", "long begins", "long ends"]


def test_killed_as_soon_as_create_has_answered(place: Place) -> None:
    place.go.touch()
    for instance in ("a", "b"):
        with dev(place.folder) as running:
            assert running.get(f"/create/{instance}") == "ok"
            running.kill()
    with dev(place.folder) as running:
        assert [ended(running, instance) for instance in ("a", "b")] == ["done", "done"]
    assert place.notes().count("long ends") == 2


def test_killed_while_messages_wait(place: Place) -> None:
    with dev(place.folder) as running:
        running.get("/send/one")
        until(lambda: place.notes() == ["one now 1"])
        sent_s = time.monotonic()
        running.get("/send/held")
        until(lambda: place.notes() == ["one now 1", "held now 1"])
        running.get("/send/two")
        running.kill()
    place.go.touch()
    with dev(place.folder):
        until(lambda: len(place.notes()) == 7)
        assert time.monotonic() - sent_s > 1
        pause(0.3)
    first, in_delivery, *others = place.notes()
    assert (first, in_delivery) == ("one now 1", "held now 1")
    assert sorted(others) == ["held later 1", "held now 2", "one later 1", "two later 1", "two now 1"]


def test_all_processes_killed_but_the_command(place: Place) -> None:
    """What the system does when memory runs out."""
    place.go.touch()
    with dev(place.folder) as running:
        for pid in running.processes()[:0:-1]:
            os.kill(pid, signal.SIGKILL)
        running.wait_for("The process that starts the Worker is gone.")
        assert running.wait() == 1
    with dev(place.folder) as running:
        assert running.get("/create/a") == "ok"
        assert ended(running, "a") == "done"
    assert place.notes() == ["first", "long begins", "long ends"]
