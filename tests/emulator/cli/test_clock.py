"""`flarebed clock`: which `dev` it asks for what, and what it says."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from flarebed.emulator.supervisor.running import Announcement
from tests.bindings.workflows.life import START_MS
from tests.emulator.cli.project import Project

HINT = "\n  Start it with `flarebed dev --virtual-time`.\n"
DAY_MS = 86_400_000.0


class Dev(HTTPServer):
    """Answers with `answers`, one after the other, and keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: list[tuple[int, Any]] = []
        self.asked: list[str] = []

    def say(self, now_ms: float, **fields: Any) -> None:
        self.answers.append((200, {"now_ms": now_ms, "end_ms": now_ms, "done": True, "idle": True} | fields))


class _Handler(BaseHTTPRequestHandler):
    server: Dev

    def do_GET(self) -> None:
        self.server.asked.append(f"{self.command} {self.path} {self.headers['host']}")
        status, answer = self.server.answers.pop(0)
        body = (answer if isinstance(answer, str) else json.dumps(answer)).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def dev(project: Project) -> Iterator[Dev]:
    server = Dev()
    thread = threading.Thread(target=server.serve_forever, args=(0.001,))
    thread.start()
    announcement = project.dev(server.server_port)
    yield server
    announcement.end()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        (["now"], "GET /cdn-cgi/local/clock"),
        (["advance", "30", "days"], "POST /cdn-cgi/local/clock?by=2592000000"),
        (["advance", "1d"], "POST /cdn-cgi/local/clock?by=86400000"),
        (["run-until", "2026-01-01"], f"POST /cdn-cgi/local/clock?to={START_MS!r}"),
        (["run-until", "idle"], "POST /cdn-cgi/local/clock?to=idle"),
    ],
)
def test_what_is_asked(project: Project, dev: Dev, arguments: list[str], asked: str) -> None:
    dev.say(START_MS + 1.5)
    assert project.said("clock", *arguments) == "2026-01-01T00:00:00.001Z\n"
    assert dev.asked == [f"{asked} localhost"]


def test_after_a_reload_the_next_process_goes_on(project: Project, dev: Dev) -> None:
    dev.say(START_MS, end_ms=START_MS + DAY_MS, done=False)
    dev.say(START_MS + DAY_MS)
    assert project.said("clock", "advance", "1 day") == "2026-01-02T00:00:00.000Z\n"
    assert dev.asked[1] == f"POST /cdn-cgi/local/clock?to={START_MS + DAY_MS!r} localhost"
    dev.say(START_MS, end_ms=START_MS + DAY_MS, done=False)
    dev.say(START_MS)
    project.said("clock", "run-until", "idle")
    assert dev.asked[2:] == ["POST /cdn-cgi/local/clock?to=idle localhost"] * 2


def test_it_may_never_be_idle(project: Project, dev: Dev) -> None:
    dev.say(START_MS, idle=False)
    assert project("clock", "run-until", "idle") == (
        1,
        "2026-01-01T00:00:00.000Z\n",
        "✘ [ERROR] It is not idle after a year: something comes again and again.\n"
        "  Go on to a certain time with `flarebed clock run-until TIME`.\n",
    )


def test_refusals(project: Project, dev: Dev) -> None:
    dev.answers = [(400, "The time is X already: it only goes forward."), (409, "The clock is not virtual.")]
    refusal = "✘ [ERROR] The time is X already: it only goes forward.\n"
    assert project.refused("clock", "run-until", "2025-01-01") == refusal
    refusal = "✘ [ERROR] The Worker can't run, so its time stands still.\n  `flarebed dev` says why.\n"
    assert project.refused("clock", "advance", "1 day") == refusal
    assert project.refused("clock", "advance", "1", "dy").startswith('✘ [ERROR] "1 dy" is not a duration.\n')
    assert project.refused("clock", "run-until", "noon").startswith('✘ [ERROR] "noon" is not a time for run-until.\n')


def told(project: Project, announcement: Announcement | None) -> str:
    refusal = project.refused("clock", "now")
    if announcement is not None:
        announcement.end()
    return refusal


def test_without_a_virtual_dev(project: Project) -> None:
    assert told(project, None) == f"✘ [ERROR] No `flarebed dev` is running here.{HINT}"
    running = project.dev(9, virtual=False)
    assert told(project, running) == (
        f"✘ [ERROR] The `flarebed dev` at http://localhost:9 runs on the machine's time.{HINT}"
    )
    refusal = told(project, project.dev(1))
    assert refusal.startswith("✘ [ERROR] `flarebed dev` at http://localhost:1 doesn't answer: ")
    assert refusal.endswith(" Connection refused\n")
