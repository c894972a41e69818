"""A workflow's instances under a test's eyes: `introspect_workflow_instance` and `introspect_workflow`.

Names and errors are those of workers-sdk packages/workflows-shared/src/introspection.ts and engine.ts, in Python form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, Self, cast

from flarebed.bindings.errors import JsError
from flarebed.bindings.workflows.api import STATUSES
from flarebed.bindings.workflows.workflow import Workflow
from flarebed.emulator.testing.crossing import as_raised, as_seen
from flarebed.emulator.testing.goal import Awaiting, Blocking, Goal, at_once, operation, running
from flarebed.emulator.testing.mocks import IntrospectionError, WorkflowInstanceModifier
from flarebed.emulator.testing.observer import Observer, Watched
from flarebed.emulator.testing.session import Session

_UNREACHABLE = {
    "errored": ("complete", "terminated"),
    "terminated": ("complete", "errored"),
    "complete": ("terminated", "errored"),
}
"""From each status at the end, those that never come any more."""


class Stage(Protocol):
    """Where the instances run."""

    @property
    def session(self) -> Session: ...

    @property
    def observer(self) -> Observer: ...

    def workflow(self, binding: str) -> Workflow: ...


class _Instance:
    def __init__(self, stage: Stage, binding: str, instance_id: str) -> None:
        if not binding or not instance_id:
            raise IntrospectionError("[WorkflowIntrospector] Workflow binding and instance id are required.")
        self.id = instance_id
        self._stage = stage
        self._binding = binding
        self._key = stage.workflow(binding).name, instance_id
        self.modify = stage.observer.mocks.setdefault(self._key, WorkflowInstanceModifier())
        """What to change in the instance. It is kept when the instance restarts."""

    @operation
    def wait_for_step_result(self, name: str, index: int = 1) -> Goal[Any]:
        """What the `index`-th `do` of that name returned; raises what it raised."""
        outcomes = self._stage.observer.outcomes.setdefault(self._key, {})
        step = name, index

        def result() -> Any:
            outcome = outcomes[step]
            if isinstance(outcome, JsError):
                raise as_raised(outcome)
            return as_seen(outcome)

        what = f'The result of step "{name}-{index}" of instance "{self.id}"'
        return Goal(self._stage.session, what, lambda: step in outcomes, result)

    @operation
    def wait_for_status(self, status: str) -> Goal[None]:
        """Return when the instance has that status; raise if it has ended with another."""
        if status not in (*STATUSES, "rollingBack"):
            raise IntrospectionError(f'"{status}" is no status of an instance; there are {", ".join(STATUSES)}.')

        def done() -> bool:
            reached = self._recorded_status()
            if reached == "running" and status in ("running", "waiting") and self._stage.session.is_idle():
                reached = self._status()["status"]
            return status in ("queued", reached, *_UNREACHABLE.get(reached, ()))

        def result() -> None:
            reached = self._status()["status"]
            if status not in ("queued", reached) and status in _UNREACHABLE.get(reached, ()):
                raise IntrospectionError(
                    f"[WorkflowIntrospector] The Workflow instance {self.id} has reached status '{reached}'. This is a "
                    f"finite status that prevents it from ever reaching the expected status of '{status}'."
                )

        return Goal(self._stage.session, f"Status '{status}' of instance \"{self.id}\"", done, result)

    @operation
    def get_output(self) -> Goal[Any]:
        """What `run` returned; the instance must be complete."""
        return at_once(self._stage.session, "The output", lambda: as_seen(self._ended("output", "complete")))

    @operation
    def get_error(self) -> Goal[dict[str, str]]:
        """`{"name", "message"}`; the instance must be errored."""
        return at_once(self._stage.session, "The error", lambda: dict(self._ended("error", "errored")))

    @operation
    def dispose(self) -> Goal[None]:
        """Forget the changes, and the instance itself."""
        return self._dispose()

    def _dispose(self) -> Goal[None]:
        self._stage.observer.mocks.pop(self._key, None)
        self._stage.observer.outcomes.pop(self._key, None)
        return running(self._stage.session, "The end of introspection", self._delete())

    async def _delete(self) -> None:
        await self._stage.workflow(self._binding).delete(self.id)

    def _ended(self, field: str, status: str) -> Any:
        found = self._status()
        if found["status"] != status:
            which = "an output" if field == "output" else "error information"
            raise IntrospectionError(
                f'Cannot retrieve {field}: Workflow instance is in status "{found["status"]}" but must be "{status}" '
                f"to have {which} available"
            )
        return found[field]

    def _recorded_status(self) -> str:
        """Asked at every turn, so without what costs: "running" may be "waiting"."""
        try:
            return self._stage.workflow(self._binding).instance(self.id).status
        except JsError:
            return "queued"

    def _status(self) -> dict[str, Any]:
        try:
            return self._stage.workflow(self._binding).status_now(self.id)
        except JsError:
            return {"status": "queued"}  # not created yet


class WorkflowInstanceIntrospector(Awaiting, _Instance):
    """One instance, in a test that awaits."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.dispose()


class SyncWorkflowInstanceIntrospector(Blocking, _Instance):
    """One instance, in a plain test."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.dispose()


class _Workflow:
    instance_class: Callable[[Stage, str, str], Any]

    def __init__(self, stage: Stage, binding: str) -> None:
        observer, name = stage.observer, stage.workflow(binding).name
        if name in observer.watched:
            raise IntrospectionError(
                f'Workflow "{name}" already has an active introspection session for binding "{binding}".'
            )
        self._stage = stage
        self._binding = binding
        self._name = name
        known = frozenset(instance for instance in observer.outcomes if instance[0] == name)
        self._watched = observer.watched[name] = Watched(known)
        self.modify_all: WorkflowInstanceModifier = self._watched.modify
        """What to change in every instance that is created from now on."""

    def _get(self) -> list[Any]:
        return [self.instance_class(self._stage, self._binding, each) for each in self._watched.instances]

    def _settled(self) -> Goal[None]:
        session = self._stage.session
        return Goal(session, "The instances", session.is_idle, lambda: None)

    def _dispose(self) -> Goal[None]:
        instances = self._get()
        self._stage.observer.watched.pop(self._name, None)

        async def dispose_all() -> None:
            for instance in instances:
                await instance._delete()

        for instance in instances:
            self._stage.observer.mocks.pop(instance._key, None)
        return running(self._stage.session, "The end of introspection", dispose_all())

    @operation
    def dispose(self) -> Goal[None]:
        """Stop watching; forget the changes, and the instances that came."""
        return self._dispose()


class WorkflowIntrospector(Awaiting, _Workflow):
    """All new instances of a workflow, in a test that awaits."""

    instance_class = WorkflowInstanceIntrospector

    @operation
    def get(self) -> Goal[list[WorkflowInstanceIntrospector]]:
        """The instances that were created since, in order."""
        return _then(self._settled(), self._get)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.dispose()


class SyncWorkflowIntrospector(Blocking, _Workflow):
    """All new instances of a workflow, in a plain test."""

    instance_class = SyncWorkflowInstanceIntrospector

    @operation
    def get(self) -> Goal[list[SyncWorkflowInstanceIntrospector]]:
        """The instances that were created since, in order."""
        return _then(self._settled(), self._get)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.dispose()


def _then(goal: Goal[None], result: Callable[[], list[Any]]) -> Goal[list[Any]]:
    return cast("Goal[list[Any]]", Goal(goal.session, goal.what, goal.done, result))
