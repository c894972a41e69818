"""Puts every question of tests/bindings/d1/data to `wrangler dev`, and shows where it answers otherwise than recorded.

python -m tests.oracle_d1 path/to/wrangler
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Any

from tests.bindings.d1.test_counts import FIELDS, GROUPS
from tests.bindings.d1.test_spec_rows import ROWS, row_id
from tests.oracle_d1.interchange import taken_in_turns
from tests.oracle_d1.wrangler import Wrangler, running


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracle_d1")
    parser.add_argument("wrangler")
    command = parser.parse_args().wrangler
    with running(command, len(ROWS) + len(GROUPS)) as wrangler:
        changed = [*_rows(wrangler), *_counts(wrangler)]
    changed += taken_in_turns(command)
    print("\n".join(changed))
    statements = sum(len(group["statements"]) for group in GROUPS)
    print(f"D1: {len(ROWS)} questions and the counts of {statements} statements: {len(changed)} not as recorded")
    return 1 if changed else 0


def _rows(wrangler: Wrangler) -> Iterator[str]:
    for row in ROWS:
        recorded = json.dumps(row.get("wrangler", row["expected"]))
        answered = json.dumps(wrangler.answers(row))
        if answered != recorded:
            yield f"{row_id(row)}\n  wrangler  {answered}\n  recorded  {recorded}"


def _counts(wrangler: Wrangler) -> Iterator[str]:
    for group in GROUPS:
        asked = {"setup": group["setup"], "ask": [["meta", each["sql"]] for each in group["statements"]]}
        metas: list[dict[str, Any]] = wrangler.answers(asked)
        for statement, meta in zip(group["statements"], metas, strict=True):
            counts = [meta.get(field) for field in FIELDS]
            if counts != statement["counts"]:
                yield f"{statement['sql']}\n  wrangler  {counts}\n  recorded  {statement['counts']}"


if __name__ == "__main__":
    sys.exit(main())
