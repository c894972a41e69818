r"""A database as SQL text, line by line, as `wrangler d1 export` writes it.

Source: workers-sdk packages/miniflare/src/workers/d1/dumpSql.ts, which follows `.dump` of sqlite3's shell. Four things
are otherwise than there, so that what is exported comes back as it was:

- integers keep all their digits, of which JavaScript has none beyond 2^53;
- text with a NUL is written as bytes, because SQL can't hold one;
- text with a line's end is read back right where it has the letters \n too;
- where a table refers to a later one, all tables come before all rows: SQLite takes no such row without it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, count
from typing import Any, Final

from flarebed.bindings.ecma import number_to_string
from flarebed.bindings.sql import SqlDatabase, SqlError
from flarebed.bindings.sql_statements import quoted

_HAS_VIRTUAL: Final = "D1 Export error: cannot export databases with Virtual Tables (fts5)"

_TABLES: Final = (
    "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql NOT NULL "
    "ORDER BY tbl_name = 'sqlite_sequence', rowid"
)
_REST: Final = (
    "SELECT name, sql FROM sqlite_schema WHERE sql NOT NULL AND type IN ('index', 'trigger', 'view') "
    "ORDER BY type COLLATE NOCASE"
)


def lines(
    database: SqlDatabase, tables: Collection[str] = (), *, schema: bool = True, data: bool = True
) -> Iterator[str]:
    """The statements, of `tables` (and what else is named in it) or of all. SqlError where there is a virtual table."""
    yield "PRAGMA defer_foreign_keys=TRUE;"
    chosen = [(name, sql) for name, sql in database.control(_TABLES) if _is_exported(name) and _is_in(name, tables)]
    if any(sql.startswith("CREATE VIRTUAL TABLE") for _, sql in chosen):
        raise SqlError(_HAS_VIRTUAL)
    ordinary = [name for name, _ in chosen if not name.startswith("sqlite_")]
    early = ordinary if schema and data and _refer_ahead(database, ordinary) else []
    yield from (_definition(name, sql) for name, sql in chosen if name in early)
    for name, sql in chosen:
        if schema and name not in early:
            yield _definition(name, sql)
        if data:
            yield from _rows(database, name)
    if schema:
        for name, sql in database.control(_REST):
            if _is_in(name, tables):
                yield f"{sql};"


def _is_in(name: str, tables: Collection[str]) -> bool:
    return not tables or name in tables


def _refer_ahead(database: SqlDatabase, tables: Sequence[str]) -> bool:
    """Whether one of the tables has a foreign key to a later one."""
    made: set[str] = set()
    ahead = {name.lower() for name in tables}
    for name in tables:
        made.add(name.lower())
        if any(key[2].lower() in ahead - made for key in database.control(f"PRAGMA foreign_key_list({quoted(name)})")):
            return True
    return False


def _is_exported(name: str) -> bool:
    return name.startswith(("sqlite_sequence", "sqlite_stat")) or not name.startswith(("_cf_", "sqlite_"))


def _definition(name: str, sql: str) -> str:
    if name == "sqlite_sequence":
        return "DELETE FROM sqlite_sequence;"
    if name.startswith("sqlite_stat"):
        return "ANALYZE sqlite_schema;"
    if sql.startswith(("CREATE TABLE '", 'CREATE TABLE "')):
        return f"CREATE TABLE IF NOT EXISTS {sql[13:]};"
    return f"{sql};"


def _rows(database: SqlDatabase, table: str) -> Iterator[str]:
    """Generated columns are not among those of table_info, and make themselves again."""
    columns = [quoted(name) for _, name, *_ in database.control(f"PRAGMA table_info={quoted(table)}")]
    start = f"INSERT INTO {quoted(table)} ({','.join(columns)}) VALUES("
    for row in database.stream(f"SELECT {', '.join(columns)} FROM {quoted(table)}"):
        yield f"{start}{','.join(map(_literal, row))});"


def _literal(value: Any) -> str:
    kind = type(value)
    if kind is int:
        return str(value)
    if kind is str:
        return _text(value)
    if kind is float:
        return number_to_string(value) if math.isfinite(value) else "9e999" if value > 0 else "-9e999"
    return "NULL" if value is None else f"X'{value.hex()}'"


def _text(value: str) -> str:
    """Line ends are written as \\n and \\r and put back by replace(), so that a statement stands on one line."""
    if "\0" in value:
        return f"CAST(X'{value.encode().hex()}' AS TEXT)"
    text = "'" + value.replace("'", "''") + "'"
    for end, usual in (("\r", "\\r"), ("\n", "\\n")):
        if end in value:
            written = _unused(usual, value)
            text = f"replace({text.replace(end, written)},'{written}',char({ord(end)}))"
    return text


def _unused(usual: str, value: str) -> str:
    """`usual`, or what sqlite3's shell takes instead where the text itself has that."""
    others = (f"({usual}{number})" for number in count())
    return next(one for one in chain((usual,), others) if one not in value)
