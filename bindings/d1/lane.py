"""A database's own thread, with its own connection: what would hold up the server runs there.

`database.py` hands over what its connection on the loop gave up on: a statement of many steps, a lock held elsewhere.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Timer
from typing import Final, TypeVar

from flarebed.bindings.d1.errors import LOCKED, TIMED_OUT
from flarebed.bindings.sql import Interrupted, Locked, SqlDatabase, SqlError
from flarebed.bindings.store import BUSY_TIMEOUT_MS

TIMEOUT_S: Final = 30.0
"""https://developers.cloudflare.com/d1/platform/limits/: the maximum SQL query duration."""

_STEPS_A_LOOK: Final = 10_000
"""Of SQLite's instructions, in about a tenth of a millisecond. An interrupt would be lost between two statements."""

T = TypeVar("T")


class Lane:
    """Runs one work after the other. Its connection opens with the first."""

    def __init__(self, path: Path, synchronous: str, loop: asyncio.AbstractEventLoop, timeout_s: float) -> None:
        self._path = path
        self._synchronous = synchronous
        self._loop = loop
        self._timeout_s = timeout_s
        self._database: SqlDatabase | None = None
        self._is_over = Event()
        self._is_closing = False
        self._executor: ThreadPoolExecutor | None = None

    async def run(self, work: Callable[[SqlDatabase], T], last_row_id: Callable[[], int]) -> tuple[T, int]:
        """The work's result and the last row id after it; SqlError if it takes longer than it may.

        `last_row_id` is asked when the work begins, because what is before it in the queue may change it.
        """
        if self._executor is None:
            self._executor = ThreadPoolExecutor(1, thread_name_prefix="d1")
        future = self._executor.submit(self._work, work, last_row_id)
        return await asyncio.wrap_future(future, loop=self._loop)

    def close(self) -> None:
        """Interrupt what runs, and return when the thread is done."""
        self._is_closing = True
        if self._executor is not None:
            self._executor.shutdown(cancel_futures=True)
        if self._database is not None:
            self._database.close()

    def _must_stop(self) -> bool:
        return self._is_closing or self._is_over.is_set()

    def _work(self, work: Callable[[SqlDatabase], T], last_row_id: Callable[[], int]) -> tuple[T, int]:
        if self._database is None:
            self._database = SqlDatabase(self._path, self._synchronous, BUSY_TIMEOUT_MS)
            self._database.connection.set_progress_handler(self._must_stop, _STEPS_A_LOOK)
        connection = self._database.connection
        connection.set_last_insert_rowid(last_row_id())
        timer = Timer(self._timeout_s, self._is_over.set)
        timer.daemon = True
        timer.start()
        try:
            return work(self._database), connection.last_insert_rowid()
        except Interrupted:
            raise SqlError(TIMED_OUT) from None
        except Locked:
            raise SqlError(LOCKED) from None
        finally:
            timer.cancel()
            timer.join()
            self._is_over.clear()
