"""All that is known of a workflow's instances, one database per workflow name. The SQL of Workflows is here, in
`history.py`, which has what happens in an instance, in `agenda.py`, which has what the clock does to instances, and in
`listing.py`, which reads for those outside.

Any process may write. The rules of an instance's life are therefore in the statements: a run's writes name the `key`
under which it was started, and find nothing any more once another process has restarted or deleted the instance.

    queued -> running -> complete | errored | terminated        restart: a new key, queued again
    running -> waitingForPause (while attempts are made) -> paused -> queued
    running -> rollingBack -> errored | terminated              any that is not at its end: queued, to be rolled back
    running with a `wake_ms`: no process has a run of it (hibernation.py) -> queued
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from flarebed.bindings.errors import JsError
from flarebed.bindings.store import Database
from flarebed.bindings.values import Error
from flarebed.bindings.workflows import history
from flarebed.bindings.workflows.agenda import Agenda

SCHEMA = f"""
CREATE TABLE IF NOT EXISTS instances (
    key INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, status TEXT NOT NULL, params BLOB NOT NULL,
    created_ms REAL NOT NULL, started_ms REAL, paused_ms REAL, ended_ms REAL, output BLOB, error TEXT, rollback TEXT,
    wake_ms REAL, success_retention_ms REAL, error_retention_ms REAL, expires_ms REAL, schedule TEXT
) STRICT;
DROP INDEX IF EXISTS queue;
CREATE INDEX IF NOT EXISTS unfinished ON instances (status, started_ms IS NULL, key) WHERE ended_ms IS NULL;
CREATE INDEX IF NOT EXISTS created ON instances (created_ms);
CREATE INDEX IF NOT EXISTS hibernating ON instances (wake_ms) WHERE wake_ms IS NOT NULL;
CREATE INDEX IF NOT EXISTS expiring ON instances (expires_ms) WHERE expires_ms IS NOT NULL;
CREATE TABLE IF NOT EXISTS schedules (cron TEXT PRIMARY KEY, until_ms REAL NOT NULL) STRICT, WITHOUT ROWID;
{history.SCHEMA};
CREATE TRIGGER IF NOT EXISTS forget_marks AFTER DELETE ON instances BEGIN
    DELETE FROM marks WHERE instance = old.key;
END
"""

_INSTANCE = "key, id, status, params, created_ms, started_ms, ended_ms, output, error, rollback, schedule"


_UNDOABLE = """key = ? AND EXISTS (SELECT 1 FROM steps WHERE instance = key AND kind = 'do' AND has_rollback)"""


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
    rollback: str | None
    schedule: str | None
    """JSON of the `{cron, scheduledTime}` that created it."""


class Life(NamedTuple):
    """What is recorded of an instance; `last_seq` is the last place of its sequence that is in use."""

    status: str
    params: bytes
    created_ms: float
    started_ms: float | None
    ended_ms: float | None
    output: bytes | None
    error: str | None
    rollback: str | None
    last_seq: int


class Recorded(NamedTuple):
    """The places of an instance's steps by kind, name and count, the last number that was given out, their size."""

    places: dict[tuple[str, str, int], int]
    last_seq: int
    stored_bytes: int


@dataclass(frozen=True)
class RestartPoint:
    """The `count`-th step `name` of a kind ("do", "sleep", "wait")."""

    kind: str
    name: str
    count: int


class Retention(NamedTuple):
    """How long an instance is kept once it has completed or was terminated, and once it has errored."""

    success_ms: float | None = None
    error_ms: float | None = None


