"""Where a process is killed: before or after its n-th commit, counted by SQLite itself on each of its connections; or
when its Worker makes its n-th note, in the middle of an attempt or between a result and what run() does with it. At
such a moment it may also be closed in good order, as a reload does it: attempts in progress do not count then. Or the
n-th commit fails, as on a full disk: SQLite rolls back, and the process goes on if it can.

Nothing in the product knows of it: apsw calls `connection_hooks` for every connection that is opened. SQLite calls the
commit hook when all is written but the commit itself; a statement's profile event comes when the statement is over.
"""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

import apsw

BEFORE: Final = "before"
AFTER: Final = "after"
NOTED: Final = "noted"
CLOSED: Final = "closed"
REFUSED: Final = "refused"
Side = Literal["before", "after", "noted", "closed", "refused"]


@dataclass(frozen=True)
class Fault:
    """At the n-th commit of a process, or the n-th note of its Worker (1 is the first)."""

    number: int
    side: Side

    def is_early(self, opening: int) -> bool:
        """Soon after a start that takes `opening` commits."""
        return self.number <= 8 if self.side in (NOTED, CLOSED) else opening < self.number <= opening + 12

    def __str__(self) -> str:
        return f"{_WORDS[self.side]} {self.number}"


_WORDS: Final[dict[Side, str]] = {
    BEFORE: "killed before commit", AFTER: "killed after commit", NOTED: "killed at note", CLOSED: "closed at note",
    REFUSED: "without commit",
}  # fmt: skip


class Commits:
    """Counts the commits of this process, from `watch()` on; calls `at_fault` at the fault, then kills the process.

    `refused`: one has failed.
    """

    def __init__(self, fault: Fault | None, at_fault: Callable[[], object]) -> None:
        self._fault = fault
        self._at_fault = at_fault
        self._numbers = itertools.count(1)  # one step of the interpreter: threads commit too
        self.count = 0
        self.refused = False

    def watch(self) -> None:
        apsw.connection_hooks.append(self._watch)

    def _watch(self, connection: apsw.Connection) -> None:
        committing: list[int] = []

        def commit() -> bool:
            self.count = number = next(self._numbers)
            committing.append(number)
            self._point(number, BEFORE)
            if self._fault == Fault(number, REFUSED):
                committing.clear()
                self.refused = True
                return True
            return False

        def executed(_: dict[str, Any]) -> None:
            while committing:
                self._point(committing.pop(), AFTER)

        connection.set_commit_hook(commit, id=self)
        connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, executed, id=self)

    def _point(self, number: int, side: Side) -> None:
        if self._fault == Fault(number, side):
            self._at_fault()
            os.kill(os.getpid(), signal.SIGKILL)
