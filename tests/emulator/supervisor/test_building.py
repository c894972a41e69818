"""Build commands beside a running Worker."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from flarebed.emulator.supervisor.building import Building
from tests.emulator.config.project import Project
from tests.support import run


class Built:
    """A project whose build command writes one letter for each run."""

    def __init__(self, root: Path, loop: asyncio.AbstractEventLoop, command: str, **section: Any) -> None:
        self.project = Project(root)
        self.project.write("src/index.ts", "")
        self.logged: list[tuple[str, str]] = []
        build = {"command": f"printf x >> runs; {command}", "cwd": str(root), **section}
        config = self.project.with_config({"main": "dist/index.js", "build": build})
        self.building = Building([config], loop, lambda level, text: self.logged.append((level, text)))
        (self.build,) = self.building._builds

    def runs(self) -> int:
        path = self.project.root / "runs"
        return len(path.read_text()) if path.exists() else 0

    async def settled(self) -> None:
        while self.build._running is not None:
            await self.build._running
            await asyncio.to_thread(lambda: None)


def test_before_the_start_and_when_something_changes(tmp_path: Path) -> None:
    async def play() -> None:
        built = Built(tmp_path, asyncio.get_running_loop(), "true")
        await built.building.begin()
        assert built.runs() == 1
        built.build.changed({f"{tmp_path}/src/index.ts"})
        await built.settled()
        assert built.runs() == 2
        assert built.logged[1:] == [
            ("log", f"The file {tmp_path}/src/index.ts changed, restarting build..."),
            ("log", f"[custom build] Running: {built.build._build.command}"),
        ]
        built.building.close()

    run(play())


def test_changes_during_a_run_ask_for_one_more(tmp_path: Path) -> None:
    async def play() -> None:
        built = Built(tmp_path, asyncio.get_running_loop(), "true")
        for name in ("a", "b", "c"):
            built.build.changed({f"{tmp_path}/src/{name}"})
        await built.settled()
        assert built.runs() == 2
        built.building.close()

    run(play())


def test_what_it_makes_is_no_change(tmp_path: Path) -> None:
    async def play() -> None:
        built = Built(tmp_path, asyncio.get_running_loop(), "true", watch_dir=".")
        built.build.changed({f"{tmp_path}/dist/index.js"})
        assert (built.build._running, built.runs()) == (None, 0)
        built.building.close()

    run(play())


def test_a_failure_is_told_and_the_next_change_tries_again(tmp_path: Path) -> None:
    async def play() -> None:
        built = Built(tmp_path, asyncio.get_running_loop(), "exit 2")
        await built.building.begin()
        assert built.logged[1:] == [
            (
                "error",
                f"Running custom build `{built.build._build.command}` failed. There are likely more logs from your "
                "build command above.\n  It exited with the status 2.",
            )
        ]
        built.build.changed({f"{tmp_path}/src/index.ts"})
        await built.settled()
        assert built.runs() == 2
        built.building.close()

    run(play())


def test_no_command(tmp_path: Path) -> None:
    async def play() -> None:
        config = Project(tmp_path).with_config({"main": "src/index.ts"})
        building = Building([config], asyncio.get_running_loop(), lambda level, text: None)
        await building.begin()
        assert building._builds == []
        building.close()

    run(play())
