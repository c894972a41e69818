"""Instances at their end are kept for a while, and then deleted: as said when they were created, else by the config's
`default_retention`, else for the seven days of production's paid plan.

https://developers.cloudflare.com/workflows/reference/limits/
"""

from __future__ import annotations

from collections.abc import Callable

from flarebed.bindings.clock import Clock, Timer
from flarebed.bindings.workflows.journal import Journal

DEFAULT_MS = 604_800_000
_AT_ONCE = 100


class Expiry:
    """Deletes instances whose time is over, in the process that owns them."""

    def __init__(self, journal: Journal, clock: Clock, again_soon: Callable[[], None]) -> None:
        self._journal = journal
        self._clock = clock
        self._again_soon = again_soon
        self._timer: Timer | None = None

    def look(self) -> None:
        """To be called when an instance may have come to its end."""
        due_ms = self._journal.next_expiry_ms()
        if self._timer is not None and self._timer.when_ms == due_ms and not self._timer.cancelled:
            return
        self.stop()
        if due_ms is not None:
            self._timer = self._clock.call_at(due_ms, self._delete, recurring=True)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _delete(self) -> None:
        """A few at a time, so that nothing else waits for long."""
        for key in self._journal.expired(self._clock.now_ms(), _AT_ONCE):
            self._journal.delete(key)
        self._again_soon()
