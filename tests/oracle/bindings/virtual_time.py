"""The engines' time for the JavaScript Worker: it waits by asking a server here, and time moves when all wait.

What runs in workerd has the machine's time; a Worker that is to see another has to ask for it.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, TypeVar

from flarebed.bindings.clock import VirtualClock

T = TypeVar("T")

LOOK_S: Final = 0.001
"""Of real time, between two looks whether all wait."""


@asynccontextmanager
async def server(clock: VirtualClock) -> AsyncIterator[int]:
    """The port where `GET /<seconds>` is answered, after so long, by the time in milliseconds."""

    connections: dict[asyncio.StreamWriter, asyncio.Task[None] | None] = {}

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections[writer] = asyncio.current_task()
        try:
            while request := await reader.readuntil(b"\r\n\r\n"):
                delay_ms = float(request.split()[1].removeprefix(b"/")) * 1000
                if delay_ms:
                    clock.outside -= 1  # who waits here holds nobody up
                    await clock.sleep(delay_ms)
                    clock.outside += 1
                now = b"%d" % math.floor(clock.now_ms())
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(now), now))
        except asyncio.IncompleteReadError:
            pass

    listening = await asyncio.start_server(connected, "127.0.0.1", 0)
    try:
        yield listening.sockets[0].getsockname()[1]
    finally:
        listening.close()
        for writer, task in connections.items():
            writer.close()
            if task is not None:
                await task


async def finished(clock: VirtualClock, work: asyncio.Future[T]) -> T:
    """Move time, from timer to timer, whenever nothing else is under way, until `work` is done."""
    while not work.done():
        await asyncio.wait([work], timeout=LOOK_S)
        if not clock.outside:
            await clock.settle()
            due_ms = clock.next_ms()
            if not clock.outside and not work.done() and due_ms is not None:
                clock.move_to(due_ms)
    return work.result()
