"""Puts every question of tests/bindings/d1/data to `wrangler dev`, each to a fresh database."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.bindings.d1.asking import shown
from tests.bindings.d1.test_counts import FIELDS, GROUPS
from tests.bindings.d1.test_spec_rows import ROWS, row_id
from tests.oracle.wrangler import fetched, started

WORKER = Path(__file__).parent / "worker.js"


def not_as_recorded(command: str) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        write_project(Path(folder), len(ROWS) + len(GROUPS))
        with started(command, Path(folder)) as url:
            for number, row in enumerate(ROWS):
                yield from _row(row, answers(url, number, row))
            for number, group in enumerate(GROUPS, len(ROWS)):
                asked = {"setup": group["setup"], "ask": [["meta", each["sql"]] for each in group["statements"]]}
                yield from _counts(group["statements"], answers(url, number, asked))


def answers(url: str, database: int, question: dict[str, Any]) -> list[Any]:
    asked = {"database": f"DB{database}", "setup": question.get("setup"), "ask": question["ask"]}
    return [shown(answer) for answer in fetched(url, asked)]


def write_project(root: Path, databases: int) -> None:
    (root / WORKER.name).write_text(WORKER.read_text(encoding="utf-8"), encoding="utf-8")
    config = {"name": "oracle-d1", "main": WORKER.name, "compatibility_date": "2026-11-01", "d1_databases": [
        {"binding": f"DB{n}", "database_name": f"db{n}", "database_id": f"db{n}"} for n in range(databases)
    ]}  # fmt: skip
    (root / "wrangler.json").write_text(json.dumps(config), encoding="utf-8")


def _row(row: dict[str, Any], given: list[Any]) -> Iterator[str]:
    recorded, answered = json.dumps(row.get("wrangler", row["expected"])), json.dumps(given)
    if answered != recorded:
        yield f"{row_id(row)}\n  wrangler  {answered}\n  recorded  {recorded}"


def _counts(statements: list[dict[str, Any]], metas: list[dict[str, Any]]) -> Iterator[str]:
    for statement, meta in zip(statements, metas, strict=True):
        counts = [meta.get(field) for field in FIELDS]
        if counts != statement["counts"]:
            yield f"{statement['sql']}\n  wrangler  {counts}\n  recorded  {statement['counts']}"
