"""The part of the journal about what happens in an instance: its steps, and the events that were sent to it."""

from __future__ import annotations

import asyncio
import json
from typing import Any, NamedTuple

from flarebed.bindings.errors import JsError
from flarebed.bindings.store import Database

SCHEMA = """
CREATE TABLE IF NOT EXISTS steps (
    instance INTEGER NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, count INTEGER NOT NULL,
    state TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, wake_ms REAL, config BLOB, event_type TEXT,
    result BLOB, error TEXT, started_ms REAL NOT NULL, attempt_ms REAL, ended_ms REAL, end_seq INTEGER,
    failures TEXT NOT NULL DEFAULT '[]',
    PRIMARY KEY (instance, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS events (
    seq INTEGER PRIMARY KEY, instance INTEGER NOT NULL, type TEXT NOT NULL, payload BLOB NOT NULL, sent_ms REAL NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS events_in_order ON events (instance, type, seq)
"""

OPEN = "open"  # a sleep or a wait that is not over
ATTEMPTING = "attempting"  # a callback is running, in the process that owns the instance
INTERRUPTED = "interrupted"  # that process ended before the callback did
DELAYED = "delayed"  # the next attempt is made at wake_ms
DONE = "done"
FAILED = "failed"

_WITH_FAILURE = """iif(state = 'delayed', failures,
    json_insert(failures, '$[#]', json_insert(json(?), '$.start_ms', attempt_ms)))"""
"""One entry for each failed attempt, whose end may be written twice: before and after its delay is known."""


class Step(NamedTuple):
    """A step as recorded. `wake_ms`: when a sleep ends, a wait times out, the next attempt is due."""

    seq: int
    state: str
    attempts: int
    wake_ms: float | None
    config: bytes | None
    result: bytes | None
    error: str | None


class Event(NamedTuple):
    seq: int
    payload: bytes
    sent_ms: float


class Output(NamedTuple):
    """What a finished `do` returned, or the event that a wait got."""

    kind: str
    result: bytes
    config: bytes | None


class History:
    """One sequence numbers both where an instance's steps begin (`seq`) and where they end (`end_seq`)."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def durable(self) -> asyncio.Future[None]:
        return self._db.durable()

    def _has_changed(self, sql: str, parameters: tuple[Any, ...]) -> bool:
        """Execute; whether a row was written (which RETURNING would say too, at the cost of the statement itself)."""
        self._db.execute(sql, parameters)
        return self._db.connection.changes() > 0

    def step(self, key: int, seq: int) -> Step:
        rows = self._db.read(
            "SELECT seq, state, attempts, wake_ms, config, result, error FROM steps WHERE instance = ? AND seq = ?",
            (key, seq),
        )
        return Step(*rows[0])

    def start_step(self, key: int, seq: int, name: str, count: int, config: bytes | None, now_ms: float) -> bool:
        """The first attempt of a `do` begins; False if the instance is not running. No `config`: the defaults."""
        return self._has_changed(
            "INSERT INTO steps (instance, seq, kind, name, count, state, attempts, config, started_ms, attempt_ms)"
            " SELECT key, ?, 'do', ?, ?, 'attempting', 1, ?, ?, ? FROM instances WHERE key = ? AND status = 'running'",
            (seq, name, count, config, now_ms, now_ms, key),
        )

    def start_attempt(self, key: int, seq: int, now_ms: float) -> bool:
        """A further attempt begins; False if the instance is not running."""
        return self._has_changed(
            "UPDATE steps SET state = 'attempting', attempts = attempts + 1, wake_ms = NULL, attempt_ms = ?"
            " WHERE instance = ? AND seq = ? AND (SELECT status FROM instances WHERE key = ?) = 'running'",
            (now_ms, key, seq, key),
        )

    def delay(self, key: int, seq: int, error: JsError, wake_ms: float, now_ms: float) -> None:
        """An attempt failed, and the next one is due at `wake_ms`. May be said again with another time."""
        self._db.execute(
            f"UPDATE steps SET failures = {_WITH_FAILURE}, state = 'delayed', wake_ms = ?"
            " WHERE instance = ? AND seq = ?",
            (_failure(error, now_ms), wake_ms, key, seq),
        )

    def fail(self, key: int, seq: int, error: JsError, now_ms: float) -> None:
        """A step failed for good; run() sees `error` now and whenever it is replayed."""
        self._db.execute(
            f"UPDATE steps SET failures = {_WITH_FAILURE}, state = 'failed', error = ?,"
            " wake_ms = NULL, ended_ms = ? WHERE instance = ? AND seq = ?",
            (_failure(error, now_ms), json.dumps({"name": error.name, "message": error.message}), now_ms, key, seq),
        )

    def finish(self, key: int, seq: int, end_seq: int, result: bytes | None, now_ms: float) -> None:
        """A step is done; with that its wake-up is gone."""
        self._db.execute(
            "UPDATE steps SET state = 'done', result = ?, wake_ms = NULL, ended_ms = ?, end_seq = ?"
            " WHERE instance = ? AND seq = ?",
            (result, now_ms, end_seq, key, seq),
        )

    def open_wait(
        self,
        key: int,
        seq: int,
        kind: str,
        name: str,
        count: int,
        wake_ms: float,
        now_ms: float,
        event_type: str | None,
    ) -> bool:
        """A sleep or a wait for an event begins; False if the instance has been stopped."""
        return self._has_changed(
            "INSERT INTO steps (instance, seq, kind, name, count, state, wake_ms, event_type, started_ms)"
            " SELECT key, ?, ?, ?, ?, 'open', ?, ?, ? FROM instances"
            " WHERE key = ? AND status IN ('running', 'waitingForPause')",
            (seq, kind, name, count, wake_ms, event_type, now_ms, key),
        )

    # What became of them

    def is_waiting(self, key: int) -> bool:
        """Whether all that the instance does is to sleep or to wait for events."""
        rows = self._db.read(
            "SELECT count(*) FILTER (WHERE state = 'open'), count(*) FILTER (WHERE state = 'attempting') FROM steps"
            " WHERE instance = ?",
            (key,),
        )
        return bool(rows[0][0] and not rows[0][1])

    def outputs(self, key: int) -> list[Output]:
        """In the order in which they came."""
        rows = self._db.read(
            "SELECT kind, result, config FROM steps WHERE instance = ? AND state = 'done' AND result IS NOT NULL"
            " ORDER BY end_seq",
            (key,),
        )
        return [Output(*row) for row in rows]

    # Events

    def add_event(self, key: int, event_type: str, payload: bytes, now_ms: float) -> None:
        self._db.execute(
            "INSERT INTO events (instance, type, payload, sent_ms) VALUES (?, ?, ?, ?)",
            (key, event_type, payload, now_ms),
        )

    def next_event(self, key: int, event_type: str, until_ms: float) -> Event | None:
        """The oldest event of a type that nobody has got, if it was sent in time."""
        rows = self._db.read(
            "SELECT seq, payload, sent_ms FROM events WHERE instance = ? AND type = ? ORDER BY seq LIMIT 1",
            (key, event_type),
        )
        return Event(*rows[0]) if rows and rows[0][2] <= until_ms else None

    def deliver(self, event: Event, key: int, seq: int, end_seq: int, result: bytes, now_ms: float) -> None:
        """`event` is a wait's `result`, and no one else's."""
        with self._db.write() as connection:
            connection.execute("DELETE FROM events WHERE seq = ?", (event.seq,))
            self.finish(key, seq, end_seq, result, now_ms)


def _failure(error: JsError, now_ms: float) -> str:
    return json.dumps({"end_ms": now_ms, "name": error.name, "message": error.message})
