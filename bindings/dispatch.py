"""How an engine reaches the Worker. A runtime implements it; engines never import one.

Values are those of `values.py`. A failing handler raises JsError with what the Worker threw.
"""

from __future__ import annotations

from typing import Any, Protocol


class Dispatch(Protocol):
    async def queue(self, batch: Any) -> None:
        """Run the Worker's `queue` handler with `batch` (a QueueController) and its waitUntil work."""
        ...

    async def run_workflow(self, class_name: str, event: Any, step: Any) -> Any:
        """Run `class_name().run(event, step)` and return its result.

        `step` is the engine's object with the JavaScript methods do, sleep, sleepUntil, waitForEvent. Callbacks given
        to `step.do` arrive as `values.Function`. Cancelling the call stops the run at its next await.
        """
        ...

    def workflow_classes(self) -> frozenset[str]:
        """The names of the WorkflowEntrypoint classes that the main module exports."""
        ...
