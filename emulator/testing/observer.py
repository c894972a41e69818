"""Between the engines and the Worker of a test: mocks, faults, and what became of steps.

A Dispatch around the Worker's. What it changes of a step happens inside the engine's own step, so that the journal has
it as it has any other: attempts, errors, wake times, results.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, cast

from flarebed.bindings.dispatch import Dispatch
from flarebed.bindings.errors import JsError
from flarebed.bindings.queues.binding import QueueController, delivery_of
from flarebed.bindings.queues.verdict import Verdict
from flarebed.bindings.values import UNDEFINED
from flarebed.bindings.workflows import errors
from flarebed.bindings.workflows.binding import JsRpcStub
from flarebed.bindings.workflows.run import TIMED_OUT, Run
from flarebed.emulator.testing.crossing import as_result
from flarebed.emulator.testing.mocks import Step, TimedOut, WorkflowInstanceModifier

Instance = tuple[str, str]
"""A workflow's name and an instance's id."""
ThrownBy = Callable[[Exception], JsError]
"""What a Worker would throw for a test's exception."""


@dataclass
class StepFault:
    """`times` attempts of a step fail, whichever instance makes them; `after`: when the step has done its work."""

    workflow: str
    step: Step
    error: Exception
    times: int
    after: bool


@dataclass
class Watched:
    """A workflow whose new instances are all introspected. `known` are those that were there before."""

    known: frozenset[Instance]
    modify: WorkflowInstanceModifier = field(default_factory=WorkflowInstanceModifier)
    instances: list[str] = field(default_factory=list)


class Observer:
    """One for each test, whatever sessions it goes through. `send` delivers an event to an instance."""

    def __init__(self, send: Callable[[Instance, str, Any], Awaitable[None]]) -> None:
        self._send = send
        self.mocks: dict[Instance, WorkflowInstanceModifier] = {}
        self.watched: dict[str, Watched] = {}
        self.faults: list[StepFault] = []
        self.twice: Counter[str] = Counter()
        self.outcomes: dict[Instance, dict[Step, Any]] = {}
        """Of each `do` that has ended: what it gave, or the JsError that it raised."""

    def around(self, dispatch: Dispatch, thrown_by: ThrownBy) -> Dispatch:
        return _Observed(self, dispatch, thrown_by)

    async def begin(self, instance: Instance) -> WorkflowInstanceModifier:
        """A run begins; what is to change in it."""
        workflow, instance_id = instance
        watched = self.watched.get(workflow)
        if watched is not None and instance not in watched.known and instance_id not in watched.instances:
            watched.instances.append(instance_id)
            self.mocks.setdefault(instance, WorkflowInstanceModifier()).add(watched.modify)
        self.outcomes.setdefault(instance, {})
        modify = self.mocks.get(instance)
        if modify is None:
            return WorkflowInstanceModifier()
        events, modify.events = modify.events, []
        for event_type, payload in events:
            await self._send(instance, event_type, payload)
        return modify

    def fault(self, workflow: str, step: Step, *, after: bool) -> Exception | None:
        for fault in self.faults:
            if (fault.workflow, fault.step, fault.after) == (workflow, step, after) and fault.times > 0:
                fault.times -= 1
                return fault.error
        return None

    def has_fault(self, workflow: str, step: Step) -> bool:
        return any((fault.workflow, fault.step) == (workflow, step) for fault in self.faults)


class _Observed:
    """Dispatch, observed."""

    def __init__(self, observer: Observer, worker: Dispatch, thrown_by: ThrownBy) -> None:
        self._observer = observer
        self._worker = worker
        self._thrown_by = thrown_by

    async def queue(self, batch: Any) -> None:
        if self._observer.twice[batch.queue] > 0:
            self._observer.twice[batch.queue] -= 1
            delivered = delivery_of(batch)
            await self._worker.queue(QueueController(*delivered._replace(verdict=Verdict(lambda _: None))))
            again = [message._replace(attempts=message.attempts + 1) for message in delivered.messages]
            batch = QueueController(*delivered._replace(messages=again))
        await self._worker.queue(batch)

    async def run_workflow(self, class_name: str, event: Any, step: Any) -> Any:
        instance = event["workflowName"], event["instanceId"]
        modify = await self._observer.begin(instance)
        steps = _Steps(step._run, self._observer, instance, modify, self._thrown_by)
        return await self._worker.run_workflow(class_name, event, steps)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._worker, name)

    def workflow_classes(self) -> frozenset[str]:
        return self._worker.workflow_classes()


