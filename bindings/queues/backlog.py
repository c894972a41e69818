"""The messages of one queue, as a Worker knows them. Producers append, the consumer leases and settles; `api.py` has
the SQL of those who look on from outside.

`messages` is a line: a message joins behind `tail`, a delivery takes the next ones behind `head`, so a delivery is a
range of places and costs no write per message. What is behind the head is in delivery; `deliveries` has its ranges, and
what a killed process leaves there is a failed attempt. Delayed messages (new or retried) wait beside the line and join
it when they are due, so many at a time. Any process may append; only the owner leases.

No message is held in memory but those in delivery, and none has a timer.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import apsw

from flarebed.bindings.clock import Clock
from flarebed.bindings.store import Database

RETENTION_MS: Final = 4 * 86_400_000
"""https://developers.cloudflare.com/queues/configuration/configure-queues/#queue-configuration"""
APPEARING_AT_ONCE: Final = 200
"""A hundred thousand messages may become due together, and the loop has other work."""

COLUMNS: Final = "id, content_type, enqueued_ms, expires_ms, attempts, body"
_TYPES: Final = """
id TEXT NOT NULL, content_type TEXT NOT NULL, enqueued_ms INTEGER NOT NULL, expires_ms INTEGER NOT NULL,
attempts INTEGER NOT NULL, body BLOB NOT NULL
"""
SCHEMA: Final = f"""
CREATE TABLE IF NOT EXISTS messages (place INTEGER PRIMARY KEY, {_TYPES});
CREATE TABLE IF NOT EXISTS delayed (number INTEGER PRIMARY KEY, visible_ms INTEGER NOT NULL, {_TYPES});
CREATE INDEX IF NOT EXISTS appearing ON delayed (visible_ms);
CREATE INDEX IF NOT EXISTS retried ON delayed (attempts) WHERE attempts > 0;
CREATE TABLE IF NOT EXISTS deliveries (first INTEGER PRIMARY KEY, last INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS line (
  head INTEGER NOT NULL, tail INTEGER NOT NULL, bytes INTEGER NOT NULL, paused INTEGER NOT NULL DEFAULT 0
);
INSERT INTO line (head, tail, bytes) SELECT 0, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM line)
"""
_LOOK: Final = """
SELECT (SELECT min(visible_ms) FROM delayed),
(SELECT expires_ms FROM messages WHERE place > head ORDER BY place LIMIT 1), paused, tail - head, bytes,
(SELECT enqueued_ms FROM messages WHERE place > head ORDER BY place LIMIT 1) FROM line
"""
_HEAD_AND_TAIL: Final = "SELECT head, tail FROM line"
_JOIN: Final = f"INSERT INTO messages (place, {COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)"
_LENGTHEN: Final = "UPDATE line SET tail = tail + ?, bytes = bytes + ?"
_SHORTEN: Final = "UPDATE line SET head = head + ?, bytes = bytes - ?"
_DELAY: Final = f"INSERT INTO delayed (visible_ms, {COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)"
_DUE: Final = "FROM delayed WHERE visible_ms <= ? ORDER BY visible_ms, number LIMIT ?"
_DUE_SIZE: Final = f"SELECT count(*), ifnull(sum(length(body)), 0) FROM (SELECT body {_DUE})"
_APPEAR: Final = f"""
INSERT INTO messages (place, {COLUMNS})
SELECT (SELECT tail FROM line) + row_number() OVER (ORDER BY visible_ms, number), {COLUMNS} FROM (SELECT * {_DUE})
"""
_APPEARED: Final = f"DELETE FROM delayed WHERE number IN (SELECT number {_DUE})"
_EXPIRE: Final = """
DELETE FROM messages WHERE place > (SELECT head FROM line) AND place < ifnull((
  SELECT place FROM messages, line WHERE place > head AND expires_ms > ? ORDER BY place LIMIT 1
), (SELECT tail + 1 FROM line)) RETURNING length(body)
"""
_TAKE: Final = f"SELECT place, {COLUMNS} FROM messages WHERE place > ? ORDER BY place LIMIT ?"
_DELIVER: Final = "INSERT INTO deliveries VALUES (?, ?)"
_DELIVERIES: Final = "SELECT first, last FROM deliveries ORDER BY first"
_DELIVERED: Final = "DELETE FROM deliveries WHERE first = ? RETURNING last"
_NEXT: Final = "SELECT place FROM messages, line WHERE place > head ORDER BY place LIMIT ?"
_PERMUTE: Final = "UPDATE messages SET place = -? WHERE place = ?"
_PERMUTED: Final = "UPDATE messages SET place = -place WHERE place < 0"
_REMOVE: Final = "DELETE FROM messages WHERE place BETWEEN ? AND ?"
_RETRIES: Final = "SELECT EXISTS (SELECT 1 FROM delayed WHERE attempts > 0)"
_KNOWN: Final = """
WITH asked AS (SELECT value FROM json_each(?))
SELECT id FROM messages WHERE id IN asked UNION ALL SELECT id FROM delayed WHERE id IN asked
"""
_STATS: Final = """
SELECT tail - head, (SELECT count(*) FROM delayed), (SELECT count(*) FROM messages WHERE place <= head) FROM line
"""


