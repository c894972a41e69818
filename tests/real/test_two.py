"""Two commands on one state folder: both serve, one owns; and commands that only pass by."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.real.command import Place, Running, dev, edit, flarebed, pause, until

pytestmark = pytest.mark.real

ENTRY = """\
import asyncio
import os
from pathlib import Path
from urllib.parse import urlparse

from workers import Response, WorkerEntrypoint, WorkflowEntrypoint


def note(env, text):
    with open(env.NOTES, "a") as notes:
        notes.write(f"{text} {os.getppid()}\\n")


class Flow(WorkflowEntrypoint):
    async def run(self, event, step):
        @step.do("only")
        async def only():
            note(self.env, f"instance {event['instanceId']}")
            while not Path(self.env.GO).exists():
                await asyncio.sleep(0.01)
            return "done"

        return await only()


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        path = urlparse(request.url).path
        if path.startswith("/create/"):
            await self.env.FLOW.create(id=path.removeprefix("/create/"))
        if path.startswith("/status/"):
            return Response.json(await (await self.env.FLOW.get(path.removeprefix("/status/"))).status())
        if path.startswith("/send/"):
            await self.env.JOBS.send(path.removeprefix("/send/"))
        if path == "/rows":
            rows = await self.env.DB.prepare("SELECT name FROM guests ORDER BY name").all()
            return Response.json([row["name"] for row in rows.results])
        return Response("ok")

    async def queue(self, batch, env, ctx):
        for message in batch.messages:
            note(self.env, f"message {message.body} {message.attempts}")
"""
BINDINGS = """\
"workflows": [{"name": "flow", "binding": "FLOW", "class_name": "Flow"}],
"queues": {
  "producers": [{"binding": "JOBS", "queue": "jobs"}],
  "consumers": [{"queue": "jobs", "max_batch_size": 1, "max_batch_timeout": 0}]
},
"d1_databases": [{"binding": "DB", "database_name": "party", "database_id": "party-id"}],
"vars": {"NOTES": "%s", "GO": "%s"}"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, ENTRY, BINDINGS)


def fork_server(running: Running) -> int:
    """The parent of the process that runs the Worker."""
    return running.processes()[1]


def test_the_second_serves_and_the_first_runs_what_it_asks_for(place: Place) -> None:
    place.go.touch()
    with dev(place.folder) as first, dev(place.folder) as second:
        owner = fork_server(first)
        for number in range(3):
            second.get(f"/send/{number}")
            until(lambda: place.notes()[-1:] == [f"message {number} 1 {owner}"])  # noqa: B023
            second.get(f"/create/{number}")
            until(lambda: second.json(f"/status/{number}")["output"] == "done")  # noqa: B023
        assert place.notes() == [f"{what} {owner}" for n in range(3) for what in (f"message {n} 1", f"instance {n}")]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_the_second_takes_over_what_the_first_leaves(place: Place, how: signal.Signals) -> None:
    with dev(place.folder) as first, dev(place.folder) as second:
        owner, next_owner = fork_server(first), fork_server(second)
        first.get("/create/a")
        until(lambda: place.notes() == [f"instance a {owner}"])
        first.stop(how)
        until(lambda: place.notes()[1:] == [f"instance a {next_owner}"])
        place.go.touch()
        until(lambda: second.json("/status/a")["output"] == "done")
        second.get("/send/last")
        until(lambda: place.notes()[2:] == [f"message last 1 {next_owner}"])


def test_the_owner_may_reload_while_another_waits_to_own(place: Place) -> None:
    place.go.touch()
    with dev(place.folder) as first, dev(place.folder) as second:
        edit(place.folder / "src" / "entry.py", '"message', '"mail')
        assert (first.get(), second.get()) == ("ok", "ok")
        second.get("/send/x")
        until(place.notes)
        pause(0.2)
        assert [note.rpartition(" ")[0] for note in place.notes()] == ["mail x 1"]


def test_sql_beside_a_running_command(place: Place) -> None:
    with dev(place.folder) as running:
        made = flarebed(place.folder, "d1", "execute", "party", "--command", "CREATE TABLE guests (name TEXT)")
        assert (made.returncode, made.stderr) == (0, "")
        inserted = flarebed(
            place.folder, "d1", "execute", "DB", "--command", "INSERT INTO guests VALUES ('ann'), ('bob')"
        )
        assert inserted.returncode == 0
        assert running.json("/rows") == ["ann", "bob"]
        selected = flarebed(
            place.folder, "d1", "execute", "DB", "--json", "--command", "SELECT count(*) AS n FROM guests"
        )
        [answer] = json.loads(selected.stdout)
        assert (answer["results"], answer["success"]) == ([{"n": 2}], True)


def test_queues_beside_a_running_command(place: Place) -> None:
    with dev(place.folder) as running:
        running.get("/send/a")
        until(lambda: len(place.notes()) == 1)
        assert flarebed(place.folder, "queues", "pause", "jobs").returncode == 0
        running.get("/send/b")
        sent = flarebed(place.folder, "queues", "send", "JOBS", "c")
        assert (sent.stdout.splitlines()[0], sent.stderr) == ("Sent a message (text) to queue jobs.", "")
        listed = json.loads(flarebed(place.folder, "queues", "list", "--json").stdout)
        assert [(each["name"], each["ready"], each["paused"]) for each in listed] == [("jobs", 2, True)]
        assert len(place.notes()) == 1
        assert flarebed(place.folder, "queues", "resume", "jobs").returncode == 0
        until(lambda: len(place.notes()) == 3)
        assert [note.rpartition(" ")[0] for note in place.notes()] == [f"message {body} 1" for body in "abc"]
