"""The composition root: a Worker and its engines from a config, the only place that constructs them.

`group.py` does so for all the Workers of a process.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flarebed.bindings.clock import Clock
from flarebed.bindings.dispatch import Dispatch
from flarebed.bindings.errors import UserError
from flarebed.bindings.kind import Modes, Resources, Surroundings
from flarebed.bindings.owner import Owner
from flarebed.bindings.registry import KINDS
from flarebed.bindings.services.binding import Fetcher
from flarebed.bindings.services.objects import DurableObjectNamespace
from flarebed.bindings.store import Store
from flarebed.bindings.values import ArrayBuffer
from flarebed.emulator.config.flags import known_flags
from flarebed.emulator.config.model import Config
from flarebed.emulator.runtime.http import IncomingRequest, OutgoingResponse, ScheduledOutcome
from flarebed.emulator.runtime.peers import Peers
from flarebed.emulator.runtime.python.bundle import Bundle
from flarebed.emulator.runtime.python.promise import thrown_by
from flarebed.emulator.runtime.python.worker import PythonWorker
from flarebed.emulator.runtime.registry import Registry
from flarebed.emulator.runtime.services import Services
from flarebed.emulator.runtime.worker import Worker

if TYPE_CHECKING:
    import httpx

    from flarebed.emulator.runtime.workerd.shared import SharedWorkerd

Log = Callable[[str, str], None]


@dataclass(frozen=True)
class Shared:
    """What the Workers of a process have together. `workerd` runs those in JavaScript; the `registry` has the Workers
    that can be called.
    """

    clock: Clock
    store: Store
    workerd: SharedWorkerd | None
    modes: Modes
    entropy: random.Random
    registry: Registry


def make(
    config: Config,
    shared: Shared,
    log: Log,
    outbound: Callable[[], httpx.AsyncClient] | None,
    observe: Callable[[Dispatch], Dispatch] | None,
) -> App:
    """The config's Worker with its engines, to be loaded."""
    clock, store = shared.clock, shared.store
    worker = _worker(config, _services(config, shared, log, outbound), shared.workerd)
    dispatch: Dispatch = worker if observe is None else observe(worker)
    around = Surroundings(clock, store, dispatch, config.name, config.flags, log, shared.modes, shared.entropy)
    resources = {kind.name: kind.open(config.specs[kind.name], around) for kind in KINDS if config.specs.get(kind.name)}
    claims = [(name, resource) for name, kind in resources.items() for resource in kind.claims()]
    return App(config, worker, store, resources, Owner(store.root, clock.loop, config.name, claims), shared.entropy)


def _worker(config: Config, services: Services, workerd: SharedWorkerd | None) -> Worker:
    if workerd is None or config.is_python():
        main = config.entry_point()
        bundle = Bundle(main, config.base_dir or main.parent, config.rules)
        return PythonWorker(main, config.root, bundle, services)
    from flarebed.emulator.runtime.workerd.worker import JavaScriptWorker  # a Python Worker starts without

    return JavaScriptWorker(config, services, workerd)


def _services(config: Config, shared: Shared, log: Log, outbound: Callable[[], httpx.AsyncClient] | None) -> Services:
    return Services(
        clock=shared.clock,
        worker=config.name,
        flags=config.flags,
        log=log,
        outbound=outbound or _http_client,
        catches_outbound=outbound is not None,
        uncaught=lambda error: log("error", uncaught_text(error)),
        pyodide_version=config.pyodide_version or "314.0.6",
        peers=Peers(shared.registry, shared.clock),
    )


