"""A queue from outside of a Worker: what the command line, or any other tool, sees of it and does to it.

Any process may do so, beside the one that delivers: that one hears of it at its doorbell, and reads the same file.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from flarebed.bindings.kind import Surroundings
from flarebed.bindings.queues.backlog import COLUMNS, SCHEMA, Backlog, Message, Metrics
from flarebed.bindings.queues.binding import WorkerQueue
from flarebed.bindings.queues.body import JSON_MESSAGES
from flarebed.bindings.queues.service import Service

State = Literal["ready", "delayed", "in flight"]

MOVED_AT_ONCE: Final = 100
"""So many messages are in memory while they go to another queue, and both queues are locked for so long."""

_COUNTS: Final = """
SELECT tail - head + (SELECT count(*) FROM delayed WHERE visible_ms <= :now_ms),
(SELECT count(*) FROM delayed WHERE visible_ms > :now_ms),
(SELECT count(*) FROM messages WHERE place <= head) FROM line
"""
_PEEK: Final[dict[State, tuple[str, ...]]] = {
    "ready": (
        f"SELECT NULL, {COLUMNS} FROM messages, line WHERE place > head ORDER BY place LIMIT :most",
        f"SELECT NULL, {COLUMNS} FROM delayed WHERE visible_ms <= :now_ms ORDER BY visible_ms, number LIMIT :most",
    ),
    "delayed": (
        f"SELECT visible_ms, {COLUMNS} FROM delayed WHERE visible_ms > :now_ms ORDER BY visible_ms, number LIMIT :most",
    ),
    "in flight": (f"SELECT NULL, {COLUMNS} FROM messages, line WHERE place <= head ORDER BY place LIMIT :most",),
}
_PAUSE: Final = "UPDATE line SET paused = ?"
_FORGET: Final = """
DELETE FROM messages WHERE place > (SELECT head FROM line);
DELETE FROM delayed;
UPDATE line SET head = tail, bytes = 0
"""
_WAITING: Final = """
WITH asked AS (SELECT value FROM json_each(?))
SELECT id FROM messages, line WHERE place > head AND id IN asked UNION ALL SELECT id FROM delayed WHERE id IN asked
"""
_FIRST: Final = f"SELECT place, {COLUMNS} FROM messages, line WHERE place > head ORDER BY place LIMIT ?"
_TAKE: Final = "DELETE FROM messages WHERE place BETWEEN ? AND ?"
_TAKEN: Final = "UPDATE line SET head = ?, bytes = bytes - ?"
_FIRST_DELAYED: Final = f"SELECT number, {COLUMNS} FROM delayed ORDER BY visible_ms, number LIMIT ?"
_TAKE_DELAYED: Final = "DELETE FROM delayed WHERE number = ?"


@dataclass(frozen=True)
class Counts:
    """`metrics` are what a Worker is told."""

    ready: int
    delayed: int
    in_flight: int
    metrics: Metrics
    paused: bool


@dataclass(frozen=True)
class Peeked:
    """`visible_ms` is when it is delivered at the earliest, if it is delayed."""

    message: Message
    state: State
    visible_ms: int | None

    @property
    def attempts(self) -> int:
        """Deliveries so far."""
        return self.message.attempts + (self.state == "in flight")


class QueueApi:
    """What it writes is on disk when its coroutines return."""

    def __init__(self, queue: str, around: Surroundings) -> None:
        self.queue = queue
        self._around = around
        self._database = around.store.database("queues", queue, SCHEMA)
        self._backlog = Backlog(self._database, around.clock)

    def counts(self) -> Counts:
        metrics, _, paused = self._backlog.look()
        ((ready, delayed, in_flight),) = self._database.read(_COUNTS, {"now_ms": self._now_ms()})
        return Counts(ready, delayed, in_flight, metrics, paused)

    def peek(self, state: State, most: int) -> list[Peeked]:
        """The first ones, in the order in which they are delivered. Nothing becomes of it."""
        found: list[Peeked] = []
        for sql in _PEEK[state]:
            rows = self._database.read(sql, {"most": most - len(found), "now_ms": self._now_ms()})
            found += [Peeked(Message._make(columns), state, visible_ms) for visible_ms, *columns in rows]
        return found

    async def send(self, body: Any, content_type: str, delay_s: int) -> None:
        """Raises JsError, as the binding does, with the service's reasons."""
        service = Service(self._backlog, self._announce, lambda _: None, is_opaque=False)
        queue = WorkerQueue(service, frozenset({JSON_MESSAGES}))
        await queue.send(body, {"contentType": content_type, "delaySeconds": delay_s})

    async def set_paused(self, paused: bool) -> None:
        """A paused queue takes messages and delivers none; a batch that is being handled ends as ever."""
        self._database.execute(_PAUSE, (int(paused),))
        await self._written()

    async def purge(self) -> None:
        """Delete what is ready or delayed. What is in flight ends as its consumer says."""
        with self._database.write() as connection:
            connection.execute(_FORGET)
        await self._written()

    async def redrive(self, target: QueueApi, most: int) -> int:
        """Move up to `most` messages to `target`, where they are new: no attempts, four days to live."""
        moved = 0
        while moved < most:
            count = self._move(target, min(most - moved, MOVED_AT_ONCE))
            if not count:
                break
            moved += count
            await self._written()
            target._announce()
        return moved

    def _move(self, target: QueueApi, most: int) -> int:
        """They are on disk there before they leave here, and here nobody takes them meanwhile: a crash between loses
        none, and the next redrive leaves out what still waits there. What was delivered in between comes once more."""
        with self._database.write() as connection:
            ready = connection.execute(_FIRST, (most,)).fetchall()
            rows = ready or connection.execute(_FIRST_DELAYED, (most,)).fetchall()
            messages = [Message._make(columns) for _, *columns in rows]
            target._take_over(messages)
            if ready:
                first, last = ready[0][0], ready[-1][0]
                connection.execute(_TAKE, (first, last))
                connection.execute(_TAKEN, (last, sum(len(message.body) for message in messages)))
            else:
                connection.executemany(_TAKE_DELAYED, [(number,) for number, *_ in rows])
        return len(rows)

    def _take_over(self, messages: Sequence[Message]) -> None:
        """One in flight doesn't count as being here: it may just have died here, and leaves with its delivery."""
        ids = json.dumps([message.id for message in messages])
        waiting = {name for (name,) in self._database.read(_WAITING, (ids,))}
        if missing := [message for message in messages if message.id not in waiting]:
            self._backlog.take_over(missing)
            committed = self._database.committed()
            self._database.flush()
            committed.result()

    async def _written(self) -> None:
        await self._backlog.durable()
        self._announce()

    def _announce(self) -> None:
        self._around.store.announce("queues", self.queue)

    def _now_ms(self) -> int:
        return int(self._around.clock.now_ms())
