"""The part of the journal about what happens in an instance: its steps, and the events that were sent to it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, NamedTuple

from flarebed.bindings.errors import InternalError, JsError
from flarebed.bindings.store import Database

SCHEMA = """
CREATE TABLE IF NOT EXISTS steps (
    instance INTEGER NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, count INTEGER NOT NULL,
    state TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, wake_ms REAL, config BLOB, event_type TEXT,
    result BLOB, error TEXT, started_ms REAL NOT NULL, attempt_ms REAL, ended_ms REAL, end_seq INTEGER,
    failures TEXT NOT NULL DEFAULT '[]', has_rollback INTEGER NOT NULL DEFAULT 0, attempt_seq INTEGER,
    duration_ms REAL,
    PRIMARY KEY (instance, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS events (
    seq INTEGER PRIMARY KEY, instance INTEGER NOT NULL, type TEXT NOT NULL, payload BLOB NOT NULL, sent_ms REAL NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS events_in_order ON events (instance, type, seq);
CREATE TABLE IF NOT EXISTS chunks (
    id INTEGER PRIMARY KEY, instance INTEGER NOT NULL, step INTEGER NOT NULL, attempt INTEGER NOT NULL,
    number INTEGER NOT NULL, chunk BLOB NOT NULL, UNIQUE (instance, step, attempt, number)
) STRICT;
CREATE TRIGGER IF NOT EXISTS forget_chunks AFTER DELETE ON steps BEGIN
    DELETE FROM chunks WHERE instance = old.instance AND step = old.seq;
END;
CREATE TRIGGER IF NOT EXISTS move_chunks AFTER UPDATE OF instance ON steps BEGIN
    UPDATE chunks SET instance = new.instance WHERE instance = old.instance AND step = old.seq;
END;
CREATE TABLE IF NOT EXISTS marks (
    instance INTEGER NOT NULL, id INTEGER NOT NULL, type TEXT NOT NULL, at_ms REAL NOT NULL, PRIMARY KEY (instance, id)
) STRICT, WITHOUT ROWID
"""

OPEN = "open"  # a sleep or a wait that is not over
ATTEMPTING = "attempting"  # a callback is running, in the process that owns the instance
INTERRUPTED = "interrupted"  # that process ended before the callback did
DELAYED = "delayed"  # the next attempt is made at wake_ms
DONE = "done"
FAILED = "failed"

_DURING = {"do": "running", "rollback": "rollingBack"}
"""What an instance is at while attempts of a kind are made."""

_WITH_FAILURE = """iif(state = 'delayed',
    json_set(failures, '$[#-1].delay_ms', :delay_ms),
    json_insert(failures, '$[#]', json_insert(
        json(:failure), '$.start_ms', attempt_ms, '$.start_seq', attempt_seq, '$.delay_ms', :delay_ms)))"""
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


class Stage(NamedTuple):
    """All that is recorded of a step, its `nth` of that name. `wake_ms` is as in Step.

    `failures`: JSON, `{start_ms, end_ms, name, message}` and more of each failed attempt.
    """

    seq: int
    kind: str
    name: str
    nth: int
    state: str
    attempts: int
    wake_ms: float | None
    config: bytes | None
    event_type: str | None
    result: bytes | None
    error: str | None
    started_ms: float
    attempt_ms: float | None
    attempt_seq: int | None
    ended_ms: float | None
    end_seq: int | None
    failures: str
    duration_ms: float | None


class Mark(NamedTuple):
    """A pause began or ended."""

    id: int
    type: str
    at_ms: float


class Event(NamedTuple):
    seq: int
    payload: bytes
    sent_ms: float


PLACE = 1_000
"""How many ids of events (in `timeline.py`) there are at each place of an instance's sequence: 0 and 1 are for what
ends and begins there, 2 and 3 for waiting after it, from 4 on come marks."""

LAST_SEQ = """(SELECT ifnull(max(max(
    seq, ifnull(end_seq, 0), ifnull(attempt_seq, 0), ifnull(failures ->> '$[#-1].end_seq', 0)
)), 0) FROM steps WHERE instance = key)"""
"""The last place of the sequence of instance `key` that is in use."""


class Output(NamedTuple):
    """What a finished `do` returned, or the event that a wait got."""

    seq: int
    kind: str
    result: bytes
    config: bytes | None


class History:
    """One sequence numbers both where an instance's steps begin (`seq`) and where they end (`end_seq`)."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def committed(self) -> asyncio.Future[None]:
        return self._db.committed()

    def durable(self) -> asyncio.Future[None]:
        return self._db.durable()

    def next_commit(self) -> asyncio.Future[None]:
        return self._db.next_commit()

    def notify(self) -> None:
        self._db.notify()

    def on_loss(self, loser: Callable[[Exception], object]) -> None:
        self._db.on_loss(loser)

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

    def start_step(
        self, key: int, seq: int, kind: str, name: str, count: int, config: bytes | None, now_ms: float, undo: bool
    ) -> bool:
        """The first attempt of a `do`, or of a rollback, begins; False if that is not what the instance is at.

        No `config`: the defaults. `undo`: a rollback is to follow if the instance fails.
        """
        return self._has_changed(
            "INSERT INTO steps (instance, seq, kind, name, count, state, attempts, config, started_ms, attempt_ms,"
            " has_rollback) SELECT key, ?, ?, ?, ?, 'attempting', 1, ?, ?, ?, ? FROM instances"
            " WHERE key = ? AND status = ?",
            (seq, kind, name, count, config, now_ms, now_ms, undo, key, _DURING[kind]),
        )

    def start_attempt(self, key: int, seq: int, kind: str, attempt_seq: int, now_ms: float) -> bool:
        """A further attempt begins; False if the instance is not at that."""
        return self._has_changed(
            "UPDATE steps SET state = 'attempting', attempts = attempts + 1, wake_ms = NULL, attempt_ms = ?,"
            " attempt_seq = ? WHERE instance = ? AND seq = ? AND (SELECT status FROM instances WHERE key = ?) = ?",
            (now_ms, attempt_seq, key, seq, key, _DURING[kind]),
        )

    def delay(self, key: int, seq: int, end_seq: int, error: JsError, wake_ms: float, now_ms: float) -> None:
        """An attempt failed, and the next one is due at `wake_ms`. May be said again with another time."""
        self._db.execute(
            f"UPDATE steps SET failures = {_WITH_FAILURE}, state = 'delayed', wake_ms = :wake_ms"
            " WHERE instance = :key AND seq = :seq",
            {
                "failure": _failure(error, end_seq, now_ms),
                "delay_ms": wake_ms - now_ms,
                "wake_ms": wake_ms,
                "key": key,
                "seq": seq,
            },
        )

    def fail(
        self, key: int, seq: int, end_seq: int, error: JsError, now_ms: float, attempt: JsError | None = None
    ) -> None:
        """A step failed for good; run() sees `error`, also in a replay. `attempt`: what is told of its last attempt."""
        self._db.execute(
            f"UPDATE steps SET failures = {_WITH_FAILURE}, state = 'failed', error = :error,"
            " wake_ms = NULL, ended_ms = :now_ms, end_seq = :end_seq WHERE instance = :key AND seq = :seq",
            {
                "failure": _failure(attempt or error, end_seq, now_ms),
                "delay_ms": None,
                "error": json.dumps({"name": error.name, "message": error.message}),
                "now_ms": now_ms,
                "end_seq": end_seq,
                "key": key,
                "seq": seq,
            },
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
            "INSERT INTO steps (instance, seq, kind, name, count, state, wake_ms, event_type, started_ms, duration_ms)"
            " SELECT key, ?, ?, ?, ?, 'open', ?, ?, ?, ? FROM instances"
            " WHERE key = ? AND status IN ('running', 'waitingForPause')",
            (seq, kind, name, count, wake_ms, event_type, now_ms, wake_ms - now_ms, key),
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

    def undoable(self, key: int) -> list[tuple[int, str, int]]:
        """The steps with a rollback, by place, name and count: the one that began last comes first."""
        rows = self._db.read(
            "SELECT seq, name, count FROM steps WHERE instance = ? AND kind = 'do' AND has_rollback ORDER BY seq DESC",
            (key,),
        )
        return [(seq, name, count) for seq, name, count in rows]

    def miss(self, key: int, seq: int, label: str, error: JsError, now_ms: float) -> None:
        """There is no function for the rollback of the step `label`."""
        self._db.execute(
            "INSERT INTO steps (instance, seq, kind, name, count, state, error, started_ms, ended_ms, end_seq)"
            " VALUES (?, ?, 'rollback', ?, 1, 'failed', ?, ?, ?, ?)",
            (key, seq, label, json.dumps({"name": error.name, "message": error.message}), now_ms, now_ms, seq),
        )

    def outputs(self, key: int) -> list[Output]:
        """In the order in which they came."""
        rows = self._db.read(
            "SELECT seq, kind, result, config FROM steps WHERE instance = ? AND state = 'done' AND result IS NOT NULL"
            " ORDER BY end_seq",
            (key,),
        )
        return [Output(*row) for row in rows]

    def stages(self, key: int, since_seq: int) -> list[Stage]:
        """The steps that had not ended before a place of the sequence."""
        rows = self._db.read(
            "SELECT seq, kind, name, count, state, attempts, wake_ms, config, event_type, result, error, started_ms,"
            " attempt_ms, attempt_seq, ended_ms, end_seq, failures, duration_ms FROM steps"
            " WHERE instance = ? AND ifnull(end_seq, ?) >= ? ORDER BY seq",
            (key, since_seq, since_seq),
        )
        return [Stage(*row) for row in rows]

    def mark(self, key: int, type: str, now_ms: float) -> None:
        """A pause began or ended."""
        self._db.execute(
            "INSERT INTO marks (instance, id, type, at_ms) SELECT key,"
            f" max({LAST_SEQ} * {PLACE} + 4, (SELECT ifnull(max(id), 0) + 1 FROM marks WHERE instance = key)), ?, ?"
            " FROM instances WHERE key = ?",
            (type, now_ms, key),
        )

    def marks(self, key: int) -> list[Mark]:
        rows = self._db.read("SELECT id, type, at_ms FROM marks WHERE instance = ? ORDER BY id", (key,))
        return [Mark(*row) for row in rows]

    # Streams

    def add_chunk(self, key: int, seq: int, attempt: int, number: int, chunk: bytes) -> None:
        self._db.execute(
            "INSERT INTO chunks (instance, step, attempt, number, chunk) VALUES (?, ?, ?, ?, ?)",
            (key, seq, attempt, number, chunk),
        )

    def chunk(self, key: int, seq: int, attempt: int, number: int) -> bytes:
        rows = self._db.read(
            "SELECT chunk FROM chunks WHERE instance = ? AND step = ? AND attempt = ? AND number = ?",
            (key, seq, attempt, number),
        )
        if not rows:
            raise InternalError(f"chunk {number} of a step's stream is missing")
        return bytes(rows[0][0])

    def drop_chunks(self, key: int, seq: int) -> None:
        """What attempts left behind that came to nothing."""
        self._db.execute("DELETE FROM chunks WHERE instance = ? AND step = ?", (key, seq))

    def stored_bytes(self, key: int) -> int:
        """How much the results of an instance take."""
        rows = self._db.read(
            "SELECT (SELECT total(length(result)) FROM steps WHERE instance = :key)"
            " + (SELECT total(length(chunk)) FROM chunks WHERE instance = :key)",
            {"key": key},
        )
        return int(rows[0][0])

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


def _failure(error: JsError, end_seq: int, now_ms: float) -> str:
    return json.dumps({"end_ms": now_ms, "end_seq": end_seq, "name": error.name, "message": error.message})
