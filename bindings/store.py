"""Where state lives: SQLite files below one folder, one file per resource.

Writes of one loop tick share a transaction (`Database.write`), and what was acknowledged is committed: callers await
`durable()`. WAL mode: with `synchronous=NORMAL` an acknowledged write survives kill -9, with FULL a power cut too.

For FULL SQLite runs with NORMAL too; what that lacks is done in `write_ahead.py`, off the loop.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import apsw

from flarebed.bindings.errors import UserError
from flarebed.bindings.presence import Presence
from flarebed.bindings.write_ahead import Checkpoints, Syncs

BUSY_TIMEOUT_MS = 10_000
STATE_VERSION = 2
"""Of the files, in each one's `user_version`. Columns and indexes that are new need no new number: they are added.
It is to be raised when a flarebed that knows only the former number must not write a file any more."""


_FATAL = (apsw.FullError, apsw.IOError, apsw.NoMemError)
"""SQLite itself rolls back a transaction in which a statement fails so; the tick must not go on without it.
https://sqlite.org/lang_transaction.html#response_to_errors_within_a_transaction"""


class Database:
    """One SQLite file of ours, with one connection on the host's loop."""

    def __init__(
        self, path: Path, schema: str, synchronous: str, loop: asyncio.AbstractEventLoop, syncs: Syncs | None
    ) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._syncs = syncs
        if syncs is not None:
            syncs.on_failure = self._tell_losers
        self.connection = apsw.Connection(str(path))
        self.connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        self._loop = loop
        self._in_tick = False
        self._waiters: list[asyncio.Future[None]] = []
        self._unsynced: list[asyncio.Future[None]] = []
        self._watchers: list[asyncio.Future[None]] = []
        self._losers: list[Callable[[apsw.Error], object]] = []
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
        try:
            return list(self.connection.execute(sql, parameters))
        except _FATAL as error:
            self._lose(error)
            raise

    @contextmanager
    def write(self) -> Iterator[apsw.Connection]:
        """Statements that stand or fall together, as part of this tick's transaction."""
        self._begin()
        self.connection.execute("SAVEPOINT part")
        try:
            yield self.connection
        except BaseException as error:
            if isinstance(error, _FATAL):
                self._lose(error)
            elif self.connection.in_transaction:
                self.connection.execute("ROLLBACK TO part; RELEASE part").fetchall()
            raise
        self.connection.execute("RELEASE part")

    def committed(self) -> asyncio.Future[None]:
        """Resolves when all that was written so far survives kill -9; fails if the commit fails."""
        future: asyncio.Future[None] = self._loop.create_future()
        if self._in_tick:
            self._waiters.append(future)
        else:
            future.set_result(None)
        return future

    def durable(self) -> asyncio.Future[None]:
        """Resolves when all that was written so far is as safe as `synchronous` says; fails if it can't be."""
        if self._syncs is None:
            return self.committed()
        future: asyncio.Future[None] = self._loop.create_future()
        if self._in_tick:
            self._unsynced.append(future)
        else:
            self._syncs.want(future)
        return future

    def flush(self) -> None:
        """Commit now what this tick has written."""
        if not self._in_tick:
            return
        try:
            self.connection.execute("COMMIT")
        except apsw.Error as error:
            self._lose(error)
            return
        self._in_tick = False
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)
        if self._syncs is not None:
            unsynced, self._unsynced = self._unsynced, []
            self._syncs.committed(unsynced)
        if self._watchers:
            self.notify()

    def on_loss(self, loser: Callable[[apsw.Error], object]) -> None:
        """Call `loser` when what a tick wrote is rolled back, a full disk say, before those who await it hear of it.

        It is called within any write, so it is not to write itself.
        """
        self._losers.append(loser)

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
        if self._syncs is not None:
            self._syncs.close()
        self.connection.close()

    def _begin(self) -> None:
        if not self._in_tick:
            self.connection.execute("BEGIN IMMEDIATE")
            self._in_tick = True
            self._loop.call_soon(self.flush)

    def _lose(self, error: apsw.Error) -> None:
        """All that this tick has written is undone."""
        if not self._in_tick:
            return
        self._in_tick = False
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")
        self._tell_losers(error)
        waiters, self._waiters, self._unsynced = [*self._waiters, *self._unsynced], [], []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_exception(error)
                waiter.exception()  # seen: a run that was stopped does not come back for it

    def _tell_losers(self, error: apsw.Error) -> None:
        for loser in self._losers:
            loser(error)


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


def enter(root: Path) -> Presence:
    """Open the state folder, which is made if it isn't there."""
    try:
        root.mkdir(parents=True, exist_ok=True)
        if not os.access(root, os.W_OK):
            raise PermissionError("it is not writable")
        return Presence(root)
    except OSError as error:
        raise unusable(root, error) from error


class Store:
    """The state folder. `root` is wrangler's (`.wrangler/state`); ours lies in `flarebed/` below it.

    `outside()` surrounds what is waited for beyond the loop, as `Clock.operation_outside` does. `presence` is one that
    its maker has already; it ends with the store.
    """

    def __init__(
        self,
        root: Path,
        loop: asyncio.AbstractEventLoop,
        synchronous: str = "NORMAL",
        outside: Callable[[], AbstractContextManager[object]] = nullcontext,
        presence: Presence | None = None,
    ) -> None:
        self._presence = presence or enter(root)
        self.root = root
        self.synchronous = synchronous
        self.doorbell: Callable[[str, str], None] | None = None
        self._loop = loop
        self._outside = outside
        self._open: dict[Path, Database] = {}
        self._closers: list[Callable[[], object]] = []

    def database(self, kind: str, name: str, schema: str) -> Database:
        """The database of resource `name`, opened once; `schema` is run then (CREATE ... IF NOT EXISTS)."""
        return self.database_at(self.path(kind, name), schema)

    def database_at(self, path: Path, schema: str) -> Database:
        """One that has its place elsewhere below the state folder: wrangler's."""
        if path not in self._open:
            is_full = self.synchronous == "FULL"
            syncs = Syncs(path, self._loop, self._outside) if is_full else None
            try:
                self._open[path] = Database(path, schema, "NORMAL" if is_full else self.synchronous, self._loop, syncs)
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
        self._presence.leave()


def file_name(name: str) -> str:
    """Readable where the name allows it, and never two names in one file (also where case does not count)."""
    if re.fullmatch(r"[a-z0-9_][a-z0-9._-]{0,99}", name):
        return name
    readable = re.sub(r"[^A-Za-z0-9._-]+", "_", name)[:60]
    return f"{readable}-{hashlib.sha256(name.encode()).hexdigest()[:16]}"
