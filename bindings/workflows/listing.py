"""What is asked of a workflow's journal from outside of any run: which instances there are, and what they went through.

Only reads. The journal itself, with all that writes, is `journal.py` and `history.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from flarebed.bindings.store import Database

_SHOWN_STATUS = """CASE WHEN status = 'running'
    AND EXISTS (SELECT 1 FROM steps WHERE instance = key AND state = 'open')
    AND NOT EXISTS (SELECT 1 FROM steps WHERE instance = key AND state = 'attempting')
    THEN 'waiting' WHEN status = 'queued' AND rollback IS NOT NULL THEN 'rollingBack' ELSE status END"""
"""As `view.status` has it."""


class Listed(NamedTuple):
    id: str
    status: str
    created_ms: float


@dataclass(frozen=True)
class Wanted:
    """Which instances to list: by status as it is shown, and by when they were created (both ends included)."""

    status: str | None = None
    since_ms: float = -math.inf
    until_ms: float = math.inf


class Listing:
    def __init__(self, database: Database) -> None:
        self._db = database

    # Instances

    def listed(self, wanted: Wanted, limit: int, offset: int) -> list[Listed]:
        """The newest first. The index has them in this order, so a page costs no more than what it shows and skips."""
        rows = self._db.read(
            f"SELECT id, {_SHOWN_STATUS} AS shown, created_ms FROM instances"
            " WHERE created_ms BETWEEN ? AND ? AND (? IS NULL OR shown = ?)"
            " ORDER BY created_ms DESC, key DESC LIMIT ? OFFSET ?",
            (wanted.since_ms, wanted.until_ms, wanted.status, wanted.status, limit, offset),
        )
        return [Listed(*row) for row in rows]

    def status_counts(self) -> dict[str, int]:
        return dict(self._db.read(f"SELECT {_SHOWN_STATUS} AS shown, count(*) FROM instances GROUP BY shown"))

    # What happened in one of them

    def buffered(self, key: int) -> list[tuple[str, float]]:
        """Type and time of the events that no wait has got yet."""
        rows = self._db.read("SELECT type, sent_ms FROM events WHERE instance = ? ORDER BY seq", (key,))
        return [(event_type, sent_ms) for event_type, sent_ms in rows]
