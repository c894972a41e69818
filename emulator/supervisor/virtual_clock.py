"""The virtual clock of a `flarebed dev`: it moves only when told to, and its time is kept in the state folder.

A process that takes over, after a reload or after kill -9, goes on at the time that was reached: it is written before
anything happens at it.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Final

from flarebed.bindings.clock import RealClock, VirtualClock
from flarebed.bindings.store import unusable

_WIDTH: Final = 24
"""A time is always written over the last one as a whole, in one small write."""


class KeptClock(VirtualClock):
    """Begins at `start_ms`, or at the time that is kept if that is later; without either at the machine's time."""

    def __init__(self, loop: asyncio.AbstractEventLoop, state: Path, start_ms: float = 0.0) -> None:
        path = _path(state)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise unusable(state, error) from error
        super().__init__(loop, max(start_ms, _read(self._file, state) or 0) or RealClock(loop).now_ms() // 1)
        self._state = state
        self._keep(self.now_ms())

    def move_to(self, when_ms: float) -> None:
        """Never behind a time at which another process has been."""
        when_ms = max(when_ms, self.now_ms(), _read(self._file, self._state) or 0)
        self._keep(when_ms)
        super().move_to(when_ms)

    def _keep(self, now_ms: float) -> None:
        os.pwrite(self._file, repr(now_ms).ljust(_WIDTH).encode(), 0)


def kept_ms(state: Path) -> float | None:
    """The time that a virtual clock has reached on this state, or None if it never had one."""
    try:
        file = os.open(_path(state), os.O_RDONLY)
    except OSError:
        return None
    try:
        return _read(file, state)
    finally:
        os.close(file)


def _read(file: int, state: Path) -> float | None:
    text = os.pread(file, _WIDTH, 0)
    try:
        return float(text) if text.strip() else None
    except ValueError:
        raise unusable(_path(state), ValueError("it holds no time")) from None


def _path(state: Path) -> Path:
    return state / "flarebed" / "clock"
