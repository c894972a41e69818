"""One D1 database: queries in, rows and meta out, each call in one transaction. `binding.py` shows it to the Worker.

What miniflare's simulator does (workers-sdk packages/miniflare/src/workers/d1/database.worker.ts), on wrangler's own
file. Work runs on the loop while it is short, else in the database's thread (`lane.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from flarebed.bindings.d1 import neighbours
from flarebed.bindings.d1.errors import LOCKED, NO_STATEMENTS
from flarebed.bindings.d1.lane import TIMEOUT_S, Lane
from flarebed.bindings.kind import Surroundings
from flarebed.bindings.sql import Columns, CommitError, Interrupted, Locked, Row, SqlDatabase, SqlError, SqlValue
from flarebed.bindings.sql_statements import tokens
from flarebed.bindings.store import BUSY_TIMEOUT_MS

STEPS_INLINE: Final = 300_000
"""SQLite's instructions, about five milliseconds of them."""
QUERIES_INLINE: Final = 500
PATIENCE_INLINE_MS: Final = 5

_COMMENT_LINE: Final = re.compile(r"^\s*--.*", re.MULTILINE)
FOREIGN_KEYS_WARNING: Final = (
    "PRAGMA foreign_keys = OFF has no effect in D1, which runs every query in a transaction. "
    "PRAGMA defer_foreign_keys = ON puts the checks off to the end of a batch."
)

_FOREIGN_KEYS_OFF: Final = re.compile(
    r"(?:^|;)\s*PRAGMA\s+(?:main\s*\.\s*)?foreign_keys\s*[=(]\s*['\"]?(off|no|false|0)", re.IGNORECASE
)

_BOOKMARK_TABLE: Final = "CREATE TABLE IF NOT EXISTS _cf_METADATA (key INTEGER PRIMARY KEY, value BLOB)"
_BOOKMARK_READ: Final = "SELECT value FROM _cf_METADATA WHERE key = 2"
_BOOKMARK_WRITE: Final = "INSERT INTO _cf_METADATA VALUES (2, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"

Query = tuple[str, Sequence[SqlValue]]
Meta = dict[str, Any]
T = TypeVar("T")
Run = Callable[[SqlDatabase, str, Sequence[SqlValue]], T]


class Result(NamedTuple):
    """What one query gave; `columns` is empty where there are no rows."""

    columns: Columns
    rows: list[Row]
    meta: Meta


