"""All that is known of a workflow's instances: the only SQL of Workflows, one database per workflow name.

Any process may write. The rules of an instance's life are therefore in the statements: a run's writes name the `key`
under which it was started, and find nothing any more once another process has restarted or deleted the instance.

    queued -> running -> complete | errored | terminated        restart: a new key, queued again
    running -> waitingForPause (while attempts are made) -> paused -> queued
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from flarebed.bindings.errors import JsError
from flarebed.bindings.store import Database

SCHEMA = """
CREATE TABLE IF NOT EXISTS instances (
    key INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, status TEXT NOT NULL, params BLOB NOT NULL,
    created_ms REAL NOT NULL, started_ms REAL, paused_ms REAL, ended_ms REAL, output BLOB, error TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS queue ON instances (started_ms IS NULL, key) WHERE status = 'queued';
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

_INSTANCE = "key, id, status, params, created_ms, started_ms, ended_ms, output, error"

_WITH_FAILURE = """iif(state = 'delayed', failures,
    json_insert(failures, '$[#]', json_insert(json(?), '$.start_ms', attempt_ms)))"""
"""One entry for each failed attempt, whose end may be written twice: before and after its delay is known."""


class Instance(NamedTuple):
    key: int
    id: str
    status: str
    params: bytes
    created_ms: float
    started_ms: float | None
    ended_ms: float | None
    output: bytes | None
    error: str | None


class Recorded(NamedTuple):
    """The places of an instance's steps by kind, name and count, and the last number that was given out.

    One sequence numbers both where steps begin (`seq`) and where they end (`end_seq`).
    """

    places: dict[tuple[str, str, int], int]
    last_seq: int


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


@dataclass(frozen=True)
class RestartPoint:
    """The `count`-th step `name` of a kind ("do", "sleep", "wait")."""

    kind: str
    name: str
    count: int


class Journal:
    def __init__(self, database: Database) -> None:
        self._db = database

    def durable(self) -> asyncio.Future[None]:
        return self._db.durable()

    def _has_changed(self, sql: str, parameters: tuple[Any, ...]) -> bool:
        """Execute; whether a row was written (which RETURNING would say too, at the cost of the statement itself)."""
        self._db.execute(sql, parameters)
        return self._db.connection.changes() > 0

    # Instances

    def create(self, instance_id: str, params: bytes, now_ms: float) -> int | None:
        """The new instance's key; None if the id is taken."""
        rows = self._db.execute(
            "INSERT INTO instances (id, status, params, created_ms) VALUES (?, 'queued', ?, ?)"
            " ON CONFLICT (id) DO NOTHING RETURNING key",
            (instance_id, params, now_ms),
        )
        return rows[0][0] if rows else None

    def instance(self, instance_id: str) -> Instance | None:
        rows = self._db.read(f"SELECT {_INSTANCE} FROM instances WHERE id = ?", (instance_id,))
        return Instance(*rows[0]) if rows else None

    def key(self, instance_id: str) -> int | None:
        rows = self._db.read("SELECT key FROM instances WHERE id = ?", (instance_id,))
        return rows[0][0] if rows else None

    def status(self, key: int) -> str | None:
        rows = self._db.read("SELECT status FROM instances WHERE key = ?", (key,))
        return rows[0][0] if rows else None

    def queued(self, limit: int) -> list[tuple[str, bool]]:
        """Instances to start, by id, and whether they had been started before. Those go first."""
        rows = self._db.read(
            "SELECT id, started_ms IS NOT NULL FROM instances WHERE status = 'queued'"
            " ORDER BY started_ms IS NULL, key LIMIT ?",
            (limit,),
        )
        return [(instance_id, bool(again)) for instance_id, again in rows]

    def requeue(self, now_ms: float) -> None:
        """What another owner left unfinished is to be started again, or is paused if it was about to be."""
        with self._db.write() as connection:
            connection.execute("UPDATE instances SET status = 'queued' WHERE status = 'running'")
            connection.execute(
                "UPDATE instances SET status = 'paused', paused_ms = ? WHERE status = 'waitingForPause'", (now_ms,)
            )

    def begin_run(self, instance_id: str, now_ms: float) -> Instance | None:
        """Queued becomes running."""
        rows = self._db.execute(
            "UPDATE instances SET status = 'running', started_ms = coalesce(started_ms, ?)"
            f" WHERE id = ? AND status = 'queued' RETURNING {_INSTANCE}",
            (now_ms, instance_id),
        )
        return Instance(*rows[0]) if rows else None

    def take_up(self, key: int) -> Recorded:
        """For a run that is not the instance's first. Attempts that another one left behind were interrupted."""
        self._db.execute("UPDATE steps SET state = 'interrupted' WHERE instance = ? AND state = 'attempting'", (key,))
        rows = self._db.read(
            "SELECT kind, name, count, seq, max(seq, ifnull(end_seq, 0)) FROM steps WHERE instance = ?", (key,)
        )
        places = {(kind, name, count): seq for kind, name, count, seq, _ in rows}
        return Recorded(places, max((last for *_, last in rows), default=0))

    def end_run(
        self,
        key: int,
        status: str,
        now_ms: float,
        *,
        output: bytes | None = None,
        error: Mapping[str, str] | None = None,
    ) -> None:
        """`status` is complete or errored; an instance that was terminated meanwhile stays so."""
        self._db.execute(
            "UPDATE instances SET status = ?, ended_ms = ?, output = ?, error = ?"
            " WHERE key = ? AND status IN ('running', 'waitingForPause')",
            (status, now_ms, output, None if error is None else json.dumps(error), key),
        )

    def take_back_attempts(self, key: int) -> None:
        """The attempts in progress end with this process in good order: the next owner makes them anew."""
        self._db.execute(
            "UPDATE steps SET state = 'delayed', attempts = attempts - 1 WHERE instance = ? AND state = 'attempting'",
            (key,),
        )

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

    # What is done to an instance

    def pause(self, key: int, now_ms: float) -> None:
        self._db.execute(
            "UPDATE instances SET paused_ms = ?, status = CASE WHEN EXISTS ("
            "   SELECT 1 FROM steps WHERE instance = key AND state = 'attempting'"
            " ) THEN 'waitingForPause' ELSE 'paused' END WHERE key = ? AND status IN ('queued', 'running')",
            (now_ms, key),
        )

    def settle_pause(self, key: int, now_ms: float) -> bool:
        """Paused, if only running attempts stood against it."""
        return self._has_changed(
            "UPDATE instances SET status = 'paused', paused_ms = ? WHERE key = ? AND status = 'waitingForPause'"
            " AND NOT EXISTS (SELECT 1 FROM steps WHERE instance = key AND state = 'attempting')",
            (now_ms, key),
        )

    def resume(self, key: int, now_ms: float) -> None:
        """Waiting for the pause: running as before. Paused: queued, with all that was ahead as far ahead as it was."""
        with self._db.write() as connection:
            paused = list(
                connection.execute(
                    "UPDATE instances SET status = iif(status = 'paused', 'queued', 'running') WHERE key = ?"
                    " AND status IN ('paused', 'waitingForPause') RETURNING status, paused_ms",
                    (key,),
                )
            )
            if paused and paused[0][0] == "queued":
                connection.execute(
                    "UPDATE steps SET wake_ms = wake_ms + ? WHERE instance = ? AND wake_ms IS NOT NULL",
                    (now_ms - paused[0][1], key),
                )

    def terminate(self, key: int, now_ms: float) -> bool:
        """False if the instance was at its end already."""
        return self._has_changed(
            "UPDATE instances SET status = 'terminated', ended_ms = ? WHERE key = ?"
            " AND status NOT IN ('complete', 'errored', 'terminated')",
            (now_ms, key),
        )

    def restart(self, key: int, since: RestartPoint | None) -> bool:
        """Anew from the start, or from a step on (False if there is none such); undelivered events are dropped."""
        first = 0 if since is None else self._first(key, since)
        if first is None:
            return False
        with self._db.write() as connection:
            kept = list(
                connection.execute("DELETE FROM instances WHERE key = ? RETURNING id, params, created_ms", (key,))
            )
            connection.execute(
                "INSERT INTO instances (id, status, params, created_ms, started_ms) VALUES (?, 'queued', ?, ?, ?)",
                (*kept[0], None if since is None else kept[0][2]),
            )
            connection.execute("DELETE FROM steps WHERE instance = ? AND seq >= ?", (key, first))
            connection.execute(
                "UPDATE steps SET instance = ? WHERE instance = ?", (connection.last_insert_rowid(), key)
            )
            connection.execute("DELETE FROM events WHERE instance = ?", (key,))
        return True

    def delete(self, key: int) -> None:
        with self._db.write() as connection:
            connection.execute("DELETE FROM instances WHERE key = ?", (key,))
            connection.execute("DELETE FROM steps WHERE instance = ?", (key,))
            connection.execute("DELETE FROM events WHERE instance = ?", (key,))

    def _first(self, key: int, since: RestartPoint) -> int | None:
        rows = self._db.read(
            "SELECT seq FROM steps WHERE instance = ? AND kind = ? AND name = ? AND count = ?",
            (key, since.kind, since.name, since.count),
        )
        return rows[0][0] if rows else None

    # Steps

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
