"""The suites of KV, D1 and Queues: a question is a few calls, made by a JavaScript Worker there, a Python one here."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from tests.oracle.bindings.config import config, names
from tests.oracle.bindings.differences import REASONS
from tests.oracle.bindings.questions import QUESTIONS, QUESTIONS_WITH_FLAGS
from tests.oracle.bindings.scrubbing import scrubbed
from tests.oracle.suite import Answering, Question, Suite
from tests.oracle.wrangler import fetched, running
from tests.served import served

WORKER = Path(__file__).parent / "worker"
VALUES = WORKER.parents[1] / "values.js"
AT_A_TIME = 12
THEIR_POLL_S = 0.02
OUR_POLL_S = 0.25
OLD_FLAGS = ("no_queue_expose_error_codes",)


def _suite(name: str, questions: Mapping[str, Question], flags: tuple[str, ...]) -> Suite:
    numbers = {each: number for number, each in enumerate(questions)}

    @contextmanager
    def theirs(command: str) -> Iterator[Answering]:
        lanes: SimpleQueue[int] = SimpleQueue()
        for lane in range(AT_A_TIME):
            lanes.put(lane)
        files = {
            "worker.js": (WORKER / "worker.js").read_text(encoding="utf-8"),
            "values.js": VALUES.read_text(encoding="utf-8"),
            "wrangler.json": json.dumps(config("worker.js", questions, AT_A_TIME, flags)),
        }
        with running(command, files) as url:

            def answer(name: str, question: Question) -> Any:
                lane = lanes.get()
                try:
                    return scrubbed(fetched(url, _asked(question, names(numbers[name], lane, question), THEIR_POLL_S)))
                finally:
                    lanes.put(lane)

            yield answer

    @contextmanager
    def ours(folder: Path) -> Iterator[Answering]:
        for path in WORKER.glob("*.py"):
            (folder / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
        here = config("worker.py", questions, 1, ("python_workers", *flags))
        (folder / "wrangler.json").write_text(json.dumps(here), encoding="utf-8")
        with asyncio.Runner() as runner:
            serving = served(folder, folder / "state")
            worker = runner.run(serving.__aenter__())

            def answer(name: str, question: Question) -> Any:
                asked = _asked(question, names(numbers[name], 0, question), OUR_POLL_S)
                given = runner.run(worker.post("/", asked))
                if given.status != 200:
                    raise AssertionError(given.text)
                return scrubbed(given.json)

            try:
                yield answer
            finally:
                runner.run(serving.__aexit__(None, None, None))

    return Suite(name, questions, REASONS, theirs, ours, AT_A_TIME)


def _asked(question: Question, bindings: dict[str, str], poll_s: float) -> dict[str, Any]:
    return {"question": question, "names": bindings, "poll_s": poll_s}


BINDINGS = _suite("bindings", QUESTIONS, ())
BINDINGS_WITH_FLAGS = _suite("bindings_with_flags", QUESTIONS_WITH_FLAGS, OLD_FLAGS)
