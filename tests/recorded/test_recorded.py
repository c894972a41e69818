"""Questions that real Python Workers were asked: the probe, served here, gives the same answers.

The answers are those of workerd 1.20261117.1 under wrangler 4.164 with workers-runtime-sdk 1.9.5, Pyodide 314 (CPython
3.14) and compatibility date 2026-11-01; those of `pyodide` are Pyodide 314.0.7's own, under Node.js. A file's questions
build on each other: each file is one run on fresh state.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.recorded.differences import DIFFERENCES
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


@pytest.mark.parametrize("file", FILES)
def test_answers_are_as_recorded(file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # some questions write files
    ours = {difference.line: difference.ours for difference in DIFFERENCES if difference.file == file}
    found: list[str] = []

    async def scenario(echo_port: int) -> None:
        async with served(HERE / "probe", tmp_path / "state") as worker:
            for line, question in enumerate(questions(file), 1):
                answer = mask(await ask(worker, question, echo_port))
                expected = ours.get(line) or mask(question["answer"])
                if answer != expected:
                    asked = question.get("ask", "/log")
                    found.append(f"{file}:{line} >>> {asked}\n  recorded: {expected}\n  here:     {answer}")

    with echo_server() as port:
        run(scenario(port))
    assert not found, "\n\n".join([f"{len(found)} answers differ", *found])
