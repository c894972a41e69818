"""Every row and rule about queues: the producer's calls and their errors (1), the config (2), what a consumer gets and
says (3), batches and log lines (4), limits (6), and what was observed besides (9). The rows are data: what is done, and
the exact text that comes of it. What has no row says why.

Sources are workerd's api/queue.c++, miniflare's workers/queues, observations on wrangler 4.164, and
https://developers.cloudflare.com/queues/. Where those differ it is production that counts.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.bindings.queues.rows import SCENARIOS

DATA: dict[str, Any] = json.loads((Path(__file__).parent / "data" / "rows.json").read_text(encoding="utf-8"))
COVERED = list(dict.fromkeys((row["section"], row["row"]) for row in DATA["rows"]))
NOT_COVERED = [(row["section"], row["row"]) for row in DATA["not_covered"]]


def row_id(row: dict[str, Any]) -> str:
    return f"{row['section']} {row['row']}" + (f": {row['case']}" if "case" in row else "")


@pytest.mark.parametrize("row", DATA["rows"], ids=row_id)
def test_row(row: dict[str, Any], tmp_path: Path) -> None:
    assert SCENARIOS[row["scenario"]](tmp_path, row["given"]) == row["expected"]


def test_every_row_has_a_name_of_its_own() -> None:
    ids = [row_id(row) for row in DATA["rows"]]
    assert sorted(ids) == sorted(set(ids))


def test_every_scenario_is_used() -> None:
    assert {row["scenario"] for row in DATA["rows"]} == set(SCENARIOS)


def test_how_many_rows_are_covered(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        rules = len(COVERED) + len(NOT_COVERED)
        print(f"\nqueues: {len(COVERED)} of {rules} rows and rules are covered, by {len(DATA['rows'])} cases")
    assert not set(COVERED) & set(NOT_COVERED)
    assert all(row["reason"] for row in DATA["not_covered"])
