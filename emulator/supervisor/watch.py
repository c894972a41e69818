"""The supervisor's watch over the source folders: the system tells of changes, a thread waits for it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path
from typing import Final

import watchfiles

from flarebed.emulator.supervisor.files import source_folders

_DEBOUNCE_MS: Final = 50
_STEP_MS: Final = 10
_MOST_FOLDERS: Final = 500


def folders(roots: Iterable[Path], files: Iterable[str]) -> list[Path]:
    """The folders to watch, each by itself: those of `files`, and the source folders below `roots`."""
    found = {Path(path).parent for path in files}
    for folder in chain.from_iterable(map(source_folders, roots)):
        if len(found) >= _MOST_FOLDERS:
            break
        found.add(folder)
    return sorted(folder for folder in found if folder.is_dir())


class Watcher:
    """Tells of changes in `folders` from a thread, until closed."""

    def __init__(
        self, paths: list[Path], loop: asyncio.AbstractEventLoop, on_change: Callable[[set[str]], None]
    ) -> None:
        self.paths = paths
        self._loop = loop
        self._on_change = on_change
        self._stop = threading.Event()
        threading.Thread(target=self._run, name="watch", daemon=True).start()

    def close(self) -> None:
        self._stop.set()

    def _run(self) -> None:
        for changes in watchfiles.watch(
            *self.paths, watch_filter=None, debounce=_DEBOUNCE_MS, step=_STEP_MS, stop_event=self._stop,
            recursive=False, raise_interrupt=False,
        ):  # fmt: skip
            paths = {path for _, path in changes}
            try:
                self._loop.call_soon_threadsafe(self._tell, paths)
            except RuntimeError:
                return  # the loop has ended

    def _tell(self, paths: set[str]) -> None:
        if not self._stop.is_set():
            self._on_change(paths)
