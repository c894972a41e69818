"""The part of the journal about what the clock does to instances: it wakes, deletes and creates them.

See `hibernation.py`, `retention.py` and `schedule.py`.
"""

from __future__ import annotations

from flarebed.bindings.workflows.history import History


class Agenda(History):
    # Hibernation: the instance goes on in no process until the clock or an event queues it

    def hibernate(self, key: int, wake_ms: float) -> bool:
        """False if the instance is no longer running, or an event has come that it waits for."""
        return self._has_changed(
            "UPDATE instances SET wake_ms = ? WHERE key = ? AND status = 'running' AND NOT EXISTS ("
            "   SELECT 1 FROM steps JOIN events ON events.instance = steps.instance AND type = event_type"
            "   WHERE steps.instance = key AND state = 'open' AND kind = 'wait')",
            (wake_ms, key),
        )

    def wake_due(self, now_ms: float) -> bool:
        """Queue those whose time has come; whether there were any."""
        return self._has_changed(
            "UPDATE instances SET status = 'queued', wake_ms = NULL WHERE wake_ms <= ? AND status = 'running'",
            (now_ms,),
        )

    def next_wake_ms(self) -> float | None:
        rows = self._db.read(
            "SELECT wake_ms FROM instances WHERE wake_ms IS NOT NULL AND status = 'running' ORDER BY wake_ms LIMIT 1"
        )
        return rows[0][0] if rows else None

    def wake_for(self, key: int, event_type: str) -> None:
        """An event has come: queue the instance, if it hibernates and waits for one of that type."""
        self._db.execute(
            "UPDATE instances SET status = 'queued', wake_ms = NULL"
            " WHERE key = ? AND wake_ms IS NOT NULL AND status = 'running' AND EXISTS ("
            "   SELECT 1 FROM steps WHERE instance = key AND state = 'open' AND kind = 'wait' AND event_type = ?)",
            (key, event_type),
        )

    # Retention

    def expired(self, now_ms: float, limit: int) -> list[int]:
        rows = self._db.read(
            "SELECT key FROM instances WHERE expires_ms <= ? ORDER BY expires_ms LIMIT ?", (now_ms, limit)
        )
        return [key for (key,) in rows]

    def next_expiry_ms(self) -> float | None:
        rows = self._db.read(
            "SELECT expires_ms FROM instances WHERE expires_ms IS NOT NULL ORDER BY expires_ms LIMIT 1"
        )
        return rows[0][0] if rows else None

    # Schedules

    def scheduled_until_ms(self, cron: str) -> float | None:
        """Up to when all instants of a schedule have been dealt with; None if it is new."""
        rows = self._db.read("SELECT until_ms FROM schedules WHERE cron = ?", (cron,))
        return rows[0][0] if rows else None

    def set_scheduled_until(self, cron: str, until_ms: float) -> None:
        self._db.execute("INSERT OR REPLACE INTO schedules (cron, until_ms) VALUES (?, ?)", (cron, until_ms))
