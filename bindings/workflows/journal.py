"""All that is known of a workflow's instances, one database per workflow name. The SQL of Workflows is here and in
`history.py`, which has what happens in an instance.

Any process may write. The rules of an instance's life are therefore in the statements: a run's writes name the `key`
under which it was started, and find nothing any more once another process has restarted or deleted the instance.

    queued -> running -> complete | errored | terminated        restart: a new key, queued again
    running -> waitingForPause (while attempts are made) -> paused -> queued
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from flarebed.bindings.workflows import history
from flarebed.bindings.workflows.history import History

SCHEMA = f"""
CREATE TABLE IF NOT EXISTS instances (
    key INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, status TEXT NOT NULL, params BLOB NOT NULL,
    created_ms REAL NOT NULL, started_ms REAL, paused_ms REAL, ended_ms REAL, output BLOB, error TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS queue ON instances (started_ms IS NULL, key) WHERE status = 'queued';
{history.SCHEMA}
"""

_INSTANCE = "key, id, status, params, created_ms, started_ms, ended_ms, output, error"


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
    """The places of an instance's steps by kind, name and count, and the last number that was given out."""

    places: dict[tuple[str, str, int], int]
    last_seq: int


@dataclass(frozen=True)
class RestartPoint:
    """The `count`-th step `name` of a kind ("do", "sleep", "wait")."""

    kind: str
    name: str
    count: int


class Journal(History):
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

    # What is done to an instance

    def pause(self, key: int, now_ms: float) -> None:
        """At once, unless attempts are being made (those of a queued instance were, by a process that is gone)."""
        self._db.execute(
            "UPDATE instances SET paused_ms = ?, status = CASE WHEN status = 'running' AND EXISTS ("
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
