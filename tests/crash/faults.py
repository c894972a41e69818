"""Where a process is killed: before or after its n-th commit, counted by SQLite itself on each of its connections;
before its n-th write to a file of SQLite's, that is between any two of them; or when its Worker makes its n-th note, in
the middle of an attempt or between a result and what run() does with it. At such a moment it may also be closed in good
order, as a reload closes it: attempts in progress do not count then. Or the n-th commit is refused, or there is no room
for the n-th write and those that follow it: SQLite rolls back, and the process goes on if it can. Of a JavaScript
Worker it may also be workerd alone that is killed at a commit or a note: the process goes on.

Nothing in the product knows of it: apsw calls `connection_hooks` for every connection that is opened, and SQLite's
files are opened through a VFS of ours. SQLite calls the commit hook when all is written but the commit itself; a
statement's profile event comes when the statement is over.
"""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

import apsw

BEFORE: Final = "before"
AFTER: Final = "after"
NOTED: Final = "noted"
CLOSED: Final = "closed"
REFUSED: Final = "refused"
WRITING: Final = "writing"
FULL: Final = "full"
BEREFT_BEFORE: Final = "bereft before"
BEREFT_AFTER: Final = "bereft after"
BEREFT_NOTED: Final = "bereft noted"
Side = Literal[
    "before", "after", "noted", "closed", "refused", "writing", "full",
    "bereft before", "bereft after", "bereft noted",
]  # fmt: skip
_BEREFT: Final[dict[Side, Side]] = {BEFORE: BEREFT_BEFORE, AFTER: BEREFT_AFTER, NOTED: BEREFT_NOTED}

_FULL_FOR: Final = 6
"""So many writes find no room."""


@dataclass(frozen=True)
class Fault:
    """At the n-th commit or write of a process, or the n-th note of its Worker (1 is the first)."""

    number: int
    side: Side

    def is_early(self, opening: int, opening_writes: int) -> bool:
        """Soon after a start that takes so many commits and writes."""
        if self.side in (NOTED, CLOSED, BEREFT_NOTED):
            return self.number <= 8
        first, most = (opening_writes, 40) if self.side in (WRITING, FULL) else (opening, 12)
        return first < self.number <= first + most

    def __str__(self) -> str:
        return f"{_WORDS[self.side]} {self.number}"


def fault_of(text: str) -> Fault:
    """As it is told on the command line: `noted:37`, `bereft-after:12`."""
    side, number = text.split(":")
    return Fault(int(number), SIDES[side])


SIDES: Final = {side.replace(" ", "-"): side for side in get_args(Side)}
_WORDS: Final[dict[Side, str]] = {
    BEFORE: "killed before commit", AFTER: "killed after commit", NOTED: "killed at note", CLOSED: "closed at note",
    REFUSED: "without commit", WRITING: "killed before write", FULL: "without room from write",
    BEREFT_BEFORE: "workerd killed before commit", BEREFT_AFTER: "workerd killed after commit",
    BEREFT_NOTED: "workerd killed at note",
}  # fmt: skip


class Disk:
    """Counts the commits and the writes of this process, from `watch()` on; calls `at_fault` at the fault, then kills
    the process, or has `bereave` kill its workerd.

    `refused`: one has failed.
    """

    def __init__(
        self, fault: Fault | None, at_fault: Callable[[], object], bereave: Callable[[], object] = lambda: None
    ) -> None:
        self._fault = fault
        self._at_fault = at_fault
        self._bereave = bereave
        self._commits = itertools.count(1)  # one step of the interpreter: threads commit too
        self._writes = itertools.count(1)
        self.commits = 0
        self.writes = 0
        self.refused = False
        self.is_closing = False
        """There is room then: Connection.close() would raise what its last checkpoint meets, which SQLite ignores."""

    def watch(self) -> None:
        apsw.connection_hooks.append(self._watch)
        self._vfs = _Vfs(self._write)

    def noted(self, number: int) -> None:
        """For Workers that don't end themselves."""
        self._point(number, NOTED)

    def _watch(self, connection: apsw.Connection) -> None:
        committing: list[int] = []

        def commit() -> bool:
            self.commits = number = next(self._commits)
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

    def _write(self) -> None:
        self.writes = number = next(self._writes)
        self._point(number, WRITING)
        if self._has_no_room(number) and not self.is_closing:
            self.refused = True
            raise _no_room()

    def _has_no_room(self, number: int) -> bool:
        fault = self._fault
        return fault is not None and fault.side == FULL and fault.number <= number < fault.number + _FULL_FOR

    def _point(self, number: int, side: Side) -> None:
        if self._fault == Fault(number, side):
            self._at_fault()
            os.kill(os.getpid(), signal.SIGKILL)
        if side in _BEREFT and self._fault == Fault(number, _BEREFT[side]):
            self._at_fault()
            self._bereave()


class _Vfs(apsw.VFS):
    """The system's, and `on_write` is called before each write. SQLite's shared memory is no file that it writes."""

    def __init__(self, on_write: Callable[[], None]) -> None:
        self._on_write = on_write
        super().__init__("watched", "", makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        return _File(name, flags, self._on_write)


class _File(apsw.VFSFile):
    def __init__(self, name: Any, flags: list[int], on_write: Callable[[], None]) -> None:
        self._on_write = on_write
        super().__init__("unix", name, flags)

    def xWrite(self, data: Any, offset: int) -> None:
        self._on_write()
        super().xWrite(data, offset)


def _no_room() -> apsw.Error:
    """As apsw raises it for a statement."""
    error: Any = apsw.FullError("database or disk is full")
    error.result = error.extendedresult = apsw.SQLITE_FULL
    error.error_offset = -1
    return error  # type: ignore[no-any-return]
