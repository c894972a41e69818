"""Queues to test with: a Worker whose handler is a function, and what it was given."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from flarebed.bindings.errors import JsError
from flarebed.bindings.kind import Modes
from flarebed.bindings.queues import engine
from flarebed.bindings.queues.binding import QueueController, WorkerQueue
from flarebed.bindings.queues.engine import QueueSpec
from flarebed.bindings.queues.spec import QueueConsumerSpec, QueueProducerSpec
from tests.support import Bench

Handler = Callable[[QueueController], Awaitable[None] | None]

PLAIN_ERRORS = frozenset({"queues_json_messages"})


class Worker:
    """Its `queue` handler is `handler`; `batches` are (queue, bodies, attempts of the first message)."""

    def __init__(self) -> None:
        self.handler: Handler = lambda batch: None
        self.batches: list[tuple[str, list[Any], int]] = []
        self.running = 0
        self.most_running = 0

    async def queue(self, batch: QueueController) -> None:
        bodies = [message.body for message in batch.messages]
        self.batches.append((batch.queue, bodies, batch.messages[0].attempts))
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            work = self.handler(batch)
            if work is not None:
                await work
        finally:
            self.running -= 1


class QueueBench(Bench):
    """`send` is the binding of queue "q", which `spec` consumes (nobody, without one)."""

    def __init__(self, root: Path, *specs: QueueSpec, flags: frozenset[str] | None = None, **modes: Any) -> None:
        chosen = {} if flags is None else {"flags": flags}
        super().__init__(root, Worker(), modes=Modes(**modes), **chosen)
        self.worker: Worker = self.dispatch
        self.resources = engine.open((QueueProducerSpec("Q", "q"), *specs), self.around)
        self.q = self.producer("Q")

    def producer(self, binding: str) -> WorkerQueue:
        found = self.resources.bindings()[binding]
        assert isinstance(found, WorkerQueue)
        return found

    async def send(self, *bodies: Any) -> None:
        for body in bodies:
            await self.q.send(body)
        await self.clock.settle()

    def said(self, *levels: str) -> list[str]:
        """The log lines of these levels, so far."""
        return [text for level, text in self.logged if level in levels]

    async def close(self) -> None:
        await self.resources.disown()
        self.store.close()

    async def die(self) -> None:
        """What kill -9 leaves: nothing of this process runs any more, and what was committed is there."""
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        self.store.close()
        await self.clock.settle(2)


async def error_of(call: Awaitable[Any]) -> str:
    """What `call` throws, as "Name: message"."""
    try:
        await call
    except JsError as error:
        return str(error)
    return "nothing"


def consumer(**settings: Any) -> QueueConsumerSpec:
    return QueueConsumerSpec(**{"queue": "q", **settings})
