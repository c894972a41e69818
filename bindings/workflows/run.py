"""One run of an instance in this process: whether it lives, what waits in it, and what it does about pause and events.

`step.py` has what `step.do`, `sleep` and `waitForEvent` do in a run. When a run is stopped (pause, terminate, restart,
another owner), all that waits in it is cancelled, and from then on it neither writes nor answers. CancelledError is no
Exception, so a Worker's `except Exception` does not swallow it.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, NoReturn

import apsw

from flarebed.bindings.clock import Clock, Timer
from flarebed.bindings.codec import decode, encode
from flarebed.bindings.values import Date, Function
from flarebed.bindings.workflows import history
from flarebed.bindings.workflows.journal import Journal, Recorded

TIMED_OUT: Final = object()
MAX_STORED_BYTES: Final = (1024 + 100) * 1024 * 1024
"""Of all results of an instance: workers-sdk packages/workflows-shared/src/lib/streams.ts, DO_STORAGE_LIMIT."""

RUNNING: Final = "running"
REPLAYING: Final = "replaying"  # only to learn the functions of rollbacks: nothing new is begun
ROLLING_BACK: Final = "rollingBack"


class Undo(NamedTuple):
    """What a step's rollback calls, and how often."""

    function: Function
    config: dict[str, Any]


@dataclass(frozen=True)
class Host:
    """What a run needs of the engine. `occupied` hears +1 and -1: whether that run does more than sleep and wait."""

    journal: Journal
    clock: Clock
    log: Callable[[str, str], None]
    step_limit: int
    occupied: Callable[[Run, int], None]


@dataclass(eq=False)
class Wait:
    """A `waitForEvent` in this run, which gets the encoded event, or TIMED_OUT after `until_ms`."""

    seq: int
    event_type: str
    until_ms: float
    future: asyncio.Future[Any] = field(repr=False)


