"""One life of a Worker with one workflow instance, on a state folder of its own, watched from its start to its end.

A life is a Session: its modules are fresh, its clock is virtual. `Subject` is what the trials have in common.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Any, Self, cast
from unittest import mock

from flarebed.bindings.clock import VirtualClock
from flarebed.bindings.codec import decode, encode
from flarebed.bindings.d1.engine import D1Resources
from flarebed.bindings.d1.migrations import apply_pending
from flarebed.bindings.d1.spec import D1DatabaseSpec
from flarebed.bindings.dispatch import Dispatch
from flarebed.bindings.errors import FlarebedError, JsError, UserError
from flarebed.bindings.sql import SqlError
from flarebed.bindings.values import Date
from flarebed.bindings.workflows.spec import WorkflowSpec
from flarebed.emulator.checking import dice, events
from flarebed.emulator.checking.outbound import Outbound
from flarebed.emulator.checking.places import Site, Sources
from flarebed.emulator.checking.steps import Command, Conduct, ReplayedStep, Script, WatchedStep
from flarebed.emulator.checking.tracing import Trace
from flarebed.emulator.checking.witness import Answer, Call, Witness, is_outside
from flarebed.emulator.config.model import Config
from flarebed.emulator.runtime.python.modules import HostModules
from flarebed.emulator.runtime.python.proxy import JsProxy, to_python
from flarebed.emulator.runtime.python.tracebacks import python_traceback
from flarebed.emulator.testing.session import START_MS, Session, StuckError

YEAR_MS = 365 * 86_400_000.0
LONGEST_MS = 10 * YEAR_MS
MOST_ATTEMPTS = 200
"""Of one step: a run that retries for ever is given up."""

SEED = "outside"


@dataclass(frozen=True)
class Subject:
    """A workflow with what it is given: params, and events by type, which are sent before it waits for them."""

    config: Config
    spec: WorkflowSpec
    params: Any
    events: Sequence[tuple[str, Any]]
    outbound: Outbound
    sources: Sources
    instance_id: str = "check"


@dataclass(frozen=True)
class Reading:
    """Something outside of steps that is another the next time: the clock, or randomness."""

    of: str
    site: Site


@dataclass
class Seen:
    """What a run gave to see. `ended` is complete, errored, or empty for a life that was cut off."""

    script: Script
    witness: Witness
    trace: Trace
    ended: str = ""
    output: Any = None
    error: str | None = None
    readings: dict[Reading, None] = field(default_factory=dict)
    mutations: list[events.Mutation] = field(default_factory=list)


StepOf = Callable[[Any, Script], JsProxy]


class Life(Dispatch):
    """A context manager. The Worker's run of the subject's instance goes through `step_of`."""

    def __init__(
        self,
        subject: Subject,
        state: Path,
        *,
        start_ms: float = START_MS,
        seed: str | Random = SEED,
        conduct: Conduct | None = None,
        answer: Callable[[Call], Answer | None] | None = None,
    ) -> None:
        self.subject = subject
        self.state = state
        self._start_ms = start_ms
        self._dice = _dice(seed)
        self._conduct = conduct or Conduct()
        self._stack = ExitStack()
        self._worker: Dispatch | None = None
        self.logged: list[tuple[str, str]] = []
        self.worker_ahead_ms = 0.0
        self.is_frozen = False
        self.seen = self._blank(Witness(subject.sources, answer), [])

    def __enter__(self) -> Self:
        self.subject.outbound.rewind()
        HostModules.installed()
        with ExitStack() as stack:
            # Before the Worker is loaded, since it may take functions for itself (`from random import choice`).
            stack.enter_context(dice.thrown(lambda: self._dice, lambda: self._read("randomness")))
            self.session = self._opened()
            stack.callback(self.session.close)
            self._watch(stack)
            self._stack = stack.pop_all()
        return self

    def _opened(self) -> Session:
        """The Worker, loaded. Raises UserError with what its top level raised."""
        outbound = self.subject.outbound.client
        try:
            return Session(
                self.subject.config, self.state, self._log, start_ms=self._start_ms, outbound=outbound,
                observe=self._observe,
            )  # fmt: skip
        except FlarebedError:
            raise
        except Exception as error:
            trace = python_traceback(error).rstrip()
            raise UserError(f"The Worker can't be loaded.\n{trace}", place=self.subject.config.path.name) from error

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.seen.witness.is_watching = False
        self._stack.close()

    def _blank(self, witness: Witness, mutations: list[events.Mutation]) -> Seen:
        trace = Trace(self.subject.sources)
        script = Script(self.subject.sources, self._now_ms, lambda: len(trace.outside))
        return Seen(script, witness, trace, mutations=mutations)

    def _now_ms(self) -> float:
        return self.session.clock.now_ms()

    def _log(self, level: str, text: str) -> None:
        self.logged.append((level, text))

    def _observe(self, worker: Dispatch) -> Dispatch:
        self._worker = worker
        return self

    def _watch(self, stack: ExitStack) -> None:
        app, seen = self.session.app, self.seen
        for kind, resources in app.resources.items():
            for name, binding in resources.bindings().items():
                seen.witness.watch(kind, name, binding)
        app.worker.services.on_fetch = seen.witness.request
        enter = stack.enter_context
        enter(mock.patch.object(self.session.clock, "now_ms", self._telling(self.session.clock)))
        enter(events.watched(seen.mutations, self.subject.sources))

    def _telling(self, clock: VirtualClock) -> Callable[[], float]:
        """The clock's `now_ms`, which hears of it when Worker code outside of steps asks for the time."""
        now_ms = clock.now_ms

        def told() -> float:
            if not events.asked_by_worker():
                return now_ms()
            self._read("the clock")
            return now_ms() + self.worker_ahead_ms

        return told

    def _read(self, of: str) -> None:
        site = self.subject.sources.caller() if is_outside() else None
        if site is not None:
            self.seen.readings[Reading(of, site)] = None

    # Dispatch

    async def queue(self, batch: Any) -> None:
        assert self._worker is not None
        while self.is_frozen:
            await self.session.clock.sleep(1)
        await self._worker.queue(batch)

    def workflow_classes(self) -> frozenset[str]:
        assert self._worker is not None
        return self._worker.workflow_classes()

    async def run_workflow(self, class_name: str, event: Any, step: Any) -> Any:
        assert self._worker is not None
        is_subject = event["instanceId"] == self.subject.instance_id and class_name == self.subject.spec.class_name
        if not is_subject:
            return await self._worker.run_workflow(class_name, event, step)
        watched = WatchedStep(to_python(step), self.seen.script, self._conduct)
        return await self.watched_run(event, watched)

    async def watched_run(self, event: Mapping[str, Any], step: JsProxy) -> Any:
        """The Worker's `run`, whose end is written down."""
        assert self._worker is not None
        try:
            output = await self._worker.run_workflow(self.subject.spec.class_name, events.marked(event), step)
        except JsError as error:
            self.seen.ended, self.seen.error = "errored", last_line(error)
            raise
        except BaseException:
            self.seen.ended = self.seen.ended or "stopped"
            raise
        self.seen.ended, self.seen.output = "complete", output
        return output

    # What is done with it

    def migrate(self) -> None:
        """As `flarebed d1 migrations apply` does, for every database that has a folder of migrations."""
        config = self.subject.config
        databases = cast("D1Resources", self.session.app.resources["d1"]).databases if config.specs.get("d1") else {}
        for spec in cast("tuple[D1DatabaseSpec, ...]", config.specs.get("d1", ())):
            if (config.root / spec.migrations_dir).is_dir():
                try:
                    apply_pending(databases[spec.binding], spec, config.root)
                except SqlError as error:
                    raise UserError(
                        f"A migration of {spec.binding} can't be applied: {error.message}", place=spec.migrations_dir
                    ) from None

    def begin(self) -> None:
        """A new instance, and the events that are for it."""
        self.migrate()
        self.session.run(self._create())

    async def _create(self) -> None:
        bound = self.session.app.resources["workflows"].bindings()
        flow = cast("Any", bound[self.subject.spec.binding])
        self.seen.witness.is_watching = False
        instance = await flow.create({"id": self.subject.instance_id, "params": self.subject.params})
        for event_type, payload in self.subject.events:
            await instance.sendEvent({"type": event_type, "payload": payload})
        self.seen.witness.is_watching = True

    def run(self, *, until: Callable[[], bool] | None = None, traced: bool = False) -> None:
        """Until the run has ended, or `until()`; or until it is clear that it won't end."""
        self.seen.witness.is_watching = True
        end_ms = self.session.clock.now_ms() + LONGEST_MS
        with ExitStack() as stack:
            if traced:
                stack.enter_context(self.seen.trace.on())
            try:
                self.session.run_until(lambda: self._is_over(until), no_later_than_ms=end_ms)
            except StuckError:
                self.seen.ended = "stopped"

    def replay(self, past: Script, *, goes_along: bool = False, seed: str | Random = SEED) -> Seen:
        """What `run` asks of its steps if each is answered as in `past`. `goes_along`: and takes as long.

        Without the engine; may be done again in the same life, whose modules then are no longer fresh.
        """
        self._dice = _dice(seed)
        self.seen = self._blank(self.seen.witness, [])

        def reached(command: Command) -> None:
            if goes_along:
                self.session.clock.move_to(command.at_ms + self._start_ms - START_MS)

        event = {
            "timestamp": Date(START_MS),
            "payload": decode(encode(self.subject.params, over_rpc=True)),
            "instanceId": self.subject.instance_id,
            "workflowName": self.subject.spec.name,
        }
        work = self.session.loop.create_task(self.watched_run(event, ReplayedStep(self.seen.script, past, reached)))
        self.run(traced=True)
        work.add_done_callback(lambda task: task.cancelled() or task.exception())
        self.session.settle()
        return self.seen

    def _is_over(self, until: Callable[[], bool] | None) -> bool:
        if any(len(command.attempts) >= MOST_ATTEMPTS for command in self.seen.script.commands[-10:]):
            self.seen.ended = "stopped"
        return bool(self.seen.ended) or (until is not None and until())


def _dice(seed: str | Random) -> Random:
    return Random(seed) if isinstance(seed, str) else seed


def last_line(error: JsError) -> str:
    """What was raised, without the traceback."""
    lines = [line for line in error.message.splitlines() if line.strip()]
    return lines[-1].strip() if error.name == "PythonError" and lines else str(error)
