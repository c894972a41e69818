"""workerd is killed below what it runs: what is under way fails as it fails in production, the rest goes on."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from tests.emulator.runtime.workerd.serving import Serving, serving

from flarebed.emulator.runtime.http import WorkerError

WORKER = """
async function onceForever(env, name) {
  if (await env.KV.get(name)) return;
  await env.KV.put(name, "begun");
  console.log(`${name} began`);
  await new Promise(() => setTimeout(() => {}, 60000));
}

export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === "/hang") await onceForever(env, "fetch");
    if (pathname === "/queue") await env.JOBS.send("x");
    return new Response("ok");
  },
  async queue(batch, env) {
    await onceForever(env, "queue");
    console.log(`queue went on with attempt ${batch.messages[0].attempts}`);
  },
  async scheduled(controller, env) {
    await onceForever(env, "scheduled");
  },
};
"""
CONFIG = {
    "kv_namespaces": [{"binding": "KV", "id": "kv"}],
    "queues": {
        "producers": [{"binding": "JOBS", "queue": "jobs"}],
        "consumers": [{"queue": "jobs", "max_batch_timeout": 0}],
    },
}
ENDED = ("error", "workerd, which runs the Worker, was ended by SIGKILL and is being restarted.")


@pytest.fixture(scope="module")
def served() -> Iterator[Serving]:
    with serving(CONFIG, {"index.js": WORKER}) as serving_it:
        serving_it.run(serving_it.app.own())
        yield serving_it


async def kill(served: Serving) -> None:
    """As soon as it can be asked again after the last time."""
    del served.logged[:]
    process: Any = served.app.workerd._process
    await process.listening.wait()
    pid = await served.loop.run_in_executor(None, child_of, process._process._guard.pid)
    os.kill(pid, signal.SIGKILL)
    await served.until_logged(*ENDED)


def child_of(pid: int) -> int:
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True)
    rows = listed.stdout.splitlines()
    return next(int(row.split()[0]) for row in rows if int(row.split()[1]) == pid)


def test_a_request(served: Serving) -> None:
    async def scenario() -> None:
        hanging = asyncio.ensure_future(served.fetch("/hang"))
        await served.until_logged("log", "fetch began")
        await kill(served)
        with pytest.raises(WorkerError, match=r"^Error: Network connection lost\.$"):
            await hanging
        assert await served.text("/hang") == "ok"

    served.run(scenario())


def test_many_requests_that_come_meanwhile(served: Serving) -> None:
    async def scenario() -> None:
        await kill(served)
        assert await asyncio.gather(*[served.text("/") for _ in range(20)]) == ["ok"] * 20

    served.run(scenario())


def test_a_batch(served: Serving) -> None:
    async def scenario() -> None:
        await served.text("/queue")
        await served.until_logged("log", "queue began")
        await kill(served)
        await served.until_logged("log", "queue went on with attempt ")

    served.run(scenario())


def test_a_cron(served: Serving) -> None:
    async def scenario() -> None:
        running = asyncio.ensure_future(served.app.scheduled("* * * * *", 0))
        await served.until_logged("log", "scheduled began")
        await kill(served)
        assert (await running).outcome == "exception"

    served.run(scenario())