class Journal(Agenda):
    """`success_ms` and `error_ms` are the retention of instances that were created without their own."""

    def __init__(self, database: Database, success_ms: float, error_ms: float) -> None:
        super().__init__(database)
        self._success_ms = success_ms
        self._error_ms = error_ms

    # Instances

    def create(
        self,
        instance_id: str,
        params: bytes,
        now_ms: float,
        retention: Retention = Retention(),  # noqa: B008
        schedule: str | None = None,
    ) -> int | None:
        """The new instance's key; None if the id is taken."""
        rows = self._db.execute(
            "INSERT INTO instances (id, status, params, created_ms, success_retention_ms, error_retention_ms, schedule)"
            " VALUES (?, 'queued', ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING RETURNING key",
            (instance_id, params, now_ms, *retention, schedule),
        )
        return rows[0][0] if rows else None

    def instance(self, instance_id: str) -> Instance | None:
        rows = self._db.read(f"SELECT {_INSTANCE} FROM instances WHERE id = ?", (instance_id,))
        return Instance(*rows[0]) if rows else None

    def life(self, key: int) -> Life | None:
        rows = self._db.read(
            "SELECT status, params, created_ms, started_ms, ended_ms, output, error, rollback,"
            f" {history.LAST_SEQ} FROM instances WHERE key = ?",
            (key,),
        )
        return Life(*rows[0]) if rows else None

    def key(self, instance_id: str) -> int | None:
        rows = self._db.read("SELECT key FROM instances WHERE id = ?", (instance_id,))
        return rows[0][0] if rows else None

    def status(self, key: int) -> str | None:
        rows = self._db.read("SELECT status FROM instances WHERE key = ?", (key,))
        return rows[0][0] if rows else None

    def queued(self, limit: int) -> list[tuple[str, bool]]:
        """Instances to start, by id, and whether they had been started before. Those go first."""
        rows = self._db.read(
            "SELECT id, started_ms IS NOT NULL FROM instances WHERE status = 'queued' AND ended_ms IS NULL"
            " ORDER BY started_ms IS NULL, key LIMIT ?",
            (limit,),
        )
        return [(instance_id, bool(again)) for instance_id, again in rows]

    def requeue(self, now_ms: float, key: int | None = None) -> None:
        """What another owner left unfinished is to be started again, or is paused if it was about to be; or only what
        became of one instance."""
        with self._db.write() as connection:
            connection.execute(
                "UPDATE instances SET status = 'queued' WHERE status IN ('running', 'rollingBack')"
                " AND ended_ms IS NULL AND wake_ms IS NULL AND key = coalesce(?, key)",
                (key,),
            )
            paused = list(
                connection.execute(
                    "UPDATE instances SET status = 'paused', paused_ms = ?"
                    " WHERE status = 'waitingForPause' AND ended_ms IS NULL AND key = coalesce(?, key) RETURNING key",
                    (now_ms, key),
                )
            )
            for (key,) in paused:
                self.mark(key, "workflow_paused", now_ms)

    def begin_run(self, instance_id: str, now_ms: float) -> Instance | None:
        """Queued becomes running, or rolling back if that was ordered."""
        rows = self._db.execute(
            "UPDATE instances SET status = iif(rollback IS NULL, 'running', 'rollingBack'),"
            " started_ms = coalesce(started_ms, ?), wake_ms = NULL"
            f" WHERE id = ? AND status = 'queued' RETURNING {_INSTANCE}",
            (now_ms, instance_id),
        )
        return Instance(*rows[0]) if rows else None

    def take_up(self, key: int) -> Recorded:
        """For a run that is not the instance's first. Attempts that another one left behind were interrupted."""
        self._db.execute("UPDATE steps SET state = 'interrupted' WHERE instance = ? AND state = 'attempting'", (key,))
        rows = self._db.read("SELECT kind, name, count, seq FROM steps WHERE instance = ?", (key,))
        last = self._db.read(f"SELECT {history.LAST_SEQ} FROM (SELECT ? AS key)", (key,))
        places = {(kind, name, count): seq for kind, name, count, seq in rows}
        return Recorded(places, last[0][0], self.stored_bytes(key))

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
        retention, default_ms = (
            ("success_retention_ms", self._success_ms) if error is None else ("error_retention_ms", self._error_ms)
        )
        self._db.execute(
            "UPDATE instances SET status = ?, ended_ms = ?, output = ?, error = ?,"
            f" expires_ms = ? + coalesce({retention}, ?) WHERE key = ? AND status IN ('running', 'waitingForPause')",
            (status, now_ms, output, None if error is None else json.dumps(error), now_ms, default_ms, key),
        )

    def begin_rollback(self, key: int, cause: JsError, error: Mapping[str, str], now_ms: float) -> bool:
        """run() failed with `cause`, as which `error` will stand; False if there is nothing to roll back."""
        return self._has_changed(
            f"UPDATE instances SET status = 'rollingBack', error = ?, rollback = ? WHERE {_UNDOABLE}"
            " AND status IN ('running', 'waitingForPause')",
            (json.dumps(error), _order(cause, "errored"), key),
        )

    def cause(self, key: int) -> Error:
        """Why the instance is rolled back."""
        rows = self._db.read("SELECT rollback FROM instances WHERE key = ?", (key,))
        cause = json.loads(rows[0][0])["cause"]
        return Error(cause["message"], cause["name"])

    def end_rollback(self, key: int, failure: JsError | None, now_ms: float) -> None:
        outcome = {
            "outcome": "complete" if failure is None else "failed",
            "error": None if failure is None else {"name": failure.name, "message": failure.message},
        }
        self._db.execute(
            "UPDATE instances SET status = rollback ->> '$.end', ended_ms = ?, rollback = json_patch(rollback, ?),"
            " expires_ms = ? + iif(rollback ->> '$.end' = 'errored', coalesce(error_retention_ms, ?),"
            " coalesce(success_retention_ms, ?)) WHERE key = ? AND status = 'rollingBack'",
            (now_ms, json.dumps(outcome), now_ms, self._error_ms, self._success_ms, key),
        )

    def take_back_attempts(self, key: int) -> None:
        """The attempts in progress end with this process in good order: the next owner makes them anew."""
        self._db.execute(
            "UPDATE steps SET state = 'delayed', attempts = attempts - 1 WHERE instance = ? AND state = 'attempting'",
            (key,),
        )

    # What is done to an instance

    def pause(self, key: int, now_ms: float) -> None:
        """At once, unless attempts are being made (those of a queued instance were, by a process that is gone)."""
        rows = self._db.execute(
            "UPDATE instances SET paused_ms = ?, status = CASE WHEN status = 'running' AND EXISTS ("
            "   SELECT 1 FROM steps WHERE instance = key AND state = 'attempting'"
            " ) THEN 'waitingForPause' ELSE 'paused' END WHERE key = ? AND status IN ('queued', 'running')"
            " AND rollback IS NULL RETURNING status",
            (now_ms, key),
        )
        if rows:
            self.mark(key, "workflow_waiting_for_pause", now_ms)
            if rows[0][0] == "paused":
                self.mark(key, "workflow_paused", now_ms)

    def settle_pause(self, key: int, now_ms: float) -> bool:
        """Paused, if only running attempts stood against it."""
        is_paused = self._has_changed(
            "UPDATE instances SET status = 'paused', paused_ms = ? WHERE key = ? AND status = 'waitingForPause'"
            " AND NOT EXISTS (SELECT 1 FROM steps WHERE instance = key AND state = 'attempting')",
            (now_ms, key),
        )
        if is_paused:
            self.mark(key, "workflow_paused", now_ms)
        return is_paused

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
            if paused:
                self.mark(key, "workflow_running", now_ms)
            if paused and paused[0][0] == "queued":
                connection.execute(
                    "UPDATE steps SET wake_ms = wake_ms + ? WHERE instance = ? AND wake_ms IS NOT NULL",
                    (now_ms - paused[0][1], key),
                )

    def terminate(self, key: int, now_ms: float) -> bool:
        """False if the instance was at its end already."""
        return self._has_changed(
            "UPDATE instances SET status = 'terminated', ended_ms = ?, wake_ms = NULL,"
            " expires_ms = ? + coalesce(success_retention_ms, ?) WHERE key = ?"
            " AND status NOT IN ('complete', 'errored', 'terminated')",
            (now_ms, now_ms, self._success_ms, key),
        )

    def order_rollback(self, key: int, cause: JsError) -> bool:
        """Terminate, but roll back first; False if there is nothing to roll back, or it is at its end."""
        return self._has_changed(
            f"UPDATE instances SET status = 'queued', rollback = ? WHERE {_UNDOABLE} AND rollback IS NULL"
            " AND status NOT IN ('complete', 'errored', 'terminated')",
            (_order(cause, "terminated"), key),
        )

    def is_rolling_back(self, key: int) -> bool:
        """Or is about to."""
        rows = self._db.read(
            "SELECT rollback IS NOT NULL AND status IN ('queued', 'rollingBack') FROM instances WHERE key = ?", (key,)
        )
        return bool(rows and rows[0][0])

    def restart(self, key: int, since: RestartPoint | None) -> bool:
        """Anew from the start, or from a step on (False if there is none such); undelivered events are dropped."""
        first = 0 if since is None else self._first(key, since)
        if first is None:
            return False
        with self._db.write() as connection:
            kept = list(
                connection.execute(
                    "DELETE FROM instances WHERE key = ?"
                    " RETURNING id, params, created_ms, success_retention_ms, error_retention_ms, schedule",
                    (key,),
                )
            )
            connection.execute(
                "INSERT INTO instances (status, id, params, created_ms, success_retention_ms, error_retention_ms,"
                " schedule, started_ms) VALUES ('queued', ?, ?, ?, ?, ?, ?, ?)",
                (*kept[0], None if since is None else kept[0][2]),
            )
            connection.execute("DELETE FROM steps WHERE instance = ? AND seq >= ?", (key, first))
            connection.execute(
                "UPDATE steps SET instance = ? WHERE instance = ?", (connection.last_insert_rowid(), key)
            )
            connection.execute("DELETE FROM events WHERE instance = ?", (key,))
        return True

    def clear(self) -> None:
        """Delete all instances."""
        with self._db.write() as connection:
            for table in ("instances", "steps", "events"):
                connection.execute(f"DELETE FROM {table}")

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


def _order(cause: JsError, end: str) -> str:
    """Of a rollback, after which the instance's status is `end`."""
    return json.dumps({"cause": {"name": cause.name, "message": cause.message}, "end": end})
