"""`d1_databases`, with wrangler's texts."""

from __future__ import annotations

from typing import Any

import pytest

from flarebed.bindings.d1.spec import D1DatabaseSpec, parse
from tests.bindings.specs import parsed


def test_databases() -> None:
    value = [
        {"binding": "A"},
        {
            "binding": "B", "database_name": "n", "database_id": "i", "preview_database_id": "p",
            "migrations_table": "t", "migrations_dir": "d", "migrations_pattern": "d/*.sql", "jurisdiction": "eu",
            "database_internal_env": "e", "remote": False,
        },
    ]  # fmt: skip
    assert parsed(parse, "d1_databases", value) == (
        (
            D1DatabaseSpec("A", migrations_table="d1_migrations"),
            D1DatabaseSpec("B", "n", "i", "p", "t", "d", "d/*.sql", True),
        ),
        [],
        [],
    )


@pytest.mark.parametrize(
    ("spec", "used", "rows"),
    [
        (D1DatabaseSpec("A", "n", "i", "p"), "p", [("A (p)", "D1 Database")]),
        (D1DatabaseSpec("A", "n", "i"), "i", [("A (n)", "D1 Database")]),
        (D1DatabaseSpec("A", None, "i"), "i", [("A (i)", "D1 Database")]),
        (D1DatabaseSpec("A", "n"), "A", [("A (n)", "D1 Database")]),
        (D1DatabaseSpec("A"), "A", [("A", "D1 Database")]),
    ],
)
def test_the_database_on_this_machine(spec: D1DatabaseSpec, used: str, rows: list[tuple[str, str]]) -> None:
    assert (spec.local_id, spec.rows()) == (used, rows)


OPTIONAL = (
    "preview_database_id", "migrations_pattern", "database_name", "jurisdiction", "migrations_dir", "migrations_table",
    "database_internal_env",
)  # fmt: skip


@pytest.mark.parametrize("field", OPTIONAL)
def test_optional_strings(field: str) -> None:
    assert parsed(parse, "d1_databases", [{"binding": "A", field: 5}])[1] == [
        f'"d1_databases[0]" bindings should, optionally, have a string "{field}" field'
        f' but got {{"binding":"A","{field}":5}}.'
    ]


@pytest.mark.parametrize(
    ("value", "errors", "warnings"),
    [
        (5, ['The field "d1_databases" should be an array but got 5.'], []),
        ([5], ['"d1_databases" bindings should be objects, but got 5'], []),
        ([{}], ['"d1_databases[0]" bindings should have a string "binding" field but got {}.'], []),
        (
            [{"binding": "A", "database_id": 5}],
            ['"d1_databases[0]" bindings must have a "database_id" field but got {"binding":"A","database_id":5}.'],
            [],
        ),
        ([{"binding": "A", "x": 1}], [], ['Unexpected fields found in d1_databases[0] field: "x"']),
    ],
)
def test_complaints(value: Any, errors: list[str], warnings: list[str]) -> None:
    assert parsed(parse, "d1_databases", value)[1:] == (errors, warnings)
