"""One command with several Workers: two in JavaScript, which share a process, and one in Python."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.real.command import Running, dev, edit, flarebed, until

pytestmark = pytest.mark.real

FRONT = """
export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === "/work") return env.WORK.fetch("http://work/");
    if (pathname === "/back") return env.BACK.fetch("http://back/");
    if (pathname === "/send") await env.JOBS.send("job");
    return new Response(await env.KV.get("done"));
  },
};
"""
BACK = """
export default {
  fetch() {
    console.log("asked");
    return new Response("back v0");
  },
};
"""
WORK = """
import asyncio
import os

from workers import Response, WorkerEntrypoint

VERSION = "v0"


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        print("begun")
        while not os.path.exists(self.env.GO):
            await asyncio.sleep(0.01)
        return Response(VERSION)

    async def queue(self, batch, env, ctx):
        print(VERSION, os.getpid())
        await self.env.KV.put("done", f"{batch.messages[0].body} {VERSION}")
"""
KV = {"kv_namespaces": [{"binding": "KV", "id": "kv"}]}


def worker(root: Path, name: str, main: str, source: str, **config: Any) -> None:
    folder = root / name
    folder.mkdir()
    (folder / main).write_text(source)
    given = {"name": name, "main": main, "compatibility_date": "2026-11-01"} | config
    (folder / "wrangler.json").write_text(json.dumps(given))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    queue = {"queue": "jobs", "max_batch_timeout": 0}
    services = [{"binding": "BACK", "service": "back"}, {"binding": "WORK", "service": "work"}]
    producers = [{"binding": "JOBS", "queue": "jobs"}]
    worker(tmp_path, "front", "index.js", FRONT, **KV, services=services, queues={"producers": producers})
    worker(
        tmp_path, "work", "entry.py", WORK, **KV, compatibility_flags=["python_workers"],
        queues={"consumers": [queue]}, vars={"GO": str(tmp_path / "go")},
    )  # fmt: skip
    worker(tmp_path, "back", "index.js", BACK)
    return tmp_path


@pytest.fixture
def running(folder: Path) -> Iterator[Running]:
    with dev(folder, *options("front", "work", "back")) as running:
        yield running


def options(*names: str) -> list[str]:
    return [option for name in names for option in ("-c", f"{name}/wrangler.json")]


def test_several_workers_in_one_command(running: Running, folder: Path) -> None:
    assert running.get("/back") == "back v0"
    running.wait_for(r"^\[back\] asked$")
    running.get("/send")
    assert until(lambda: running.get("/")) == "job v0"

    edit(folder / "back/index.js", "v0", "v1")
    assert running.get("/back") == "back v1"
    running.wait_for(r"\[front, back\] Reloaded")
    edit(folder / "work/entry.py", "v0", "v1")
    running.get("/send")  # waits for that process
    running.wait_for(r"\[work\] Reloaded")
    until(lambda: running.get("/") != "job v0")
    assert running.get("/") == "job v1"

    os.kill(int(running.wait_for(r"^\[work\] v1 (\d+)$")[1]), signal.SIGKILL)
    running.wait_for(r"\[work\] The Worker's process was ended by SIGKILL and is being restarted")
    edit(folder / "work/entry.py", "v1", "v2")
    running.get("/send")
    until(lambda: running.get("/") == "job v2")
    assert running.stop() == 0
    assert "".join(running.output).count("[front, back] Reloaded") == 1
    assert (folder / "front/.wrangler/state").is_dir()
    assert not (folder / "work/.wrangler").exists()


def test_a_call_ends_in_the_process_that_it_began_in(running: Running, folder: Path) -> None:
    begun = running.begin("/work")
    running.wait_for(r"^\[work\] begun$")
    edit(folder / "work/entry.py", "v0", "v1")
    running.wait_for(r"\[work\] Reloaded")
    (folder / "go").touch()
    assert begun.getresponse().read() == b"v0"
    begun.close()
    assert running.get("/work") == "v1"


@pytest.mark.parametrize(
    ("configs", "complaint"),
    [
        (("front", "front"), 'Two Workers are called "front"'),
        (("front", "gone"), "Could not read file: "),
    ],
)
def test_workers_that_can_not_run_together(folder: Path, configs: tuple[str, ...], complaint: str) -> None:
    ended = flarebed(folder, "dev", "--port", "0", *options(*configs))
    assert ended.returncode == 1
    assert complaint in ended.stderr + ended.stdout
