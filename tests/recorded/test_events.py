"""Small Workers that real Python Workers were seen to run, or to refuse at their start: `scheduled` and `queue` with
each form of handler, and what a module may do at its top level.

Where the answer was a value that differs from machine to machine (a time, a hash) only the start is looked at.
"""

from __future__ import annotations

import gc
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.recorded.masks import mask
from tests.served import Answer, served
from tests.support import run

DATA = Path(__file__).parent / "data" / "events.jsonl"
CASES = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
STARTING = [case for case in CASES if "start_error" not in case]
REFUSED = [case for case in CASES if "start_error" in case]


@pytest.fixture(autouse=True)
def leftovers(case: dict[str, Any]) -> Iterator[None]:
    """Some of the Workers leave a file or a socket open."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield
        if any(name in case["source"] for name in ("open(", "socket", "urllib")):
            gc.collect()


def project(case: dict[str, Any], folder: Path) -> Path:
    config = {
        "name": "sig",
        "main": "entry.py",
        "compatibility_date": case["date"],
        "compatibility_flags": ["python_workers", *case["flags"]],
        "kv_namespaces": [{"binding": "KV", "id": "k"}],
        "queues": {
            "producers": [{"binding": "Q", "queue": "sq"}],
            "consumers": [{"queue": "sq", "max_retries": 0, "max_batch_timeout": 1}],
        },
        "vars": {"V": "v"},
    }
    folder.mkdir()
    (folder / "wrangler.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "entry.py").write_text(case["source"], encoding="utf-8")
    return folder


def titles(cases: list[dict[str, Any]]) -> list[str]:
    return [case["title"] for case in cases]


def seen(answer: Answer) -> tuple[int, str, str]:
    return answer.status, *answer.header("content-type"), mask(answer.text)


@pytest.mark.parametrize("case", STARTING, ids=titles(STARTING))
def test_events_are_handled_as_recorded(case: dict[str, Any], tmp_path: Path) -> None:
    async def scenario() -> tuple[list[tuple[int, str, str]], set[str]]:
        async with served(project(case, tmp_path / "project"), tmp_path / "state") as worker:
            answers = [seen(await worker.get(request["path"])) for request in case["requests"]]
            await worker.advance(2)
            uncaught = {text.rstrip().rpartition("\n")[2] for level, text in worker.logged if level == "error"}
            return answers, uncaught

    answers, uncaught = run(scenario())
    assert answers == [
        (request["status"], request["content_type"], mask(request["body"])) for request in case["requests"]
    ]
    if "uncaught" in case:
        assert case["uncaught"] in uncaught


@pytest.mark.parametrize("case", REFUSED, ids=titles(REFUSED))
def test_what_production_refuses_at_the_start_is_refused(case: dict[str, Any], tmp_path: Path) -> None:
    async def scenario() -> str:
        try:
            async with served(project(case, tmp_path / "project"), tmp_path / "state"):
                return "it started"
        except Exception as error:
            return exception_text(error)

    started = run(scenario())
    if case["title"] == "import missing":  # the hint is ours
        started, hint = started.split("\n")
        assert "uv add nothere" in hint
    assert started == case["start_error"]


def exception_text(error: Exception) -> str:
    """The last lines of its traceback."""
    kind = type(error)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return "\n".join([f"{name}: {text}", *getattr(error, "__notes__", ())])
