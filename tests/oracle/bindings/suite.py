"""The suites of KV, D1 and Queues: a question is a few calls, made by a JavaScript Worker there, a Python one here."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.oracle.bindings.config import config, names
from tests.oracle.bindings.differences import REASONS
from tests.oracle.bindings.questions import QUESTIONS, QUESTIONS_ABOUT_R2, QUESTIONS_WITH_FLAGS
from tests.oracle.bindings.scrubbing import scrubbed
from tests.oracle.suite import Answering, Question, Questions, Suite
from tests.oracle.wrangler import fetched, running
from tests.served import served

WORKER = Path(__file__).parent / "worker"
VALUES = WORKER.parents[1] / "values.js"
AT_A_TIME = 24
OLD_FLAGS = ("no_queue_expose_error_codes",)


def _suite(name: str, all_questions: Questions, flags: tuple[str, ...]) -> Suite:
    @contextmanager
    def theirs(command: str, questions: Questions) -> Iterator[Answering]:
        asked = _asked(questions)
        files = {
            "worker.js": (WORKER / "worker.js").read_text(encoding="utf-8"),
            "values.js": VALUES.read_text(encoding="utf-8"),
            "wrangler.json": json.dumps(config("worker.js", questions, flags)),
        }
        with running(command, files) as url:
            yield lambda name, _: scrubbed(fetched(url, asked[name]))

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
                given = runner.run(worker.post("/", asked[name]))
                if given.status != 200:
                    raise AssertionError(given.text)
                return scrubbed(given.json)

            try:
                yield answer
            finally:
                runner.run(serving.__aexit__(None, None, None))

    return Suite(name, all_questions, REASONS, theirs, ours, AT_A_TIME)


def _asked(questions: Questions) -> dict[str, Any]:
    """By name, each question with the bindings that it gets."""
    numbered = enumerate(questions.items())
    return {name: {"question": question, "names": names(at, question)} for at, (name, question) in numbered}


BINDINGS = _suite("bindings", QUESTIONS, ())
BINDINGS_WITH_FLAGS = _suite("bindings_with_flags", QUESTIONS_WITH_FLAGS, OLD_FLAGS)
R2 = _suite("r2", QUESTIONS_ABOUT_R2, ())
