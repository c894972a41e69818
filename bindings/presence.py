"""Who has a state folder open, and how everybody is made to leave it for a moment, so that its files can be replaced.

Who opens the state passes the `door` and is `inside` from then on: both are locks, shared by all who come. Who replaces
files locks the door, rings at every `flarebed dev`, which stops its Worker's process and starts another that waits at
the door, and does its work when nobody is inside. If it is killed, its locks end with it, and the next who comes in
finishes what it began.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from flarebed.bindings import replacement
from flarebed.bindings.errors import UserError

if TYPE_CHECKING:
    import asyncio

_BELL: Final = ".bell"
_READ_SIZE: Final = 512
_POLL_S: Final = 0.01
PATIENCE_S: Final = 15.0
"""How long who is inside may take to leave. The supervisor ends its Worker's process sooner than that."""


class Presence:
    """One's being inside, until `leave`; made when nobody replaces anything."""

    def __init__(self, root: Path) -> None:
        door = _open(root, "door")
        try:
            fcntl.flock(door, fcntl.LOCK_SH)
            if replacement.is_unfinished(root):
                fcntl.flock(door, fcntl.LOCK_EX)  # nobody is inside: all others want to finish it first, too
                replacement.finish(root)
            self._inside: int | None = _open(root, "inside")
            fcntl.flock(self._inside, fcntl.LOCK_SH)
        finally:
            os.close(door)

    def leave(self) -> None:
        if self._inside is not None:
            os.close(self._inside)
            self._inside = None


class Bell:
    """By which a `flarebed dev` hears that its Worker's process is to leave the state: a named pipe with its pid."""

    def __init__(self, root: Path, loop: asyncio.AbstractEventLoop, on_ring: Callable[[], object]) -> None:
        self._path = _folder(root) / f"{os.getpid()}{_BELL}"
        self._loop = loop
        self._on_ring = on_ring
        self._path.unlink(missing_ok=True)  # of another with this pid, which was killed
        os.mkfifo(self._path)
        self._pipe = os.open(self._path, os.O_RDWR | os.O_NONBLOCK)  # writable too: never at its end
        loop.add_reader(self._pipe, self._answer)

    def close(self) -> None:
        self._loop.remove_reader(self._pipe)
        os.close(self._pipe)
        self._path.unlink(missing_ok=True)

    def _answer(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._pipe, _READ_SIZE)
            self._on_ring()


@contextmanager
def emptied(root: Path, patience_s: float = PATIENCE_S) -> Iterator[None]:
    """Nobody has the state open meanwhile; raises UserError if somebody does not leave it."""
    door, inside = _open(root, "door"), _open(root, "inside")
    try:
        fcntl.flock(door, fcntl.LOCK_EX)
        asked = _ring(root)
        if not _locked_within(inside, patience_s):
            who = f"`flarebed dev` (pid {', '.join(asked)})" if asked else "another process"
            raise UserError(
                f"The state in {root} is still in use by {who} after {patience_s:g} s. Nothing was changed.",
                hint="End it, or what its Worker is doing (a debugger?), and try again.",
            )
        replacement.finish(root)
        yield
    finally:
        os.close(inside)
        os.close(door)


def _locked_within(file: int, patience_s: float) -> bool:
    pause = threading.Event()
    for _ in range(round(patience_s / _POLL_S)):
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        pause.wait(_POLL_S)
    return False


def _ring(root: Path) -> list[str]:
    """Ring all bells; the pids of those who hear it. A bell that nobody hears is taken down."""
    heard = []
    for path in sorted(_folder(root).glob(f"*{_BELL}")):
        try:
            pipe = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            path.unlink(missing_ok=True)
            continue
        with contextlib.suppress(BlockingIOError):
            os.write(pipe, b"\n")
        os.close(pipe)
        heard.append(path.name.removesuffix(_BELL))
    return heard


def _open(root: Path, name: str) -> int:
    return os.open(_folder(root) / name, os.O_RDWR | os.O_CREAT, 0o644)


def _folder(root: Path) -> Path:
    folder = root / "flarebed" / "presence"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
