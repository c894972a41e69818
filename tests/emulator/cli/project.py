"""What the tests of commands share: a folder with a config and a state, and commands that are run in it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from flarebed.emulator.cli.commands import app
from flarebed.emulator.supervisor.running import Announcement, Running
from flarebed.emulator.supervisor.virtual_clock import KeptClock
from tests.bindings.workflows.life import START_MS, Body, Life

CONFIG = """\
{
  "name": "worker", "main": "entry.py", "compatibility_date": "2026-11-01", "compatibility_flags": ["python_workers"],
  "workflows": [
    { "binding": "FLOW", "name": "flow", "class_name": "Flow" },
    { "binding": "OTHER", "name": "other", "class_name": "Theirs", "script_name": "elsewhere" }
  ]
}
"""


class Commands:
    """Runs commands, those of a group if it is named, where the test stands."""

    def __init__(self, capture: pytest.CaptureFixture[str], *group: str) -> None:
        self._capture = capture
        self._group = group

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        """Exit code, output, errors."""
        code = 0
        try:
            app([*self._group, *arguments], standalone_mode=False)
        except SystemExit as ended:
            code = int(ended.code or 0)
        return (code, *self._capture.readouterr())

    def said(self, *arguments: str) -> str:
        code, out, err = self(*arguments)
        assert (code, err) == (0, "")
        return out


class Project(Commands):
    """Its state has virtual time, as `flarebed dev --virtual-time` leaves it; `dev()` is one that runs."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        super().__init__(capture)
        self.folder = folder
        self.state = folder / ".wrangler" / "state"
        (folder / "wrangler.jsonc").write_text(CONFIG)
        self.dev().end()
        self.time_is(START_MS)

    def json(self, *arguments: str) -> Any:
        return json.loads(self.said(*arguments, "--json"))

    def refused(self, *arguments: str) -> str:
        code, out, err = self(*arguments)
        assert (code, out) == (1, "")
        return err

    def dev(self, port: int = 8787, *, virtual: bool = True) -> Announcement:
        running = Running(f"http://localhost:{port}", "127.0.0.1", port, 1, virtual)
        announcement = Announcement(self.state, running)
        announcement.make()
        return announcement

    def time_is(self, now_ms: float) -> None:
        async def keep() -> None:
            KeptClock(asyncio.get_running_loop(), self.state, now_ms)

        asyncio.run(keep())

    def live(self, body: Body, story: Callable[[Life], Awaitable[None]]) -> None:
        """A process that owns the state, until the story is over."""

        async def process() -> float:
            life = await Life.owning(self.state, body)
            await story(life)
            await life.end()
            return life.clock.now_ms()

        self.time_is(asyncio.run(process()))
