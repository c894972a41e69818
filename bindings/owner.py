"""The state folder's one owner: which process runs timers, consumers and instances, and how the others call it.

Any process may read and write the folder. The owner holds a lock on a file there (it ends with the process, however
that ends) and reads a named pipe, the doorbell: whoever writes work for the owner writes one line into it. What is rung
while nobody owns is not lost: an owner begins by reading the store.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

_PIPE_BUF: Final = 512
"""A write of up to this many bytes is never mixed with another's (POSIX's least value of PIPE_BUF)."""
_READ_SIZE: Final = 65536


def _folder(root: Path) -> Path:
    folder = root / "flarebed"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _doorbell(root: Path) -> Path:
    path = _folder(root) / "doorbell"
    with contextlib.suppress(FileExistsError):
        os.mkfifo(path)
    return path


class Owner:
    """A process's claim on the state folder `root`."""

    def __init__(self, root: Path, loop: asyncio.AbstractEventLoop) -> None:
        self._root = root
        self._loop = loop
        self._lock: int | None = None
        self._pipe: int | None = None
        self._unread = b""

    @property
    def owns(self) -> bool:
        return self._lock is not None

    def acquire(self) -> bool:
        """Become the owner if nobody is."""
        lock = self._open_lock()
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            return False
        self._lock = lock
        return True

    async def wait(self) -> None:
        """Return as the owner, once the present one has let go. Cancelling gives the claim up."""
        if self.acquire():
            return
        lock = self._open_lock()
        acquired: asyncio.Future[None] = self._loop.create_future()
        waiter = _Waiter(lock, lambda: self._loop.call_soon_threadsafe(_resolve, acquired))
        try:
            await acquired
        except BaseException:
            waiter.give_up()
            raise
        self._lock = lock

    def listen(self, on_ring: Callable[[str, str], None]) -> None:
        """Call `on_ring(kind, resource)` on the loop for each ring. To be called before the store is read."""
        pipe = os.open(_doorbell(self._root), os.O_RDWR | os.O_NONBLOCK)  # writable too: never at its end
        self._pipe = pipe
        self._loop.add_reader(pipe, self._answer, pipe, on_ring)

    def release(self) -> None:
        """Stop owning. The doorbell goes first, so that no ring is swallowed by a process that no longer owns."""
        if self._pipe is not None:
            self._loop.remove_reader(self._pipe)
            os.close(self._pipe)
            self._pipe = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _open_lock(self) -> int:
        return os.open(_folder(self._root) / "owner.lock", os.O_RDWR | os.O_CREAT, 0o644)

    def _answer(self, pipe: int, on_ring: Callable[[str, str], None]) -> None:
        try:
            *lines, self._unread = (self._unread + os.read(pipe, _READ_SIZE)).split(b"\n")
        except BlockingIOError:
            return
        for kind, resource in dict.fromkeys(tuple(json.loads(line)) for line in lines):
            on_ring(kind, resource)


class Doorbell:
    """Calls the owner, whichever process that is."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._pipe: int | None = None

    def ring(self, kind: str, resource: str) -> None:
        """Say that work for `resource` was written. Without an owner nothing happens."""
        line = json.dumps([kind, resource]).encode() + b"\n"
        if len(line) > _PIPE_BUF:
            raise ValueError(f"too long for the doorbell: {resource!r}")
        if not self._write(line):
            self._write(line)  # the owner that was there has gone: perhaps there is another

    def close(self) -> None:
        if self._pipe is not None:
            os.close(self._pipe)
            self._pipe = None

    def _write(self, line: bytes) -> bool:
        try:
            if self._pipe is None:
                path = _doorbell(self._root)
                if not stat.S_ISFIFO(path.stat().st_mode):
                    return True
                self._pipe = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
            os.write(self._pipe, line)
        except BlockingIOError:
            return True  # 64 KiB of rings wait already: the owner is far behind, and one more would not wake it
        except OSError:
            self.close()
            return False
        return True


class _Waiter:
    """Waits for a lock in a thread, since the kernel tells nobody else when it is free."""

    def __init__(self, lock: int, on_acquired: Callable[[], object]) -> None:
        self._lock = lock
        self._on_acquired = on_acquired
        self._guard = threading.Lock()
        self._state = "waiting"
        threading.Thread(target=self._wait, name="owner.lock", daemon=True).start()

    def give_up(self) -> None:
        with self._guard:
            if self._state == "acquired":
                os.close(self._lock)
            self._state = "given up"

    def _wait(self) -> None:
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        with self._guard:
            if self._state == "given up":
                os.close(self._lock)
                return
            self._state = "acquired"
        with contextlib.suppress(RuntimeError):  # the loop has ended, and with it the process
            self._on_acquired()


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
