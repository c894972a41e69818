"""`rows_read` and `rows_written` of a statement, told from its bytecode. `sql.py` asks for them after a run.

workerd patches SQLite to count both while it runs (patches/sqlite/0001-row-counts-plain.patch): a row is read at each
positioning or step of a cursor, a row is written at each insert into a table or index and at each deleted row. Plain
SQLite has no such counter, so that the same numbers are derived:

- read: every positioning of the program once; the steps of full scans as SQLite counts them; the steps of an index
  range from SQLite's instruction count; a positioning inside a loop once per step of that loop.
- written: changed rows times (1 + the indexes that the program writes), 1 for a row that a trigger changed, and the
  single inserts beside them (sqlite_sequence, sqlite_schema).

Exact for one table without triggers, partial indexes or REPLACE; an estimate for the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

_SEEKS: Final = frozenset(
    {"Rewind", "Last", "SeekGE", "SeekGT", "SeekLE", "SeekLT", "SeekRowid", "NotExists", "VFilter"}
)
_COUNTS_CHANGE: Final = 0x01
_IS_NOOP: Final = 0x40


@dataclass(frozen=True)
class Loop:
    """A loop's addresses, first and last included; `is_full` where SQLite counts its steps as those of a full scan."""

    first: int
    last: int
    is_full: bool

    @cached_property
    def length(self) -> int:
        return self.last - self.first + 1


@dataclass(frozen=True)
class Cost:
    """What a program tells before it runs."""

    length: int
    once: int
    loops: tuple[Loop, ...]
    inner: tuple[Loop, ...]
    """The innermost loop around each positioning that stands in one."""
    counts_entries: bool
    """A bare `count(*)`, which reads as many rows as it says."""
    per_change: int
    single_writes: int
    has_triggers: bool
    gives_rows: bool

    @cached_property
    def is_fixed(self) -> bool:
        """`once` rows are read and none written, whatever happens."""
        return not (self.loops or self.counts_entries or self.per_change or self.single_writes or self.has_triggers)

    @cached_property
    def needs_status(self) -> bool:
        """Whether `rows_read` wants SQLite's counters, which cost as much as a short statement."""
        is_known = self.per_change and not self.has_triggers and not any(loop.is_full for loop in self.loops)
        return bool(self.loops) and not is_known

    @cached_property
    def _shortest_range(self) -> Loop | None:
        return min((loop for loop in self.loops if not loop.is_full), key=lambda loop: loop.length, default=None)

    def rows_read(self, status: Mapping[str, int], rows: Sequence[Sequence[Any]], changes: int) -> int:
        if self.counts_entries:
            return int(rows[0][0])
        if not self.loops:
            return self.once
        full_steps = status.get("SQLITE_STMTSTATUS_FULLSCAN_STEP", 0)
        shortest = self._shortest_range
        range_steps = 0 if shortest is None else self._range_steps(shortest, status, changes)
        nested = sum((full_steps if loop.is_full else range_steps) + 1 for loop in self.inner)
        return self.once + full_steps + range_steps + nested

    def _range_steps(self, loop: Loop, status: Mapping[str, int], changes: int) -> int:
        if self.per_change:
            return max(0, changes - 1)
        spent = status.get("SQLITE_STMTSTATUS_VM_STEP", 0) - (self.length - loop.length)
        return max(0, round(spent / loop.length) - 1)

    def rows_written(self, changes: int, trigger_changes: int) -> int:
        return changes * self.per_change + trigger_changes + self.single_writes


def cost_of(program: Sequence[tuple[Any, ...]]) -> Cost:
    """`program` is what EXPLAIN gives: address, opcode, p1, p2, p3, p4, p5, comment. Triggers follow the main part."""
    main = program[: next((at for at, row in enumerate(program) if at and row[0] == 0), len(program))]
    destroyed = [at for at, row in enumerate(main) if row[1] == "Destroy"]
    if destroyed:  # what follows is for a page that moved, of which there is none: one look each
        main = main[: destroyed[0]]
    loops = tuple(
        Loop(row[3], row[0], row[6] == 1) for row in main if row[1] in ("Next", "Prev", "VNext") and row[3] < row[0]
    )
    around = [_innermost(row[0], loops) for row in main if row[1] in _SEEKS]
    return Cost(
        len(main),
        around.count(None) + len(destroyed),
        loops,
        tuple(loop for loop in around if loop is not None),
        any(row[1] == "Count" for row in main),
        *_writes(main),
        program[-1][0] < len(program) - 1,
        any(row[1] == "ResultRow" for row in main),
    )


def _innermost(address: int, loops: Sequence[Loop]) -> Loop | None:
    inside = [loop for loop in loops if loop.first <= address <= loop.last]
    return min(inside, key=lambda loop: loop.length, default=None)


def _writes(main: Sequence[tuple[Any, ...]]) -> tuple[int, int]:
    """Rows written per changed row, and those written once."""
    ephemeral = {row[2] for row in main if row[1] in ("OpenEphemeral", "OpenAutoindex")}
    indexes: set[int] = set()
    changing = keyed = single = 0
    for _, opcode, p1, p2, p3, _, p5, _ in main:
        if opcode == "IdxInsert" and p1 not in ephemeral:
            indexes.add(p1)
            keyed |= p5 & _COUNTS_CHANGE  # a table WITHOUT ROWID is an index itself
        elif opcode == "Insert" and p1 not in ephemeral and not p5 & _IS_NOOP:
            changing |= p5 & _COUNTS_CHANGE
            single += not p5 & _COUNTS_CHANGE
        elif opcode == "Delete":
            changing |= p2 & _COUNTS_CHANGE
        elif opcode == "VUpdate" or (opcode == "Clear" and p3):
            changing = 1
    if not (changing or keyed):
        return 0, single
    return changing + len(indexes) if not keyed else len(indexes), single
