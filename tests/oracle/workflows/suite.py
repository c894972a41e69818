"""The suite of Workflows: a question is an instance's life."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from tests.oracle.suite import Answering, Question, Questions, Suite
from tests.oracle.workflows import ours
from tests.oracle.workflows.differences import REASONS
from tests.oracle.workflows.production import comparable
from tests.oracle.workflows.questions import QUESTIONS
from tests.oracle.workflows.scrubbing import scrubbed
from tests.oracle.wrangler import fetched, running

HERE = Path(__file__).parent
FILES = (HERE / "worker.js", HERE / "wrangler.json", HERE.parent / "values.js")
DETAILS = "/cdn-cgi/local/explorer/api/workflows/flow/instances/"


@contextmanager
def _wranglers(command: str, _: Questions) -> Iterator[Answering]:
    numbers = count(1)
    with running(command, {path.name: path.read_text(encoding="utf-8") for path in FILES}) as url:

        def answer(_: str, question: Question) -> Any:
            instance_id = f"zz{next(numbers)}zz"
            given = fetched(url, {"question": question, "id": instance_id})
            if question.get("detail"):
                given["detail"] = fetched(url + DETAILS + instance_id)["result"]
            return scrubbed(given, instance_id)

        yield answer


@contextmanager
def _ours(folder: Path, _: Questions) -> Iterator[Answering]:
    numbers = count(1)

    def answer(_: str, question: Question) -> Any:
        state = folder / str(next(numbers))
        state.mkdir()
        return comparable(ours.answer(state, question))

    yield answer


WORKFLOWS = Suite("workflows", QUESTIONS, REASONS, _wranglers, _ours, at_a_time=3)
