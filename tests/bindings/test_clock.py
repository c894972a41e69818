"""The clock's heap of entries."""

from __future__ import annotations

import asyncio

from flarebed.bindings.clock import VirtualClock
from tests.support import run


def test_cancelled_entries_do_not_pile_up_and_the_others_fire_in_order() -> None:
    async def check() -> None:
        clock = VirtualClock(asyncio.get_running_loop(), 0)
        fired: list[int] = []
        for number in range(5_000):
            clock.call_at(600_000, fired.append, -1).cancel()
            if number % 1_000 == 0:
                clock.call_at(5_000 - number, fired.append, number)
        assert len(clock._heap) <= 1_001
        await clock.advance(700_000)
        assert fired == [4_000, 3_000, 2_000, 1_000, 0]

    run(check())


def test_work_is_told_from_what_recurs_and_from_durable_waits() -> None:
    async def check() -> None:
        clock = VirtualClock(asyncio.get_running_loop(), 0)
        clock.call_at(1, print, recurring=True)
        assert (clock.next_ms(), clock.next_work_ms()) == (1, None)
        clock.call_at(2, print, durable=True)
        assert (clock.next_work_ms(), clock.next_work_ms(durable=False)) == (2, None)
        work = clock.call_at(3, print)
        assert (clock.next_work_ms(), clock.next_work_ms(durable=False)) == (2, 3)
        work.cancel()
        assert clock.next_work_ms(durable=False) is None

    run(check())
