"""Who runs what: the one process per Worker that runs its timers, consumers and instances, and how others call it.

Any process may read and write the state folder. An owner holds a lock on a file there for its Worker, and one for each
workflow and each queue that it runs, so that of two Workers that claim the same one only one does. A lock ends with the
process, however that ends. The owner reads a named pipe, its doorbell: whoever writes work that may be another's writes
one line into each owner's. What is rung while nobody owns is not lost: an owner begins by reading the store.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import stat
import threading
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Final

from flarebed.bindings.store import file_name

_PIPE_BUF: Final = 512
"""A write of up to this many bytes is never mixed with another's (POSIX's least value of PIPE_BUF)."""
_READ_SIZE: Final = 65536
_DOORBELL: Final = ".doorbell"


def _folder(root: Path) -> Path:
    folder = root / "flarebed" / "owners"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class Claims:
    """Locks on `names`, pairs of a kind and a name, in the state folder `root`: a process holds all of them or none."""

    def __init__(self, root: Path, loop: asyncio.AbstractEventLoop, names: Sequence[tuple[str, str]]) -> None:
        self.missing: tuple[str, str] | None = None
        """What kept `acquire` from succeeding."""
        self._root = root
        self._loop = loop
        self._names = names
        self._locks: list[int] | None = None

    @property
    def owns(self) -> bool:
        return self._locks is not None

    @property
    def files(self) -> Sequence[int]:
        """The locked files. A child that inherits them holds the locks too: they are free when both have let go."""
        return self._locks or ()

    def acquire(self) -> bool:
        """Become the owner if nobody is."""
        locks: list[int] = []
        for claim in self._names:
            locks.append(self._open_lock(claim))
            try:
                fcntl.flock(locks[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                _close(locks)
                self.missing = claim
                return False
        self._locks = locks
        return True

    async def wait(self) -> None:
        """Return as the owner, once the present one has let go. Cancelling gives the claim up."""
        if self.acquire():
            return
        locks = [self._open_lock(claim) for claim in self._names]
        acquired: asyncio.Future[None] = self._loop.create_future()
        waiter = _Waiter(locks, lambda: self._loop.call_soon_threadsafe(_resolve, acquired))
        try:
            await acquired
        except BaseException:
            waiter.give_up()
            raise
        self._locks = locks

    def release(self) -> None:
        if self._locks is not None:
            _close(self._locks)
            self._locks = None

    def _open_lock(self, claim: tuple[str, str]) -> int:
        kind, name = claim
        return os.open(_folder(self._root) / f"{kind}.{file_name(name)}.lock", os.O_RDWR | os.O_CREAT, 0o644)


class Owner(Claims):
    """A process's claim to run `worker` and `resources`, pairs of a kind and a name, on the state folder `root`."""

    def __init__(
        self, root: Path, loop: asyncio.AbstractEventLoop, worker: str, resources: Sequence[tuple[str, str]] = ()
    ) -> None:
        # In one order everywhere, so that no two processes wait for each other.
        super().__init__(root, loop, [("worker", worker), *sorted(resources)])
        self.doorbell = f"{file_name(worker)}{_DOORBELL}"
        self._pipe: int | None = None
        self._unread = b""

    def listen(self, on_ring: Callable[[str, str], None]) -> None:
        """Call `on_ring(kind, resource)` on the loop for each ring. To be called before the store is read."""
        path = _folder(self._root) / self.doorbell
        with contextlib.suppress(FileExistsError):
            os.mkfifo(path)
        pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)  # writable too: never at its end
        self._pipe = pipe
        self._loop.add_reader(pipe, self._answer, pipe, on_ring)

    def release(self) -> None:
        """Stop owning. The doorbell goes first, so that no ring is swallowed by a process that no longer owns."""
        if self._pipe is not None:
            self._loop.remove_reader(self._pipe)
            os.close(self._pipe)
            self._pipe = None
        super().release()

    def _answer(self, pipe: int, on_ring: Callable[[str, str], None]) -> None:
        try:
            *lines, self._unread = (self._unread + os.read(pipe, _READ_SIZE)).split(b"\n")
        except BlockingIOError:
            return
        for kind, resource in dict.fromkeys(tuple(json.loads(line)) for line in lines):
            on_ring(kind, resource)


class Doorbell:
    """Calls the owners, whichever processes they are."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._pipes: dict[str, int] = {}

    def ring(self, kind: str, resource: str, *, but: Collection[str] = ()) -> None:
        """Say at each doorbell, `but` some, that work for `resource` was written. Without an owner nothing happens."""
        line = json.dumps([kind, resource]).encode() + b"\n"
        if len(line) > _PIPE_BUF:
            raise ValueError(f"too long for the doorbell: {resource!r}")
        for name in os.listdir(_folder(self._root)):
            if name.endswith(_DOORBELL) and name not in but and not self._write(name, line):
                self._write(name, line)  # the owner that was there has gone: perhaps there is another

    def close(self) -> None:
        _close(list(self._pipes.values()))
        self._pipes.clear()

    def _write(self, name: str, line: bytes) -> bool:
        try:
            if name not in self._pipes:
                path = _folder(self._root) / name
                if not stat.S_ISFIFO(path.stat().st_mode):
                    return True
                self._pipes[name] = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
            os.write(self._pipes[name], line)
        except BlockingIOError:
            return True  # 64 KiB of rings wait already: the owner is far behind, and one more would not wake it
        except OSError:
            if name in self._pipes:
                os.close(self._pipes.pop(name))
            return False
        return True


class _Waiter:
    """Waits for locks in a thread, since the kernel tells nobody else when they are free."""

    def __init__(self, locks: list[int], on_acquired: Callable[[], object]) -> None:
        self._locks = locks
        self._on_acquired = on_acquired
        self._guard = threading.Lock()
        self._acquired = 0
        self._given_up = False
        threading.Thread(target=self._wait, name="owner", daemon=True).start()

    def give_up(self) -> None:
        """Whoever waits for what has been acquired so far need not wait longer. The rest is the thread's to close."""
        with self._guard:
            _close(self._locks[: self._acquired])
            self._given_up = True

    def _wait(self) -> None:
        for lock in self._locks:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with self._guard:
                if self._given_up:
                    _close(self._locks[self._acquired :])
                    return
                self._acquired += 1
        with contextlib.suppress(RuntimeError):  # the loop has ended, and with it the process
            self._on_acquired()


def _close(files: Sequence[int]) -> None:
    for file in files:
        os.close(file)


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
