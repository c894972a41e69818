"""Consumers that are real Workers: how they are called, when a batch is over, and the limit of 15 minutes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.served import Served, served
from tests.support import run

ENTRY = """
import asyncio

from workers import Response, WorkerEntrypoint


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        await self.env.JOBS.send(await request.text())
        return Response("sent")

    async def queue(self, batch, env, ctx):
        body = batch.messages[0].body
        print("begins", body, batch.messages[0].attempts)
        if body == "handler":
            batch.messages[0].ack()
            await asyncio.sleep(20 * 60)
        elif body != "quick":
            self.ctx.waitUntil(self.later(body))
        print("returns", body)

    async def later(self, body):
        await asyncio.sleep(20 * 60 if body == "long" else 5)
        print("later", body)
        if body == "fails":
            raise ValueError("too late")
"""


def project(folder: Path, *flags: str, entry: str = ENTRY) -> Path:
    folder.mkdir()
    (folder / "entry.py").write_text(entry)
    config = {
        "name": "worker", "main": "entry.py", "compatibility_date": "2026-11-01",
        "compatibility_flags": ["python_workers", *flags],
        "queues": {
            "producers": [{"binding": "JOBS", "queue": "jobs"}],
            "consumers": [{"queue": "jobs", "max_batch_timeout": 0, "max_batch_size": 1, "max_retries": 0}],
        },
    }  # fmt: skip
    (folder / "wrangler.jsonc").write_text(json.dumps(config))
    return folder


async def story(worker: Served, body: str, seconds: float) -> list[str]:
    """What is logged when a message of this body was sent."""
    del worker.logged[:]
    await worker.post("/", body)
    await worker.advance(seconds)
    said = [text.split(" message ")[0].split("\n")[0] for _, text in worker.logged]
    return [text for text in said if not text.startswith(("POST", "Uncaught"))]


def stories(
    root: Path, bodies: dict[str, float], capsys: pytest.CaptureFixture[str], *flags: str
) -> tuple[list[str], list[list[str]]]:
    """What the Worker prints, and what is logged of each message, if the next is sent after so many seconds."""

    async def scenario() -> list[list[str]]:
        async with served(project(root / "project", *flags), root / "state") as worker:
            return [await story(worker, body, seconds) for body, seconds in bodies.items()]

    logged = run(scenario())
    return capsys.readouterr().out.splitlines(), logged


def test_a_batch_is_over_when_what_it_left_is_done(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed, logged = stories(tmp_path, {"waits": 4, "quick": 60, "fails": 60}, capsys)
    assert printed == [
        "begins waits 1", "returns waits", "later waits", "begins quick 1", "returns quick",
        "begins fails 1", "returns fails", "later fails",
    ]  # fmt: skip
    assert logged == [
        [], ["QUEUE jobs 1/1 (5000ms)", "QUEUE jobs 1/1 (0ms)"], ["Dropped", "QUEUE jobs 0/1 (5000ms)"],
    ]  # fmt: skip


def test_with_a_flag_a_batch_is_over_when_its_handler_has_returned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed, logged = stories(tmp_path, {"fails": 60}, capsys, "queue_consumer_no_wait_for_wait_until")
    assert printed == ["begins fails 1", "returns fails", "later fails"]
    assert logged == [["QUEUE jobs 1/1 (0ms)"]]


def test_a_batch_fails_after_15_minutes_and_what_it_does_ends(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed, logged = stories(tmp_path, {"handler": 899, "quick": 3600, "long": 3600}, capsys)
    assert printed == ["begins handler 1", "begins quick 1", "returns quick", "begins long 1", "returns long"]
    limit = 'Queue "jobs": a batch took 15 minutes, the limit of a consumer; it has failed.'
    assert logged == [
        [], [limit, "QUEUE jobs 1/1 (900000ms)", "QUEUE jobs 1/1 (0ms)"],
        [limit, "Dropped", "QUEUE jobs 0/1 (900000ms)"],
    ]  # fmt: skip


@pytest.mark.parametrize("arguments", ["batch", "batch, env", "batch, env, ctx, more"])
def test_a_handler_of_other_arguments_fails_as_in_production_and_is_told_what_to_do(
    tmp_path: Path, arguments: str
) -> None:
    entry = ENTRY.replace("batch, env, ctx", arguments)

    async def scenario() -> list[tuple[str, str]]:
        async with served(project(tmp_path / "project", entry=entry), tmp_path / "state") as worker:
            await worker.post("/", "quick")
            await worker.advance(1)
            return [(level, text.rstrip().rpartition("\n")[2]) for level, text in worker.logged]

    logged = run(scenario())
    errors = [text for level, text in logged if level == "error"]
    assert [text.startswith("TypeError: Default.queue() ") for text in errors] == [True]
    hint = "`queue` is called with three arguments, here as in production: def queue(self, batch, env, ctx)"
    assert next(text for level, text in logged if level == "warn") == hint
