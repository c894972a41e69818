"""Runs that only wait: how long they stay in memory, and who wakes what is no longer there.

As in production an instance that has waited for five minutes hibernates (one with a long journal later): its run is
dropped without a trace, and made anew from the journal when its wake time or an event has come. Until then all of them
together cost one entry of the clock. Beyond a thousand waiting runs in memory those that have waited
longest hibernate sooner.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

from flarebed.bindings.clock import Clock, Timer
from flarebed.bindings.workflows.journal import Journal
from flarebed.bindings.workflows.run import Run

GRACE_MS = 300_000
"""ENGINE_TIMEOUT of workers-sdk packages/workflows-shared/src/lib/gracePeriodSemaphore.ts."""

MAX_RESTING = 1_000
LONG_RUN = 20
"""Entries of the journal; a longer run stays in proportion: making it anew costs that much more, and a loop that sleeps
again and again would be made anew as often as it has steps."""

SHORT_WAIT_MS = 10_000
"""A run that goes on sooner stays in memory: a replay would cost more than it holds."""


class Hibernation:
    """`on_woken` hears that instances have been queued."""

    def __init__(self, journal: Journal, clock: Clock, on_woken: Callable[[], None]) -> None:
        self._journal = journal
        self._clock = clock
        self._on_woken = on_woken
        self._resting: dict[Run, float] = {}  # until when
        self._grace: Timer | None = None
        self._alarm: Timer | None = None
        self._crowded = False
        self._retries_until_ms = 0.0

    def rest(self, run: Run) -> None:
        """Nothing happens in the run but that it waits. One that can't be asked what is under way stays in memory."""
        if not run.live or run.outstanding is None:
            return
        self._keep(run)
        if len(self._resting) > MAX_RESTING and not self._crowded:
            self._crowded = True
            self._clock.loop.call_soon(self._make_room)

    def rise(self, run: Run) -> None:
        self._resting.pop(run, None)

    def wake(self) -> None:
        """Queue the instances whose time has come, and be called again when that of the next one has."""
        if self._journal.wake_due(self._clock.now_ms()):
            self._on_woken()
        self._set_alarm()

    def stop(self) -> None:
        self._resting.clear()
        for timer in (self._grace, self._alarm):
            if timer is not None:
                timer.cancel()
        self._grace = self._alarm = None

    def _set_alarm(self) -> None:
        due_ms = self._journal.next_wake_ms()
        if self._alarm is not None:
            if self._alarm.when_ms == due_ms and not self._alarm.cancelled:
                return
            self._alarm.cancel()
        if due_ms is None:
            self._alarm = None
        else:  # until the last retry has come, time has to pass anyway for who waits for work to end
            self._alarm = self._clock.call_at(due_ms, self.wake, durable=due_ms > self._retries_until_ms)

    def _keep(self, run: Run) -> None:
        """In memory, for a while."""
        until_ms = self._resting[run] = self._clock.now_ms() + GRACE_MS * max(1.0, run.length / LONG_RUN)
        if self._grace is None or until_ms < self._grace.when_ms:
            self._await_grace(until_ms)

    def _await_grace(self, until_ms: float | None) -> None:
        if self._grace is not None:
            self._grace.cancel()
        self._grace = None if until_ms is None else self._clock.call_at(until_ms, self._grace_over, recurring=True)

    def _grace_over(self) -> None:
        now_ms = self._clock.now_ms()
        over = [run for run, until_ms in self._resting.items() if until_ms <= now_ms]
        self._await_grace(min((until_ms for until_ms in self._resting.values() if until_ms > now_ms), default=None))
        self._hibernate(over)

    def _make_room(self) -> None:
        """Those that stay, since they go on soon or are not idle, go to the end: others are looked at next time."""
        self._crowded = False
        surplus = len(self._resting) - MAX_RESTING
        from_ms = self._clock.now_ms() + SHORT_WAIT_MS
        first = [(run, self._resting.pop(run)) for run in list(itertools.islice(self._resting, max(0, surplus)))]
        self._resting.update(first)
        self._hibernate([run for run, _ in first if run.earliest_ms() >= from_ms])

    def _hibernate(self, runs: list[Run]) -> None:
        for run in runs:
            self.rise(run)
            wake_ms, retry_ms = run.earliest_ms(), run.retry_ms()
            if run.only_waits() and self._journal.hibernate(run.key, wake_ms):
                self._retries_until_ms = max(self._retries_until_ms, retry_ms)
                run.stop()
            elif run.live:
                self._keep(run)
        if runs:
            self._set_alarm()
