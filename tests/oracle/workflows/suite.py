"""The suite of Workflows: a question is an instance's life."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from flarebed.bindings.clock import VirtualClock
from flarebed.bindings.workflows.api import WorkflowApi
from tests.oracle.bindings import virtual_time
from tests.oracle.suite import Answering, Question, Questions, Suite
from tests.oracle.workflows import ours
from tests.oracle.workflows.differences import JAVASCRIPT_REASONS, REASONS
from tests.oracle.workflows.production import comparable
from tests.oracle.workflows.questions import QUESTIONS
from tests.oracle.workflows.scrubbing import scrubbed
from tests.oracle.wrangler import fetched, running
from tests.served import Served, served

T = TypeVar("T")

MOMENT_S = 0.002
MOMENTS = 2
PATIENCE_MS = 20_000
"""More than any question needs: what is further away is not waited for."""

HERE = Path(__file__).parent
OTHERS = HERE.parent / "bindings" / "worker"
FILES = (HERE / "worker.js", HERE / "wrangler.json", HERE.parent / "values.js", OTHERS / "clock.js")
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


@contextmanager
def _workerd(folder: Path, questions: Questions) -> Iterator[Answering]:
    """All questions at once: most of them wait most of their time."""
    for path in FILES:
        (folder / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    answers = asyncio.run(_answered(folder, questions))
    yield lambda name, _: answers[name]


async def _answered(folder: Path, questions: Questions) -> dict[str, Any]:
    clock = VirtualClock(asyncio.get_running_loop())
    async with virtual_time.server(clock) as port:
        (folder / "clock.js").write_text((OTHERS / "virtual_clock.js").read_text().replace("PORT", str(port)))
        async with served(folder, folder / "state", synchronous="OFF", clock=clock) as worker:
            given = [_lived(worker, f"zz{at}zz", question) for at, question in enumerate(questions.values())]
            workerd = Path(f"/proc/{_workerd_pid(worker)}/status")
            answers = await _finished(clock, asyncio.gather(*given), workerd)
            await clock.advance(PATIENCE_MS)  # pauses whose end nobody waits for any more
    return dict(zip(questions, answers, strict=True))


async def _finished(clock: VirtualClock, work: asyncio.Future[T], workerd: Path) -> T:
    """Move time, from timer to timer, whenever neither side has anything left to do, until `work` is done."""
    while not work.done():
        quiet, due_ms = await _is_quiet(work, workerd), clock.next_work_ms()
        if quiet and due_ms is not None and due_ms - clock.now_ms() < PATIENCE_MS:
            clock.move_to(due_ms)
    return work.result()


async def _is_quiet(work: asyncio.Future[Any], workerd: Path) -> bool:
    """Whether workerd sleeps for some moments of real time: what it has said before is heard in the first of them, and
    an answer would wake it."""
    woken = _times_woken(workerd)
    for _ in range(MOMENTS):
        await asyncio.wait([work], timeout=MOMENT_S)
        if work.done() or woken is None or _times_woken(workerd) != woken:
            return False
    return True


def _times_woken(process: Path) -> int | None:
    """None if it is awake."""
    told = dict(line.split(":\t", 1) for line in process.read_text().splitlines())
    return int(told["voluntary_ctxt_switches"]) if told["State"].startswith("S") else None


def _workerd_pid(worker: Served) -> int:
    """Its parent, a shell of ours, has this one child."""
    shared: Any = worker.app.worker
    guard = shared._workerd._process._process._guard.pid
    return int(Path(f"/proc/{guard}/task/{guard}/children").read_text())


CANCELED = {"throws": "Error: The execution context responding to this call was canceled."}
"""What the code of a run that is ended may still hear, if workerd takes down our side first: no answer of ours."""


async def _lived(worker: Served, instance_id: str, question: Question) -> Any:
    given = (await worker.ask_in_time("POST", "/", {"question": question, "id": instance_id})).json
    given["run"] = [noted for noted in given.get("run", ()) if noted != CANCELED]
    if question.get("detail"):
        resources: Any = worker.app.resources["workflows"]
        around = resources.workflows["FLOW"]._around
        given["detail"] = WorkflowApi(worker.app.config.specs["workflows"][0], around).detail(instance_id)
    return comparable(scrubbed(json.loads(json.dumps(given)), instance_id))


WORKFLOWS = Suite("workflows", QUESTIONS, REASONS, _wranglers, _ours, at_a_time=3)
WORKFLOWS_IN_JAVASCRIPT = Suite(
    "workflows_javascript", QUESTIONS, JAVASCRIPT_REASONS, None, _workerd, shares="workflows", part=300
)
