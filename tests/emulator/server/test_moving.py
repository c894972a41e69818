"""Virtual time of a served Worker: it moves when it is told to, and the answer comes when all is done."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest

from flarebed.bindings.clock import VirtualClock
from flarebed.emulator.runtime.python.js.work import turn_of
from flarebed.emulator.server.moving import LONGEST_MS, Mover
from tests.emulator.server.asking import BROWSER, Exchange, FakeWorker, Headers, ask
from tests.support import run

START_MS = 1_767_225_600_000.0
HOUR_MS = 3_600_000.0


def moving(check: Callable[[Mover, list[float]], Any]) -> None:
    """Within a running loop; the list is for hours since the start."""

    async def within() -> None:
        await check(Mover(VirtualClock(asyncio.get_running_loop())), [])

    run(within())


def test_each_entry_has_its_instant_and_all_that_it_sets_off() -> None:
    async def check(mover: Mover, seen: list[float]) -> None:
        clock = mover.clock

        async def work() -> None:
            for _ in range(3):
                await clock.sleep(HOUR_MS)
                for _ in range(200):  # turns of the loop in which nothing waits for the clock
                    await turn_of(clock.loop)
                seen.append((clock.now_ms() - START_MS) / HOUR_MS)

        clock.spawn(work(), "work")
        assert await mover.run_until(START_MS + 2.5 * HOUR_MS)
        assert (seen, clock.now_ms()) == ([1, 2], START_MS + 2.5 * HOUR_MS)
        assert await mover.run_until_idle(START_MS + LONGEST_MS)
        assert (seen, clock.now_ms(), mover.is_idle()) == ([1, 2, 3], START_MS + 3 * HOUR_MS, True)

    moving(check)


def test_what_goes_on_outside_is_waited_for() -> None:
    async def check(mover: Mover, seen: list[float]) -> None:
        clock, may_end = mover.clock, threading.Event()

        async def work() -> None:
            await clock.sleep(HOUR_MS)
            clock.loop.call_later(0.003, may_end.set)
            with clock.operation_outside():
                await asyncio.to_thread(may_end.wait)
            seen.append((clock.now_ms() - START_MS) / HOUR_MS)

        clock.spawn(work(), "work")
        await mover.run_until(START_MS + 5 * HOUR_MS)
        assert seen == [1]

    moving(check)


def test_idle_is_when_only_what_recurs_is_left_and_a_year_at_most() -> None:
    async def check(mover: Mover, seen: list[float]) -> None:
        clock = mover.clock

        def recur() -> None:
            seen.append((clock.now_ms() - START_MS) / HOUR_MS)
            clock.call_at(clock.now_ms() + HOUR_MS, recur, recurring=True)

        recur()
        clock.call_later(2.5 * HOUR_MS, lambda: None)
        assert await mover.run_until_idle(START_MS + LONGEST_MS)
        assert (seen, clock.now_ms()) == ([0, 1, 2], START_MS + 2.5 * HOUR_MS)

        def work() -> None:
            clock.call_later(100 * HOUR_MS, work)

        work()
        assert await mover.run_until_idle(clock.now_ms() + 250 * HOUR_MS)
        assert (clock.now_ms() - START_MS, mover.is_idle()) == (252 * HOUR_MS, False)

    moving(check)


def test_told_to_stop_it_stays_where_it_is() -> None:
    async def check(mover: Mover, seen: list[float]) -> None:
        clock = mover.clock
        clock.call_later(HOUR_MS, mover.stop)
        clock.call_later(2 * HOUR_MS, seen.append, 2)
        assert not await mover.run_until(START_MS + 9 * HOUR_MS)
        assert (seen, clock.now_ms()) == ([], START_MS + HOUR_MS)

    moving(check)


def test_two_moves_are_made_one_after_the_other() -> None:
    async def check(mover: Mover, seen: list[float]) -> None:
        clock = mover.clock
        for hour in (1, 2, 3):
            clock.call_later(hour * HOUR_MS, lambda: seen.append((clock.now_ms() - START_MS) / HOUR_MS))
        await asyncio.gather(mover.run_until(START_MS + 3 * HOUR_MS), mover.run_until(START_MS + HOUR_MS))
        assert (seen, clock.now_ms()) == ([1, 2, 3], START_MS + 3 * HOUR_MS)

    moving(check)


def clock_route(query: str = "", method: str = "POST", headers: Headers = BROWSER) -> Exchange:
    return run(ask(FakeWorker(), f"/cdn-cgi/local/clock{query}", method=method, headers=headers))


def test_the_route_tells_and_moves() -> None:
    now = {"now_ms": START_MS, "end_ms": START_MS, "done": True, "idle": True}
    assert json.loads(clock_route(method="GET").body) == now
    assert json.loads(clock_route("?by=1000", "GET").body) == now | {"end_ms": START_MS + 1000}
    moved = now | {"now_ms": START_MS + 1000, "end_ms": START_MS + 1000}
    assert json.loads(clock_route("?by=1000.0").body) == moved
    assert json.loads(clock_route(f"?to={START_MS + 1000!r}").body) == moved
    assert json.loads(clock_route("?to=idle").body) == now | {"end_ms": START_MS + LONGEST_MS}


def test_time_ends_where_datetime_does() -> None:
    exchange = clock_route("?by=253402300799999")
    assert (exchange.status, exchange.body) == (400, b"That is later than the year 9999, which is as far as time goes.")


@pytest.mark.parametrize("query", ["?by=-1", "?by=x", "?to=x", "?to=nan", "?to=inf", "?to=0"])
def test_time_only_goes_forward(query: str) -> None:
    refusal = b"The time is 2026-01-01T00:00:00.000Z already: it only goes forward."
    exchange = clock_route(query)
    assert (exchange.status, exchange.body) == (400, refusal)


def test_a_foreign_page_moves_nothing() -> None:
    exchange = clock_route("?by=1", headers=[*BROWSER, (b"origin", b"https://evil.example")])
    assert (exchange.status, exchange.body) == (403, b"Invalid Origin header")


def test_the_machines_time_can_not_be_moved() -> None:
    exchange = run(ask(FakeWorker(), "/cdn-cgi/local/clock?by=1", method="POST", on_real_time=True))
    assert (exchange.status, exchange.body) == (409, b"The clock is not virtual.")
