"""Every row of what is known about D1: objects and methods (1), values (2), errors (3), several statements (4),
sessions (5), the SQL surface (6), limits (7), and what was found later (10). The rows are data: what is asked, and the
exact answers; wrangler's own stands beside ours where production is known to differ, or SQLite does.

Sources are wrangler 4.164 (`make test-oracle` asks it again), workerd src/workerd/util/sqlite.c++, and
https://developers.cloudflare.com/d1/platform/limits/.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.sql_policy import ALLOWED_FUNCTIONS
from tests.bindings.d1.asking import answers

DATA: dict[str, Any] = json.loads((Path(__file__).parent / "data" / "rows.json").read_text(encoding="utf-8"))
ROWS: list[dict[str, Any]] = DATA["rows"]
NOT_CALLED = frozenset({
    "load_extension", "soundex", "max_scalar", "min_scalar", "json_each", "json_tree", "sqlite_rename_column",
    "sqlite_rename_table", "sqlite_rename_test", "sqlite_drop_column", "sqlite_rename_quotefix",
})  # fmt: skip
"""Allowed by workerd, but not there, or under another name, or only ALTER TABLE's."""


def row_id(row: dict[str, Any]) -> str:
    return f"{row['section']} {row['row']}" + (f": {row['case']}" if "case" in row else "")


@pytest.mark.parametrize("row", ROWS, ids=row_id)
def test_row(row: dict[str, Any], tmp_path: Path) -> None:
    assert json.dumps(answers(tmp_path, row)) == json.dumps(row["expected"])


def test_every_row_has_a_name_of_its_own() -> None:
    ids = [row_id(row) for row in ROWS]
    assert sorted(ids) == sorted(set(ids))


def test_every_difference_has_a_reason() -> None:
    for row in ROWS:
        assert ("wrangler" in row) == ("why" in row)
        assert row.get("wrangler") != row["expected"]


def test_every_allowed_function_has_a_row() -> None:
    called = {row.get("case", "") for row in ROWS if row["row"] == "functions"}
    assert ALLOWED_FUNCTIONS - called == NOT_CALLED


def test_the_count_of_rows(capsys: pytest.CaptureFixture[str]) -> None:
    covered = {(row["section"], row["row"]) for row in ROWS}
    elsewhere = {(section, row): why for section, row, why in DATA["elsewhere"]}
    with capsys.disabled():
        print(f"\nD1: {len(covered)} of {len(covered) + len(elsewhere)} rows in {len(ROWS)} cases; not here:")
        for (section, row), why in elsewhere.items():
            print(f"  {section} {row}: {why}")
    assert not covered & elsewhere.keys()
    assert (len(covered), len(elsewhere), len(ROWS)) == (116, 15, 528)
