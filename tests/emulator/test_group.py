"""Several Workers in one process."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.errors import UserError
from tests.served import Served, served
from tests.support import run

CALLER = """
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
      case "/callback":
        return Response.json(await env.COUNTER.twice(async (n) => n + 1));
      case "/stub": {
        using counter = await env.COUNTER.from(10);
        await counter.add(1);
        return Response.json(await counter.add(1));
      }
      case "/stream":
        return Response.json(await new Response(await env.COUNTER.stream()).text());
      case "/self":
        return Response.json(await env.SELF.who());
      case "/fails":
        return Response.json(await env.COUNTER.fails().catch((error) => [error.name, error.message]));
    }
  },
};
"""
CALLED = """
import { RpcTarget, WorkerEntrypoint } from "cloudflare:workers";

class Counting extends RpcTarget {
  #count;

  constructor(count) { super(); this.#count = count; }

  add(n) { return this.#count += n; }
}

export class Counter extends WorkerEntrypoint {
  add(a, b) { return [a + b, this.env.NAME, this.ctx.props]; }

  async twice(callback) { return await callback(await callback(0)); }

  from(count) { return new Counting(count); }

  stream() { return new Response("streamed").body; }

  fails() { throw new RangeError("too much"); }
}

export default {
  async fetch(request) {
    return Response.json([request.method, request.url, await request.text()]);
  },
};
"""
SERVICES = [
    {"binding": "B", "service": "b"},
    {"binding": "COUNTER", "service": "b", "entrypoint": "Counter", "props": {"of": "a"}},
    {"binding": "SELF", "service": "a", "entrypoint": "Admin"},
]

SPEAKER = """
const name = "%s";
export default {
  async fetch(request, env) {
    console.log("%%d of %%s", 1, "%%s", { x: [1] });
    console.log({ x: 1 });
    console.warn("");
    if (env.B) return env.B.fetch(request);
    throw new TypeError("no");
  },
};
"""

SENDER = """
import { WorkflowEntrypoint } from "cloudflare:workers";

export class Flow extends WorkflowEntrypoint {
  async run({ payload }, step) { return ["javascript", await step.do("work", async () => payload)]; }
}

export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    switch (url.pathname) {
      case "/send":
        await env.JOBS.send(url.search);
        return Response.json(null);
      case "/done":
        return Response.json(await env.KV.get("done"));
      case "/create":
        return Response.json((await env[url.searchParams.get("flow")].create({ params: "from a" })).id);
      case "/status":
        return Response.json(await (await env[url.searchParams.get("flow")].get(url.searchParams.get("id"))).status());
    }
  },

  async queue(batch, env) {
    await env.KV.put("done", `${batch.queue} ${batch.messages[0].body}`);
  },
};
"""
CONSUMER = """
from workers import Response, WorkerEntrypoint, WorkflowEntrypoint


class Flow(WorkflowEntrypoint):
    async def run(self, event, step):
        @step.do("work")
        async def work():
            return event["payload"]

        return ["python", await work()]


class Default(WorkerEntrypoint):
    async def queue(self, batch, env, ctx):
        await self.env.DONE.send(batch.messages[0].body + " done")
