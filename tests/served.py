"""A Worker of a folder, served in this process: real config, runtime, engines and ASGI application, no socket, and time
that stands still until a request or the test needs it to move.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import httpx

from flarebed.bindings.clock import VirtualClock
from flarebed.bindings.d1.engine import D1Resources
from flarebed.bindings.d1.migrations import apply_pending
from flarebed.bindings.d1.spec import D1DatabaseSpec
from flarebed.emulator.app import App
from flarebed.emulator.config.load import load
from flarebed.emulator.group import Part, build_group
from flarebed.emulator.server.asgi import Application
from flarebed.emulator.server.control import Control
from flarebed.emulator.server.log import Log

ROOT = Path(__file__).parents[1]
BASE = "http://127.0.0.1:8787"
START_MS = 1_767_225_600_000.0
"""2026-01-01T00:00:00Z"""
_ROUNDS = 500
"""Turns of the loop that a whole request needs at most, without waiting for anything."""
_LOOK_EVERY = 20
_OUTSIDE_S = 0.01
"""Real time to give to what is outside (a thread, a socket) when neither a callback nor a timer is left."""


@dataclass
class Answer:
    status: int
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def header(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name]


@dataclass
class Served:
    """`logged` has (level, text) of what the Worker and the engines said."""

    app: App
    clock: VirtualClock
    application: Application
    logged: list[tuple[str, str]] = field(default_factory=list)

    async def get(self, path: str, **headers: str) -> Answer:
        return await self.ask("GET", path, **headers)

    async def post(self, path: str, body: Any, **headers: str) -> Answer:
        return await self.ask("POST", path, body if isinstance(body, str | bytes) else json.dumps(body), **headers)

    async def ask(self, method: str, path: str, body: str | bytes = b"", **headers: str) -> Answer:
        """Time moves only as far as the answer needs."""
        task = asyncio.create_task(self._ask(method, path, body, headers))
        await self.until(task.done)
        return task.result()

    async def until(self, done: Callable[[], bool]) -> None:
        """Let the loop run; when all is idle, jump to the next timer; before that, wait for what is outside."""
        while not done():
            await self._settle(done)
            if done():
                return
            due_ms = self.clock.next_ms()
            if due_ms is None or self.clock.outside:
                await asyncio.wait([self.clock.loop.create_future()], timeout=_OUTSIDE_S)
            else:
                await self.clock.advance(max(0.0, due_ms - self.clock.now_ms()))

    async def _settle(self, done: Callable[[], bool]) -> None:
        for _ in range(0, _ROUNDS, _LOOK_EVERY):
            await self.clock.settle(_LOOK_EVERY)
            if done():
                return

    def migrate(self) -> None:
        """As `flarebed d1 migrations apply` does, for every database of the config."""
        databases = cast("D1Resources", self.app.resources["d1"]).databases
        for spec in cast("tuple[D1DatabaseSpec, ...]", self.app.config.specs["d1"]):
            apply_pending(databases[spec.binding], spec, self.app.config.root)

    async def advance(self, seconds: float) -> None:
        """From timer to timer, each with all that it sets off."""
        end_ms = self.clock.now_ms() + seconds * 1000
        await self.clock.settle(_ROUNDS)
        while (due_ms := self.clock.next_ms()) is not None and due_ms <= end_ms:
            await self.clock.advance(max(0.0, due_ms - self.clock.now_ms()))
            await self.clock.settle(_ROUNDS)
        await self.clock.advance(end_ms - self.clock.now_ms())

    async def ask_in_time(self, method: str, path: str, body: Any = None) -> Answer:
        """Who calls this moves time."""
        return await self._ask(method, path, "" if body is None else json.dumps(body), {})

    async def _ask(self, method: str, path: str, body: str | bytes, headers: dict[str, str]) -> Answer:
        transport = httpx.ASGITransport(self.application, client=("127.0.0.1", 50000))
        async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
            client.headers.clear()
            names = {name.replace("_", "-"): value for name, value in headers.items()}
            response = await client.request(method, path, content=body or None, headers=names)
            return Answer(response.status_code, response.headers.multi_items(), response.content)


@asynccontextmanager
async def served(
    folder: Path,
    state: Path,
    *others: Path,
    variables: dict[str, str] | None = None,
    outbound: Callable[[], httpx.AsyncClient] | None = None,
    start_ms: float = START_MS,
    synchronous: str = "NORMAL",
    clock: VirtualClock | None = None,
) -> AsyncIterator[Served]:
    """The Worker of `folder`'s config, with its state in `state`; again with the same state is a restart.

    Those of `others` run beside it; then what is logged begins with the Worker's name.
    """
    loop = asyncio.get_running_loop()
    clock = clock or VirtualClock(loop, start_ms)
    logged: list[tuple[str, str]] = []
    configs = [load(None, cwd=each, env="", environ={}, var=variables or {}) for each in (folder, *others)]
    parts = [Part(config, _log(logged, f"[{config.name}] " if others else ""), outbound) for config in configs]
    group = await build_group(parts, persist_to=state, clock=clock, synchronous=synchronous)
    log = Log(loop, "none")
    try:
        await group.own()
        yield Served(group.primary, clock, Application(group, log, Control(group, clock)), logged)
    finally:
        await group.close()


def _log(logged: list[tuple[str, str]], prefix: str) -> Callable[[str, str], None]:
    return lambda level, text: logged.append((level, prefix + text))
