"""Every row of the tables about Workflows in Cloudflare's API: configuration (1), binding and its errors (2), steps and
their errors (4), limits (6). The rows are data: what is done, and the exact text that comes of it.

Sources are workers-sdk packages/workflows-shared, observations on wrangler 4.164, and
https://developers.cloudflare.com/workflows/reference/limits/.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.bindings.workflows import rows_ahead, rows_binding, rows_events, rows_steps

ROWS: dict[str, Any] = json.loads((Path(__file__).parent / "data" / "rows.json").read_text(encoding="utf-8"))
MODULES = (rows_binding, rows_steps, rows_events, rows_ahead)
SCENARIOS = {name: scenario for module in MODULES for name, scenario in module.SCENARIOS.items()}

PRESENT = [*ROWS["rows"], *(row for feature in rows_ahead.present() for row in ROWS["ahead"][feature])]


def row_id(row: dict[str, Any]) -> str:
    return f"{row['section']} {row['row']}" + (f": {row['case']}" if "case" in row else "")


@pytest.mark.parametrize("row", PRESENT, ids=row_id)
def test_row(row: dict[str, Any], tmp_path: Path) -> None:
    assert SCENARIOS[row["scenario"]](tmp_path, row["given"]) == row["expected"]


def test_every_row_has_a_name_of_its_own() -> None:
    ids = [row_id(row) for row in [*ROWS["rows"], *(row for rows in ROWS["ahead"].values() for row in rows)]]
    assert sorted(ids) == sorted(set(ids))


def test_every_scenario_is_used() -> None:
    rows = [*ROWS["rows"], *(row for rows in ROWS["ahead"].values() for row in rows)]
    assert {row["scenario"] for row in rows} == set(SCENARIOS)