"""
FLOW_P = {"name": "flow-p", "binding": "FLOW_P", "class_name": "Flow"}
FLOW_B = {"name": "flow-b", "binding": "FLOW_B", "class_name": "Flow"}


def worker(root: Path, name: str, source: str, **config: Any) -> Path:
    """The folder of a Worker that is written there."""
    folder = root / name
    folder.mkdir()
    main = "entry.py" if "from workers import" in source else "index.js"
    (folder / main).write_text(source)
    given = {"name": name, "main": main, "compatibility_date": "2026-11-01", **config}
    if main == "entry.py":
        given["compatibility_flags"] = ["python_workers"]
    (folder / "wrangler.json").write_text(json.dumps(given))
    return folder


async def answer(served: Served, path: str) -> Any:
    given = await served.get(path)
    assert given.status == 200, given.text
    return given.json


async def eventually(served: Served, path: str, done: Callable[[Any], bool]) -> Any:
    """The answer that is `done`, a minute later at most."""
    for _ in range(60):
        if done(found := await answer(served, path)):
            return found
        await served.advance(1)
    raise AssertionError(found, served.logged)


def test_service_bindings_between_javascript_workers(tmp_path: Path) -> None:
    a = worker(tmp_path, "a", CALLER, services=SERVICES)
    b = worker(tmp_path, "b", CALLED, vars={"NAME": "b's own"})

    async def scenario() -> None:
        async with served(a, tmp_path / "state", b) as workers:
            assert await answer(workers, "/fetch") == ["POST", "http://b.example/path", "sent"]
            assert await answer(workers, "/rpc") == [3, "b's own", {"of": "a"}]
            assert await answer(workers, "/callback") == 2
            assert await answer(workers, "/stub") == 12
            assert await answer(workers, "/stream") == "streamed"
            assert await answer(workers, "/self") == ["a", {}]
            assert await answer(workers, "/fails") == ["RangeError", "too much"]

    run(scenario())


def test_what_workers_in_one_workerd_say_is_told_apart(tmp_path: Path) -> None:
    a = worker(tmp_path, "a", SPEAKER % "a", services=[{"binding": "B", "service": "b"}])
    b = worker(tmp_path, "b", SPEAKER % "b")

    async def scenario() -> None:
        async with served(a, tmp_path / "state", b) as workers:
            failed = await workers.get("/")
            assert failed.text == f"TypeError: no\n    at Object.fetch ({(b / 'index.js').as_uri()}:9:11)"
            assert [entry for entry in workers.logged if entry[0] != "debug"] == [
                ("log", "[a] 1 of %s { x: [ 1 ] }"),
                ("log", "[a] { x: 1 }"),
                ("warn", "[a] "),
                ("log", "[b] 1 of %s { x: [ 1 ] }"),
                ("log", "[b] { x: 1 }"),
                ("warn", "[b] "),
                ("error", f"[b] Uncaught TypeError: no\n    at Object.fetch ({(b / 'index.js').as_uri()}:9:11)"),
            ]

    run(scenario())


def test_an_entrypoint_that_is_not_there(tmp_path: Path) -> None:
    a = worker(tmp_path, "a", CALLER, services=[{"binding": "ADMIN", "service": "b", "entrypoint": "Nope"}])
    b = worker(tmp_path, "b", CALLED)

    async def scenario() -> None:
        with pytest.raises(UserError) as raised:
            async with served(a, tmp_path / "state", b):
                pass
        assert raised.value.message == (
            'Worker "a"\'s binding "ADMIN" refers to service "b" with a named entrypoint "Nope", but "b" has no such '
            "named entrypoint."
        )

    run(scenario())


def test_queues_and_workflows_between_workers_of_both_languages(tmp_path: Path) -> None:
    kv = [{"binding": "KV", "id": "kv"}]
    a = worker(
        tmp_path, "a", SENDER, kv_namespaces=kv,
        queues={"producers": [{"binding": "JOBS", "queue": "jobs"}], "consumers": [{"queue": "done"}]},
        workflows=[FLOW_P | {"script_name": "p"}, FLOW_B | {"script_name": "b"}],
    )  # fmt: skip
    b = worker(tmp_path, "b", SENDER, workflows=[FLOW_B])
    p = worker(
        tmp_path, "p", CONSUMER, workflows=[FLOW_P],
        queues={"producers": [{"binding": "DONE", "queue": "done"}], "consumers": [{"queue": "jobs"}]},
    )  # fmt: skip

    async def scenario() -> None:
        async with served(a, tmp_path / "state", p, b) as workers:
            await answer(workers, "/send?job")
            assert await eventually(workers, "/done", lambda value: value is not None) == "done ?job done"
            for flow, language in (("FLOW_P", "python"), ("FLOW_B", "javascript")):
                instance = await answer(workers, f"/create?flow={flow}")
                path = f"/status?flow={flow}&id={instance}"
                status = await eventually(workers, path, lambda value: value["status"] == "complete")
                assert status["output"] == [language, "from a"]

    run(scenario())


def test_one_python_worker_in_a_process(tmp_path: Path) -> None:
    folders = [worker(tmp_path, name, CONSUMER) for name in ("p", "q")]

    async def scenario() -> None:
        with pytest.raises(UserError) as raised:
            async with served(folders[0], tmp_path / "state", folders[1]):
                pass
        assert raised.value.message == 'There can be one Python Worker in a process, but here are "p" and "q".'

    run(scenario())
