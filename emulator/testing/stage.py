"""What stands behind a `Worker` of a test, whichever face it shows: its session, and what outlives it."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from flarebed.bindings.dispatch import Dispatch
from flarebed.bindings.errors import UserError
from flarebed.bindings.kind import Modes
from flarebed.bindings.workflows.binding import WorkflowImpl
from flarebed.bindings.workflows.engine import WorkflowResources
from flarebed.bindings.workflows.workflow import Workflow
from flarebed.emulator.app import App
from flarebed.emulator.config.model import Config
from flarebed.emulator.testing.crossing import as_result
from flarebed.emulator.testing.faults import Faults
from flarebed.emulator.testing.observer import Instance, Observer
from flarebed.emulator.testing.outbound import Outbound
from flarebed.emulator.testing.randomness import seeded_randomness
from flarebed.emulator.testing.session import START_MS, Session
from flarebed.emulator.testing.state import Snapshot, copy_databases, put_back
from flarebed.emulator.testing.uncaught import Uncaught


@dataclass(frozen=True)
class Settings:
    """How a test wants its Worker. `state` is the folder for this test alone."""

    config: Config
    state: Path
    start_ms: float = START_MS
    seed: int | str | None = None
    refuse_outbound: bool = False
    modes: Modes = field(default_factory=Modes)


@dataclass
class Stage:
    """`logs` has (level, text) of what the Worker, its console and the engines said."""

    settings: Settings
    logs: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.observer = Observer(self._send)
        self.outbound = Outbound(self.log, refuse=self.settings.refuse_outbound)
        self.faults = Faults(self.observer, lambda binding: self.workflow(binding).name, self.bindings, self._consumed)
        self._snapshots = 0
        self.logs += [("warn", text) for text in self.settings.config.warnings]
        if self.settings.seed is not None:
            seeded_randomness().install()
        try:
            self.session = self._open(self.settings.start_ms)
        except BaseException:
            self._release()
            raise

    def close(self) -> None:
        try:
            self.session.close()
        finally:
            self._release()

    def log(self, level: str, text: str) -> None:
        self.logs.append((level, text))

    @property
    def app(self) -> App:
        return self.session.app

    def workflow(self, binding: str) -> Workflow:
        kind = cast("WorkflowResources | None", self.app.resources.get("workflows"))
        workflows = {} if kind is None else kind.workflows
        if binding not in workflows:
            raise UserError(
                f'There is no workflow binding "{binding}".', hint=f"The config has {', '.join(workflows) or 'none'}."
            )
        return workflows[binding]

    def _consumed(self) -> Sequence[str]:
        return self.app.resources["queues"].claims() if "queues" in self.app.resources else ()

    def bindings(self) -> Mapping[str, object]:
        return {name: bound for kind in self.app.resources.values() for name, bound in kind.bindings().items()}

    # The state as a whole

    async def snapshot(self) -> Snapshot:
        """A copy of all that is on disk. The engines let go for it, as they do for a reload: attempts begin anew."""
        self._snapshots += 1
        state = self.settings.state
        folder = state.with_name(f"{state.name}-snapshot-{self._snapshots}")
        await self.app.disown()
        try:
            copy_databases(state, folder)
        finally:
            await self.app.own()
        return Snapshot(folder, self.session.clock.now_ms())

    def restore(self, snapshot: Snapshot) -> None:
        """A new session on that state, at its time. Mocks, faults and recorded calls stay."""
        self.session.close()
        put_back(snapshot, self.settings.state)
        self.session = self._open(snapshot.now_ms)

    def _open(self, start_ms: float) -> Session:
        settings = self.settings
        session = Session(
            settings.config,
            settings.state,
            self.log,
            start_ms=start_ms,
            outbound=self.outbound.client,
            observe=self._observe,
            entropy=None if settings.seed is None else random.Random(settings.seed),
            modes=settings.modes,
        )
        services = session.app.worker.services
        services.uncaught = Uncaught(services.uncaught)
        self.session = session
        self.faults.lay_all()
        return session

    def _observe(self, dispatch: Dispatch) -> Dispatch:
        return self.observer.around(dispatch)

    async def _send(self, instance: Instance, event_type: str, payload: Any) -> None:
        workflow, instance_id = instance
        bound = next(bound for bound in self._workflow_bindings() if bound._workflow.name == workflow)
        await (await bound.get(instance_id)).sendEvent({"type": event_type, "payload": as_result(payload)})

    def _workflow_bindings(self) -> list[WorkflowImpl]:
        return [bound for bound in self.bindings().values() if isinstance(bound, WorkflowImpl)]

    def _release(self) -> None:
        if self.settings.seed is not None:
            seeded_randomness().remove()
