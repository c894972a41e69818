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
    """`workflows` has them by binding."""

    def __init__(self, specs: Sequence[WorkflowSpec], around: Surroundings) -> None:
        self.workflows = workflows = {spec.binding: Workflow(spec, around, JsRpcStub) for spec in specs}
        self._bindings = {binding: WorkflowImpl(workflow) for binding, workflow in workflows.items()}
        own = [spec for spec in specs if spec.script_name is None or spec.script_name == around.worker]
        self._dispatch, self._log = around.dispatch, around.log
        self._classes = [spec.class_name for spec in own]
        self._own = [workflows[spec.binding] for spec in own]
        for spec in specs:
            if spec not in own:
                self._warn_of_settings(spec)

    def bindings(self) -> Mapping[str, object]:
        return self._bindings

    def claims(self) -> Sequence[str]:
        return [workflow.name for workflow in self._own]

    async def own(self) -> None:
        self._warn_of_missing_classes()
        for workflow in self._own:
            workflow.own()

    def _warn_of_missing_classes(self) -> None:
        """Wrangler's words. It refuses to start; here instances fail until an edit brings the class."""
        exported = self._dispatch.workflow_classes()
        missing = [name for name in dict.fromkeys(self._classes) if name not in exported]
        if missing:
            self._log(
                "warn",
                "Your Worker depends on the following Workflows, which are not exported in your entrypoint file: "
                f"{', '.join(missing)}.",
            )

    def _warn_of_settings(self, spec: WorkflowSpec) -> None:
        """Wrangler's words, when it refuses to deploy."""
        settings = {
            "limits": spec.limits_steps,
            "concurrency": spec.concurrency_limit,
            "schedules": spec.schedules,
            "default_retention": spec.success_retention_ms or spec.error_retention_ms,
        }
        for name in (name for name, value in settings.items() if value):
            self._log(
                "warn",
                f'Workflow "{spec.name}" has "{name}" configured but references external script "{spec.script_name}". '
                f"Configure {name} on the worker that defines the workflow.",
            )

    async def disown(self) -> None:
        for workflow in self._own:
            await workflow.disown()

    def ring(self, resource: str) -> None:
        for workflow in self._own:
            if workflow.name == resource:
                workflow.ring()


def open(specs: Sequence[WorkflowSpec], around: Surroundings) -> WorkflowResources:
    return WorkflowResources(specs, around)
