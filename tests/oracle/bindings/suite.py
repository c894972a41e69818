"""The suites of KV, D1 and Queues: a question is a few calls, made by a JavaScript Worker on wrangler, and here by a
Python one (`BINDINGS`) or by that same JavaScript Worker (`JAVASCRIPT`).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from flarebed.bindings.clock import VirtualClock
from tests.oracle.bindings import virtual_time
from tests.oracle.bindings.config import config, names
from tests.oracle.bindings.differences import JAVASCRIPT_REASONS, REASONS
from tests.oracle.bindings.questions import QUESTIONS, QUESTIONS_ABOUT_R2, QUESTIONS_WITH_FLAGS, QUESTIONS_WITH_RPC
from tests.oracle.bindings.scrubbing import scrubbed
from tests.oracle.suite import Answering, Ours, Question, Questions, Suite, Theirs
from tests.oracle.wrangler import fetched, running
from tests.served import Answer, served

WORKER = Path(__file__).parent / "worker"
VALUES = WORKER.parents[1] / "values.js"
AT_A_TIME = 24
SQL = ("d1 function: ", "d1 pragma: ", "d1 statement: ", "d1 limit: ", "d1 meta: ")
RPC_FLAGS = ("d1_binding_jsrpc",)
OLD_FLAGS = ("no_queue_expose_error_codes",)


def _theirs(flags: tuple[str, ...]) -> Theirs:
    @contextmanager
    def theirs(command: str, questions: Questions) -> Iterator[Answering]:
        asked = _asked(questions)
        files = {name: text for name, text in _javascript().items() if name != "virtual_clock.js"}
        files["wrangler.json"] = json.dumps(config("worker.js", questions, flags))
        with running(command, files) as url:
            yield lambda name, _: scrubbed(fetched(url, asked[name]))

    return theirs


def _python(flags: tuple[str, ...]) -> Ours:
    """One question after the other."""

    @contextmanager
    def ours(folder: Path, questions: Questions) -> Iterator[Answering]:
        asked = _asked(questions)
        for path in WORKER.glob("*.py"):
            (folder / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
        here = config("worker.py", questions, ("python_workers", *flags))
        (folder / "wrangler.json").write_text(json.dumps(here), encoding="utf-8")
        with asyncio.Runner() as runner:
            serving = served(folder, folder / "state", synchronous="OFF")
            worker = runner.run(serving.__aenter__())

            def answer(name: str, _: Question) -> Any:
                return _scrubbed(runner.run(worker.post("/", asked[name])))

            try:
                yield answer
            finally:
                runner.run(serving.__aexit__(None, None, None))

    return ours


def _workerd(flags: tuple[str, ...]) -> Ours:
    """All questions at once: most of them wait most of their time."""

    @contextmanager
    def ours(folder: Path, questions: Questions) -> Iterator[Answering]:
        (folder / "wrangler.json").write_text(json.dumps(config("worker.js", questions, flags)), encoding="utf-8")
        answers = asyncio.run(_answered(folder, _asked(questions)))
        yield lambda name, _: answers[name]

    return ours


async def _answered(folder: Path, asked: dict[str, Any]) -> dict[str, Any]:
    clock = VirtualClock(asyncio.get_running_loop())
    async with virtual_time.server(clock) as port:
        for name, text in _javascript().items():
            (folder / name).write_text(text, encoding="utf-8")
        (folder / "clock.js").write_text((folder / "virtual_clock.js").read_text().replace("PORT", str(port)))
        async with served(folder, folder / "state", synchronous="OFF", clock=clock) as worker:
            answers = asyncio.gather(*(worker.ask_in_time("POST", "/", question) for question in asked.values()))
            given = await virtual_time.finished(clock, answers)
    return {name: _scrubbed(answer) for name, answer in zip(asked, given, strict=True)}


def _javascript() -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in (*WORKER.glob("*.js"), VALUES)}


def _scrubbed(given: Answer) -> Any:
    if given.status != 200:
        raise AssertionError(given.text)
    return scrubbed(given.json)


def _asked(questions: Questions) -> dict[str, Any]:
    """By name, each question with the bindings that it gets."""
    numbered = enumerate(questions.items())
    return {name: {"question": question, "names": names(at, question)} for at, (name, question) in numbered}


def _asked_of_javascript(questions: Questions) -> Questions:
    """All but those about SQL itself: the engine is the one that the Python Worker asks."""
    return {name: question for name, question in questions.items() if not name.startswith(SQL)}


BINDINGS = Suite("bindings", QUESTIONS, REASONS, _theirs(()), _python(()), AT_A_TIME)
BINDINGS_WITH_FLAGS = Suite(
    "bindings_with_flags", QUESTIONS_WITH_FLAGS, REASONS, _theirs(OLD_FLAGS), _python(OLD_FLAGS), AT_A_TIME
)
JAVASCRIPT = Suite(
    "javascript", _asked_of_javascript(QUESTIONS), JAVASCRIPT_REASONS, None, _workerd(()), shares="bindings", part=500
)
JAVASCRIPT_WITH_FLAGS = Suite(
    "javascript_with_flags", QUESTIONS_WITH_FLAGS, JAVASCRIPT_REASONS, None, _workerd(OLD_FLAGS),
    shares="bindings_with_flags",
)  # fmt: skip
R2 = Suite("r2", QUESTIONS_ABOUT_R2, REASONS, _theirs(()), _python(()), AT_A_TIME)
R2_IN_JAVASCRIPT = Suite(
    "r2_javascript", QUESTIONS_ABOUT_R2, JAVASCRIPT_REASONS, None, _workerd(()), shares="r2", part=500
)
D1_BY_RPC = Suite(
    "d1_rpc", QUESTIONS_WITH_RPC, JAVASCRIPT_REASONS, _theirs(RPC_FLAGS), _workerd(RPC_FLAGS), AT_A_TIME, part=500
)
