"""One of the Workers on a stage, as a test reaches it: its bindings and workflows, its faults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, cast

from flarebed.bindings.errors import JsError, UserError
from flarebed.bindings.workflows.binding import WorkflowImpl
from flarebed.bindings.workflows.engine import WorkflowResources
from flarebed.bindings.workflows.workflow import Workflow
from flarebed.emulator.app import App
from flarebed.emulator.config.model import Config
from flarebed.emulator.runtime.workerd.host import Host
from flarebed.emulator.runtime.workerd.worker import JavaScriptWorker
from flarebed.emulator.testing.crossing import as_thrown
from flarebed.emulator.testing.faults import Faults
from flarebed.emulator.testing.observer import Observer
from flarebed.emulator.testing.session import Session


class Stage(Protocol):
    """Where the Workers are."""

    observer: Observer
    session: Session


class Place:
    """The `number`-th Worker; the first is the one that a test is about."""

    def __init__(self, stage: Stage, number: int, config: Config) -> None:
        self.config = config
        self.faults = Faults(self)
        self._stage = stage
        self._number = number

    @property
    def session(self) -> Session:
        return self._stage.session

    @property
    def observer(self) -> Observer:
        return self._stage.observer

    @property
    def app(self) -> App:
        return self.session.group.apps[self._number]

    @property
    def host(self) -> Host | None:
        """What answers workerd, if the Worker runs there."""
        worker = self.app.worker
        return worker.host if isinstance(worker, JavaScriptWorker) else None

    def thrown_by(self, error: Exception) -> JsError:
        return as_thrown(error, by_python=self.config.is_python())

    def bindings(self) -> Mapping[str, object]:
        """The engine's objects by name."""
        return {name: bound for kind in self.app.resources.values() for name, bound in kind.bindings().items()}

    def workflow(self, binding: str) -> Workflow:
        kind = cast("WorkflowResources | None", self.app.resources.get("workflows"))
        workflows = {} if kind is None else kind.workflows
        if binding not in workflows:
            raise UserError(
                f'There is no workflow binding "{binding}".', hint=f"The config has {', '.join(workflows) or 'none'}."
            )
        return workflows[binding]

    def workflow_bindings(self) -> list[WorkflowImpl]:
        return [bound for bound in self.bindings().values() if isinstance(bound, WorkflowImpl)]

    def consumed(self) -> Sequence[str]:
        """The queues that it consumes."""
        return self.app.resources["queues"].claims() if "queues" in self.app.resources else ()
