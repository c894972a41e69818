"""`DELETE` and `UPDATE` with `LIMIT`, which workerd's SQLite understands and apsw's does not. `sql.py` asks it.

SQLite compiled with SQLITE_ENABLE_UPDATE_DELETE_LIMIT (workerd build/BUILD.sqlite3) makes a query of row ids of it
(src/delete.c `sqlite3LimitWhere`); the same is done to the text here. Tables WITHOUT ROWID are not covered, and offsets
in errors are those of the new text.
"""

from __future__ import annotations

import re
from typing import Final

from flarebed.bindings.sql_statements import tokens

_CLAUSES: Final = frozenset({"FROM", "SET", "WHERE", "RETURNING", "ORDER", "LIMIT"})
_LIMIT: Final = re.compile(r"\blimit\b", re.IGNORECASE)
_UPDATE_OR: Final = re.compile(r"\s*or\s+\w+", re.IGNORECASE)


def without_limit(sql: str, verb: str) -> str:
    """The statement `sql` with its ORDER BY and LIMIT moved into a subquery, if it is one that has them."""
    if verb not in ("DELETE", "UPDATE") or not _LIMIT.search(sql):
        return sql
    at = _clauses(sql)
    if "LIMIT" not in at or (verb == "UPDATE" and "FROM" in at) or ("FROM" if verb == "DELETE" else "SET") not in at:
        return sql
    end = len(sql) - 1 if sql.endswith(";") else len(sql)
    tail = min(at.get("ORDER", end), at["LIMIT"])
    returning = at.get("RETURNING", tail)
    where = at.get("WHERE", returning)
    if verb == "DELETE":
        table = sql[at["FROM"] + len("FROM") : where]
    else:
        start = at["UPDATE"] + len("UPDATE")
        conflict = _UPDATE_OR.match(sql, start)
        table = sql[conflict.end() if conflict else start : at["SET"]]
    rows = f"SELECT rowid FROM {table} {sql[where:returning]} {sql[tail:end]}"
    return f"{sql[:where]} WHERE rowid IN ({rows}\n) {sql[returning:tail]}"


def _clauses(sql: str) -> dict[str, int]:
    """Where each clause begins outside of parentheses, and the UPDATE itself."""
    at: dict[str, int] = {}
    depth = 0
    for kind, match in tokens(sql):
        if kind == "other":
            depth += match.group().count("(") - match.group().count(")")
        elif kind == "word" and depth == 0 and match.group().upper() in _CLAUSES | {"UPDATE"}:
            at.setdefault(match.group().upper(), match.start())
    return at
