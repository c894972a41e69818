"""The test's hand on time: `worker.clock`.

Time stands still until something awaited needs it to pass, or the test moves it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta

from flarebed.bindings.errors import UserError
from flarebed.emulator.cli.times import parse_duration
from flarebed.emulator.testing.goal import Awaiting, Blocking, Goal, operation, running
from flarebed.emulator.testing.session import Session

Duration = str | timedelta | int | float
"""A text with its unit ("30 days", "90 m", "500ms"), a timedelta, or milliseconds."""
Moment = datetime | str | int | float
"""A datetime or ISO text (UTC if it names no zone), or milliseconds since the epoch."""


class _Clock:
    def __init__(self, session: Callable[[], Session]) -> None:
        self._session = session

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.now_ms() / 1000, UTC)

    def now_ms(self) -> float:
        """Milliseconds since the epoch."""
        return self._session().clock.now_ms()

    @operation
    def advance(self, duration: Duration) -> Goal[None]:
        """Let time pass; all that falls due on the way happens, in order, with all that it sets off."""
        return self._to(self.now_ms() + duration_ms(duration))

    @operation
    def advance_to(self, moment: Moment) -> Goal[None]:
        """Let time pass until then; a moment that is over is a mistake."""
        end_ms = moment_ms(moment)
        if end_ms < self.now_ms():
            raise ValueError(f"{moment} is in the past: it is {self.now().isoformat()}, and time does not go back")
        return self._to(end_ms)

    def freeze(self) -> AbstractContextManager[None]:
        """From now on, or in the block of a `with`, only `advance` and `advance_to` move time.

        What is awaited and needs time to pass raises FrozenError, which says until when.
        """
        self._session().frozen = True
        return self._frozen()

    def unfreeze(self) -> None:
        self._session().frozen = False

    @contextmanager
    def _frozen(self) -> Iterator[None]:
        try:
            yield
        finally:
            self.unfreeze()

    def _to(self, end_ms: float) -> Goal[None]:
        session = self._session()
        goal = running(session, "the time to come", session.clock.sleep_until(end_ms))

        def settled() -> bool:
            return goal.done() and session.is_idle()

        return Goal(session, goal.what, settled, goal.result, goal.cancel, moves_time=True)


class Clock(Awaiting, _Clock):
    """Time, in a test that awaits."""


class SyncClock(Blocking, _Clock):
    """Time, in a plain test."""


def duration_ms(duration: Duration) -> float:
    if isinstance(duration, str):
        return parse_duration(duration)
    delta_ms = duration / timedelta(milliseconds=1) if isinstance(duration, timedelta) else duration
    if not 0 <= delta_ms < float("inf"):
        raise UserError(f"{duration!r} is no duration.", hint='Say "30 days", timedelta(days=30), or milliseconds.')
    return delta_ms


def moment_ms(moment: Moment) -> float:
    if isinstance(moment, int | float):
        return float(moment)
    if isinstance(moment, str):
        try:
            moment = datetime.fromisoformat(moment)
        except ValueError:
            raise UserError(f"{moment!r} is no time.", hint='Say "2026-01-01T00:00:00Z", or give a datetime.') from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000