@dataclass
class App:
    """A Worker with its bindings."""

    config: Config
    worker: Worker
    store: Store
    resources: Mapping[str, Resources]
    owner: Owner
    entropy: random.Random
    _waiting: asyncio.Task[None] | None = None

    async def load(self) -> None:
        """Raises UserError, or whatever the Worker's own top level raises. `fetch` works from now on."""
        await self.worker.load(self.env(), {flag: flag in self.config.flags for flag in known_flags()})

    def env(self) -> dict[str, Any]:
        """The Worker's `env` in production's order: JSON values, texts, secrets, services, other bindings by name."""
        values = self.config.vars
        texts = {name: value for name, value in values.items() if isinstance(value, str)}
        others = {name: value for name, value in values.items() if not isinstance(value, str)}
        bound = {name: binding for kind in self.resources.values() for name, binding in kind.bindings().items()}
        bound |= self._blobs()
        if self.config.is_python():
            bound |= self._objects_of_others()
        in_order = sorted(bound, key=lambda name: (not isinstance(bound[name], Fetcher), name))
        return {**others, **texts, **self.config.secrets, **{name: bound[name] for name in in_order}}

    def _objects_of_others(self) -> dict[str, Any]:
        """workerd gives a JavaScript Worker its namespaces itself."""
        return {
            each.binding: DurableObjectNamespace(each.script, each.class_name, self.entropy)
            for each in self.config.native.durable_objects
            if each.script is not None
        }

    def _blobs(self) -> dict[str, Any]:
        config = self.config
        for path in (*config.wasm_modules.values(), *config.text_blobs.values(), *config.data_blobs.values()):
            if not path.is_file():
                raise UserError(f"The file {path} was not found.", place=config.path.name)
        return {
            **{name: self.worker.web_assembly_module(path) for name, path in config.wasm_modules.items()},
            **{name: path.read_text("utf-8", errors="replace") for name, path in config.text_blobs.items()},
            **{name: ArrayBuffer(path.read_bytes()) for name, path in config.data_blobs.items()},
        }

    async def fetch(self, request: IncomingRequest) -> OutgoingResponse:
        return await self.worker.fetch(request)

    async def scheduled(self, cron: str, time_ms: float) -> ScheduledOutcome:
        return await self.worker.scheduled(cron, time_ms)

    async def own(self) -> None:
        """Run timers, consumers and instances here, as soon as no other process does."""
        if self.owner.acquire():
            await self._start_owning()
            return
        if self.owner.missing is not None and self.owner.missing[0] != "worker":
            kind, resource = self.owner.missing
            self.worker.services.log(
                "warn",
                f'"{resource}" ({kind}) is run by another Worker on this state folder. Timers, consumers and instances '
                f'of "{self.config.name}" wait until that one ends.',
            )
        self._waiting = asyncio.create_task(self._own_later())

    async def _own_later(self) -> None:
        await self.owner.wait()
        await self._start_owning()

    async def _start_owning(self) -> None:
        self.owner.listen(self.ring)
        for kind in self.resources.values():
            await kind.own()

    async def disown(self) -> None:
        """Stop that. What is unfinished is in the store, for the next owner."""
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
        if self.owner.owns:
            for kind in self.resources.values():
                await kind.disown()
            self.owner.release()

    def ring(self, kind: str, resource: str) -> None:
        if kind in self.resources:
            self.resources[kind].ring(resource)

    def bindings_table(self) -> list[tuple[str, str, str]]:
        """(binding, resource, mode) for the table shown at start; secrets hidden."""
        bound = [
            (binding, resource, "local")
            for kind in KINDS
            for spec in self.config.specs.get(kind.name, ())
            for binding, resource in spec.rows()
        ]
        native = [(binding, resource, "local") for binding, resource in self.config.native.rows]
        unemulated = [(binding, resource, "not supported") for binding, resource in self.config.unemulated]
        hidden = [(f'{name} ("(hidden)")', "Environment Variable", "local") for name in self.config.secrets]
        shown = [
            (f"{name} ({_shown(value)})", "Environment Variable", "local")
            for name, value in self.config.vars.items()
            if name not in self.config.secrets
        ]
        return [*bound, *native, *unemulated, *shown, *hidden]

    def watched(self) -> list[Path]:
        """The files whose change means a reload."""
        return [*self.worker.files(), *self.config.watched]


def uncaught_text(error: BaseException) -> str:
    """The log entry for an exception that the Worker did not catch."""
    return f"Uncaught {thrown_by(error)}"


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _http_client() -> httpx.AsyncClient:
    """The client of outbound requests. Redirects are followed by `fetch` itself, as its `redirect` option says."""
    import httpx

    return httpx.AsyncClient(follow_redirects=False, timeout=None, limits=httpx.Limits(max_connections=None))
