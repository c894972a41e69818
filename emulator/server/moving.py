"""Moves the virtual clock of a Worker that is being served: from one entry to the next, as soon as all is idle.

All that a Worker and its engines do is a callback of the process's loop, an entry of the clock, or an operation outside
that is counted (`Clock.outside`). The loop is asyncio's own, whose queue of ready callbacks can be looked at: when this
code runs and nothing else is in the queue, nothing is left to do at this instant.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import Final

from flarebed.bindings.clock import VirtualClock

_OUTSIDE_POLL_S: Final = 0.001

LONGEST_MS: Final = 366 * 86_400_000.0
"""How far `run_until_idle` goes: work may make new work for ever, and no sleep of a Workflow is longer.

https://developers.cloudflare.com/workflows/reference/limits/
"""


class Mover:
    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock
        self._loop = clock.loop
        self._moving = asyncio.Lock()
        self._stopped = False

    async def run_until(self, end_ms: float) -> bool:
        """Do all that is due until then, in its order; False if `stop` came before the end."""
        async with self._moving:
            if not await self._run_while_due(end_ms):
                return False
            self.clock.move_to(end_ms)
            return True

    async def run_until_idle(self, end_ms: float) -> bool:
        """Go on until no work is left that waits for its time, at most until `end_ms`; what recurs is no work."""
        async with self._moving:
            return await self._run_while_due(end_ms, self.is_idle)

    def stop(self) -> None:
        """Another process takes over: time stands still here from now on."""
        self._stopped = True

    def is_idle(self) -> bool:
        return self.clock.next_work_ms() is None

    async def _run_while_due(self, end_ms: float, is_enough: Callable[[], bool] = lambda: False) -> bool:
        await self._settle()
        while not self._stopped:
            due_ms = self.clock.next_ms()
            if due_ms is None or due_ms > max(end_ms, self.clock.now_ms()) or is_enough():
                return True
            self.clock.move_to(due_ms)
            await self._settle()
        return False

    async def _settle(self) -> None:
        """Until nothing is left to do at this instant, or never to be done here."""
        while not self._stopped:
            await self._turn()
            if self._loop._ready:  # type: ignore[attr-defined]
                continue
            if self.clock.is_idle_outside():
                return
            await self._turn(_OUTSIDE_POLL_S)

    async def _turn(self, delay_s: float = 0.0) -> None:
        woken: asyncio.Future[None] = self._loop.create_future()
        if delay_s:
            self._loop.call_later(delay_s, _wake, woken)
        else:
            self._loop.call_soon(_wake, woken)
        await woken


def parse_end(text: str, now_ms: float) -> float:
    """Milliseconds since the epoch, or "idle"; NaN for anything else."""
    if text == "idle":
        return now_ms + LONGEST_MS
    try:
        end_ms = float(text)
    except ValueError:
        return math.nan
    return end_ms if math.isfinite(end_ms) else math.nan


def _wake(woken: asyncio.Future[None]) -> None:
    if not woken.done():
        woken.set_result(None)
