"""What a life has besides if its Worker is JavaScript: notes that come by a request, and a workerd that may die alone.

When it does, this process stops itself at once, so that the judge looks at what there is, then goes on (`life.live`).
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
from collections.abc import Callable
from typing import Any, Final

import httpx

from flarebed.emulator.testing.session import Session
from tests.crash.notes import Notebook

_PS: Final = ("ps", "-A", "-o", "pid=,ppid=")


class Workerd:
    """That of a session, once it has one. `guard` is the process whose child it is."""

    def __init__(self, session: Session) -> None:
        workerd: Any = session.group.workerd
        self._process: Any = workerd._process

    @property
    def folder(self) -> str:
        """It goes with the process."""
        return str(self._process.folder)

    @property
    def guard(self) -> int:
        return int(self._process._process._guard.pid)

    def kill(self) -> None:
        listed = subprocess.run(_PS, capture_output=True, text=True, check=True)
        rows = (line.split() for line in listed.stdout.splitlines())
        for pid in [int(pid) for pid, parent in rows if int(parent) == self.guard]:
            os.kill(pid, signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGSTOP)


def noting(
    notebook: Notebook, session: Callable[[], Session], on_note: Callable[[int], None]
) -> Callable[[], httpx.AsyncClient]:
    """The world that the Worker's notes go to. `on_note(number)` is called once one is on disk."""
    numbers = itertools.count(1)

    async def answer(request: httpx.Request) -> httpx.Response:
        note = json.loads(await request.aread())
        notebook.note(note.pop("is"), session().clock.now_ms(), pid=Workerd(session()).guard, **note)
        on_note(next(numbers))
        return httpx.Response(200)

    return lambda: httpx.AsyncClient(transport=httpx.MockTransport(answer))
