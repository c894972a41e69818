"""What stands behind a `Worker` of a test, whichever face it shows: its session, and what outlives it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from flarebed.bindings.dispatch import Dispatch
from flarebed.bindings.errors import UserError
from flarebed.bindings.kind import Modes
from flarebed.emulator.config.model import Config
from flarebed.emulator.group import Part
from flarebed.emulator.testing.crossing import as_result
from flarebed.emulator.testing.observer import Instance, Observer
from flarebed.emulator.testing.outbound import Outbound
from flarebed.emulator.testing.place import Place
from flarebed.emulator.testing.randomness import seeded_randomness
from flarebed.emulator.testing.session import PATIENCE_S, START_MS, Session
from flarebed.emulator.testing.state import Snapshot, copy_databases, put_back
from flarebed.emulator.testing.uncaught import Uncaught


@dataclass(frozen=True)
class Settings:
    """How a test wants its Worker. `state` is the folder for this test alone, `beside` are the configs of Workers that
    it can call.
    """

    config: Config
    state: Path
    beside: tuple[Config, ...] = ()
    start_ms: float = START_MS
    seed: int | str | None = None
    refuse_outbound: bool = False
    modes: Modes = field(default_factory=Modes)
    patience_s: float = PATIENCE_S


@dataclass
class Stage:
    """`logs` has (level, text) of what the Workers, their consoles and the engines said."""

    settings: Settings
    logs: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        configs = (self.settings.config, *self.settings.beside)
        self.observer = Observer(self._send)
        self.outbound = Outbound(self.log, refuse=self.settings.refuse_outbound)
        self.places = [Place(self, number, config) for number, config in enumerate(configs)]
        self._snapshots = 0
        self.logs += [("warn", text) for config in configs for text in config.warnings]
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

    def place(self, worker: str) -> Place:
        """That of the Worker of this name."""
        found = [place for place in self.places if place.config.name == worker]
        if not found:
            names = ", ".join(place.config.name for place in self.places)
            raise UserError(
                f'There is no Worker "{worker}" in this test.',
                hint=f'It has {names}. More come with @pytest.mark.flarebed(workers=["../other/wrangler.jsonc"]).',
            )
        return found[0]

    # The state as a whole

    async def snapshot(self) -> Snapshot:
        """A copy of all that is on disk. The engines let go for it, as they do for a reload: attempts begin anew."""
        self._snapshots += 1
        state = self.settings.state
        folder = state.with_name(f"{state.name}-snapshot-{self._snapshots}")
        await self.session.group.disown()
        try:
            copy_databases(state, folder)
        finally:
            await self.session.group.own()
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
            beside=[self._part(place) for place in self.places[1:]],
            start_ms=start_ms,
            outbound=self.outbound.client,
            observe=self._observing(self.places[0]),
            entropy=None if settings.seed is None else random.Random(settings.seed),
            modes=settings.modes,
            patience_s=settings.patience_s,
        )
        self.session = session
        for place in self.places:
            services = place.app.worker.services
            services.uncaught = Uncaught(services.uncaught)
            place.faults.lay_all()
        return session

    def _part(self, place: Place) -> Part:
        return Part(place.config, self.log, self.outbound.client, self._observing(place))

    def _observing(self, place: Place) -> Callable[[Dispatch], Dispatch]:
        return partial(self.observer.around, thrown_by=place.thrown_by)

    async def _send(self, instance: Instance, event_type: str, payload: Any) -> None:
        workflow, instance_id = instance
        bound = next(
            bound for place in self.places for bound in place.workflow_bindings() if bound._workflow.name == workflow
        )
        await (await bound.get(instance_id)).sendEvent({"type": event_type, "payload": as_result(payload)})

    def _release(self) -> None:
        if self.settings.seed is not None:
            seeded_randomness().remove()
