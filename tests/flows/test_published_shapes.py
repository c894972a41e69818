"""Workers in the form of Cloudflare's published Python examples, which keep to compatibility date 2025-11-02."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.served import served
from tests.support import run

BINDING = """
from workers import Response, WorkerEntrypoint


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        await self.env.FOO.put("bar", "baz")
        return Response(await self.env.FOO.get("bar"))
"""

QUERY = """
from workers import Response, WorkerEntrypoint


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        results = await self.env.DB.prepare("SELECT quote, author FROM quotes ORDER BY RANDOM() LIMIT 1;").all()
        return Response.json(results.results[0])
"""

CRON = """
from workers import Response, WorkerEntrypoint


class Default(WorkerEntrypoint):
    async def scheduled(self, controller, env, ctx):
        print("ran at", controller.scheduledTime)

    async def fetch(self):
        return Response("see the log")
"""

DEPENDENCIES = """
import asyncio
from urllib.parse import urlparse

from workers import Response, WorkerEntrypoint, WorkflowEntrypoint


class Flow(WorkflowEntrypoint):
    async def run(self, event, step):
        @step.do("dependency 1")
        async def short():
            await asyncio.sleep(4)
            return "short"

        @step.do("dependency 2")
        async def long():
            await asyncio.sleep(9)
            return "long"

        @step.do("final step", depends=[short, long], concurrent=True)
        async def final(res1=None, res2=None):
            return [res1, res2]

        return await final()


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        path = urlparse(request.url).path
        if path == "/start":
            return Response("started with ID: " + (await self.env.FLOW.create()).id)
        instance = await self.env.FLOW.get(path.split("/")[-1])
        return Response.json(await instance.status())
"""


def project(folder: Path, source: str, **config: Any) -> Path:
    fixed = {"name": "w", "main": "src/entry.py", "compatibility_date": "2025-11-02"}
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "entry.py").write_text(source, encoding="utf-8")
    whole = {**fixed, "compatibility_flags": ["python_workers"], **config}
    (folder / "wrangler.jsonc").write_text(json.dumps(whole), encoding="utf-8")
    return folder


def test_a_binding(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", BINDING, kv_namespaces=[{"binding": "FOO", "id": "<YOUR_KV_NAMESPACE_ID>"}])

    async def scenario() -> None:
        async with served(folder, tmp_path / "state") as worker:
            answer = await worker.get("/")
            assert (answer.status, answer.text) == (200, "baz")
            assert answer.header("content-type") == ["text/plain;charset=UTF-8"]

    run(scenario())


def test_a_row_of_d1(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", QUERY, d1_databases=[{"binding": "DB", "database_name": "q", "database_id": "q"}])
    (folder / "migrations").mkdir()
    sql = "CREATE TABLE quotes (quote TEXT, author TEXT); INSERT INTO quotes VALUES ('It''s; so', 'Me');"
    (folder / "migrations" / "0001_quotes.sql").write_text(sql, encoding="utf-8")

    async def scenario() -> None:
        async with served(folder, tmp_path / "state") as worker:
            worker.migrate()
            assert (await worker.get("/")).json == {"quote": "It's; so", "author": "Me"}

    run(scenario())


def test_cron_and_fetch_without_parameters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = project(tmp_path / "p", CRON, triggers={"crons": ["*/1 * * * *"]})

    async def scenario() -> None:
        async with served(folder, tmp_path / "state") as worker:
            assert (await worker.get("/")).text == "see the log"
            assert (await worker.get("/cdn-cgi/handler/scheduled?time=1700000000000")).text == "ok"
            assert capsys.readouterr().out == "ran at 1700000000000\n"

    run(scenario())


def test_steps_that_depend_on_steps(tmp_path: Path) -> None:
    workflow = {"name": "flow", "binding": "FLOW", "class_name": "Flow"}
    folder = project(tmp_path / "p", DEPENDENCIES, workflows=[workflow])

    async def scenario() -> None:
        async with served(folder, tmp_path / "state") as worker:
            instance = (await worker.get("/start")).text.split("ID: ")[1]
            await worker.advance(8.5)
            assert (await worker.get(f"/status/{instance}")).json["status"] == "running"
            await worker.advance(1)
            status = (await worker.get(f"/status/{instance}")).json
            assert (status["status"], status["output"]) == ("complete", ["short", "long"])

    run(scenario())
