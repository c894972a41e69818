"""SQLite's write-ahead log, in threads: folded back into the database, and with synchronous=FULL synced after commits.

SQLite would sync within the commit (https://sqlite.org/pragma.html#pragma_synchronous) and hold up the loop meanwhile.
Here the loop goes on, and the commits of that time share the next sync.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from contextvars import Context
from pathlib import Path

import apsw

_CHECKPOINT_PAGES = 2_000
"""The log is folded back in the background from this size on."""


class Syncs:
    """Syncs the write-ahead log of a database in a thread, one sync after the other.

    `outside()` surrounds what happens beyond the loop. `on_failure` hears of a sync that failed, before others do.
    """

    on_failure: Callable[[apsw.Error], object]

    def __init__(
        self, path: Path, loop: asyncio.AbstractEventLoop, outside: Callable[[], AbstractContextManager[object]]
    ) -> None:
        self._log = Path(f"{path}-wal")
        self._loop = loop
        self._outside = outside
        self._is_behind = False
        self._wanted: list[asyncio.Future[None]] = []
        self._running: list[asyncio.Future[None]] | None = None
        self._task: asyncio.Task[None] | None = None

    def committed(self, wanted: list[asyncio.Future[None]]) -> None:
        """There is more to sync, and who of those that wrote it wait for that."""
        self._is_behind = True
        if wanted:
            self._wanted += wanted
            self._start()

    def want(self, future: asyncio.Future[None]) -> None:
        """For all that was committed before."""
        if self._is_behind:
            self._wanted.append(future)
            self._start()
        elif self._running is not None:
            self._running.append(future)
        else:
            future.set_result(None)

    def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
        if self._is_behind or self._running:
            self._sync_log()

    def _start(self) -> None:
        if self._running is None:
            self._running = []
            self._task = self._loop.create_task(self._sync(), context=Context())

    async def _sync(self) -> None:
        while self._wanted:
            self._running, self._wanted, self._is_behind = self._wanted, [], False
            error = None
            try:
                with self._outside():
                    await self._loop.run_in_executor(None, self._sync_log)
            except OSError as failure:
                error = apsw.IOError(f"{self._log} can't be synced: {failure}")
                self._is_behind = True
                self.on_failure(error)
            for future in self._running:
                if future.done():
                    continue
                if error is None:
                    future.set_result(None)
                else:
                    future.set_exception(error)
                    future.exception()  # seen: a run that was stopped does not come back for it
        self._running = None

    def _sync_log(self) -> None:
        with suppress(FileNotFoundError):  # all is in the database itself, which the last to close it has synced
            log = os.open(self._log, os.O_RDONLY)
            try:
                os.fsync(log)
            finally:
                os.close(log)


class Checkpoints:
    """A connection's WAL hook that folds a large log back in a thread of its own, so that no commit pays for it.

    While commits go on, the log is rarely folded to its end and so isn't begun anew: it may grow until they pause.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._running = False
        self._folded_pages = 0

    def __call__(self, connection: apsw.Connection, name: str, pages: int) -> int:
        if pages < self._folded_pages:
            self._folded_pages = 0  # the log began anew
        if pages - self._folded_pages > _CHECKPOINT_PAGES and not self._running:
            self._running = True
            self._folded_pages = pages
            threading.Thread(target=self._fold, name="checkpoint", daemon=True).start()
        return apsw.SQLITE_OK

    def _fold(self) -> None:
        try:
            connection = apsw.Connection(str(self._path))
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
            connection.close()
        except apsw.Error:
            pass  # busy or closed: the next large commit asks again
        finally:
            self._running = False
