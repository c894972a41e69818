"""The build commands of the configs: run before the first start, and again when something in their folders changes.

What a command writes is a change like any other, which the supervisor answers with a reload. One run at a time: a
change during a run asks for another one.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from flarebed.bindings.errors import UserError
from flarebed.emulator.config import Config
from flarebed.emulator.runtime.custom_build import run_custom_build
from flarebed.emulator.supervisor.broken import describe
from flarebed.emulator.supervisor.files import source_folders
from flarebed.emulator.supervisor.watch import Watcher


class Building:
    """`log` is told what the commands print, and of their failures."""

    def __init__(
        self, configs: Sequence[Config], loop: asyncio.AbstractEventLoop, log: Callable[[str, str], None]
    ) -> None:
        self._builds = [_Build(config, loop, log) for config in configs if config.bundling.build.command]

    async def begin(self) -> None:
        """Run the commands, one by one, and watch their folders from now on."""
        for build in self._builds:
            await build.run()
            build.watch()

    def close(self) -> None:
        for build in self._builds:
            build.close()


class _Build:
    def __init__(self, config: Config, loop: asyncio.AbstractEventLoop, log: Callable[[str, str], None]) -> None:
        self._build = config.bundling.build
        self._made = str(config.main)
        self._loop = loop
        self._log = log
        self._watcher: Watcher | None = None
        self._running: asyncio.Task[None] | None = None
        self._missed: set[str] = set()

    async def run(self) -> None:
        try:
            await run_custom_build(self._build, os.environ, self._log)
        except UserError as error:
            self._log("error", describe(error))

    def watch(self) -> None:
        found = {folder for watched in self._build.watched for folder in source_folders(watched)}
        paths = sorted(folder for folder in found if folder.is_dir())
        if self._watcher is not None:
            if self._watcher.paths == paths:
                return
            self._watcher.close()
        self._watcher = Watcher(paths, self._loop, self.changed) if paths else None

    def changed(self, paths: set[str]) -> None:
        """The entry point does not count, which the command may well make in a folder that it watches."""
        changed = sorted(paths - {self._made})
        if not changed:
            return
        if any(Path(path).is_dir() for path in changed):
            self.watch()
        if self._running is not None:
            self._missed.update(changed)
            return
        self._log("log", f"The file {changed[0]} changed, restarting build...")
        self._running = self._loop.create_task(self.run())
        self._running.add_done_callback(self._ended)

    def _ended(self, _: asyncio.Task[None]) -> None:
        self._running, missed, self._missed = None, self._missed, set()
        self.changed(missed)

    def close(self) -> None:
        if self._watcher is not None:
            self._watcher.close()
        self._missed.clear()
        if self._running is not None:
            self._running.cancel()
