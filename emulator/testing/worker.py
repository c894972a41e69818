"""`Worker`: a Worker in a test's hand, with its bindings, its clock and its engines. What the fixture `flarebed` gives.

What touches the Worker or its state is an operation: awaited on a `Worker`, a plain call on its `.sync`. What only says
how things shall be (mocks, faults, freezing) is a plain call on both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from flarebed.emulator.app import App
from flarebed.emulator.config.model import Config
from flarebed.emulator.testing import queue, state
from flarebed.emulator.testing.clock import Clock, Moment, SyncClock, moment_ms
from flarebed.emulator.testing.env import Env
from flarebed.emulator.testing.faults import Faults
from flarebed.emulator.testing.goal import Awaiting, Blocking, Goal, at_once, operation, running
from flarebed.emulator.testing.introspection import (
    SyncWorkflowInstanceIntrospector,
    SyncWorkflowIntrospector,
    WorkflowInstanceIntrospector,
    WorkflowIntrospector,
)
from flarebed.emulator.testing.outbound import Outbound
from flarebed.emulator.testing.place import Place
from flarebed.emulator.testing.queue import QueueResult
from flarebed.emulator.testing.response import Request, Response, exchange
from flarebed.emulator.testing.stage import Stage
from flarebed.emulator.testing.state import Snapshot
from flarebed.emulator.testing.uncaught import Uncaught, raise_as_thrown

_NO_HEADERS: Mapping[str, str] = {}


@dataclass(frozen=True)
class ScheduledResult:
    outcome: Literal["ok", "exception"]
    no_retry: bool
    error: BaseException | None = field(default=None, compare=False)


class _Worker:
    """An exception that the Worker does not catch is raised in the test, unless `raise_exceptions` is False."""

    def __init__(self, stage: Stage, place: Place | None = None) -> None:
        self._stage = stage
        self._place = place or stage.places[0]

    @cached_property
    def env(self) -> Env:
        """The Worker's `env`: `env.DB.prepare(...)`, `env.KV.get(...)`, with the values that Worker code gets."""
        assert isinstance(self, Awaiting | Blocking)
        return Env(self._place, self)

    @property
    def config(self) -> Config:
        return self._place.config

    @property
    def app(self) -> App:
        """The Worker with its engines, for what this class does not offer."""
        return self._place.app

    @property
    def logs(self) -> list[tuple[str, str]]:
        """(level, text) of what the Worker, its console and the engines said, in order."""
        return self._stage.logs

    @property
    def outbound(self) -> Outbound:
        """The Worker's requests to the world: `mock`, `refuse`, `calls`."""
        return self._stage.outbound

    @property
    def faults(self) -> Faults:
        """Faults on request: `fail_step`, `fail_binding`, `deliver_twice`."""
        return self._place.faults

    # Events

    @operation
    def fetch(
        self,
        url: str = "/",
        *,
        method: str = "GET",
        headers: Mapping[str, str] = _NO_HEADERS,
        body: str | bytes | None = None,
        json: Any = None,
        raise_exceptions: bool = True,
    ) -> Goal[Response]:
        """The answer to a request for a path or a whole URL. Without `raise_exceptions`, the 500 that a client gets."""
        asked = Request.of(url, method, headers, body, json)
        work = exchange(self.app, asked, raise_exceptions=raise_exceptions)
        return running(self._stage.session, f"The answer to {asked.method} {asked.url}", work)

    @operation
    def queue(self, name: str, messages: Sequence[Any], *, raise_exceptions: bool = True) -> Goal[QueueResult]:
        """Hand a batch to the `queue` handler: bodies, or `Message`s with id, attempts and timestamp."""
        now_ms = self._stage.session.clock.now_ms()
        work = queue.deliver(self.app, name, messages, now_ms, raise_exceptions=raise_exceptions)
        return running(self._stage.session, f"The end of a batch of queue {name}", work)

    @operation
    def scheduled(
        self, cron: str = "", time: Moment | None = None, *, raise_exceptions: bool = True
    ) -> Goal[ScheduledResult]:
        """Run the `scheduled` handler as if `cron` were due at `time` (now)."""
        time_ms = self._stage.session.clock.now_ms() if time is None else moment_ms(time)
        work = self._scheduled(cron, time_ms, raise_exceptions)
        return running(self._stage.session, f"The end of scheduled({cron!r})", work)

    async def _scheduled(self, cron: str, time_ms: float, raise_exceptions: bool) -> ScheduledResult:
        __tracebackhide__ = True
        app = self.app
        heard = Uncaught.of(app.worker.services)
        ended = await app.scheduled(cron, time_ms)
        if ended.outcome == "ok":
            return ScheduledResult("ok", ended.no_retry)
        error = ended.error or heard.last
        if raise_exceptions and error is not None:
            raise_as_thrown(error, app.config.code_folder())
        return ScheduledResult("exception", ended.no_retry, error)

    @operation
    def drain(self, *, sleeps: bool = False) -> Goal[None]:
        """Run all work until nothing is in progress: requests, batches, retries, attempts of steps.

        Time moves as far as that needs. Workflows that sleep or wait, and messages that were delayed, go on waiting;
        with `sleeps` they are run through too. Schedules never keep `drain` going.
        """
        session = self._stage.session

        def done() -> bool:
            return session.is_idle() and session.clock.next_work_ms(durable=sleeps) is None

        return Goal(session, "The end of all work", done, lambda: None)

    # State

    @operation
    def apply_d1_migrations(self, database: str | None = None) -> Goal[list[str]]:
        """Apply the pending migrations of a D1 binding, or of all; returns the files' names."""
        return at_once(self._stage.session, "The migrations", lambda: state.apply_migrations(self.app, database))

    @operation
    def seed(self, /, **data: Any) -> Goal[None]:
        """Fill bindings by name: a D1 database with SQL, a KV namespace with values by key, a queue with messages.

        A text that ends with .sql or .json, or a Path, names a file, relative to the config's folder.
        """
        scope = self.env._scope()

        async def fill() -> None:
            for binding, source in data.items():
                await state.seed(self.app, scope.env, binding, source)

        return scope.running("The seeding", fill())

    @operation
    def snapshot(self) -> Goal[Snapshot]:
        """A copy of the whole state, to `restore` as often as wanted."""
        return running(self._stage.session, "The snapshot", self._stage.snapshot())

    @operation
    def restore(self, snapshot: Snapshot) -> Goal[None]:
        """Go back to a snapshot, and to its time. The Worker starts anew there; workflows and messages go on."""
        return at_once(self._stage.session, "The restored state", lambda: self._stage.restore(snapshot))


