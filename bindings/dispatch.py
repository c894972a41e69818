"""How an engine reaches the Worker. A runtime implements it; engines never import one.

Values are those of `values.py`. A failing handler raises JsError with what the Worker threw.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol


class WorkerLostError(Exception):
    """The process that ran the Worker has ended: what was being done there is to be done again."""


class WorkflowStep(Protocol):
    """The engine's object that a run() gets as `step`, with the JavaScript methods do, sleep, sleepUntil, waitForEvent.

    A runtime sets `outstanding` to a function: how much is under way in that run, callbacks that are ready, timers,
    requests and calls of bindings, those of the step included. Without it (a test may pass a step of another class) the
    run is never taken out of memory. And to another, `release`, if it has to be told when functions that run() gave to
    steps are not called any more; until then it keeps what they need, also when run() has returned or thrown.
    """

    outstanding: Callable[[], int] | None
    release: Callable[[], object] | None


class Dispatch(Protocol):
    async def queue(self, batch: Any) -> None:
        """Run the Worker's `queue` handler with `batch` (a QueueController) and its waitUntil work."""
        ...

    async def run_workflow(self, class_name: str, event: Any, step: Any) -> Any:
        """Run `class_name().run(event, step)` and return its result.

        `step` is a WorkflowStep. Callbacks given to `step.do` arrive as `values.Function`. Cancelling the call ends
        the run where it awaits. Raises WorkerLostError, as do the callbacks then.
        """
        ...

    def workflow_classes(self) -> frozenset[str]:
        """The names of the WorkflowEntrypoint classes that the main module exports."""
        ...
