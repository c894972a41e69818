"""Where state lives: SQLite files below one folder, one file per resource.

Writes of one loop tick share a transaction (`Database.write`), and what was acknowledged is committed: callers await
`durable()`. WAL mode: with `synchronous=NORMAL` an acknowledged write survives kill -9, with FULL a power cut too.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from flarebed.bindings.errors import UserError

BUSY_TIMEOUT_MS = 10_000
_CHECKPOINT_PAGES = 2_000
"""The write-ahead log is folded back in the background from this size on."""

STATE_VERSION = 1
"""Of the files, in each one's `user_version`. Columns and indexes that are new need no new number: they are added.
It is to be raised when a flarebed that knows only the former number must not write a file any more."""


class Database:
    """One SQLite file of ours, with one connection on the host's loop."""

    def __init__(self, path: Path, schema: str, synchronous: str, loop: asyncio.AbstractEventLoop) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.connection = apsw.Connection(str(path))
        self.connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        self._loop = loop
        self._in_tick = False
        self._waiters: list[asyncio.Future[None]] = []
        self._watchers: list[asyncio.Future[None]] = []
        pragmas = f"PRAGMA synchronous={synchronous}; PRAGMA journal_mode=WAL; PRAGMA foreign_keys=ON"
        self.connection.execute(pragmas).fetchall()  # the second gives a row, and apsw runs on when it is fetched
        self.connection.set_wal_hook(Checkpoints(path))
        _bring_up(self.connection, path, schema)

    def read(self, sql: str, parameters: Sequence[Any] | dict[str, Any] = ()) -> list[tuple[Any, ...]]:
        """All rows. Sees what this tick has written."""
        return list(self.connection.execute(sql, parameters))

    def execute(self, sql: str, parameters: Sequence[Any] | dict[str, Any] = ()) -> list[tuple[Any, ...]]:
        """Write within this tick's transaction (call inside `write()` when several statements belong together)."""
        self._begin()
        return list(self.connection.execute(sql, parameters))

    @contextmanager
    def write(self) -> Iterator[apsw.Connection]:
        """Statements that stand or fall together, as part of this tick's transaction."""
        self._begin()
        with self.connection:  # a savepoint
            yield self.connection

    def durable(self) -> asyncio.Future[None]:
        """Resolves when all that was written so far is committed; fails if the commit fails."""
        future: asyncio.Future[None] = self._loop.create_future()
        if self._in_tick:
            self._waiters.append(future)
        else:
            future.set_result(None)
        return future

    def flush(self) -> None:
        """Commit now what this tick has written."""
        if not self._in_tick:
            return
        self._in_tick = False
        waiters, self._waiters = self._waiters, []
        try:
            self.connection.execute("COMMIT")
        except apsw.Error as error:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            for waiter in waiters:
                if not waiter.done():
                    waiter.set_exception(error)
        else:
            for waiter in waiters:
                if not waiter.done():
                    waiter.set_result(None)
            if self._watchers:
                self.notify()

    def next_commit(self) -> asyncio.Future[None]:
        """Resolves when something more is committed here, or somebody says `notify`."""
        future: asyncio.Future[None] = self._loop.create_future()
        self._watchers.append(future)
        return future

    def notify(self) -> None:
        """Another process may have written."""
        watchers, self._watchers = self._watchers, []
        for watcher in watchers:
            if not watcher.done():
                watcher.set_result(None)

    def close(self) -> None:
        self.flush()
        for watcher in self._watchers:
            watcher.cancel()
        self.connection.close()

    def _begin(self) -> None:
        if not self._in_tick:
            self.connection.execute("BEGIN IMMEDIATE")
            self._in_tick = True
            self._loop.call_soon(self.flush)


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


def _bring_up(connection: apsw.Connection, path: Path, schema: str) -> None:
    """Make the file what `schema` says, whichever earlier version made it."""
    version = int(connection.pragma("user_version"))
    if version > STATE_VERSION:
        raise UserError(
            f"The state in {path} was written by a newer flarebed (version {version} of its files; "
            f"this one knows version {STATE_VERSION}).",
            hint="Update flarebed, or keep state elsewhere with --persist-to.",
        )
    connection.execute("BEGIN IMMEDIATE")
    with_all = apsw.Connection(":memory:")
    with_all.execute(schema)
    for (table,) in with_all.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'sqlite_*'"
    ):
        for column in _missing_columns(connection, with_all, table):
            connection.execute(f'ALTER TABLE "{table}" ADD COLUMN {column}')
    connection.execute(f"{schema}; PRAGMA user_version = {STATE_VERSION}; COMMIT")


def _missing_columns(connection: apsw.Connection, with_all: apsw.Connection, table: str) -> list[str]:
    """Definitions of those that the table lacks, if it is there; one that is NOT NULL has to have a default."""
    there = {name for _, name, *_ in connection.execute(f'PRAGMA table_info("{table}")')}
    return [
        f'"{name}" {kind}' + (" NOT NULL" if not_null else "") + ("" if default is None else f" DEFAULT {default}")
        for _, name, kind, not_null, default, _ in with_all.execute(f'PRAGMA table_info("{table}")')
        if there and name not in there
    ]


def unusable(path: Path, error: Exception) -> UserError:
    """State that can't be read or written is for the user to mend."""
    return UserError(
        f"The state in {path} can't be used: {error}",
        hint="Mend or remove it, or keep state elsewhere with --persist-to.",
    )


class Store:
    """The state folder. `root` is wrangler's (`.wrangler/state`); ours lies in `flarebed/` below it."""

    def __init__(self, root: Path, loop: asyncio.AbstractEventLoop, synchronous: str = "NORMAL") -> None:
        try:
            root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unusable(root, error) from error
        if not os.access(root, os.W_OK):
            raise unusable(root, PermissionError("it is not writable"))
        self.root = root
        self.synchronous = synchronous
        self.doorbell: Callable[[str, str], None] | None = None
        self._loop = loop
        self._open: dict[Path, Database] = {}
        self._closers: list[Callable[[], object]] = []

    def database(self, kind: str, name: str, schema: str) -> Database:
        """The database of resource `name`, opened once; `schema` is run then (CREATE ... IF NOT EXISTS)."""
        path = self.path(kind, name)
        if path not in self._open:
            try:
                self._open[path] = Database(path, schema, self.synchronous, self._loop)
            except (OSError, apsw.Error) as error:
                raise unusable(path, error) from error
        return self._open[path]

    def path(self, kind: str, name: str) -> Path:
        return self.root / "flarebed" / kind / f"{file_name(name)}.sqlite"

    def announce(self, kind: str, resource: str) -> None:
        """Tell the folder's owner, if that is another process, that work was written for `resource`."""
        if self.doorbell is not None:
            self.doorbell(kind, resource)

    def on_close(self, closer: Callable[[], object]) -> None:
        """Call `closer` when the store closes: for an engine that opens files of its own, at wrangler's paths."""
        self._closers.append(closer)

    def close(self) -> None:
        for closer in self._closers:
            closer()
        self._closers.clear()
        for database in self._open.values():
            database.close()
        self._open.clear()


def file_name(name: str) -> str:
    """Readable where the name allows it, and never two names in one file (also where case does not count)."""
    if re.fullmatch(r"[a-z0-9_][a-z0-9._-]{0,99}", name):
        return name
    readable = re.sub(r"[^A-Za-z0-9._-]+", "_", name)[:60]
    return f"{readable}-{hashlib.sha256(name.encode()).hexdigest()[:16]}"
