"""When a request counts for the clock, among several that nothing tells apart."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from tests.support import run

from flarebed.bindings.clock import VirtualClock
from flarebed.emulator.runtime.http import IncomingRequest
from flarebed.emulator.runtime.workerd.endings import Endings
from flarebed.emulator.runtime.workerd.host import Adapter, Asked


class Wiring:
    """Takes the adapter that hears of the ends."""

    def __init__(self) -> None:
        self.control: list[Any] = []
        self.adapter: Adapter | None = None

    def external(self, kind: str, name: str, adapter: Adapter) -> str:
        self.adapter = adapter
        return kind

    async def ends(self, *names: str) -> None:
        async def body() -> AsyncIterator[bytes]:
            yield json.dumps(names).encode()

        assert self.adapter is not None
        await self.adapter(Asked("POST", "/", {}, {}, body()))


def asked() -> IncomingRequest:
    return IncomingRequest("GET", "http://a/", [])


def test_an_answered_request_counts_until_it_is_over() -> None:
    async def main() -> None:
        clock, wiring = VirtualClock(asyncio.get_running_loop()), Wiring()
        endings = Endings(clock)
        endings.watch(wiring)  # type: ignore[arg-type]
        with endings.of(asked()):
            assert clock.outside == 0  # who waits for the answer counts
        assert clock.outside == 1
        await wiring.ends("GET http://a/")
        assert clock.outside == 0

    run(main())


def test_of_several_alike_the_answered_one_is_over() -> None:
    """The other may wait for time to move, which it does not as long as anything counts."""

    async def main() -> None:
        clock, wiring = VirtualClock(asyncio.get_running_loop()), Wiring()
        endings = Endings(clock)
        endings.watch(wiring)  # type: ignore[arg-type]
        waiting = endings.of(asked())
        waiting.__enter__()
        with endings.of(asked()):
            pass
        await wiring.ends("GET http://a/")
        assert clock.outside == 0
        waiting.__exit__(None, None, None)
        assert clock.outside == 1
        await wiring.ends("GET http://a/")
        assert clock.outside == 0

    run(main())


def test_what_a_lost_workerd_had_does_not_count() -> None:
    async def main() -> None:
        clock, wiring = VirtualClock(asyncio.get_running_loop()), Wiring()
        endings = Endings(clock)
        endings.watch(wiring)  # type: ignore[arg-type]
        with endings.of(asked()):
            pass
        endings.all_ended()
        assert (clock.outside, +clock.named) == (0, {})

    run(main())
