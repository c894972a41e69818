from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from flarebed.emulator.supervisor import line as module
from flarebed.emulator.supervisor import main
from flarebed.emulator.supervisor.forkserver import ForkServer
from flarebed.emulator.supervisor.launch import Launch
from flarebed.emulator.supervisor.main import Supervisor
from tests.emulator.supervisor.playing import Play, Stage
from tests.support import run


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Play:
    """Run a check with a supervisor whose first process serves."""

    class NoWatcher:
        def __init__(self, paths: Any, *_: Any) -> None:
            self.paths = paths

        def close(self) -> None: ...

    def play(
        check: Callable[[Supervisor, Stage], Awaitable[None]], *, served: bool = True, names: Sequence[str] = ("",)
    ) -> None:
        entry = tmp_path / "entry.py"
        entry.write_text("a = 1\n")
        stage = Stage(entry)
        monkeypatch.setattr(main, "Launcher", stage.launcher)
        monkeypatch.setattr(module, "Watcher", NoWatcher)
        monkeypatch.setattr(module, "_DISOWN_S", 0.01)

        async def work() -> None:
            loop = asyncio.get_running_loop()
            nothing = cast("socket.socket", None)
            launches = [Launch(str(tmp_path), names=[name] if name else ()) for name in names]
            supervisor = Supervisor(launches, cast("ForkServer", nothing), nothing, "http://localhost:1", loop)
            supervisor.start()
            if served:
                stage.made[0].is_ready()
                assert stage.made[0].told == ["serve"]
            await check(supervisor, stage)

        run(work())

    return play
