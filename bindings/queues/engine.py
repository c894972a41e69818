"""Queues: the producers of a Worker, and the consumers that this process runs while it owns the state folder.

A message goes from `binding.WorkerQueue` into a `Backlog` (one SQLite file per queue), from there through a `Consumer`
to the Worker's `queue` handler. A queue that nobody consumes keeps its messages for four days.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from flarebed.bindings.kind import Surroundings
from flarebed.bindings.queues.backlog import SCHEMA, Backlog
from flarebed.bindings.queues.binding import WorkerQueue
from flarebed.bindings.queues.consumer import Consumer
from flarebed.bindings.queues.errors import EXPOSE_ERROR_CODES
from flarebed.bindings.queues.service import Service
from flarebed.bindings.queues.spec import QueueConsumerSpec, QueueProducerSpec

QueueSpec = QueueProducerSpec | QueueConsumerSpec


class QueueResources:
    """The queues that one Worker sends to or consumes."""

    def __init__(self, specs: Sequence[QueueSpec], around: Surroundings) -> None:
        self._around = around
        self._backlogs: dict[str, Backlog] = {}
        self._consumers = {spec.queue: self._consumer(spec) for spec in specs if isinstance(spec, QueueConsumerSpec)}
        self._bindings = {spec.binding: self._producer(spec) for spec in specs if isinstance(spec, QueueProducerSpec)}

    def bindings(self) -> Mapping[str, object]:
        return self._bindings

    def claims(self) -> Sequence[str]:
        return list(self._consumers)

    async def own(self) -> None:
        for consumer in self._consumers.values():
            await consumer.start()

    async def disown(self) -> None:
        await asyncio.gather(*(consumer.stop() for consumer in self._consumers.values()))

    def ring(self, resource: str) -> None:
        if resource in self._consumers:
            self._consumers[resource].poke()

    def backlog(self, queue: str) -> Backlog:
        """The messages of a queue, whether this Worker has to do with it or not."""
        if queue not in self._backlogs:
            self._backlogs[queue] = Backlog(self._around.store.database("queues", queue, SCHEMA), self._around.clock)
        return self._backlogs[queue]

    def _producer(self, spec: QueueProducerSpec) -> WorkerQueue:
        def warn(text: str) -> None:
            self._around.log("warn", f'Queue "{spec.queue}": {text}')

        flags = self._around.flags
        is_opaque = EXPOSE_ERROR_CODES in flags
        service = Service(self.backlog(spec.queue), self._written(spec.queue), warn, is_opaque=is_opaque)
        return WorkerQueue(service, flags)

    def _consumer(self, spec: QueueConsumerSpec) -> Consumer:
        dead_letters = None if spec.dead_letter_queue is None else self.backlog(spec.dead_letter_queue)
        buried = self._written(spec.dead_letter_queue or "")
        return Consumer(spec, self._around, self.backlog(spec.queue), dead_letters, buried)

    def _written(self, queue: str) -> Callable[[], None]:
        """What to call when messages were committed to `queue`: wakes its consumer, here or in another process."""

        def written() -> None:
            consumer = self._consumers.get(queue)
            if consumer is not None and consumer.owned:
                consumer.poke()
            else:
                self._around.store.announce("queues", queue)

        return written


def open(specs: Sequence[QueueSpec], around: Surroundings) -> QueueResources:
    return QueueResources(specs, around)
