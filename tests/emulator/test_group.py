"""Several Workers in one process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.clock import VirtualClock
from flarebed.bindings.errors import UserError
from flarebed.emulator.config.load import load
from flarebed.emulator.group import Group, Part, build_group
from flarebed.emulator.runtime.http import IncomingRequest
from tests.support import run

A_JS = """
import { WorkerEntrypoint } from "cloudflare:workers";

export class Admin extends WorkerEntrypoint {
  who() { return ["a", this.ctx.props]; }
}

export default {
  async fetch(request, env) {
    switch (new URL(request.url).pathname) {
      case "/fetch":
        return env.B.fetch("http://b.example/path", { method: "POST", body: "sent" });
      case "/rpc":
        return Response.json(await env.COUNTER.add(1, 2));
      case "/self":
        return Response.json(await env.SELF.who());
      case "/absent": {
        const answer = await env.ABSENT.fetch("http://x/");
        return Response.json([answer.status, await answer.text()]);
      }
    }
  },
};
"""
B_JS = """
import { WorkerEntrypoint } from "cloudflare:workers";

export class Counter extends WorkerEntrypoint {
  add(a, b) { return [a + b, this.env.NAME, this.ctx.props]; }
}

export default {
  async fetch(request) {
    return Response.json([request.method, request.url, await request.text()]);
  },
};
"""
A = {
    "services": [
        {"binding": "B", "service": "b"},
        {"binding": "COUNTER", "service": "b", "entrypoint": "Counter", "props": {"of": "a"}},
        {"binding": "SELF", "service": "a", "entrypoint": "Admin"},
        {"binding": "ABSENT", "service": "nobody"},
    ]
}


@dataclass
class Worker:
    name: str
    source: str
    config: dict[str, Any]
    main: str = "index.js"

    def write(self, root: Path) -> Path:
        folder = root / self.name
        folder.mkdir()
        (folder / self.main).write_text(self.source)
        config = {"name": self.name, "main": self.main, "compatibility_date": "2026-11-01"} | self.config
        path = folder / "wrangler.json"
        path.write_text(json.dumps(config))
        return path


@dataclass
class Together:
    group: Group
    logged: list[tuple[str, str, str]]

    async def get(self, path: str) -> Any:
        response = await self.group.fetch(IncomingRequest("GET", f"http://localhost{path}", [("host", "localhost")]))
        body = response.body
        assert body is not None
        text = body if isinstance(body, bytes) else b"".join([chunk async for chunk in body])
        return json.loads(text)


@asynccontextmanager
async def together(root: Path, *workers: Worker) -> AsyncIterator[Together]:
    logged: list[tuple[str, str, str]] = []

    def part(worker: Worker) -> Part:
        config = load(worker.write(root), cwd=root, env="", environ={})
        return Part(config, lambda level, text: logged.append((worker.name, level, text)))

    clock = VirtualClock(asyncio.get_running_loop(), 0)
    group = await build_group([part(worker) for worker in workers], persist_to=root / "state", clock=clock)
    try:
        await group.own()
        yield Together(group, logged)
    finally:
        await group.close()


def test_service_bindings_between_javascript_workers(tmp_path: Path) -> None:
    async def scenario() -> None:
        b = Worker("b", B_JS, {"vars": {"NAME": "b's own"}})
        async with together(tmp_path, Worker("a", A_JS, A), b) as workers:
            assert await workers.get("/fetch") == ["POST", "http://b.example/path", "sent"]
            assert await workers.get("/rpc") == [3, "b's own", {"of": "a"}]
            assert await workers.get("/self") == ["a", {}]
            assert await workers.get("/absent") == [
                503,
                'Worker "nobody" not found. Make sure it is running locally.',
            ]

    run(scenario())


def test_an_entrypoint_that_is_not_there(tmp_path: Path) -> None:
    async def scenario() -> None:
        a = Worker("a", A_JS, {"services": [{"binding": "ADMIN", "service": "b", "entrypoint": "Nope"}]})
        with pytest.raises(UserError) as raised:
            async with together(tmp_path, a, Worker("b", B_JS, {})):
                pass
        assert raised.value.message == (
            'Worker "a"\'s binding "ADMIN" refers to service "b" with a named entrypoint "Nope", but "b" has no such '
            "named entrypoint."
        )

    run(scenario())
