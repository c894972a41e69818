"""A Worker that could not be opened: what the user is told, and a stand-in that answers every request with it."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from flarebed.bindings.errors import UserError
from flarebed.emulator.runtime.http import ScheduledOutcome, WorkerError
from flarebed.emulator.supervisor.files import sources
from flarebed.emulator.supervisor.launch import Project


def describe(error: BaseException) -> str:
    """For the terminal: a user's mistake without our traceback, a Worker's error with its own, ours whole."""
    if isinstance(error, UserError):
        return "\n  ".join(part for part in (error.message, error.place, error.hint) if part)
    if isinstance(error, WorkerError):
        return f"Uncaught {error.text}"
    return "A defect of flarebed, please report it:\n" + "".join(traceback.format_exception(error))


class BrokenWorker:
    """Serves `error` until a file changes."""

    def __init__(self, error: Exception, folders: Sequence[Path]) -> None:
        self._error = error
        self._folders = folders

    def project(self) -> Project:
        return Project(self, self._folders)

    async def fetch(self, request: object) -> NoReturn:
        if isinstance(self._error, WorkerError):
            raise WorkerError(self._error.text, self._error.exception, self._error.frames)
        raise WorkerError(describe(self._error))

    async def scheduled(self, cron: str, time_ms: float) -> ScheduledOutcome:
        return ScheduledOutcome("exception")

    async def own(self) -> None:
        pass

    async def disown(self) -> None:
        pass

    async def drained(self) -> None:
        pass

    async def close(self) -> None:
        pass

    def bindings_tables(self) -> dict[str, list[tuple[str, str, str]]]:
        return {}

    def watched(self) -> list[Path]:
        return sources(self._folders)
