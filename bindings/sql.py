"""One SQLite connection under workerd's rules, as D1 and Durable Objects use it: statements in, rows and counts out.

An engine owns it, decides about transactions and threads, and puts its own words around `SqlError`. Sources:
src/workerd/util/sqlite.c++ (`prepareSql`, `dbErrorMessage`, `setupSecurity`) and src/workerd/api/sql.c++.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import apsw

from flarebed.bindings.sql_counts import Cost, shape
from flarebed.bindings.sql_limit import without_limit
from flarebed.bindings.sql_policy import ABSENT_FUNCTIONS, KEPT_MODULES, LIMITS, MAX_SQL_BYTES, Authorizer
from flarebed.bindings.sql_statements import Statement, split_statements
from flarebed.bindings.sql_text import repaired, well_formed, with_bytes
from flarebed.bindings.write_ahead import Checkpoints

SqlValue = None | int | float | str | bytes
Row = tuple[Any, ...]
Columns = tuple[str, ...]

NO_STATEMENT: Final = "SQL code did not contain a statement."
WRONG_BINDINGS: Final = "Wrong number of parameter bindings for SQL query."
ONLY_LAST_BINDS: Final = (
    "When executing multiple SQL statements in a single call, only the last statement can have parameters."
)

NOT_OPENED: Final = "unable to open database file: SQLITE_CANTOPEN"
_PRAGMAS: Final = "PRAGMA journal_mode=WAL; PRAGMA foreign_keys=ON"
_ROW_VERBS: Final = frozenset({"SELECT", "VALUES", "WITH", "INSERT", "UPDATE", "DELETE", "REPLACE"})
_COUNTED_VERBS: Final = _ROW_VERBS | {"CREATE", "DROP", "ALTER", "REINDEX"}
_READING_VERBS: Final = frozenset({"SELECT", "VALUES", "EXPLAIN", "PRAGMA"})
_ANALYZING_VERBS: Final = frozenset({"ANALYZE", "PRAGMA"})
_ANALYZES: Final = re.compile(r"\b(analyze|optimize)\b", re.IGNORECASE)
_PLANS: Final = 512
_TICKS: Final = 5
_RENAME_TO_RESERVED: Final = re.compile(r"\brename\s+to\s+[\"'`\[]?_cf_", re.IGNORECASE)
_FORBIDDEN_FUNCTION: Final = re.compile(r"not authorized to use function: (\w+)")


class SqlError(Exception):
    """What SQLite or workerd says against a statement; `message` is production's text without any prefix."""

    def __init__(self, message: str, *, is_foreign_key: bool = False, is_constraint: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.is_foreign_key = is_foreign_key
        self.is_constraint = is_constraint


class CommitError(SqlError):
    """All is rolled back, not for what a statement may fail with: a deferred foreign key was found violated at the
    commit, or a statement ended the transaction itself (OR ROLLBACK, raise(rollback))."""


class Interrupted(Exception):
    """The statement took too long; a write of it is rolled back, with the transaction around it."""


class Locked(Exception):
    """Another connection held the lock for longer than this one waits."""


class Answer(NamedTuple):
    """The rows of the last statement, and the counts that workerd's cursor has. No columns where there are no rows."""

    columns: Columns
    rows: list[Row]
    rows_read: int
    rows_written: int


@dataclass(slots=True)
class Plan:
    """A text of SQL, split once; `columns` and `cost` hold until SQLite prepares the last statement anew."""

    statements: tuple[Statement, ...]
    is_single: bool
    """One statement about rows: the transaction that SQLite makes for it is all it needs. Not so where a virtual table
    writes more when it commits, which is not to be counted, or where a failure does not just undo the statement."""
    is_reading: bool
    columns: Columns | None = None
    cost: Cost | None = None
    is_slow: bool = False
    """The owner's note that it was Interrupted."""


class SqlDatabase:
    """A connection to the file at `path`, opened now; SqlError if it can't be.

    `patience_ms` is how long it waits for another's lock (then Locked). A statement of more than `steps` instructions
    of SQLite is Interrupted, if given: they are counted rather than timed, which costs a short statement nothing.
    """

    def __init__(self, path: Path, synchronous: str, patience_ms: int, steps: int | None = None) -> None:
        self.connection = _opened(path, f"{_PRAGMAS}; PRAGMA synchronous={synchronous}", patience_ms)
        self._cursor = self.connection.cursor()
        self._authorizer = Authorizer()
        self._plans: dict[str, Plan] = {}
        self._costs: dict[tuple[Any, ...], Cost] = {}
        self._status: dict[str, int] = {}
        self._size: tuple[tuple[int, int], int] | None = None
        self._page_bytes = 0
        self._set_up(path)
        self._ticks = 0
        if steps is not None:
            self.connection.set_progress_handler(self._is_late, max(1, steps // _TICKS))

    def _set_up(self, path: Path) -> None:
        connection = self.connection
        connection.set_wal_hook(Checkpoints(path))
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
        connection.drop_modules(KEPT_MODULES)
        for limit, value in LIMITS.items():
            connection.limit(limit, value)
        connection.set_authorizer(self._authorizer)

    def _is_late(self) -> bool:
        """Called every so many steps, which SQLite counts on over a statement's runs: hence several ticks a run."""
        self._ticks += 1
        return self._ticks > _TICKS

    def close(self) -> None:
        self.connection.close()

    def plan(self, sql: str) -> Plan:
        plan = self._plans.get(sql)
        if plan is None:
            _check_length(sql)
            if len(self._plans) >= _PLANS:
                self._plans.clear()
            plan = self._plans[sql] = _plan(sql)
        return plan

    @contextmanager
    def transaction(self, *, writes: bool) -> Iterator[None]:
        """All that runs inside stands or falls together."""
        self.control("BEGIN IMMEDIATE" if writes else "BEGIN")
        try:
            yield
            try:
                self.control("COMMIT")
            except SqlError as error:
                raise CommitError(error.message) if error.is_foreign_key else error from None
        except BaseException as error:
            self._size = None
            if self.connection.in_transaction:
                self.control("ROLLBACK")
            elif isinstance(error, SqlError) and error.is_constraint:
                raise CommitError(error.message) from None
            raise

    def control(self, sql: str, values: Sequence[SqlValue] = ()) -> list[Row]:
        """Run a statement of our own, which may do what the Worker's may not."""
        self._authorizer.trusted = True
        try:
            return self._cursor.execute(sql, values).fetchall()
        except apsw.Error as error:
            raise self._translate(error) from None
        finally:
            self._authorizer.trusted = False

    def stream(self, sql: str) -> Iterator[Row]:
        """The rows of a query of our own as they are asked for; the caller holds a transaction meanwhile."""
        self._authorizer.trusted = True
        try:
            cursor = self.connection.cursor().execute(sql)
        except apsw.Error as error:
            raise self._translate(error) from None
        finally:
            self._authorizer.trusted = False
        try:
            yield from cursor
        except UnicodeDecodeError as error:
            raise _not_utf8(error) from None

    def rows(self, sql: str, values: Sequence[SqlValue]) -> tuple[Columns, list[Row]]:
        """What `run` answers, uncounted."""
        plan = self.plan(sql)
        if not plan.is_single:
            self._run_prelude(plan)
        return self._run_last(plan, values)

    def run(self, sql: str, values: Sequence[SqlValue]) -> Answer:
        """Run the statements of `sql`; `values` belong to the last.

        The caller holds a transaction, unless the plan is single.
        """
        plan = self.plan(sql)
        if not plan.is_single:
            self._size = None
            self._run_prelude(plan)
        cost = plan.cost or self.weigh(plan, values)
        if cost is None:
            return Answer(*self._run_last(plan, values), 0, 0)
        if cost.is_fixed:
            return Answer(*self._run_last(plan, values), cost.once, 0)
        total_before = self.connection.total_changes()
        if cost.needs_status:
            self.connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, self._keep_status)
        try:
            columns, rows = self._run_last(plan, values)
        finally:
            if cost.needs_status:
                self.connection.trace_v2(0)
        total = self.connection.total_changes() - total_before
        return Answer(columns, rows, *cost.of_run(self._status, rows, min(total, self.connection.changes()), total))

    def run_once(self, sql: str, verb: str) -> tuple[Columns, list[Row]]:
        """One statement that does not come again, so no plan of it is kept. The caller holds a transaction."""
        _check_length(sql)
        if "\0" in sql:
            raise SqlError(NO_STATEMENT)
        statement = Statement(without_limit(sql, verb), verb)
        return self._run_last(Plan((statement,), is_single=False, is_reading=False), ())

    def column_names(self, sql: str, values: Sequence[SqlValue]) -> Columns:
        """The names that an answer without rows would have had; nothing is run. What can't be run twice has none.

        The caller holds a transaction: many pragmas take effect when they are prepared.
        """
        found: list[Columns] = []

        def look(cursor: apsw.Cursor, statement: str, bindings: Any) -> bool:
            found.append(_columns(cursor) or ())
            return False

        cursor = self.connection.cursor()
        cursor.set_exec_trace(look)
        try:
            cursor.execute(self.plan(sql).statements[-1].text, values)
        except apsw.Error:  # also ExecTraceAbort
            pass
        finally:
            cursor.close(True)
        return found[0] if found else ()

    def size_bytes(self) -> int:
        """Pages in use times their size, as workerd's `databaseSize`."""
        state = (self.connection.data_version(), self.connection.total_changes())  # others' writes, and our own
        if self._size is None or self._size[0] != state:
            (pages,), (free,) = self.control("PRAGMA page_count; PRAGMA freelist_count")
            self._page_bytes = self._page_bytes or self.control("PRAGMA page_size")[0][0]
            self._size = (state, (pages - free) * self._page_bytes)
        return self._size[1]

    def _run_prelude(self, plan: Plan) -> None:
        for statement in plan.statements[:-1]:
            try:
                self._run(statement, ())
            except SqlError as error:
                raise SqlError(ONLY_LAST_BINDS) if error.message == WRONG_BINDINGS else error from None

    def _run_last(self, plan: Plan, values: Sequence[SqlValue]) -> tuple[Columns, list[Row]]:
        self._authorizer.asked = False
        rows = self._run(plan.statements[-1], values, plan)
        if self._authorizer.asked:
            plan.cost = None
        return plan.columns or (), rows

    def _run(self, statement: Statement, values: Sequence[SqlValue], plan: Plan | None = None) -> list[Row]:
        cursor = self._cursor
        self._ticks = 0
        if statement.verb not in _ROW_VERBS:
            self._check(statement)
        try:
            cursor.execute(statement.text, values, can_cache=statement.verb in _ROW_VERBS)
            if plan is not None and (plan.columns is None or self._authorizer.asked):
                plan.columns = _columns(cursor)
            rows = cursor.fetchall()
        except apsw.Error as error:
            raise self._translate(error) from None
        except UnicodeEncodeError:
            return self._run(replace(statement, text=well_formed(statement.text)), list(map(well_formed, values)), plan)
        except UnicodeDecodeError as error:
            if statement.verb not in ("SELECT", "VALUES"):
                raise _not_utf8(error) from None
            return self._repaired(statement, values)
        if statement.verb in _ANALYZING_VERBS and _ANALYZES.search(statement.text):
            self.control("DROP TABLE IF EXISTS sqlite_stat4")  # workerd's SQLite is built without it
        return rows

    def _repaired(self, statement: Statement, values: Sequence[SqlValue]) -> list[Row]:
        count = len(self.column_names(statement.text, values))
        limit = self.connection.limit(apsw.SQLITE_LIMIT_COLUMN, 2 * LIMITS[apsw.SQLITE_LIMIT_COLUMN])
        try:
            return list(map(repaired, self.control(with_bytes(statement.text, count), values)))
        finally:
            self.connection.limit(apsw.SQLITE_LIMIT_COLUMN, limit)

    def _check(self, statement: Statement) -> None:
        if not statement.verb:
            raise SqlError(NO_STATEMENT)
        if statement.verb == "ALTER" and _RENAME_TO_RESERVED.search(statement.text):
            raise SqlError("not authorized: SQLITE_AUTH")  # workerd patches SQLite so that its authorizer sees it

    def weigh(self, plan: Plan, values: Sequence[SqlValue]) -> Cost | None:
        """What the last statement costs; None for what neither reads nor writes rows, as workerd counts them."""
        statement = plan.statements[-1]
        if statement.verb not in _COUNTED_VERBS:
            return None
        try:
            program = self._cursor.execute(statement.text, values, can_cache=False, explain=1).fetchall()
        except apsw.Error as error:
            raise self._translate(error) from None
        except UnicodeError:
            return None  # running it says more
        key = shape(program)
        if key not in self._costs:
            if len(self._costs) >= _PLANS:
                self._costs.clear()
            self._costs[key] = Cost(program)
        plan.cost = self._costs[key]
        plan.is_single = plan.is_single and not plan.cost.needs_transaction
        if not plan.cost.gives_rows:
            plan.columns = ()  # which the cursor says only by an exception
        return plan.cost

    def _keep_status(self, event: dict[str, Any]) -> None:
        self._status = event["stmt_status"]  # the statement's own comes last, after those that a virtual table made

    def _translate(self, error: Any) -> Exception:
        refusal, self._authorizer.refusal = self._authorizer.refusal, None
        if isinstance(error, apsw.BindingsError):
            return SqlError(WRONG_BINDINGS)
        if isinstance(error, apsw.InterruptError):
            return Interrupted()
        if isinstance(error, apsw.BusyError):
            return Locked()
        if isinstance(error, apsw.AuthError) and refusal is not None:
            return SqlError(refusal)
        return SqlError(
            error_text(error),
            is_foreign_key=error.extendedresult == apsw.SQLITE_CONSTRAINT_FOREIGNKEY,
            is_constraint=isinstance(error, apsw.ConstraintError),
        )


def _opened(path: Path, pragmas: str, patience_ms: int) -> apsw.Connection:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = apsw.Connection(str(path), statementcachesize=256)
        connection.set_busy_timeout(patience_ms)
        connection.execute(pragmas).fetchall()  # one gives a row, and apsw runs on when it is fetched
    except apsw.Error as error:
        raise SqlError(error_text(error)) from None
    except OSError:
        raise SqlError(NOT_OPENED) from None
    return connection


def error_text(error: Any) -> str:
    """SQLite's message with the offset in bytes if there is one, the code's name, and the extended code's."""
    text = str(error)
    forbidden = _FORBIDDEN_FUNCTION.fullmatch(text)
    if forbidden and forbidden[1].lower() in ABSENT_FUNCTIONS:
        text = f"no such function: {forbidden[1]}"
    if error.error_offset >= 0:
        text += f" at offset {error.error_offset}"
    text += f": {apsw.mapping_result_codes[error.result & 0xFF]}"
    if error.extendedresult != error.result and error.extendedresult in apsw.mapping_extended_result_codes:
        text += f" (extended: {apsw.mapping_extended_result_codes[error.extendedresult]})"
    return text


def _not_utf8(error: UnicodeDecodeError) -> SqlError:
    return SqlError(f"Text in the result is not UTF-8: {error.reason}")


def _check_length(sql: str) -> None:
    if len(sql.encode("utf-8", "replace")) > MAX_SQL_BYTES:
        raise SqlError("statement too long: SQLITE_TOOBIG")


def _plan(sql: str) -> Plan:
    code, nul, _ = sql.partition("\0")  # where SQLite stops reading, so that an empty statement follows
    split = split_statements(code)
    if nul or not split:
        split += (Statement("", ""),)
    statements = tuple(replace(statement, text=without_limit(statement.text, statement.verb)) for statement in split)
    return Plan(
        statements,
        is_single=len(statements) == 1 and statements[0].verb in _ROW_VERBS,
        is_reading=all(statement.verb in _READING_VERBS for statement in statements),
    )


def _columns(cursor: apsw.Cursor) -> Columns | None:
    try:
        return tuple(column[0] for column in cursor.get_description())
    except apsw.ExecutionCompleteError:
        return None  # no rows
