"""D1 as a Worker sees it: D1Database, D1PreparedStatement, D1DatabaseSession.

The shape of workerd's src/cloudflare/internal/d1-api.ts: a session sends queries and keeps a bookmark; the database
itself is a session that always goes to the primary and has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from flarebed.bindings.d1.database import Database, Query, Result
from flarebed.bindings.d1.errors import (
    NEEDS_JSRPC,
    NOT_A_QUERY,
    column_not_found,
    exec_error,
    internal_error,
    no_dump,
    query_error,
)
from flarebed.bindings.d1.parameters import to_lists, to_objects, to_sqlite, to_worker
from flarebed.bindings.ecma import to_string
from flarebed.bindings.errors import JsError, type_error
from flarebed.bindings.sql import Columns, CommitError, Row, SqlError, SqlValue
from flarebed.bindings.values import UNDEFINED, Error

_UNCONSTRAINED: Final = "first-unconstrained"
_PRIMARY: Final = "first-primary"
_SPACE: Final = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))
"""What JavaScript's trim() takes off."""


_TAG = "Object"
"""Classes that workerd has in JavaScript (src/cloudflare/internal/d1-api.ts): String() gives [object Object]."""


class Session:
    """Sends queries to the database and turns what goes wrong into what a Worker sees. No constraint: the primary."""

    def __init__(self, database: Database, has_jsrpc: bool, constraint: str | None = None) -> None:
        self.database = database
        self.has_jsrpc = has_jsrpc
        self._constraint = constraint

    @property
    def bookmark(self) -> str | None:
        return None if self._constraint in (_UNCONSTRAINED, _PRIMARY) else self._constraint

    async def rows(self, sql: Any, values: Sequence[SqlValue]) -> tuple[Columns, list[Row]]:
        """One query, without its meta."""
        if not isinstance(sql, str):
            raise query_error(NOT_A_QUERY)
        try:
            answer = await self.database.rows(sql, values)
        except SqlError as error:
            raise self._error(error) from None
        if self._constraint is not None:
            await self._advance()
        return answer

    async def query(self, queries: Sequence[Query]) -> list[Result]:
        _check(queries)
        try:
            results = await self.database.query(queries)
        except SqlError as error:
            raise self._error(error) from None
        if self._constraint is not None:
            await self._advance()
        return results

    async def execute(self, lines: Sequence[str]) -> list[Result]:
        try:
            return await self.database.query([(line, ()) for line in lines])
        except CommitError:
            raise internal_error() from None
        except SqlError as error:
            if self.has_jsrpc:
                raise exec_error(error.message, with_cause=False) from None
            # Whichever line failed: the service answers with one error, and the first line is taken for its place.
            raise exec_error(f"Error in line 1: {lines[0]}: {error.message}") from None

    def _error(self, error: SqlError) -> JsError:
        if isinstance(error, CommitError):
            return internal_error()
        return query_error(error.message, with_cause=not self.has_jsrpc)

    async def _advance(self) -> None:
        newest, held = await self.database.next_bookmark(), self.bookmark
        if held is None or held < newest:
            self._constraint = newest


class D1PreparedStatement:
    """`env.DB.prepare(sql)`; nothing is checked before it runs."""

    js_tag = _TAG

    def __init__(self, session: Session, statement: Any, values: tuple[SqlValue, ...] = ()) -> None:
        self._session = session
        self._values = values
        self.statement = statement

    def own_properties(self) -> dict[str, Any]:
        return {"statement": self.statement, "params": self.params}

    @property
    def params(self) -> list[Any]:
        return [to_worker(value) for value in self._values]

    def bind(self, *values: Any) -> D1PreparedStatement:
        return D1PreparedStatement(self._session, self.statement, tuple(map(to_sqlite, values)))

    async def first(self, column: Any = UNDEFINED) -> Any:
        columns, rows = await self._session.rows(self.statement, self._values)
        if not rows:
            return None
        row = to_objects(columns, rows[:1])[0]
        if column is UNDEFINED:
            return row
        name = to_string(column)
        if name not in row:
            raise column_not_found(name)
        return row[name]

    async def all(self) -> dict[str, Any]:
        results = await self._session.query([(self.statement, self._values)])
        return _with_objects(results[0])

    async def run(self) -> dict[str, Any]:
        return await self.all()

    async def raw(self, options: Any = UNDEFINED) -> list[list[Any]]:
        columns, rows = await self._session.rows(self.statement, self._values)
        if not (isinstance(options, dict) and options.get("columnNames")):
            return to_lists(rows)
        if not rows:
            columns = self._session.database.column_names(self.statement, self._values)
        return [list(columns), *to_lists(rows)]


