"""`rows_read`, `rows_written`, `changes`, `last_row_id` and `changed_db` of many statements, beside what workerd's
patched SQLite answers (recorded with wrangler 4.164; `make test-oracle` asks it again)."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.d1.binding import D1Database
from tests.bindings.d1.support import with_database
from tests.support import Bench

GROUPS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "data" / "counts.json").read_text(encoding="utf-8"))
STATEMENTS = [
    pytest.param(group, at, id=f"{group['name']} {at}: {statement['sql'][:60]}")
    for group in GROUPS
    for at, statement in enumerate(group["statements"])
]
FIELDS = ("rows_read", "rows_written", "changes", "last_row_id", "changed_db")


@cache
def counted(setup: tuple[str, ...], statements: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """What our meta says of each statement, one after the other on one database."""
    found: list[tuple[Any, ...]] = []

    async def body(db: D1Database, _: Bench) -> None:
        for sql in setup:
            await db.prepare(sql).run()
        for sql in statements:
            meta = (await db.prepare(sql).run())["meta"]
            found.append(tuple(meta[field] for field in FIELDS))

    with tempfile.TemporaryDirectory() as root:
        with_database(Path(root), body, schema="SELECT 1")
    return found


@pytest.mark.parametrize(("group", "at"), STATEMENTS)
def test_counts(group: dict[str, Any], at: int) -> None:
    statement = group["statements"][at]
    sqls = tuple(each["sql"] for each in group["statements"])
    expected = [*statement.get("ours", statement["counts"][:2]), *statement["counts"][2:]]
    assert list(counted(tuple(group["setup"]), sqls)[at]) == expected


def test_how_many_differ() -> None:
    statements = [statement for group in GROUPS for statement in group["statements"]]
    differing = [statement for statement in statements if "ours" in statement]
    assert all(statement["ours"] != statement["counts"][:2] and statement["why"] for statement in differing)
    read, written = (sum(each["ours"][at] != each["counts"][at] for each in differing) for at in (0, 1))
    assert (len(statements), read, written) == (337, 36, 5)


def test_a_very_long_statement_is_estimated() -> None:
    cases = ", ".join(f"CASE {' '.join(f'WHEN a = {n * m} THEN {n}' for n in range(9))} END" for m in range(60))
    setup = ("CREATE TABLE t (a, b)", "CREATE INDEX by_b ON t (b)", "INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)")
    read, written = counted(setup, (f"SELECT {cases} FROM t", f"UPDATE t SET b = coalesce({cases}, 9)"))
    assert (read[:2], written[1]) == ((3, 0), 6)
