"""D1 behind workerd's own binding (`cloudflare-internal:d1-api`): POST /query and /execute, statements as JSON.

With the compatibility flag d1_binding_jsrpc the binding calls `query()` of its service instead; that is the entrypoint
D1Binding (`js/d1.js`), which hands it on: POST /rpc.

Sources: workerd src/cloudflare/internal/d1-api.ts; what it is answered, miniflare's src/workers/d1/database.worker.ts.
"""

from __future__ import annotations

import json
import math
from functools import partial
from typing import Any, Final, TypeGuard

from flarebed.bindings.d1.binding import D1Database, session_of
from flarebed.bindings.d1.database import Database, Query, Result, is_comment
from flarebed.bindings.d1.errors import internal_error
from flarebed.bindings.d1.parameters import to_lists, to_objects
from flarebed.bindings.errors import JsError
from flarebed.bindings.sql import CommitError, SqlError, SqlValue
from flarebed.bindings.values import UNDEFINED, Undefined
from flarebed.bindings.webidl import string
from flarebed.emulator.runtime.workerd import wire
from flarebed.emulator.runtime.workerd.host import Adapter, Answered, Asked, refused

_BOOKMARK: Final = "x-cf-d1-session-commit-token"
_ROWS: Final = "ROWS_AND_COLUMNS"
_NO_QUERY: Final = "ZodError"
"""The service's text for what is no query. d1-api.ts fails to parse it, and words what it got for the Worker."""


def adapter(binding: D1Database) -> Adapter:
    database = session_of(binding).database

    async def answer(asked: Asked) -> Answered:
        if asked.path in ("/query", "/execute"):
            return await _answer(database, asked)
        if asked.path == "/rpc":
            return await _called(database, asked)
        return refused(404, "Not Found")

    return answer


def calls_its_service(binding: D1Database) -> bool:
    return session_of(binding).has_jsrpc


async def _answer(database: Database, asked: Asked) -> Answered:
    try:
        given = json.loads(await asked.body())
        queries = _queries(given if isinstance(given, list) else [given])
    except _NoQueryError:
        return Answered(500, _NO_QUERY.encode())
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


def _queries(given: list[Any]) -> list[Query]:
    """Without those that are only a comment, which get no answer."""
    return [query for query in map(_query, given) if not is_comment(query[0])]


def _query(given: Any) -> Query:
    if not isinstance(given, dict) or not isinstance(sql := given.get("sql"), str):
        raise _NoQueryError
    params = given.get("params")
    if params is None or params is UNDEFINED:
        return string(sql), ()
    if not isinstance(params, list):
        raise _NoQueryError
    return string(sql), tuple(map(_value, params))


def _value(given: Any) -> SqlValue:
    """JSON's numbers are all doubles; an array is of a blob's bytes."""
    if given is None:
        return None
    if isinstance(given, str):
        return string(given)
    if _is_number(given):
        return given + 0.0  # and -0 becomes 0
    if isinstance(given, list) and all(map(_is_number, given)):
        return bytes(int(item) & 0xFF for item in given)
    raise _NoQueryError


def _is_number(given: Any) -> TypeGuard[int | float]:
    return type(given) in (int, float) and math.isfinite(given)


def _shown(database: Database, query: Query, result: Result, with_columns: bool) -> dict[str, Any]:
    rows = _rows_and_columns(database, query, result) if with_columns else to_objects(result.columns, result.rows)
    return {"success": True, "results": rows, "meta": result.meta}


def _rows_and_columns(database: Database, query: Query, result: Result) -> dict[str, Any]:
    columns = result.columns if result.rows else database.column_names(*query)
    return {"columns": list(columns), "rows": to_lists(result.rows)}


def _json(value: Any, *headers: tuple[str, str]) -> Answered:
    body = wire.dumps(value).encode("utf-8", "surrogatepass")
    return Answered(body=body, headers=(("content-type", "application/json"), *headers))


# With d1_binding_jsrpc


async def _called(database: Database, asked: Asked) -> Answered:
    """`query()` with its argument, answered by what it returns or throws, all as `wire` has it."""
    request = wire.from_wire(json.loads(await asked.body()), lambda _: UNDEFINED)  # a function is no query's part
    try:
        answer = {"value": wire.to_wire(await _query_response(database, request), wire.no_function)}
    except JsError as error:
        answer = {"error": wire.error_to_wire(error, wire.no_function)}
    return _json(answer)


async def _query_response(database: Database, request: Any) -> dict[str, Any]:
    try:
        queries, bookmark = _request(request)
        results = await database.query(queries)
    except _NoQueryError:
        raise JsError(_NO_QUERY) from None
    except CommitError:
        raise internal_error() from None
    except SqlError as error:
        raise JsError(error.message, "D1_ERROR") from None
    answer: dict[str, Any] = {"results": list(map(partial(_raw, database), queries, results))}
    if bookmark:
        answer["bookmark"] = await database.next_bookmark()
    return answer


def _request(given: Any) -> tuple[list[Query], str]:
    if not isinstance(given, dict) or not isinstance(given.get("queries"), list):
        raise _NoQueryError
    bookmark = given.get("bookmark", UNDEFINED)
    if not isinstance(bookmark, str | Undefined):
        raise _NoQueryError
    return _queries(given["queries"]), bookmark if isinstance(bookmark, str) else ""


def _raw(database: Database, query: Query, result: Result) -> dict[str, Any]:
    """The local service checks its answer against a schema, from which the order of the keys is."""
    meta = dict(result.meta)
    meta["total_attempts"] = meta.pop("total_attempts")
    return {"meta": meta, "data": {"kind": "raw", **_rows_and_columns(database, query, result)}}
