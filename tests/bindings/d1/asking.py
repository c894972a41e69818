"""Carries out the steps of a question on our D1, and shows what came of each as JSON; tests/oracle/d1/worker.js is the
same in JavaScript."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from flarebed.bindings.d1.binding import D1Database, D1DatabaseSession, D1PreparedStatement
from flarebed.bindings.errors import JsError
from flarebed.bindings.values import ELEMENT_FORMATS, ELEMENT_SIZES, UNDEFINED, ArrayBuffer, BigInt, Date, View
from tests.bindings.d1.support import with_database
from tests.support import Bench

BOOKMARK = re.compile(r"[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{32}")
STACK = re.compile(r'ZodError\\n[^"]*')
REFERENCE = re.compile(r"reference = [0-9a-v]{24}")


def view(kind: str, elements: list[Any]) -> View:
    data = bytearray(len(elements) * ELEMENT_SIZES[kind])
    cells = memoryview(data).cast(ELEMENT_FORMATS[kind])
    for index, element in enumerate(elements):
        cells[index] = element
    return View(ArrayBuffer(data), kind)


MAKERS: dict[str, Callable[[Any], Any]] = {
    "$undefined": lambda _: UNDEFINED,
    "$bigint": BigInt,
    "$number": lambda text: float(text.replace("Infinity", "inf")),
    "$date": Date,
    "$buffer": lambda data: ArrayBuffer(bytes(data)),
    "$view": lambda parts: view(*parts),
    "$dataview": lambda data: View(ArrayBuffer(bytes(data)), "DataView"),
    "$repeat": lambda parts: parts[0] * parts[1],
}


def valued(given: Any) -> Any:
    if isinstance(given, list):
        return [valued(part) for part in given]
    if isinstance(given, dict):
        key = next(iter(given), "")
        return MAKERS[key](given[key]) if key in MAKERS else given
    return given


def text(sql: Any) -> Any:
    """A text, or its parts: [part, times] is repeated."""
    if isinstance(sql, list):
        return "".join(part[0] * part[1] if isinstance(part, list) else part for part in sql)
    return valued(sql)


METHODS = {"session": "_with_session", "s.has": "_s_has", "s.all": "_s_all", "s.batch": "_s_batch"}


class Asking:
    def __init__(self, db: D1Database) -> None:
        self._db = db
        self._session: D1DatabaseSession

    async def answer(self, step: list[Any]) -> Any:
        name, *given = step
        try:
            return shown(await getattr(self, METHODS.get(name, f"_{name}"))(*given))
        except JsError as error:
            cause = None if error.cause is None else error.cause.message
            return shown({"error": f"{error.name}: {error.message}", "cause": cause})

    def _prepared(self, sql: Any, values: Any = ()) -> D1PreparedStatement:
        statement = self._db.prepare(text(sql))
        return statement.bind(*map(valued, values)) if values else statement

    async def _first(self, sql: Any, values: Any = (), *column: Any) -> Any:
        return await self._prepared(sql, values).first(*map(valued, column))

    async def _all(self, sql: Any, values: Any = ()) -> Any:
        return await self._prepared(sql, values).all()

    async def _run(self, sql: Any, values: Any = ()) -> Any:
        return await self._prepared(sql, values).run()

    async def _raw(self, sql: Any, values: Any = (), *options: Any) -> Any:
        return await self._prepared(sql, values).raw(*options)

    async def _count(self, sql: str) -> Any:
        return len((await self._db.prepare(sql).all())["results"])

    async def _meta(self, sql: str) -> Any:
        return (await self._db.prepare(sql).all())["meta"]

    async def _bind(self, sql: str, *values: Any) -> Any:
        statement = self._prepared(sql, values)
        return {"statement": statement.statement, "params": statement.params}

    async def _rebind(self, sql: str, before: list[Any], after: list[Any]) -> Any:
        return self._db.prepare(sql).bind(*before).bind(*after).params

    async def _keys(self, sql: str) -> Any:
        return list(self._db.prepare(sql).own_properties())

    async def _batch(self, statements: list[Any]) -> Any:
        return await self._db.batch([self._prepared(sql, values) for sql, *values in statements])

    async def _rawbatch(self, *given: Any) -> Any:
        return await self._db.batch(*map(valued, given))

    async def _exec(self, sql: Any) -> Any:
        return await self._db.exec(valued(sql))

    async def _dump(self) -> Any:
        return await self._db.dump()

    async def _query(self, request: Any) -> Any:
        return await self._db.query(request)

    async def _with_session(self, *constraint: Any) -> Any:
        self._session = self._db.withSession(*map(valued, constraint))
        return "session"

    async def _bookmark(self) -> Any:
        return self._session.getBookmark()

    async def _s_has(self, name: str) -> Any:
        return hasattr(self._session, name)

    async def _s_all(self, sql: str) -> Any:
        return await self._session.prepare(sql).all()

    async def _s_batch(self, statements: list[Any]) -> Any:
        return await self._session.batch([self._session.prepare(sql) for (sql,) in statements])


def shown(value: Any) -> Any:
    """Without what differs from one run to the next."""
    given = json.dumps(value, ensure_ascii=False)
    given = BOOKMARK.sub("<bookmark>", given)
    given = REFERENCE.sub("reference = <reference>", given)
    given = STACK.sub("ZodError", given)
    return json.loads(given, object_pairs_hook=_without_times, parse_float=_number, parse_int=_number)


def _without_times(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {key: 0 if key in ("duration", "sql_duration_ms") else value for key, value in pairs}


def _number(digits: str) -> float:
    """As JavaScript writes it: 1.0 is 1."""
    number = float(digits)
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def answers(root: Path, question: dict[str, Any]) -> list[Any]:
    """Our answers to the question's steps, on a database of its own."""
    found: list[Any] = []

    async def body(db: D1Database, _: Bench) -> None:
        for sql in question.get("setup", ()):
            await db.prepare(sql).run()
        asking = Asking(db)
        found.extend([await asking.answer(step) for step in question["ask"]])

    with_database(root, body, schema="SELECT 1")
    return found
