"""worker.js on flarebed: on a clock that stands still until neither this process nor workerd has anything left to do.

The Worker's own pauses are entries of that clock too: it asks a server of ours, which answers when the time has passed.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from flarebed.bindings.clock import VirtualClock
from flarebed.bindings.workflows.api import WorkflowApi
from flarebed.emulator.app import App, build
from flarebed.emulator.config.load import load
from flarebed.emulator.runtime.http import IncomingRequest
from flarebed.emulator.testing.session import SessionLoop
from tests.oracle.suite import Question, Questions
from tests.oracle.workflows.production import comparable
from tests.oracle.workflows.scrubbing import scrubbed

START_MS = 1_767_225_600_000.0
MOMENT_S = 0.002
LONG_MS = 5_000


@contextmanager
def answered(folder: Path, files: Sequence[Path], questions: Questions) -> Iterator[dict[str, Any]]:
    """The answers to all `questions`, which are put at once."""
    for file in files:
        (folder / file.name).write_bytes(file.read_bytes())
    loop = SessionLoop()
    clock = VirtualClock(loop, START_MS)
    stage = Stage(loop, clock)
    try:
        yield stage.run(stage.answers(folder, questions))
    finally:
        loop.close()


class Stage:
    def __init__(self, loop: SessionLoop, clock: VirtualClock) -> None:
        self._loop = loop
        self._clock = clock
        self._pauses = ""
        self._pid = 0
        self.logged: list[tuple[str, str]] = []

    def run(self, work: Any) -> Any:
        task = self._loop.create_task(work)
        while not task.done():
            self._loop.turn()
            due_ms = self._clock.next_work_ms()
            if due_ms is None or not self._loop.is_idle():
                continue
            if not self._stirs(2 if due_ms - self._clock.now_ms() < LONG_MS else 50):
                self._clock.move_to(due_ms)
        return task.result()

    def _stirs(self, moments: int) -> bool:
        """Whether something happens in so many moments of real time, or workerd is found awake."""
        for _ in range(moments):
            timer = self._loop.call_later(MOMENT_S, _nothing)
            self._loop.turn(wait=True)
            stirs = not timer.cancelled() and timer.when() > self._loop.time()
            timer.cancel()
            if stirs or self._is_busy():
                return True
        return False

    def _is_busy(self) -> bool:
        return any(
            path.read_text().rpartition(")")[2].split()[0] != "S"
            for path in Path("/proc").glob(f"{self._pid}/task/{self._pid}/stat")
        )

    async def answers(self, folder: Path, questions: Questions) -> dict[str, Any]:
        server = await asyncio.start_server(self._pause, "127.0.0.1", 0)
        self._pauses = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        config = load(folder / "wrangler.json", cwd=folder, env=None, environ={})
        app = await build(
            config, persist_to=folder / "state", log=lambda *said: self.logged.append(said), clock=self._clock
        )
        await app.own()
        self._pid = workerd_pid(app)
        try:
            given = await asyncio.gather(*(self._answer(app, at, each) for at, each in enumerate(questions.values())))
        finally:
            server.close()
            await app.close()
        return dict(zip(questions, given, strict=True))

    async def _answer(self, app: App, at: int, question: Question) -> Any:
        instance_id = f"zz{at}zz"
        asked = {"question": question, "id": instance_id, "clock": self._pauses, "nowMs": self._clock.now_ms()}
        given = json.loads(await self._fetched(app, json.dumps(asked).encode()))
        if question.get("detail"):
            resources: Any = app.resources["workflows"]
            api = WorkflowApi(app.config.specs["workflows"][0], resources._own[0]._around)
            given["detail"] = api.detail(instance_id)
        return comparable(scrubbed(json.loads(json.dumps(given)), instance_id))

    async def _fetched(self, app: App, body: bytes) -> bytes:
        async def chunks() -> Any:
            yield body

        answer = await app.fetch(IncomingRequest("POST", "http://oracle/", [("host", "oracle")], chunks()))
        parts = answer.body
        return parts if isinstance(parts, bytes) else b"".join([part async for part in parts])

    async def _pause(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                await self._clock.sleep(float(head.split()[1][1:]))
                now = str(self._clock.now_ms()).encode()
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(now), now))
        writer.close()


def workerd_pid(app: App) -> int:
    """Its parent, a shell of ours, has this one child."""
    worker: Any = app.worker
    guard = worker._workerd._guard.pid
    return int(Path(f"/proc/{guard}/task/{guard}/children").read_text())


def _nothing() -> None:
    """For a timer that only ends a wait."""
