"""Service bindings between Workers in Python and in JavaScript, in one process and in several workerds."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.clock import Clock, RealClock, VirtualClock
from flarebed.emulator.config.load import load
from flarebed.emulator.group import Group, Part, build_group
from flarebed.emulator.runtime.http import IncomingRequest
from flarebed.emulator.runtime.registry import Registry
from tests.support import run

FIXTURES = Path(__file__).parents[2] / "fixtures" / "services"


@dataclass
class Running:
    groups: dict[str, Group]
    logged: list[tuple[str, str, str]] = field(default_factory=list)

    async def ask(self, worker: str, path: str = "/", method: str = "GET", body: bytes | None = None) -> Any:
        async def chunks() -> AsyncIterator[bytes]:
            assert body is not None
            yield body

        headers = [("host", "localhost")] if body is None else [("host", "localhost"), ("content-length", "5")]
        app = next(app for app in self.groups[worker].apps if app.config.name == worker)
        sent = IncomingRequest(method, f"http://localhost{path}", headers, None if body is None else chunks(), {"a": 1})
        response = await app.worker.fetch(sent)
        given = response.body
        assert given is not None
        text = given if isinstance(given, bytes) else b"".join([chunk async for chunk in given])
        return response.status, json.loads(text)


@asynccontextmanager
async def running(root: Path, *groups: tuple[str, ...], clock: Clock | None = None) -> AsyncIterator[Running]:
    """Each group as in a process of its own."""
    made = Running({})

    def part(name: str) -> Part:
        config = load(FIXTURES / name / "wrangler.jsonc", cwd=root, env="", environ={})
        return Part(config, lambda level, text: made.logged.append((name, level, text)))

    async with AsyncExitStack() as stack:
        registry = Registry(root / "r")
        for names in groups:
            group = await build_group(
                [part(name) for name in names],
                persist_to=root / "state" / names[0],
                clock=clock or RealClock(asyncio.get_running_loop()),
                registry=registry,
            )
            stack.push_async_callback(group.close)
            await group.own()
            made.groups |= dict.fromkeys(names, group)
        yield made


def without_paths(answer: Any) -> Any:
    """Of a Python traceback the last line."""
    if isinstance(answer, dict) and answer.get("name") == "PythonError":
        return answer | {"message": answer["message"].rstrip("\n").rpartition("\n")[2]}
    return answer


MISSING = 'The RPC receiver does not implement the method "missing".'
PYTHON_MISSING = "Method missing does not exist"
NOBODY = 'Worker "nobody" not found. Make sure it is running locally.'
NO_FUNCTION = '"(this)" is not a function.'
NO_METHOD = 'The RPC receiver does not implement the method "increment".'
SENT = ["POST", "https://example.com/p%61th?q=1", "ü", "hello"]
VALUES = [None, 1.5, "ü", 5, "object", [1, 2], str(2**60)]
PYTHON_VALUES = [None, 1.5, "ü", "1970-01-01T00:00:05", [1], "ab", str(2**60)]


def thrown(name: str, message: str, **more: Any) -> dict[str, Any]:
    """What a JavaScript caller catches."""
    return {"name": name, "message": message, "remote": True} | more


def raised(name: str, message: str, code: Any = None) -> dict[str, Any]:
    """What a Python caller catches."""
    return {"type": "JsException", "name": name, "message": message, "remote": True, "code": code}


ABORTED = {"type": "AbortError", "name": None, "message": None, "remote": None, "code": None}
"""What `fetch` of pyodide.http makes of any failure."""

NO_IDS = [
    "TypeError: Invalid Durable Object ID: must be 64 hex digits",
    "TypeError: Durable Object ID is not valid for this namespace.",
]
TOO_LARGE = "Serialized RPC arguments or return values are limited to 32MiB, but the size of this value was: "
SOCKET = [101, ["hello", "hello!", "hello!!"], [4000, "as asked"]]

EXPECTED: dict[str, dict[str, Any]] = {
    "js": {
        "PY/socket": SOCKET,
        "PY/stream": "streamed",
        "PY/response": [202, "Fine", "yes", "body"],
        "PY/request": ["PUT", "https://example.com/a?b", "yes", "body", [["a", "b"]]],
        "PY/fetch": [201, "yes", SENT],
        "PY/throwing": thrown("PythonError", "ValueError: thrown by fetch"),
        "PY/add": 3,
        "PY/fail": thrown("PythonError", "ValueError: text"),
        "PY/missing": thrown("TypeError", PYTHON_MISSING),
        "PY/echo": VALUES,
        "PY/callback": 3,
        "PY/counter": thrown("TypeError", NO_METHOD),
        "PY/function": [6, 8],
        "PY_ADMIN/who": {"by": "jürgen"},
        "FAR/socket": SOCKET,
        "FAR/stream": "streamed",
        "FAR/response": [202, "Fine", "yes", "body"],
        "FAR/request": ["PUT", "https://example.com/a?b", "yes", "body", [["a", "b"]]],
        "FAR/fetch": [201, "yes", [*SENT, "XYZ"]],
        "FAR/throwing": thrown("RangeError", "thrown by fetch"),
        "FAR/add": 3,
        "FAR/fail": thrown("RangeError", "text", code=7),
        "FAR/missing": thrown("TypeError", MISSING),
        "FAR/echo": VALUES,
        "FAR/callback": 3,
        "FAR/counter": [6, 8],
        "FAR/function": thrown("TypeError", NO_FUNCTION),
        "FAR/pipelined": 6,
        "FAR_ADMIN/who": {"by": "js"},
        "ROOM/room": [True, ["js"]],
        "NOBODY/absent": [503, NOBODY],
        "NOBODY/add": thrown("Error", NOBODY),
    },
    "far": {
        "ROOM/room": [True, ["js", "far"]],
        "ROOM/crowd": thrown("RangeError", "full"),
        "ROOM/guests": ["https://example.com/guests", ["js", "far"]],
    },
    "py": {
        "JS/socket": SOCKET,
        "JS/stream": "streamed",
        "JS/response": [202, "yes", "body"],
        "JS/request": ["PUT", "https://example.com/a?b", "yes", "body"],
        "JS/fetch": [201, "yes", [*SENT, None]],
        "JS/throwing": ABORTED,
        "JS/add": 3,
        "JS/keywords": {"a": 1},
        "JS/fail": raised("RangeError", "text", 7),
        "JS/missing": raised("TypeError", MISSING),
        "JS/echo": PYTHON_VALUES,
        "JS/callback": 3,
        "JS/counter": [6, 8],
        "JS/function": raised("TypeError", NO_FUNCTION),
        "JS_ADMIN/who": {"by": "jürgen"},
        "SELF/socket": SOCKET,
        "SELF/large": raised("Error", f"{TOO_LARGE}34603008 bytes.") | {"remote": None},
        "SELF/stream": "streamed",
        "SELF/response": [202, "yes", "body"],
        "SELF/request": ["PUT", "https://example.com/a?b", "yes", "body"],
        "SELF/fetch": [201, "yes", SENT],
        "SELF/throwing": ABORTED,
        "SELF/add": 3,
        "SELF/keywords": {"a": 1},
        "SELF/fail": raised("PythonError", "ValueError: text"),
        "SELF/missing": raised("TypeError", PYTHON_MISSING),
        "SELF/echo": PYTHON_VALUES,
        "SELF/callback": 3,
        "SELF/counter": raised("TypeError", NO_METHOD),
        "SELF/function": [6, 8],
        "SELF_ADMIN/who": {"by": "py"},
        "ROOM/room": [True, ["js", "far", "py"], ["https://example.com/guests", ["js", "far", "py"]]],
        "ROOM/ids": ["a", True, True, NO_IDS, "a", ["py"]],
        "ROOM/crowd": raised("RangeError", "full"),
        "NOBODY/absent": [503, NOBODY],
        "NOBODY/add": raised("Error", NOBODY),
    },
}
"""For each Worker what it answers when it is asked something about one of its bindings."""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Any]:
    async def scenario() -> dict[tuple[str, str], Any]:
        async with running(tmp_path_factory.mktemp("services"), ("js", "py"), ("far",)) as workers:
            return {
                (worker, question): await workers.ask(worker, f"/{question}")
                for worker, questions in EXPECTED.items()
                for question in questions
            }

    return run(scenario())


@pytest.mark.parametrize(
    ("worker", "question"), [(worker, question) for worker, questions in EXPECTED.items() for question in questions]
)
def test_the_answer(answers: dict[tuple[str, str], Any], worker: str, question: str) -> None:
    status, answer = answers[worker, question]
    assert (status, without_paths(answer)) == (200, EXPECTED[worker][question])


@pytest.mark.parametrize(
    ("worker", "question"), [("js", "PY_SLEEPER/nap"), ("js", "PY_SLEEPER/napping"), ("py", "SLEEPER/nap")]
)
def test_a_called_worker_that_sleeps_in_virtual_time(tmp_path: Path, worker: str, question: str) -> None:
    """The caller waits for what this process does: its call is no reason for the clock to stand still."""

    async def scenario() -> None:
        clock = VirtualClock(asyncio.get_running_loop(), 0)
        async with running(tmp_path, ("js", "py"), clock=clock) as workers:
            asking = asyncio.create_task(workers.ask(worker, f"/{question}"))
            while not (clock.next_work_ms() == 3_600_000 and clock.is_idle_outside()):
                await asyncio.wait([asking], timeout=0.001)
                assert not asking.done()
            await clock.advance(3_600_000)
            assert await asking == (200, "slept")
            while clock.outside > 0:  # workerd tells in its own time that a request is over
                await clock.settle()
            assert clock.outside == 0

    run(scenario())
