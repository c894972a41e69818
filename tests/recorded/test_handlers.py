"""Small Workers, each with the requests it was sent and what real Python Workers answered: which handlers are found,
with how many arguments they are called, what an exception or a wrong result looks like from outside.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.recorded.masks import mask
from tests.served import Answer, served
from tests.support import run

DATA = Path(__file__).parent / "data" / "handlers.jsonl"
CASES = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]


def project(case: dict[str, Any], folder: Path) -> Path:
    config = {
        "name": "w",
        "main": "entry.py",
        "compatibility_date": case["date"],
        "compatibility_flags": ["python_workers", *case["flags"]],
        "queues": {"producers": [{"binding": "Q", "queue": "sq"}]},
    }
    folder.mkdir()
    (folder / "wrangler.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "entry.py").write_text(case["source"], encoding="utf-8")
    return folder


def masked(text: str) -> str:
    """Python's version decides which lines of a traceback have carets below; a masked one leaves an empty line."""
    return re.sub(r"\n+", "\n", mask(text))


def seen(answer: Answer) -> tuple[int, str, str]:
    return answer.status, *answer.header("content-type"), masked(answer.text)


@pytest.mark.parametrize("case", CASES, ids=[case["title"] for case in CASES])
def test_handlers_are_found_and_called_as_recorded(case: dict[str, Any], tmp_path: Path) -> None:
    async def scenario() -> list[tuple[int, str, str]]:
        async with served(project(case, tmp_path / "project"), tmp_path / "state") as worker:
            return [seen(await worker.get(request["path"], **request["headers"])) for request in case["requests"]]

    assert run(scenario()) == [
        (request["status"], request["content_type"], masked(request["body"])) for request in case["requests"]
    ]
