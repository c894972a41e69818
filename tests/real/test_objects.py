"""Durable Objects under the real command: handed over at a reload, kept by `kill -9`, of one command at a time."""

from __future__ import annotations

import json
import signal
import threading
from pathlib import Path

import pytest

from tests.real.command import dev, edit, pause, until

pytestmark = pytest.mark.real

WORKER = """\
import { DurableObject } from "cloudflare:workers";
const VERSION = "v0";
export class Counter extends DurableObject {
  async add() {
    const count = ((await this.ctx.storage.get("count")) ?? 0) + 1;
    await this.ctx.storage.put("count", count);
    return `${VERSION} ${count}`;
  }
  async alarm() {
    await this.ctx.storage.put("count", 1000);
  }
  async arm() {
    await this.ctx.storage.setAlarm(Date.now() + 300);
    return "armed";
  }
}
export default {
  async fetch(request, env) {
    const stub = env.COUNTER.getByName("one");
    return new Response(await (request.url.endsWith("/arm") ? stub.arm() : stub.add()));
  },
};
"""
CONFIG = {
    "name": "counting", "main": "index.js", "compatibility_date": "2026-11-01",
    "exports": {"Counter": {"type": "durable-object", "storage": "sqlite"}},
    "durable_objects": {"bindings": [{"name": "COUNTER", "class_name": "Counter"}]},
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "wrangler.json").write_text(json.dumps(CONFIG))
    (tmp_path / "index.js").write_text(WORKER)
    return tmp_path


def test_a_reload_loses_no_request_and_no_count(folder: Path) -> None:
    with dev(folder) as running:
        edited = threading.Timer(0.1, edit, (folder / "index.js", '"v0"', '"v1"'))
        edited.start()
        answers: list[str] = []
        until(lambda: answers.append(running.get()) or answers[-1].startswith("v1"))
        edited.join()
        assert [answer.split()[1] for answer in answers] == [str(number + 1) for number in range(len(answers))]


def test_what_outlives_a_kill(folder: Path) -> None:
    with dev(folder) as running:
        assert [running.get(), running.get("/arm")] == ["v0 1", "armed"]
        running.process.send_signal(signal.SIGKILL)
        running.process.wait()
    pause(0.3)
    with dev(folder) as running:
        assert until(lambda: int(running.get().split()[1]) > 1000)


def test_the_objects_are_of_the_first_of_two_commands(folder: Path) -> None:
    with dev(folder) as one:
        assert one.get() == "v0 1"
        with dev(folder) as two:
            waiting = threading.Thread(target=lambda: answers.append(two.get()))
            answers: list[str] = []
            waiting.start()
            assert one.get() == "v0 2"
            one.process.send_signal(signal.SIGINT)
            waiting.join()
            assert answers == ["v0 3"]
