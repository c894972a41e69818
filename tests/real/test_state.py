"""The state is replaced beside commands that run on it."""

from __future__ import annotations

import signal
import threading
from pathlib import Path

import pytest

from tests.real.command import Place, Running, dev, flarebed, until

pytestmark = pytest.mark.real

ENTRY = """\
from urllib.parse import urlparse

from workers import Response, WorkerEntrypoint, WorkflowEntrypoint


class Flow(WorkflowEntrypoint):
    async def run(self, event, step):
        return (await step.wait_for_event("word", "word"))["payload"]


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        word, _, value = urlparse(request.url).path[1:].partition("/")
        if word == "create":
            await self.env.FLOW.create(id="i")
        elif word == "send":
            await (await self.env.FLOW.get("i")).send_event({"type": "word", "payload": value})
        elif word == "status":
            return Response.json(await (await self.env.FLOW.get("i")).status())
        elif word == "put":
            await self.env.KV.put("k", value)
            await self.env.JOBS.send(value)
        return Response(f"{await self.env.KV.get('k')} {(await self.env.JOBS.metrics())['backlogCount']}")
"""
BINDINGS = """\
"workflows": [{"name": "flow", "binding": "FLOW", "class_name": "Flow"}],
"queues": {"producers": [{"binding": "JOBS", "queue": "jobs"}]},
"kv_namespaces": [{"binding": "KV", "id": "kv"}],
"vars": {"NOTES": "%s", "GO": "%s"}"""
KILLED_AT_THE_FIRST_FILE = """
import os
from flarebed.bindings import replacement
replacement._remove = lambda file: os.kill(os.getpid(), 9)
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, ENTRY, BINDINGS)


def said(place: Place, *arguments: str) -> str:
    ended = flarebed(place.folder, "state", *arguments)
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout.splitlines()[-1]


def status(running: Running) -> str:
    shown: str = running.json("/status")["status"]
    return shown


class Visitor:
    """Asks again and again, each time on a new connection, until `leave` gives the answers."""

    def __init__(self, running: Running) -> None:
        self._running = running
        self._answers: list[tuple[int, bytes]] = []
        self._leaving = threading.Event()
        self._thread = threading.Thread(target=self._ask)
        self._thread.start()

    def leave(self) -> list[tuple[int, bytes]]:
        self._leaving.set()
        self._thread.join()
        return self._answers

    def _ask(self) -> None:
        while not self._leaving.is_set():
            connection = self._running.begin("/")
            response = connection.getresponse()
            self._answers.append((response.status, response.read()))
            connection.close()


def test_two_devs_go_back_to_a_snapshot_and_no_request_fails(place: Place) -> None:
    with dev(place.folder) as first, dev(place.folder) as second:
        first.get("/put/before")
        first.get("/create")
        until(lambda: status(second) == "waiting")
        assert said(place, "snapshot") == 'Snapshot "default" taken'
        first.get("/send/one")
        until(lambda: status(second) == "complete")
        assert second.get("/put/after") == "after 2"
        visitors = [Visitor(first), Visitor(second)]
        assert said(place, "restore") == 'Snapshot "default" restored'
        assert (first.get(), second.get()) == ("before 1", "before 1")
        for visitor in visitors:
            answers = visitor.leave()
            assert sorted({*answers}) == [(200, b"after 2"), (200, b"before 1")]
            assert answers == sorted(answers)
        until(lambda: status(first) == "waiting")
        first.get("/send/two")
        until(lambda: second.json("/status")["output"] == "two")


def test_a_command_that_is_killed_in_the_middle(place: Place) -> None:
    with dev(place.folder) as running:
        running.get("/put/before")
        said(place, "snapshot")
        running.get("/put/after")
        ended = flarebed(place.folder, "state", "restore", before=KILLED_AT_THE_FIRST_FILE)
        assert ended.returncode == -signal.SIGKILL
        assert running.get() == "before 1"