class Run:
    """`key` is the instance's as long as it is not restarted."""

    def __init__(self, host: Host, key: int, instance_id: str, recorded: Recorded) -> None:
        self.host = host
        self.journal = host.journal
        self._loop = host.clock.loop
        self.key = key
        self.id = instance_id
        self.live = True
        self.phase = RUNNING
        self.undos: dict[str, Undo] = {}
        self.on_registered: Callable[[], object] = _nothing
        self.main: asyncio.Task[Any] | None = None
        self.outstanding: Callable[[], int] | None = None
        self.release: Callable[[], object] | None = None
        self.steps = 0
        self.room_bytes = MAX_STORED_BYTES - recorded.stored_bytes
        self._places = recorded.places
        self._last_seq = recorded.last_seq
        self._counts: Counter[tuple[str, str]] = Counter()
        self._pausing = False
        self._gates: list[asyncio.Future[Any]] = []
        self._waits: list[Wait] = []
        self._futures: set[asyncio.Future[Any]] = set()
        self._alarms: set[Timer] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._calling = 0
        self._idling = 0
        self._occupies = False
        self._account()

    # What the engine tells a run

    def deliver(self) -> None:
        """Events may have come: each goes to the wait for its type that is the oldest in this run."""
        for wait in list(self._waits):
            event = self.journal.next_event(self.key, wait.event_type, wait.until_ms)
            if event is None or wait.future.done():
                continue
            self._waits.remove(wait)
            sent = Date(event.sent_ms // 1)
            result = encode({"payload": decode(event.payload), "type": wait.event_type, "timestamp": sent})
            self.journal.deliver(event, self.key, wait.seq, self.next_seq(), result, self.now_ms())
            wait.future.set_result(result)

    def pause(self) -> None:
        """A pause is asked for: attempts in progress are waited for, no new one begins."""
        self._pausing = True
        self.settle()

    def unpause(self) -> None:
        """The pause was called off before it took place."""
        self._pausing = False
        gates, self._gates = self._gates, []
        for gate in gates:
            _resolve(gate)

    def stop(self) -> None:
        """Nothing of this run is written or answered from now on."""
        self.live = False
        self._account()
        for future in list(self._futures):
            future.cancel()
        self.cancel()

    def cancel(self) -> None:
        """End what the Worker still does on behalf of this run."""
        for task in self.tasks():
            task.cancel()

    def tasks(self) -> list[asyncio.Task[Any]]:
        """What of this run has not ended yet."""
        tasks = [*self._tasks] if self.main is None else [self.main, *self._tasks]
        return [task for task in tasks if not task.done()]

    # Whether it could as well be made anew later

    @property
    def length(self) -> int:
        """Entries of the journal that a replay goes through."""
        return self._last_seq

    def earliest_ms(self) -> float:
        """When something that the run waits for ends at the latest."""
        return min((timer.when_ms for timer in self._alarms), default=math.inf)

    def retry_ms(self) -> float:
        """When the last attempt that is put off begins, or 0: work in progress, unlike sleeps and waits for events."""
        return max((timer.when_ms for timer in self._alarms if not timer.durable), default=0.0)

    def only_waits(self) -> bool:
        """Whether nothing is under way, in the engine or in the Worker, but sleeps and waits that are not over."""
        if self.outstanding is None or not self.live or self._calling or self._pausing:
            return False
        waits = len(self._futures)
        return waits == self._idling == self.outstanding() and not any(future.done() for future in self._futures)

    # What steps ask of a run

    def check(self) -> None:
        if not self.live:
            raise asyncio.CancelledError

    def give_up(self) -> asyncio.CancelledError:
        """The journal says that this run is over: stop, and raise what is returned."""
        self.stop()
        return asyncio.CancelledError()

    def now_ms(self) -> float:
        return self.host.clock.now_ms()

    def next_count(self, kind: str, name: str) -> int:
        self._counts[kind, name] += 1
        return self._counts[kind, name]

    def register(self, label: str, undo: Undo) -> None:
        """The rollback of the step `label`. It is in memory only: a replay tells it again."""
        self.undos.setdefault(label, undo)
        self.on_registered()

    def find(self, kind: str, name: str, count: int) -> history.Step | None:
        seq = self._places.get((kind, name, count))
        return None if seq is None else self.journal.step(self.key, seq)

    def next_seq(self) -> int:
        """The place of what begins or ends now, among all of the instance's steps."""
        self._last_seq += 1
        return self._last_seq

    async def commit(self) -> None:
        """What became of a step is on disk before run() goes on; a pause that waited for it takes place."""
        self.settle()
        await self.journal.durable()
        self.check()

    @contextmanager
    def unless_lost(self) -> Iterator[None]:
        """If what is written in the block can't be (a full disk), the run is over: run() must not see it fail."""
        try:
            yield
        except apsw.Error:
            raise self.give_up() from None

    def settle(self) -> None:
        if self._pausing and self.journal.settle_pause(self.key, self.now_ms()):
            self.stop()

    async def until_unpaused(self) -> None:
        """For a new attempt that the journal refused: wait if a pause is asked for, otherwise the run is over."""
        if self.journal.status(self.key) != "waitingForPause":
            raise self.give_up()
        self.pause()
        self.check()
        gate = self._loop.create_future()
        self._gates.append(gate)
        await self._hold(gate)
        self.check()

    async def never(self) -> NoReturn:
        """For what a replay has no outcome of."""
        with self._idle():
            await self._hold(self._loop.create_future())
        raise asyncio.CancelledError

    async def idle_until(self, wake_ms: float, *, durable: bool = False) -> None:
        if wake_ms > self.now_ms():
            future = self._loop.create_future()
            with self._alarm(wake_ms, future, None, durable=durable), self._idle():
                await self._hold(future)
            self.check()

    async def event(self, seq: int, event_type: str, until_ms: float) -> Any:
        """The encoded event that wait `seq` got, or TIMED_OUT."""
        wait = Wait(seq, event_type, until_ms, self._loop.create_future())
        self._waits.append(wait)
        self.deliver()
        if until_ms <= self.now_ms():
            _resolve(wait.future, TIMED_OUT)
        try:
            with self._alarm(until_ms, wait.future, TIMED_OUT, durable=True), self._idle():
                return await self._hold(wait.future)
        finally:
            if wait in self._waits:
                self._waits.remove(wait)

    async def call(self, function: Function, argument: Any, timeout_ms: float) -> Any:
        """What the Worker's `function` returns, or TIMED_OUT: it goes on then, but nobody listens to it."""
        self.check()
        task = self._loop.create_task(function(argument))
        self._tasks.add(task)
        settled = self._loop.create_future()
        task.add_done_callback(lambda _: self._called(task, settled))
        timer = self.host.clock.call_later(timeout_ms, _resolve, settled)
        self._calling += 1
        self._account()
        try:
            await settled
        finally:
            timer.cancel()
            self._calling -= 1
            self._account()
        self.check()
        return task.result() if task.done() else TIMED_OUT

    def _called(self, task: asyncio.Task[Any], settled: asyncio.Future[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # seen here, should it come too late for anyone else
        _resolve(settled)

    async def _hold(self, future: asyncio.Future[Any]) -> Any:
        """Await what `stop` cancels."""
        self._futures.add(future)
        try:
            return await future
        finally:
            self._futures.discard(future)

    @contextmanager
    def _alarm(self, when_ms: float, future: asyncio.Future[Any], result: object, *, durable: bool) -> Iterator[None]:
        timer = self.host.clock.call_at(when_ms, _resolve, future, result, durable=durable)
        self._alarms.add(timer)
        try:
            yield
        finally:
            self._alarms.discard(timer)
            timer.cancel()

    @contextmanager
    def _idle(self) -> Iterator[None]:
        self._idling += 1
        self._account()
        try:
            yield
        finally:
            self._idling -= 1
            self._account()

    def _account(self) -> None:
        occupies = self.live and (self._calling > 0 or self._idling == 0)
        if occupies != self._occupies:
            self._occupies = occupies
            self.host.occupied(self, 1 if occupies else -1)


def _resolve(future: asyncio.Future[Any], result: object = None) -> None:
    if not future.done():
        future.set_result(result)


def _nothing() -> None:
    """For who does not listen."""
