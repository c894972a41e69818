"""The `schedules` of a workflow: crons that create an instance at each of their instants, while this process owns it.

https://developers.cloudflare.com/workflows/build/trigger-workflows/#schedule-a-workflow-directly. The journal says up
to when each schedule has been dealt with, in the transaction that creates the instance, so none is created twice. What
was due while nothing ran is not made up for, but for the last minute: a reload or a restart loses no instant.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from flarebed.bindings.clock import Clock, Timer
from flarebed.bindings.codec import encode
from flarebed.bindings.cron import Cron
from flarebed.bindings.workflows.journal import Journal

MADE_UP_FOR_MS = 60_000


class Schedules:
    """`on_created` hears that an instance is queued."""

    def __init__(self, crons: Sequence[str], journal: Journal, clock: Clock, on_created: Callable[[], None]) -> None:
        self._crons = [Cron(text) for text in dict.fromkeys(crons)]
        self._journal = journal
        self._clock = clock
        self._on_created = on_created
        self._timers: dict[str, Timer] = {}

    def start(self) -> None:
        for cron in self._crons:
            self._turn(cron)

    def stop(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def _turn(self, cron: Cron) -> None:
        """Create what is due, and be called again for the next."""
        now_ms = self._clock.now_ms()
        until_ms = self._journal.scheduled_until_ms(cron.text)
        until_ms = now_ms if until_ms is None else max(until_ms, now_ms - MADE_UP_FOR_MS)
        next_ms = cron.next_ms(until_ms)
        if next_ms is not None and next_ms <= now_ms:
            self._create(cron, next_ms, now_ms)
            next_ms = cron.next_ms(now_ms)
        self._journal.set_scheduled_until(cron.text, max(until_ms, now_ms))
        if next_ms is not None:
            self._timers[cron.text] = self._clock.call_at(next_ms, self._turn, cron, recurring=True)

    def _create(self, cron: Cron, scheduled_ms: float, now_ms: float) -> None:
        """Its id is made of both (workers-sdk packages/workflows-shared/tests/binding.test.ts has some)."""
        schedule = {"cron": cron.text, "scheduledTime": int(scheduled_ms)}
        params = encode({}, over_rpc=True)
        self._journal.create(f"{cron.text}-{int(scheduled_ms)}", params, now_ms, schedule=json.dumps(schedule))
        self._on_created()
