"""A file of SQL into the queries that `wrangler d1 execute` and migrations send, one by one and in one batch. Pure.

Like wrangler (packages/wrangler/src/d1/splitter.ts, trimmer.ts) it takes comments out of a text of several statements
and one pair of BEGIN TRANSACTION and COMMIT, as sqlite3's `.dump` writes it; where statements end is SQLite's own rule.
"""

from __future__ import annotations

from typing import Final

from flarebed.bindings.errors import UserError
from flarebed.bindings.sql_statements import split_statements, tokens

_BEGIN: Final = "BEGIN TRANSACTION"
_SEVERAL_TRANSACTIONS: Final = (
    "Wrangler could not process the provided SQL file, as it contains several transactions.\n"
    "D1 runs your SQL in a transaction for you.\n"
    "Please export an SQL file from your SQLite database and try again."
)


def split_queries(sql: str) -> list[str]:
    """The statements without their semicolons; UserError where there is more than one transaction."""
    sql = _without_transaction(sql)
    if ";" not in sql.rstrip()[:-1]:
        return [sql]
    queries = [
        statement.text.strip().removesuffix(";").rstrip() for statement in split_statements(without_comments(sql))
    ]
    return [query for query in queries if query] or [sql]


def without_comments(sql: str) -> str:
    """A line comment leaves its line's end."""
    return "".join(match.group() for kind, match in tokens(sql) if kind != "comment")


def _without_transaction(sql: str) -> str:
    if _BEGIN not in sql:
        return sql
    trimmed = sql.replace(f"{_BEGIN};", "", 1).replace("COMMIT;", "", 1)
    if _BEGIN in trimmed:
        raise UserError(_SEVERAL_TRANSACTIONS)
    return trimmed