class Outgoing(NamedTuple):
    """A message to send: its serialized body and its delay."""

    content_type: str
    body: bytes
    delay_s: int


class Message(NamedTuple):
    """A stored message; `attempts` are the deliveries that failed."""

    id: str
    content_type: str
    enqueued_ms: int
    expires_ms: int
    attempts: int
    body: bytes


class Lease(NamedTuple):
    """A delivery: the messages from place `first` on. Places are never used again."""

    first: int
    messages: list[Message]


class Metrics(NamedTuple):
    """Of the messages that are ready; `oldest_ms` is when the first of them was sent, or None."""

    messages: int
    bytes: int
    oldest_ms: int | None


class Look(NamedTuple):
    """`visible_ms` is when the next delayed message is due, or None; `paused`: nothing is to be delivered."""

    metrics: Metrics
    visible_ms: int | None
    paused: bool


class Stats(NamedTuple):
    ready: int
    delayed: int
    in_delivery: int


class Backlog:
    """One queue's messages. What a method writes survives kill -9 when `committed()` resolves, and is as safe as it is
    to be when `durable()` does."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def append(self, outgoing: Sequence[Outgoing]) -> Metrics:
        """Returns the metrics before these messages."""
        now_ms = self._now_ms()
        ids = os.urandom(16 * len(outgoing)).hex()
        messages = [
            Message(ids[32 * index : 32 * index + 32], content_type, now_ms, now_ms + RETENTION_MS, 0, body)
            for index, (content_type, body, _) in enumerate(outgoing)
        ]
        before = self.metrics()
        with self._database.write() as connection:
            self._join_or_delay(connection, messages, [delay_s for _, _, delay_s in outgoing])
        return before

    def take_over(self, messages: Sequence[Message]) -> None:
        """Take over messages of another queue: same id and timestamp, no attempts, four days to live."""
        expires_ms = self._now_ms() + RETENTION_MS
        with self._database.write() as connection:
            _join(connection, [message._replace(attempts=0, expires_ms=expires_ms) for message in messages])

    def absent(self, messages: Sequence[Message]) -> list[Message]:
        """Those that are not in this queue, nor in delivery from it."""
        known = {name for (name,) in self._database.read(_KNOWN, (json.dumps([message.id for message in messages]),))}
        return [message for message in messages if message.id not in known]

    def metrics(self) -> Metrics:
        return self.look().metrics

    def look(self) -> Look:
        """How it stands, after what is old has gone and the next of what is due have appeared."""
        now_ms = self._now_ms()
        visible_ms, expires_ms, paused, *metrics = self._read_line()
        if visible_ms is not None and visible_ms <= now_ms:
            self._appear(now_ms)
            visible_ms, expires_ms, paused, *metrics = self._read_line()
        if expires_ms is not None and expires_ms <= now_ms:
            self._expire(now_ms)
            visible_ms, expires_ms, paused, *metrics = self._read_line()
        return Look(Metrics._make(metrics), visible_ms, bool(paused))

    def has_retries(self) -> bool:
        """Whether a message waits for its next attempt."""
        return bool(self._database.read(_RETRIES)[0][0])

    def lease(self, most: int) -> Lease:
        """Take up to `most` of the ready messages, of which there must be one, for a delivery."""
        with self._database.write() as connection:
            ((head, _),) = connection.execute(_HEAD_AND_TAIL)
            lease = _lease(connection.execute(_TAKE, (head, most)).fetchall())
            count = len(lease.messages)
            connection.execute(_DELIVER, (lease.first, lease.first + count - 1))
            connection.execute(_SHORTEN, (count, _size(lease.messages)))
        return lease

    def shuffle(self, most: int, entropy: random.Random) -> None:
        """Put the next `most` of the ready messages in another order."""
        with self._database.write() as connection:
            places = [place for (place,) in connection.execute(_NEXT, (most,))]
            connection.executemany(_PERMUTE, zip(entropy.sample(places, len(places)), places, strict=True))
            connection.execute(_PERMUTED)

    def leases(self) -> list[Lease]:
        """All that is in delivery; after a crash, what the dead process left."""
        return [
            _lease(self._database.read(_TAKE, (first - 1, last - first + 1)))
            for first, last in self._database.read(_DELIVERIES)
        ]

    def settle(self, lease: Lease, retries: Sequence[tuple[Message, float]]) -> None:
        """End a delivery: `retries` come again after so many seconds, the others are gone. One transaction."""
        with self._database.write() as connection:
            for (last,) in connection.execute(_DELIVERED, (lease.first,)).fetchall():
                again = [message._replace(attempts=message.attempts + 1) for message, _ in retries]
                self._join_or_delay(connection, again, [delay_s for _, delay_s in retries])
                connection.execute(_REMOVE, (lease.first, last))

    def stats(self) -> Stats:
        self.look()
        return Stats._make(self._database.read(_STATS)[0])

    def committed(self) -> asyncio.Future[None]:
        return self._database.committed()

    def durable(self) -> asyncio.Future[None]:
        return self._database.durable()

    def _join_or_delay(
        self, connection: apsw.Connection, messages: Sequence[Message], delays_s: Sequence[float]
    ) -> None:
        now_ms = self._now_ms()
        pairs = list(zip(messages, delays_s, strict=True))
        _join(connection, [message for message, delay_s in pairs if delay_s <= 0])
        delayed = [(now_ms + int(delay_s * 1000), *message) for message, delay_s in pairs if delay_s > 0]
        connection.executemany(_DELAY, delayed)

    def _read_line(self) -> tuple[Any, ...]:
        return self._database.read(_LOOK)[0]

    def _appear(self, now_ms: int) -> None:
        due = now_ms, APPEARING_AT_ONCE
        with self._database.write() as connection:
            ((count, size),) = connection.execute(_DUE_SIZE, due)
            connection.execute(_APPEAR, due)
            connection.execute(_APPEARED, due)
            connection.execute(_LENGTHEN, (count, size))

    def _expire(self, now_ms: int) -> None:
        with self._database.write() as connection:
            sizes = [size for (size,) in connection.execute(_EXPIRE, (now_ms,))]
            connection.execute(_SHORTEN, (len(sizes), sum(sizes)))

    def _now_ms(self) -> int:
        return int(self._clock.now_ms())


def _join(connection: apsw.Connection, messages: Sequence[Message]) -> None:
    if not messages:
        return
    ((_, tail),) = connection.execute(_HEAD_AND_TAIL)
    connection.executemany(_JOIN, [(place, *message) for place, message in enumerate(messages, tail + 1)])
    connection.execute(_LENGTHEN, (len(messages), _size(messages)))


def _size(messages: Sequence[Message]) -> int:
    return sum(len(message.body) for message in messages)


def _lease(rows: Sequence[tuple[Any, ...]]) -> Lease:
    return Lease(rows[0][0], [Message._make(row[1:]) for row in rows])
