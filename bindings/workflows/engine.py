"""Workflows: those that a Worker is bound to, and of these the ones whose class is its own, which it runs.

What happens to instances is in `workflow.py`, what happens in one run in `run.py` and `step.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flarebed.bindings.kind import Surroundings
from flarebed.bindings.workflows.binding import JsRpcStub, WorkflowImpl
from flarebed.bindings.workflows.spec import WorkflowSpec
from flarebed.bindings.workflows.workflow import Workflow


class WorkflowResources:
    def __init__(self, specs: Sequence[WorkflowSpec], around: Surroundings) -> None:
        workflows = {spec.binding: Workflow(spec, around, JsRpcStub) for spec in specs}
        self._bindings = {binding: WorkflowImpl(workflow) for binding, workflow in workflows.items()}
        self._own = [
            workflows[spec.binding] for spec in specs if spec.script_name is None or spec.script_name == around.worker
        ]

    def bindings(self) -> Mapping[str, object]:
        return self._bindings

    async def own(self) -> None:
        for workflow in self._own:
            workflow.own()

    async def disown(self) -> None:
        for workflow in self._own:
            await workflow.disown()

    def ring(self, resource: str) -> None:
        for workflow in self._own:
            if workflow.name == resource:
                workflow.ring()


def open(specs: Sequence[WorkflowSpec], around: Surroundings) -> WorkflowResources:
    return WorkflowResources(specs, around)
