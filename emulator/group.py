"""The Workers of one process: the store that they share, the workerd that runs those in JavaScript, and the first of
them, the primary, to which requests go. A Worker by itself is a group too.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from flarebed.bindings.clock import Clock, RealClock
from flarebed.bindings.dispatch import Dispatch
from flarebed.bindings.errors import UserError
from flarebed.bindings.kind import Modes
from flarebed.bindings.owner import Doorbell
from flarebed.bindings.presence import Presence
from flarebed.bindings.store import Store
from flarebed.emulator.app import App, Log, Shared, make
from flarebed.emulator.config.clashes import complain_of_clashes
from flarebed.emulator.config.model import Config
from flarebed.emulator.runtime.http import IncomingRequest, OutgoingResponse, ScheduledOutcome
from flarebed.emulator.runtime.python.worker import PythonWorker
from flarebed.emulator.runtime.registry import Registry

if TYPE_CHECKING:
    import httpx

    from flarebed.emulator.runtime.workerd.shared import SharedWorkerd
    from flarebed.emulator.server.peers import PeerServer


@dataclass(frozen=True)
class Part:
    """What a Worker of a group is made from. `log` is for itself and its engines.

    `observe` puts something between engines and Worker; `outbound` makes the client of its requests to the world.
    """

    config: Config
    log: Log
    outbound: Callable[[], httpx.AsyncClient] | None = None
    observe: Callable[[Dispatch], Dispatch] | None = None


async def build_group(
    parts: Sequence[Part],
    *,
    persist_to: Path,
    clock: Clock | None = None,
    synchronous: str = "NORMAL",
    modes: Modes | None = None,
    entropy: random.Random | None = None,
    presence: Presence | None = None,
    registry: Registry | None = None,
) -> Group:
    """The Workers of these configs, loaded. Raises UserError, or whatever a Worker's own top level raises.

    `persist_to` is the state folder, `synchronous` SQLite's OFF, NORMAL or FULL. The Workers serve requests at once;
    timers, consumers and workflow instances run here after `own()`. `presence` is what the caller has in the state
    folder already. In the `registry` Workers of other processes find these, and these find them; without one there are
    no others.
    """
    complain_of_clashes([part.config for part in parts])
    _check_languages(parts)
    loop = asyncio.get_running_loop()
    clock = clock or RealClock(loop)
    store = Store(persist_to, loop, synchronous, clock.operation_outside, presence)
    group = Group(store, Doorbell(persist_to), loop, registry or Registry.temporary())
    try:
        group.workerd = _workerd(parts, clock, persist_to, group.registry)
        chance = entropy or random.SystemRandom()
        shared = Shared(clock, store, group.workerd, modes or Modes(), chance, group.registry)
        for part in parts:
            group.apps.append(make(part.config, shared, part.log, part.outbound, part.observe))
        for app in group.apps:
            await app.load()
        if group.workerd is not None:
            await group.workerd.start()
        if registry is not None or any(part.config.specs["services"] for part in parts):
            await group.listen()
    except BaseException:
        await group.close()
        raise
    return group


class Group:
    """Its Workers in `apps` (`runtime.http.WorkerApp`, which speaks to the primary)."""

    def __init__(self, store: Store, doorbell: Doorbell, loop: asyncio.AbstractEventLoop, registry: Registry) -> None:
        self.apps: list[App] = []
        self.workerd: SharedWorkerd | None = None
        self.store = store
        self.registry = registry
        self._called: list[PeerServer] = []
        self._doorbell = doorbell
        self._loop = loop
        store.doorbell = self._announce

    @property
    def primary(self) -> App:
        return self.apps[0]

    async def fetch(self, request: IncomingRequest) -> OutgoingResponse:
        return await self.apps[0].worker.fetch(request)

    async def scheduled(self, cron: str, time_ms: float) -> ScheduledOutcome:
        return await self.apps[0].scheduled(cron, time_ms)

    async def listen(self) -> None:
        """Let other Workers call those in Python; the ones in JavaScript they call at workerd."""
        from flarebed.emulator.server.peers import PeerServer  # a Worker by itself does without uvicorn

        for app in self.apps:
            if isinstance(app.worker, PythonWorker):
                server = PeerServer(app.config.name, app.worker, self.registry, app.worker.services.clock)
                self._called.append(server)
                await server.listen()

    async def own(self) -> None:
        """Run timers, consumers and instances here, as soon as no other process does."""
        if self.workerd is not None:
            self.workerd.own()
        for app in self.apps:
            await app.own()

    async def disown(self) -> None:
        """Stop that. What is unfinished is in the store, for the next owner."""
        await asyncio.gather(*(app.disown() for app in self.apps))
        if self.workerd is not None:
            await self.workerd.disown()

    async def drained(self) -> None:
        """Another process has taken over: returns when what other Workers have asked here is answered."""
        await asyncio.gather(*(server.drained() for server in self._called))
        if self.workerd is not None:
            await self.workerd.drained()

    def _announce(self, kind: str, resource: str) -> None:
        """Work was written here that the writer does not run itself: for whichever owner it is."""
        owning = [app for app in self.apps if app.owner.owns]
        self._doorbell.ring(kind, resource, but=[app.owner.doorbell for app in owning])
        if len(self.apps) > 1:
            for app in owning:
                self._loop.call_soon(app.ring, kind, resource)

    async def close(self) -> None:
        for server in self._called:
            server.close()
        await self.disown()
        if self.workerd is not None:
            self.workerd.close()
        for app in self.apps:
            await app.worker.close()
        self._doorbell.close()
        self.store.close()
        self.registry.close()

    def bindings_tables(self) -> dict[str, list[tuple[str, str, str]]]:
        return {app.config.name: app.bindings_table() for app in self.apps}

    def watched(self) -> list[Path]:
        return [path for app in self.apps for path in app.watched()]


def _check_languages(parts: Sequence[Part]) -> None:
    """The modules of a Python Worker are the process's own (`sys.modules`)."""
    names = [part.config.name for part in parts if part.config.is_python()]
    if len(names) > 1:
        raise UserError(
            f'There can be one Python Worker in a process, but here are "{names[0]}" and "{names[1]}".',
            hint="Under `flarebed dev` each has a process of its own.",
        )


def _workerd(parts: Sequence[Part], clock: Clock, state: Path, registry: Registry) -> SharedWorkerd | None:
    ours = [part for part in parts if not part.config.is_python()]
    if not ours:
        return None
    from flarebed.emulator.runtime.workerd.shared import SharedWorkerd  # a Python Worker starts without

    logs = {part.config.name: part.log for part in ours}
    return SharedWorkerd([part.config for part in ours], logs, clock, state, registry)
