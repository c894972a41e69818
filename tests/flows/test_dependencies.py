"""Steps of a Python Worker under the real SDK: both ways to say what a step needs, streams, and events to hear."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.served import served
from tests.support import run

MAIN = """
import asyncio
import json

from js import ReadableStream, Object, TextEncoder
from pyodide.ffi import create_proxy, to_js
from workers import Response, WorkerEntrypoint, WorkflowEntrypoint

ran = []


def streaming(text):
    parts = [text[:3], text[3:]]

    def pull(controller):
        if parts:
            controller.enqueue(TextEncoder.new().encode(parts.pop(0)))
        else:
            controller.close()

    return ReadableStream.new(to_js({"pull": pull}, dict_converter=Object.fromEntries))


class Flow(WorkflowEntrypoint):
    async def run(self, event, step):
        def noted(name, value, seconds=0):
            async def work():
                ran.append(f"{name} begins")
                await asyncio.sleep(seconds)
                ran.append(f"{name} ends")
                return value
            return work

BODY

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        ran.clear()
        instance = await self.env.FLOW.create(id="i")
        subscription = await instance.subscribe(filter=["step_completed", "workflow_completed", "workflow_errored"])
        told = []
        while not (result := await subscription.next())["done"]:
            told.append(result["value"])
        found = await instance.status()
        shown = {"ran": ran, "told": told, "output": found["output"], "error": found["error"]}
        return Response(json.dumps(shown, default=lambda value: value.constructor.name))
"""

IMPLICIT = """
        left = step.do("left", concurrent=True)(noted("left", 2, 1))
        right = step.do("right")(noted("right", 3, 1))

        @step.do("sum", concurrent=CONCURRENT)
        async def sum(left, right, ctx):
            return [left + right, ctx.step.name, ctx.attempt]

        @step.do("again")
        def again(left):
            return left * 10

        return [await sum(), await again()]
"""

LEGACY = """
        one = step.do("left")(noted("left", 2, 1))
        two = step.do("right")(noted("right", 3, 1))

        @step.do("sum", depends=[one, two], concurrent=CONCURRENT)
        async def sum(a, ctx, b):
            return [a + b, ctx.step.name, ctx.attempt]

        @step.do("again", depends=[one])
        def again(a):
            return a * 10

        return [await sum(), await again()]
"""

STREAM = """
        @step.do("page")
        async def page():
            return streaming("hello world")

        reader = (await page()).getReader()
        text = ""
        while not (part := await reader.read()).done:
            text += bytes(part.value.to_bytes()).decode()
        return text
"""

ONE_AFTER_THE_OTHER = ["left begins", "left ends", "right begins", "right ends"]
AT_ONCE = ["left begins", "right begins", "left ends", "right ends"]


def asked(root: Path, body: str, date: str = "2026-11-01") -> Any:
    """What the Worker says of an instance whose run() is `body`."""
    app = root / "app"
    app.mkdir()
    config = {
        "name": "flows",
        "main": "main.py",
        "compatibility_date": date,
        "compatibility_flags": ["python_workers"],
        "workflows": [{"binding": "FLOW", "name": "flow", "class_name": "Flow"}],
    }
    (app / "wrangler.jsonc").write_text(json.dumps(config))
    (app / "main.py").write_text(MAIN.replace("BODY", body))

    async def scenario() -> Any:
        async with served(app, root / "state") as worker:
            return (await worker.get("/")).json

    return run(scenario())


@pytest.mark.parametrize(
    ("date", "body"), [("2026-11-01", IMPLICIT), ("2025-11-02", LEGACY)], ids=["implicit", "depends"]
)
@pytest.mark.parametrize("concurrent", [False, True])
def test_a_step_gets_the_results_of_those_that_it_needs(tmp_path: Path, date: str, body: str, concurrent: bool) -> None:
    found = asked(tmp_path, body.replace("CONCURRENT", str(concurrent)), date)
    assert found["error"] is None
    assert found["output"] == [[5, "sum", 1], 20]
    assert found["ran"] == (AT_ONCE if concurrent else ONE_AFTER_THE_OTHER)
    assert [(event["type"], event.get("stepName"), event.get("output")) for event in found["told"]] == [
        ("step_completed", "left-1", 2),
        ("step_completed", "right-1", 3),
        ("step_completed", "sum-1", [5, "sum", 1]),
        ("step_completed", "again-1", 20),
        ("workflow_completed", None, [[5, "sum", 1], 20]),
    ]


def test_a_step_may_give_a_stream(tmp_path: Path) -> None:
    found = asked(tmp_path, STREAM)
    assert (found["output"], found["error"]) == ("hello world", None)
    assert found["told"][0]["output"] == "ReadableStream"


MISTAKES = [
    (
        "2026-11-01",
        "step.do('a')(lambda other: 1)",
        "TypeError: Received unexpected parameter other",
    ),
    (
        "2025-11-02",
        "step.do('a')(lambda other: 1)",
        "TypeError: Step has 1 non-ctx parameter(s) but no 'depends' list provided",
    ),
    (
        "2025-11-02",
        "step.do('a', depends=[1])(lambda: 1)",
        "TypeError: Step declares 0 non-ctx parameter(s) but 'depends' has 1 item(s)",
    ),
    (
        "2025-11-02",
        "step.do('a', depends=[1])(lambda x: 1)",
        "TypeError: 'depends' entry for parameter 'x' is not a function decorated with step.do",
    ),
]


@pytest.mark.parametrize(("date", "decorated", "error"), MISTAKES)
def test_mistakes_are_told(tmp_path: Path, date: str, decorated: str, error: str) -> None:
    found = asked(tmp_path, f"        return await {decorated}()\n", date)
    assert found["error"]["message"].rstrip().endswith(error)
