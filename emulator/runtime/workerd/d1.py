"""D1 behind workerd's own binding (`cloudflare-internal:d1-api`): POST /query and /execute, statements as JSON.

With the compatibility flag d1_binding_jsrpc the binding calls `query()` of its service instead; that is the entrypoint
D1Binding of `js/control.js`, which hands it on: POST /rpc.

Sources: workerd src/cloudflare/internal/d1-api.ts; what it is answered, miniflare's src/workers/d1/database.worker.ts.
"""

from __future__ import annotations

import json
from typing import Any, Final, TypeGuard

from flarebed.bindings.d1.binding import D1Database, session_of
from flarebed.bindings.d1.database import Database, Query, Result, is_comment
from flarebed.bindings.d1.errors import internal_error
from flarebed.bindings.d1.parameters import to_lists, to_objects
from flarebed.bindings.errors import JsError
from flarebed.bindings.sql import CommitError, SqlError, SqlValue
from flarebed.bindings.webidl import string
from flarebed.emulator.runtime.workerd import wire
from flarebed.emulator.runtime.workerd.host import Adapter, Answered, Asked, refused

_BOOKMARK: Final = "x-cf-d1-session-commit-token"
_ROWS: Final = "ROWS_AND_COLUMNS"
_NO_QUERY: Final = b"ZodError"
"""The text for a body of another shape. d1-api.ts fails to parse it, and words what it got for the Worker."""


def adapter(binding: D1Database) -> Adapter:
    database = session_of(binding).database

    async def answer(asked: Asked) -> Answered:
        if asked.path in ("/query", "/execute"):
            return await _answer(database, asked)
        if asked.path == "/rpc":
            return await _called(binding, asked)
        return refused(404, "Not Found")

    return answer


def calls_its_service(binding: D1Database) -> bool:
    return session_of(binding).has_jsrpc


async def _answer(database: Database, asked: Asked) -> Answered:
    try:
        asked_for = _queries(json.loads(await asked.body()))
    except _NoQueryError:
        return Answered(500, _NO_QUERY)
    queries = [query for query in asked_for if not is_comment(query[0])]
    try:
        results = await database.query(queries)
    except CommitError:
        return _json({"success": False, "error": internal_error().message})
    except SqlError as error:
        return _json({"success": False, "error": error.message})
    with_columns = asked.query.get("resultsFormat") == _ROWS
    shown = [_shown(database, query, result, with_columns) for query, result in zip(queries, results, strict=True)]
    if _BOOKMARK not in asked.headers:
        return _json(shown)
    return _json(shown, (_BOOKMARK, await database.next_bookmark()))


class _NoQueryError(Exception):
    """What the Worker passed does not make a query."""


def _queries(given: Any) -> list[Query]:
    return [_query(each) for each in (given if isinstance(given, list) else [given])]


def _query(given: Any) -> Query:
    if not isinstance(given, dict) or not isinstance(sql := given.get("sql"), str):
        raise _NoQueryError
    params = given.get("params") or ()
    if not isinstance(params, list | tuple):
        raise _NoQueryError
    return string(sql), tuple(map(_value, params))


def _value(given: Any) -> SqlValue:
    """JSON's numbers are all doubles; an array is of a blob's bytes."""
    if given is None:
        return None
    if isinstance(given, str):
        return string(given)
    if _is_number(given):
        return float(given)
    if isinstance(given, list) and all(map(_is_number, given)):
        return bytes(int(item) & 0xFF for item in given)
    raise _NoQueryError


def _is_number(given: Any) -> TypeGuard[int | float]:
    return isinstance(given, int | float) and not isinstance(given, bool)


def _shown(database: Database, query: Query, result: Result, with_columns: bool) -> dict[str, Any]:
    if with_columns:
        columns = result.columns if result.rows else database.column_names(*query)
        rows: Any = {"columns": list(columns), "rows": to_lists(result.rows)}
    else:
        rows = to_objects(result.columns, result.rows)
    return {"success": True, "results": rows, "meta": result.meta}


def _json(value: Any, *headers: tuple[str, str]) -> Answered:
    body = wire.dumps(value).encode("utf-8", "surrogatepass")
    return Answered(body=body, headers=(("content-type", "application/json"), *headers))


async def _called(binding: D1Database, asked: Asked) -> Answered:
    """`query()` with its argument, answered by what it returns or throws, all as `wire` has it."""
    request = wire.from_wire(json.loads(await asked.body()), wire.no_function)
    try:
        answer = {"value": wire.to_wire(await binding.query(request), wire.no_function)}
    except JsError as error:
        answer = {"error": wire.error_to_wire(error, wire.no_function)}
    return _json(answer)