class Worker(Awaiting, _Worker):
    """A Worker, in a test that awaits."""

    @cached_property
    def sync(self) -> SyncWorker:
        """The same Worker for a plain test: operations return their results."""
        return SyncWorker(self._stage, self._place)

    @cached_property
    def clock(self) -> Clock:
        return Clock(lambda: self._stage.session)

    def worker(self, name: str) -> Worker:
        """Another Worker of the test, which the marker's `workers` bring."""
        return Worker(self._stage, self._stage.place(name))

    def introspect_workflow_instance(self, binding: str, id: str) -> WorkflowInstanceIntrospector:
        """Change and watch one instance; best before it is created. Use it with `async with`."""
        return WorkflowInstanceIntrospector(self._place, binding, id)

    def introspect_workflow(self, binding: str) -> WorkflowIntrospector:
        """Change and watch all instances that are created from now on. Use it with `async with`."""
        return WorkflowIntrospector(self._place, binding)


class SyncWorker(Blocking, _Worker):
    """A Worker, in a plain test."""

    @cached_property
    def clock(self) -> SyncClock:
        return SyncClock(lambda: self._stage.session)

    def worker(self, name: str) -> SyncWorker:
        """Another Worker of the test, which the marker's `workers` bring."""
        return SyncWorker(self._stage, self._stage.place(name))

    def introspect_workflow_instance(self, binding: str, id: str) -> SyncWorkflowInstanceIntrospector:
        """Change and watch one instance; best before it is created. Use it with `with`."""
        return SyncWorkflowInstanceIntrospector(self._place, binding, id)

    def introspect_workflow(self, binding: str) -> SyncWorkflowIntrospector:
        """Change and watch all instances that are created from now on. Use it with `with`."""
        return SyncWorkflowIntrospector(self._place, binding)
