"""Which `flarebed dev` runs on a state folder: a small file there, by which commands in another terminal find it.

The supervisor holds a lock on the file as long as it lives, so a file that nobody holds was left by one that has ended,
however it ended. What it says of the clock stays true of the state: which time the last `dev` went by.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Running:
    """`url` is what people see, `host` and `port` where it listens. `virtual`: its clock moves only when told to."""

    url: str
    host: str
    port: int
    pid: int
    virtual: bool


class Announcement:
    """A process's hold on the file."""

    def __init__(self, state: Path, running: Running) -> None:
        self._path = _path(state)
        self._running = running
        self._held: int | None = None

    def make(self) -> None:
        """Take the file, unless another `dev` has it: ask again later. A folder that can't be used says so itself."""
        if self._held is not None:
            return
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            held = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.ftruncate(held, 0)
                os.pwrite(held, json.dumps(asdict(self._running)).encode(), 0)
            except OSError:
                os.close(held)
                raise
            self._held = held

    def end(self) -> None:
        if self._held is not None:
            os.close(self._held)
            self._held = None


def last(state: Path) -> tuple[Running | None, bool]:
    """The `dev` that has or had this state, and whether it still runs."""
    try:
        file = os.open(_path(state), os.O_RDONLY)
    except OSError:
        return None, False
    try:
        alive = _is_held(file)
        return Running(**json.loads(os.read(file, 4096))), alive
    except (ValueError, TypeError):  # its writer was killed in the middle
        return None, False
    finally:
        os.close(file)


def _is_held(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def _path(state: Path) -> Path:
    return state / "flarebed" / "dev.json"
