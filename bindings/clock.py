"""Time, handed down. Everything that waits (sleeps, delays, TTLs, cron, a Worker's timers) is an entry of one Clock.

`RealClock` follows the machine's wall clock; `VirtualClock` stands still until it is moved, or jumps to the next entry
when its owner says that everything is idle.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import Context
from typing import Any

_LONGEST_WAIT_S = 60.0
"""A host timer follows the monotonic clock; waking this often lets entries follow the wall clock (a laptop's sleep)."""


_FEW_ENTRIES = 1_000
"""From here on a heap that has doubled is cleared of cancelled entries: most are cancelled long before they are due."""


class Timer:
    """An entry of a clock; `cancel()` makes it never fire.

    For who moves time until all is done: `recurring` entries never bring work to an end, they come again and again or
    only clear up (schedules, retention); `durable` ones are waits that outlive the process (a workflow's sleeps and
    waits for events, messages that are delayed). All others belong to work in progress.
    """

    __slots__ = ("args", "callback", "durable", "recurring", "when_ms")

    def __init__(
        self, when_ms: float, callback: Callable[..., object], args: tuple[Any, ...], recurring: bool, durable: bool
    ) -> None:
        self.when_ms = when_ms
        self.callback: Callable[..., object] | None = callback
        self.args = args
        self.recurring = recurring
        self.durable = durable

    def cancel(self) -> None:
        self.callback = None
        self.args = ()

    @property
    def cancelled(self) -> bool:
        return self.callback is None

    def is_work(self, *, durable: bool) -> bool:
        return self.callback is not None and not self.recurring and (durable or not self.durable)


class Clock:
    """The shared part: a heap of entries, and the tasks that engines run on the host's loop.

    `outside` counts the operations beyond the loop (in a thread, on a socket) whose end will make a callback ready;
    `named` has those of them that have a name, for who asks what is being waited for.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._heap: list[tuple[float, int, Timer]] = []
        self._order = itertools.count()
        self._crowded = _FEW_ENTRIES
        self._tasks: set[asyncio.Task[Any]] = set()
        self.outside = 0
        self.named: Counter[str] = Counter()

    def now_ms(self) -> float:
        """Milliseconds since the Unix epoch."""
        raise NotImplementedError

    def call_at(
        self,
        when_ms: float,
        callback: Callable[..., object],
        *args: Any,
        recurring: bool = False,
        durable: bool = False,
    ) -> Timer:
        """Call `callback(*args)` on the host's loop when the clock reaches `when_ms`; never before returning."""
        timer = Timer(when_ms, callback, args, recurring, durable)
        heapq.heappush(self._heap, (when_ms, next(self._order), timer))
        if len(self._heap) > self._crowded:
            self._drop_cancelled()
        self._arm()
        return timer

    def call_later(self, delay_ms: float, callback: Callable[..., object], *args: Any) -> Timer:
        return self.call_at(self.now_ms() + max(0.0, delay_ms), callback, *args)

    async def sleep_until(self, when_ms: float) -> None:
        future: asyncio.Future[None] = self.loop.create_future()
        timer = self.call_at(when_ms, _wake, future)
        try:
            await future
        finally:
            timer.cancel()

    async def sleep(self, delay_ms: float) -> None:
        await self.sleep_until(self.now_ms() + max(0.0, delay_ms))

    def spawn(self, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """Run an engine's work on the host's loop, kept alive until it ends; its failure is the caller's to read."""
        task = self.loop.create_task(work, name=name, context=Context())  # not that of the event that caused it
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    @contextmanager
    def operation_outside(self) -> Iterator[None]:
        """While the block waits, all is not idle."""
        self.outside += 1
        try:
            yield
        finally:
            self.outside -= 1

    @contextmanager
    def operation_inside(self) -> Iterator[None]:
        """While the block runs, an operation outside that waits for it does not count."""
        counted = int(self.outside > 0)
        self.outside -= counted
        try:
            yield
        finally:
            self.outside += counted

    def is_idle_outside(self) -> bool:
        """Whether nothing is under way beyond the loop (an operation may end while what it waited for goes on)."""
        return self.outside <= 0

    def next_ms(self) -> float | None:
        """When the next entry is due, or None."""
        while self._heap and self._heap[0][2].cancelled:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def next_work_ms(self, *, durable: bool = True) -> float | None:
        """When the next entry is due that isn't `recurring` (nor `durable`, on request), or None."""
        due_ms = self.next_ms()
        if due_ms is None or self._heap[0][2].is_work(durable=durable):
            return due_ms
        return min((timer.when_ms for *_, timer in self._heap if timer.is_work(durable=durable)), default=None)

    def _drop_cancelled(self) -> None:
        self._heap = [entry for entry in self._heap if not entry[2].cancelled]
        heapq.heapify(self._heap)
        self._crowded = max(_FEW_ENTRIES, 2 * len(self._heap))

    def _arm(self) -> None:
        """Called when an entry was added; the real clock sets its host timer."""

    def _fire_due(self, now_ms: float) -> int:
        fired = 0
        while (due_ms := self.next_ms()) is not None and due_ms <= now_ms:
            timer = heapq.heappop(self._heap)[2]
            callback, args = timer.callback, timer.args
            timer.cancel()
            if callback is not None:
                callback(*args)
                fired += 1
        return fired


class RealClock(Clock):
    """The machine's wall clock."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self._handle: asyncio.TimerHandle | None = None
        self._armed_ms = float("inf")

    def now_ms(self) -> float:
        return time.time() * 1000  # noqa: TID251

    def _arm(self) -> None:
        due_ms = self.next_ms()
        if due_ms is None or due_ms >= self._armed_ms:
            return
        if self._handle is not None:
            self._handle.cancel()
        self._armed_ms = due_ms
        delay_s = min(max(0.0, (due_ms - self.now_ms()) / 1000), _LONGEST_WAIT_S)
        self._handle = self.loop.call_later(delay_s, self._wake, context=Context())

    def _wake(self) -> None:
        self._handle = None
        self._armed_ms = float("inf")
        try:
            self._fire_due(self.now_ms())
        finally:
            self._arm()


class VirtualClock(Clock):
    """A clock for tests: it moves only when told to."""

    def __init__(self, loop: asyncio.AbstractEventLoop, start_ms: float = 1_767_225_600_000.0) -> None:
        super().__init__(loop)
        self.start_ms = start_ms  # 2026-01-01T00:00:00Z unless said
        self._now_ms = start_ms

    def now_ms(self) -> float:
        return self._now_ms

    async def advance(self, delta_ms: float) -> None:
        """Move by `delta_ms`, firing entries in order and letting the loop settle after each instant."""
        end_ms = self._now_ms + delta_ms
        await self.settle()
        while (due_ms := self.next_ms()) is not None and due_ms <= end_ms:
            self.move_to(due_ms)
            await self.settle()
        self._now_ms = end_ms

    def move_to(self, when_ms: float) -> None:
        """Move there (never back), and fire what is due."""
        self._now_ms = max(self._now_ms, when_ms)
        self._fire_due(self._now_ms)

    async def settle(self, rounds: int = 50) -> None:
        """Let ready callbacks run. In-process engines do no outside I/O, so a fixed number of rounds is enough."""
        for _ in range(rounds):
            future: asyncio.Future[None] = self.loop.create_future()
            self.loop.call_soon(_wake, future)
            await future


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
