"""Questions that real Python Workers were asked: the probe, served here, gives the same answers.

The answers are those of workerd 1.20261117.1 under wrangler 4.164 with workers-runtime-sdk 1.9.5, Pyodide 314 (CPython
3.14) and compatibility date 2026-11-01; those of `pyodide` are Pyodide 314.0.7's own, under Node.js. A file's questions
build on each other: each file is one run on fresh state.
"""

from __future__ import annotations

import gc
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.recorded.differences import DIFFERENCES, OURS, Expected, expected_answers
from tests.recorded.echo import echo_server
from tests.recorded.masks import mask
from tests.served import Served, served
from tests.support import run

HERE = Path(__file__).parent
ECHO_PORT = "8899"
HEADERS = {"content_type": "text/plain", "user_agent": "Python-urllib/3.11"}
FILES = ("env", "kv", "d1", "queues", "workflows", "web", "python", "pyodide")


def questions(file: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / "data" / f"{file}.jsonl").read_text(encoding="utf-8").splitlines()]


async def ask(worker: Served, question: dict[str, Any], echo_port: int) -> str:
    if "wait_s" in question:
        await worker.advance(question["wait_s"])
        answer = await worker.get("/log")
    else:
        answer = await worker.post(question["path"], question["ask"].replace(ECHO_PORT, str(echo_port)), **HEADERS)
    if answer.status < 400:
        return answer.text
    return f"HTTP {answer.status} {answer.text[:1500]}"


@pytest.fixture(autouse=True)
def leftovers() -> Iterator[None]:
    """Some questions leave a file or a socket open, or a coroutine behind."""
    with warnings.catch_warnings():
        for category in (ResourceWarning, RuntimeWarning):
            warnings.simplefilter("ignore", category)
        yield
        gc.collect()


@pytest.fixture(autouse=True)
def untouched_classes() -> None:
    """Python keeps an empty `__annotations__` in a class that was ever asked for it, which other tests do."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "workers":
            for value in vars(module).values():
                if isinstance(value, type) and vars(value).get("__annotations__") == {}:
                    del value.__annotations__


def agrees(answer: str, expected: Expected) -> bool:
    return answer == expected if isinstance(expected, str) else expected.fullmatch(answer) is not None


@pytest.mark.parametrize("file", FILES)
def test_answers_are_as_recorded(file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # some questions write files
    for name in ("asgi", "gateway", "wsgi"):  # other tests may have loaded these parts of the SDK
        monkeypatch.delitem(sys.modules, f"workers.{name}", raising=False)
        monkeypatch.delattr(f"workers.{name}", raising=False)
    ours = expected_answers(file)
    found: list[str] = []

    async def scenario(echo_port: int) -> None:
        async with served(HERE / "probe", tmp_path / "state") as worker:
            for line, question in enumerate(questions(file), 1):
                answer = mask(await ask(worker, question, echo_port))
                recorded = mask(question["answer"])
                expected = ours[line](recorded) if line in ours else recorded
                if not agrees(answer, expected):
                    asked = question.get("ask", "/log")
                    found.append(f"{file}:{line} >>> {asked}\n  expected: {expected}\n  here:     {answer}")

    with echo_server() as port:
        run(scenario(port))
    assert not found, "\n\n".join([f"{len(found)} answers differ", *found])


def test_what_differs_does_differ() -> None:
    """A difference that is none any more leaves the list."""
    recorded = {file: [mask(question["answer"]) for question in questions(file)] for file in FILES}
    rows = [json.loads(row) for row in OURS.read_text(encoding="utf-8").splitlines()]
    assert [row for row in rows if recorded[row["file"]][row["line"] - 1] == row["answer"]] == []
    listed = {(each.file, line) for each in DIFFERENCES for line in each.lines if line not in each.computed}
    assert {(row["file"], row["line"]) for row in rows} == listed