class D1DatabaseSession:
    """`env.DB.withSession(...)`."""

    js_tag = _TAG

    def __init__(self, session: Session) -> None:
        self._session = session

    def prepare(self, sql: Any = UNDEFINED) -> D1PreparedStatement:
        return D1PreparedStatement(self._session, sql)

    async def batch(self, statements: Any = UNDEFINED) -> list[dict[str, Any]]:
        return await _batch(self._session, statements)

    def getBookmark(self) -> str | None:
        return self._session.bookmark


class D1Database:
    """`env.DB`. `has_jsrpc`: the compatibility flag d1_binding_jsrpc is on."""

    js_tag = _TAG

    def __init__(self, database: Database, has_jsrpc: bool) -> None:
        self._session = Session(database, has_jsrpc)

    def prepare(self, sql: Any = UNDEFINED) -> D1PreparedStatement:
        return D1PreparedStatement(self._session, sql)

    async def batch(self, statements: Any = UNDEFINED) -> list[dict[str, Any]]:
        return await _batch(self._session, statements)

    async def exec(self, sql: Any = UNDEFINED) -> dict[str, Any]:
        if sql is None or sql is UNDEFINED:
            raise type_error(f"Cannot read properties of {to_string(sql)} (reading 'trim')")
        if not isinstance(sql, str):
            raise type_error("query.trim is not a function")
        results = await self._session.execute(sql.strip(_SPACE).split("\n"))
        return {"count": len(results), "duration": sum(result.meta["duration"] for result in results)}

    def withSession(self, constraint: Any = UNDEFINED) -> D1DatabaseSession:
        if constraint is not None and constraint is not UNDEFINED and not isinstance(constraint, str):
            raise type_error("constraintOrBookmark?.trim is not a function")
        trimmed = constraint.strip(_SPACE) if isinstance(constraint, str) else ""
        session = Session(self._session.database, self._session.has_jsrpc, trimmed or _UNCONSTRAINED)
        return D1DatabaseSession(session)

    async def query(self, request: Any = UNDEFINED) -> dict[str, Any]:
        if not self._session.has_jsrpc:
            raise JsError(f"D1_ERROR: {NEEDS_JSRPC}")
        bookmark = _member(request, "bookmark")
        session = Session(self._session.database, True, bookmark if isinstance(bookmark, str) else None)
        asked = _member(request, "queries")
        queries = [_raw_query(query, "sql") for query in asked] if isinstance(asked, list) else []
        try:
            _check(queries)
            results = await session.database.query(queries)
        except SqlError as error:
            return {"success": False, "error": Error(error.message)}
        answer: dict[str, Any] = {"queryResults": list(map(_with_rows, results))}
        if isinstance(bookmark, str):
            answer["bookmark"] = await session.database.next_bookmark()
        return {"success": True, "results": answer}

    async def dump(self) -> None:
        raise no_dump()


def session_of(database: D1Database) -> Session:
    """What a binding sends its queries through, for a client that does the rest itself."""
    return database._session


async def _batch(session: Session, statements: Any) -> list[dict[str, Any]]:
    if statements is None or statements is UNDEFINED:
        raise type_error(f"Cannot read properties of {to_string(statements)} (reading 'map')")
    if not isinstance(statements, list):
        raise type_error("statements.map is not a function")
    results = await session.query(list(map(_query_of, statements)))
    return list(map(_with_objects, results))


def _query_of(statement: Any) -> Any:
    if isinstance(statement, D1PreparedStatement):
        return statement.statement, statement._values
    if statement is None or statement is UNDEFINED:
        raise type_error(f"Cannot read properties of {to_string(statement)} (reading 'statement')")
    return _raw_query(statement, "statement")


def _check(queries: Sequence[tuple[Any, Sequence[SqlValue]]]) -> None:
    if not all(isinstance(sql, str) for sql, _ in queries):
        raise query_error(NOT_A_QUERY)


def _raw_query(query: Any, sql: str) -> Query:
    """An object of the Worker's that has `params` and the member `sql`."""
    params = _member(query, "params")
    return _member(query, sql), tuple(map(to_sqlite, params)) if isinstance(params, list) else ()


def _member(value: Any, name: str) -> Any:
    return value.get(name, UNDEFINED) if isinstance(value, dict) else UNDEFINED


def _with_objects(result: Result) -> dict[str, Any]:
    return {"success": True, "meta": result.meta, "results": to_objects(result.columns, result.rows)}


def _with_rows(result: Result) -> dict[str, Any]:
    return {
        "meta": result.meta,
        "data": {"kind": "raw", "columns": list(result.columns), "rows": to_lists(result.rows)},
    }