class _Steps(JsRpcStub):
    """The `step` of a run whose instance may be mocked."""

    def __init__(
        self,
        run: Run,
        observer: Observer,
        instance: Instance,
        modify: WorkflowInstanceModifier,
        thrown_by: ThrownBy,
    ) -> None:
        super().__init__(run)
        self._thrown_by = thrown_by
        self._observer = observer
        self._instance = instance
        self._modify = modify
        self._counts: Counter[tuple[str, str]] = Counter()

    async def do(self, *arguments: Any) -> Any:  # whatever the engine takes
        step = self._next("do", arguments)
        at_once = self._modify.skips_delay(step)
        parts = [self._interposed(step, part) if callable(part) else part for part in arguments[:3]]
        outcomes = self._observer.outcomes[self._instance]
        try:
            result = await self._stub(at_once).do(*parts, *arguments[3:])
        except JsError as error:
            outcomes[step] = error
            raise
        outcomes[step] = result
        return result

    async def sleep(self, name: Any = UNDEFINED, *rest: Any) -> Any:
        at_once = self._modify.skips_sleep(self._next("sleep", (name,)))
        return await self._stub(at_once).sleep(name, *rest)

    async def sleepUntil(self, name: Any = UNDEFINED, *rest: Any) -> Any:
        at_once = self._modify.skips_sleep(self._next("sleep", (name,)))
        return await self._stub(at_once).sleepUntil(name, *rest)

    async def waitForEvent(self, name: Any = UNDEFINED, *rest: Any) -> Any:
        at_once = self._modify.times_out(self._next("wait", (name,)))
        return await self._stub(at_once).waitForEvent(name, *rest)

    def _next(self, kind: str, arguments: tuple[Any, ...]) -> Step:
        name = str(arguments[0]) if arguments else ""
        self._counts[kind, name] += 1
        return name, self._counts[kind, name]

    def _stub(self, at_once: bool) -> JsRpcStub:
        return JsRpcStub(cast("Run", _Impatient(self._run)) if at_once else self._run)

    def _interposed(self, step: Step, callback: Callable[..., Any]) -> Callable[..., Any]:
        workflow = self._instance[0]
        if not (self._modify.touches(step) or self._observer.has_fault(workflow, step)):
            return callback

        async def attempt(context: Any) -> Any:
            failure = self._modify.failure(step, context["attempt"])
            if isinstance(failure, TimedOut):
                raise errors.timed_out(0)
            failure = failure or self._observer.fault(workflow, step, after=False)
            if failure is not None:
                raise self._thrown_by(failure)
            if self._modify.has_result(step):
                return as_result(self._modify.result(step))
            result = await callback(context)
            if (failure := self._observer.fault(workflow, step, after=True)) is not None:
                raise self._thrown_by(failure)
            return result

        return attempt


_Steps.__name__ = JsRpcStub.__name__  # a Worker sees the name of its class


class _Impatient:
    """A run, for a step whose waits are over at once. What it writes is the run's: wake times are recorded as ever."""

    def __init__(self, run: Run) -> None:
        object.__setattr__(self, "_whole", run)

    async def idle_until(self, wake_ms: float, **_options: Any) -> None:
        self._whole.check()

    async def event(self, seq: int, event_type: str, until_ms: float) -> Any:
        return TIMED_OUT

    def __getattr__(self, name: str) -> Any:
        return getattr(self._whole, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._whole, name, value)