class Database:
    """A database in the file at `path`, which is made and opened when it is first asked."""

    def __init__(self, path: Path, around: Surroundings, timeout_s: float = TIMEOUT_S) -> None:
        self.path = path
        self._clock = around.clock
        self._log = around.log
        self._synchronous = around.store.synchronous
        self._lane = Lane(path, self._synchronous, around.clock.loop, timeout_s)
        self._inline: SqlDatabase | None = None
        self._slow_writes = 0

    async def rows(self, sql: str, values: Sequence[SqlValue]) -> tuple[Columns, list[Row]]:
        """Columns and rows of one query, without its meta."""
        answer = self._at_once(SqlDatabase.rows, sql, values)
        if answer is not None:
            return answer
        queries = [(sql, values)]
        return (await self._do(lambda database: self._transact(database, queries, SqlDatabase.rows), queries))[0]

    async def query(self, queries: Sequence[Query]) -> list[Result]:
        """The results of the queries that are more than a comment, all in one transaction.

        SqlError if there is none, or as soon as one fails; CommitError if the commit does.
        """
        if len(queries) == 1:
            result = self._at_once(self._answer_one, *queries[0])
            if result is not None:
                return [result]
        return await self._do(lambda database: self._transact(database, queries, self._answer_one), queries)

    def query_now(self, queries: Sequence[Query]) -> list[Result]:
        """As `query`, blocking for as long as it takes: for a command that has nothing else to do."""
        self.warn_of(sql for sql, _ in queries)
        with self.connected() as database:
            return self._transact(database, queries, self._answer_one)

    @contextmanager
    def connected(self) -> Iterator[SqlDatabase]:
        """A connection to be used in one go, by whoever has nothing else to do: it waits for others' locks."""
        database = SqlDatabase(self.path, self._synchronous, BUSY_TIMEOUT_MS)
        try:
            yield database
        except Locked:
            raise SqlError(LOCKED) from None
        finally:
            database.close()

    def column_names(self, sql: str, values: Sequence[SqlValue]) -> Columns:
        """The columns of a query that gave no rows."""
        database = self._open()
        with database.transaction(writes=False):
            return database.column_names(sql, values)

    async def next_bookmark(self) -> str:
        """A bookmark that sorts after all earlier ones, as workerd counts them (src/workerd/io/actor-sqlite.c++)."""
        counted = await self._do(_count_bookmark, [("", ())])
        return f"{counted // 0xFFFFFFFF:08x}-{counted % 0xFFFFFFFF:08x}-{0:08x}-{'0' * 32}"

    def close(self) -> None:
        self._lane.close()
        if self._inline is not None:
            self._inline.close()

    def _open(self) -> SqlDatabase:
        if self._inline is None:
            try:
                self._inline = SqlDatabase(self.path, self._synchronous, PATIENCE_INLINE_MS, STEPS_INLINE)
            except SqlError as error:
                self._log("error", f"The D1 database {self.path} can't be opened: {error.message}")
                raise
            self._warn_of_neighbours()
        return self._inline

    def _warn_of_neighbours(self) -> None:
        warning = neighbours.warning(self.path)
        if warning is not None:
            self._log("warn", warning)

    def _at_once(self, run: Run[T], sql: str, values: Sequence[SqlValue]) -> T | None:
        """The short way for one statement about rows; None where the long way has to be gone."""
        inline = self._inline or self._open()
        plan = inline.plan(sql)
        if not plan.is_single or plan.is_slow or self._slow_writes:
            return None
        try:
            if plan.cost is None and not plan.is_reading:
                inline.weigh(plan, values)
            return run(inline, sql, values) if plan.is_single else None
        except Interrupted:
            plan.is_slow = True
            return None
        except Locked:
            return None
        except SqlError as error:
            if error.is_foreign_key:
                return None
            raise

    async def _do(self, work: Callable[[SqlDatabase], T], queries: Sequence[Query]) -> T:
        """Run the work on the loop, and if it proves to be long or has to wait, once more from the start in the thread.

        While a slow write is there, all else queues behind it: a database does one thing after the other.
        """
        try:
            return await self._do_somewhere(work, {sql for sql, _ in queries}, len(queries))
        except CommitError as error:
            self._log("error", f"The D1 database {self.path} took a transaction back: {error.message}")
            raise

    async def _do_somewhere(self, work: Callable[[SqlDatabase], T], texts: Collection[str], count: int) -> T:
        inline = self._open()
        self.warn_of(texts)
        is_slow = count > QUERIES_INLINE or any(inline.plan(sql).is_slow for sql in texts)
        if not is_slow and not self._slow_writes:
            try:
                return work(inline)
            except (Interrupted, Locked):
                pass
        return await self._do_in_lane(work, inline, _writes(inline, texts))

    def warn_of(self, texts: Iterable[str]) -> None:
        """Production accepts it in silence."""
        if any("foreign_keys" in sql.lower() and _FOREIGN_KEYS_OFF.search(_code(sql)) for sql in texts):
            self._log("warn", FOREIGN_KEYS_WARNING)

    async def _do_in_lane(self, work: Callable[[SqlDatabase], T], inline: SqlDatabase, writes: bool) -> T:
        self._slow_writes += writes
        try:
            with self._clock.operation_outside():
                result, last_row_id = await self._lane.run(work, inline.connection.last_insert_rowid)
            if writes:
                inline.connection.set_last_insert_rowid(last_row_id)
        except SqlError as error:
            if error.message == LOCKED:
                self._warn_of_neighbours()
            raise
        finally:
            self._slow_writes -= writes
        return result

    def _transact(self, database: SqlDatabase, queries: Sequence[Query], run: Run[T]) -> list[T]:
        """In a transaction of ours, where a deferred foreign key fails at the commit rather than at the statement."""
        texts = {sql for sql, _ in queries if not is_comment(sql)}
        if not texts:
            raise SqlError(NO_STATEMENTS)
        with database.transaction(writes=_writes(database, texts)):
            return [run(database, sql, values) for sql, values in queries if sql in texts]

    def _answer_one(self, database: SqlDatabase, sql: str, values: Sequence[SqlValue]) -> Result:
        connection = database.connection
        started_ms = self._clock.now_ms()
        is_reading = database.plan(sql).is_reading
        size_before = 0 if is_reading else database.size_bytes()
        changes_before, last_id_before = connection.total_changes(), connection.last_insert_rowid()
        answer = database.run(sql, values)
        size, last_id = database.size_bytes(), connection.last_insert_rowid()
        changes = connection.total_changes() - changes_before
        has_changed = not is_reading and (changes != 0 or last_id != last_id_before or size != size_before)
        duration_ms = int(self._clock.now_ms() - started_ms)
        meta = {
            "served_by": "miniflare.db",
            "served_by_primary": True,
            "total_attempts": 1,
            "timings": {"sql_duration_ms": duration_ms},
            "duration": duration_ms,
            "changes": changes,
            "last_row_id": last_id,
            "changed_db": has_changed,
            "size_after": size,
            "rows_read": answer.rows_read,
            "rows_written": answer.rows_written,
        }
        return Result(answer.columns, answer.rows, meta)


def _writes(database: SqlDatabase, texts: Collection[str]) -> bool:
    return not all(database.plan(sql).is_reading for sql in texts)


def _code(sql: str) -> str:
    return "".join(" " if kind == "comment" else match.group() for kind, match in tokens(sql))


def is_comment(sql: str) -> bool:
    return not sql or sql.isspace() or ("--" in sql and not _COMMENT_LINE.sub("", sql).strip())


def _count_bookmark(database: SqlDatabase) -> int:
    with database.transaction(writes=True):
        database.control(_BOOKMARK_TABLE)
        before = database.control(_BOOKMARK_READ)
        counted = before[0][0] + 1 if before else 0
        database.control(_BOOKMARK_WRITE, (counted,))
    return int(counted)
