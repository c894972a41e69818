"""One D1 database: queries in, rows and meta out, each call in one transaction. `binding.py` shows it to the Worker.

What miniflare's simulator does (workers-sdk packages/miniflare/src/workers/d1/database.worker.ts), on wrangler's own
file. Work runs on the loop while it is short, else in the database's thread (`lane.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from flarebed.bindings.d1.errors import NO_STATEMENTS
from flarebed.bindings.d1.lane import TIMEOUT_S, Lane
from flarebed.bindings.kind import Surroundings
from flarebed.bindings.sql import Columns, Interrupted, Locked, Row, SqlDatabase, SqlError, SqlValue

STEPS_INLINE: Final = 300_000
"""SQLite's instructions, about five milliseconds of them."""
QUERIES_INLINE: Final = 500
PATIENCE_INLINE_MS: Final = 5

_COMMENT_LINE: Final = re.compile(r"^\s*--.*", re.MULTILINE)
_FOREIGN_KEYS_OFF: Final = re.compile(r"\s*PRAGMA\s+foreign_keys\s*[=(]\s*['\"]?(off|no|false|0)", re.IGNORECASE)

_BOOKMARK_TABLE: Final = "CREATE TABLE IF NOT EXISTS _cf_METADATA (key INTEGER PRIMARY KEY, value BLOB)"
_BOOKMARK_READ: Final = "SELECT value FROM _cf_METADATA WHERE key = 2"
_BOOKMARK_WRITE: Final = "INSERT INTO _cf_METADATA VALUES (2, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"

Query = tuple[str, Sequence[SqlValue]]
Meta = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Result:
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
        inline = self._inline or self._open()
        if inline.plan(sql).is_single and not self._slow_writes:
            try:
                return inline.rows(sql, values)
            except (Interrupted, Locked):
                pass
            except SqlError as error:
                if not error.is_foreign_key:
                    raise
        queries = [(sql, values)]
        return (await self._do(lambda database: self._transact(database, queries, SqlDatabase.rows), queries))[0]

    async def query(self, queries: Sequence[Query]) -> list[Result]:
        """The results of the queries that are more than a comment, all in one transaction.

        SqlError if there is none, or as soon as one fails; CommitError if the commit does.
        """
        return await self._do(lambda database: self._answer(database, queries), queries)

    def query_now(self, queries: Sequence[Query]) -> list[Result]:
        """As `query`, blocking for as long as it takes: for a command that has nothing else to do."""
        database = SqlDatabase(self.path, self._synchronous, 10_000)
        try:
            return self._answer(database, queries)
        except Locked:
            raise SqlError("database is locked: SQLITE_BUSY") from None
        finally:
            database.close()

    def column_names(self, sql: str, values: Sequence[SqlValue]) -> Columns:
        """The columns of a query that gave no rows."""
        return self._open().column_names(sql, values)

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
            self._inline = SqlDatabase(self.path, self._synchronous, PATIENCE_INLINE_MS, STEPS_INLINE)
        return self._inline

    async def _do(self, work: Callable[[SqlDatabase], T], queries: Sequence[Query]) -> T:
        """Run the work on the loop, and if it proves to be long or has to wait, once more from the start in the thread.

        While a slow write is there, all else queues behind it: a database does one thing after the other.
        """
        if not self._slow_writes and len(queries) <= QUERIES_INLINE:
            try:
                return work(self._open())
            except (Interrupted, Locked):
                pass
        return await self._do_in_lane(work, queries)

    async def _do_in_lane(self, work: Callable[[SqlDatabase], T], queries: Sequence[Query]) -> T:
        inline = self._open()
        writes = not all(inline.plan(sql).is_reading for sql, _ in queries)
        self._slow_writes += writes
        try:
            result, last_row_id = await self._lane.run(work, inline.connection.last_insert_rowid())
        finally:
            self._slow_writes -= writes
        inline.connection.set_last_insert_rowid(last_row_id)
        return result

    def _answer(self, database: SqlDatabase, queries: Sequence[Query]) -> list[Result]:
        return self._transact(database, queries, self._answer_one)

    def _transact(
        self,
        database: SqlDatabase,
        queries: Sequence[Query],
        run: Callable[[SqlDatabase, str, Sequence[SqlValue]], T],
    ) -> list[T]:
        queries = [query for query in queries if not _is_comment(query[0])]
        if not queries:
            raise SqlError(NO_STATEMENTS)
        plans = [database.plan(sql) for sql, _ in queries]
        if len(plans) == 1 and plans[0].is_single:
            try:
                return [run(database, *queries[0])]
            except SqlError as error:
                if not error.is_foreign_key:
                    raise
                # a deferred key fails at the commit, which only a transaction of ours can tell from the statement
        with database.transaction(writes=not all(plan.is_reading for plan in plans)):
            return [run(database, sql, values) for sql, values in queries]

    def _answer_one(self, database: SqlDatabase, sql: str, values: Sequence[SqlValue]) -> Result:
        connection = database.connection
        started_ms = self._clock.now_ms()
        size_before = database.size_bytes()
        changes_before, last_id_before = connection.total_changes(), connection.last_insert_rowid()
        answer = database.run(sql, values)
        size, last_id = database.size_bytes(), connection.last_insert_rowid()
        changes = connection.total_changes() - changes_before
        duration_ms = int(self._clock.now_ms() - started_ms)
        if "oreign_keys" in sql and _FOREIGN_KEYS_OFF.match(sql):
            self._warn_foreign_keys()
        meta = {
            "served_by": "miniflare.db",
            "served_by_primary": True,
            "total_attempts": 1,
            "timings": {"sql_duration_ms": duration_ms},
            "duration": duration_ms,
            "changes": changes,
            "last_row_id": last_id,
            "changed_db": changes != 0 or last_id != last_id_before or size != size_before,
            "size_after": size,
            "rows_read": answer.rows_read,
            "rows_written": answer.rows_written,
        }
        return Result(answer.columns, answer.rows, meta)

    def _warn_foreign_keys(self) -> None:
        self._log(
            "warn",
            "PRAGMA foreign_keys = OFF has no effect in D1, which runs every query in a transaction. "
            "PRAGMA defer_foreign_keys = ON puts the checks off to the end of a batch.",
        )


def _is_comment(sql: str) -> bool:
    return not sql or sql.isspace() or ("--" in sql and not _COMMENT_LINE.sub("", sql).strip())


def _count_bookmark(database: SqlDatabase) -> int:
    with database.transaction(writes=True):
        database.control(_BOOKMARK_TABLE)
        before = database.control(_BOOKMARK_READ)
        counted = before[0][0] + 1 if before else 0
        database.control(_BOOKMARK_WRITE, (counted,))
    return int(counted)
