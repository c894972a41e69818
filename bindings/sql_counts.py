"""`rows_read` and `rows_written` of a statement, told from its bytecode and what SQLite measures. `sql.py` asks.

workerd patches SQLite to count both while it runs (patches/sqlite/0001-row-counts-plain.patch): a row is read at each
positioning or step of a cursor, a row is written at each insert into a table or index, and at each deleted row. Plain
SQLite has no such counter, but it has others: instructions run, steps of full scans, sorts, rows given, rows changed.
How often each instruction ran is what makes all of them true at once, and of several such runs the least surprising
one is taken (`sql_linear.py`). What differs is listed in docs/d1.md and tests/bindings/d1/data/counts.json.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from flarebed.bindings.sql_linear import Form, Known, Relation, System, valued
from flarebed.bindings.sql_program import SEEKS, STEPS, Instruction, Program
from flarebed.bindings.sql_runs import assumptions, facts, surprises

_READS: Final = frozenset({"SeekRowid", "NotExists", "Rewind", "Last", "Sort", "SorterSort", "VNext"})
_STEP_COUNTERS: Final = {1: "FULLSCAN_STEP", 3: "AUTOINDEX"}
_STATUS: Final = ("FULLSCAN_STEP", "AUTOINDEX", "SORT", "VM_STEP")
_status_of: Final = itemgetter(*(f"SQLITE_STMTSTATUS_{name}" for name in _STATUS))
_COUNTS_CHANGE: Final = 0x01
_IS_NOOP: Final = 0x40
_INDEX_FILL_READS: Final = 2
"""Observed on wrangler 4.164, of CREATE INDEX and REINDEX."""
_BULK: Final = 0x01
_ON_CONFLICT: Final = (1, 3)
"""ROLLBACK and FAIL, in P2 of what ends a statement."""
_ANSWERS: Final = 64
_MOST_INSTRUCTIONS: Final = 1_500
"""A program of so many is looked at in full, once, in up to 0.1 s; what a longer one costs is estimated."""


def shape(rows: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Programs of one shape cost the same: constants count only where they are compared with something."""
    compared = {register for row in rows if row[1] in ("Ne", "Eq") for register in (row[2], row[4])}
    return tuple(
        (opcode, 0 if opcode == "Integer" and p2 not in compared else p1, p2, p3, p4 if p2 in compared else not p4, p5)
        for _, opcode, p1, p2, p3, p4, p5, *_ in rows
    )


class Cost:
    """What a program tells before it runs."""

    def __init__(self, rows: Sequence[tuple[Any, ...]]) -> None:
        program = Program(rows)
        tally = _Tally(program)
        self.needs_transaction = tally.writes_virtual or any(map(_fails_otherwise, program.code))
        self.gives_rows = any(it.opcode == "ResultRow" for it in program.code)
        self._program = program
        is_long = len(rows) > _MOST_INSTRUCTIONS
        self._certain = [] if is_long else [*program.conservation(), *facts(program), *tally.relations()]
        self._weights = [*surprises(program), *([0.0] * (program.unknowns - len(program.ways)))]
        self._system = System(self._certain, self._weights, program.is_run)
        self._likely: System | None = None
        self._counted = (tally.reads, tally.writes)
        self._constant = tally.constant_reads
        self._columns = tally.columns
        self._answers: dict[tuple[int, ...], tuple[int, int]] = {}
        """By what was measured: the same statement often measures the same."""
        read, written = (self._system.expressed(form) for form in self._counted)
        self._closed: tuple[Known, Known] | None = None
        if is_long:
            self._closed = _estimated(program)
        elif not read.form and not written.form:
            self._closed = read.known, written.known
        self.needs_status = self._closed is None or any(name in part for part in self._closed for name in _STATUS)
        self.once = int(read.known.get("", 0)) + self._constant
        self.is_fixed = not is_long and self._closed is not None and read.known.keys() <= {""} and not written.known

    def of_run(
        self, status: Mapping[str, int], rows: Sequence[Sequence[Any]], changes: int, total: int
    ) -> tuple[int, int]:
        """Rows read and written; `changes` are those of the statement itself, `total` with its triggers'."""
        cells = [rows[0][column] if rows else 0 for column in self._columns.values()] if self._columns else ()
        measured = (1, len(rows), changes, total, *cells, *(_status_of(status) if self.needs_status else ()))
        answer = self._answers.get(measured)
        if answer is None:
            if len(self._answers) >= _ANSWERS:
                self._answers.clear()
            names = ("", "rows", "changes", "total", *self._columns, *_STATUS)
            answer = self._answers[measured] = self._answer(dict(zip(names, measured, strict=False)))
        return answer

    def _answer(self, measures: Mapping[str, int]) -> tuple[int, int]:
        if self._closed is not None:
            read, written = (valued(known, measures) for known in self._closed)
        else:
            counts = self._run(measures)
            read, written = (sum(factor * counts.get(key, 0) for key, factor in form.items()) for form in self._counted)
        return max(0, round(read)) + self._constant, max(0, round(written))

    def _run(self, measures: Mapping[str, int]) -> Form:
        if self._likely is None:
            self._likely = System([*self._certain, *assumptions(self._program)], self._weights, self._program.is_run)
        counts, is_possible = self._likely.least(measures)
        if is_possible:
            return counts
        certain, is_possible = self._system.least(measures)
        return certain if is_possible else counts


class _Tally:
    """Goes through the program once: what is counted, and what the measures say about it."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self.reads: Form = {}
        self.writes: Form = {}
        self._measured: dict[str, Form] = {name: {} for name in ("rows", "changes", "total", *_STATUS)}
        self._entries: list[tuple[int, int]] = []
        """Of each `count(*)` of a whole table: what it counts, and the register that it goes to."""
        self.columns: dict[str, int] = {}
        """Measures that are cells of the first row: where."""
        self.writes_virtual = any(it.opcode == "VUpdate" for it in program.code)
        self._changes = False
        self._destroyed = sum(it.opcode == "Destroy" for it in program.code)
        fills = sum(it.opcode == "OpenWrite" and it.p5 & _BULK for it in program.code)
        self.constant_reads = self._destroyed + fills * _INDEX_FILL_READS
        for at in program.live:
            self._count(at)
        for table in program.tables.values():
            unseen = table.steps - table.rows * table.first_steps
            _add(self._measured["VM_STEP"], dict.fromkeys(program.runs(table.made), unseen))

    def _count(self, at: int) -> None:
        program, it, runs = self._program, self._program.code[at], self._program.runs(at)
        _add(self._measured["VM_STEP"], runs)
        if it.opcode in STEPS:
            _add(self.reads, program.jumps(at))
            if it.p5 in _STEP_COUNTERS:
                _add(self._measured[_STEP_COUNTERS[it.p5]], program.jumps(at))
        elif it.opcode in _READS:
            _add(self.reads, runs)
        elif it.opcode in SEEKS:
            _add(self.reads, program.passes(at) if program.seeks_equal(at) else runs)
        elif it.opcode == "Count":
            unknown = program.new_unknown()
            self._entries.append((unknown, it.p2))
            _add(self.reads, {unknown: 1})
        if it.opcode in ("Sort", "SorterSort"):
            _add(self._measured["SORT"], runs)
        elif it.opcode == "ResultRow":
            _add(self._measured["rows"], runs)
        else:
            self._count_writes(at, runs)

    def _count_writes(self, at: int, runs: Form) -> None:
        it = self._program.code[at]
        if it.opcode == "Clear" and it.p3:
            runs = {self._program.new_unknown(): 1}
        elif it.opcode in ("Insert", "IdxInsert"):
            if it.opcode == "Insert" and it.p5 & _IS_NOOP:
                return
            opened = self._program.opened(at)
            if opened is not None and opened.opcode in ("OpenRead", "OpenWrite"):
                _add(self.writes, runs)
            if not it.p5 & _COUNTS_CHANGE:
                return
        elif not (it.opcode == "VUpdate" or (it.opcode == "Delete" and it.p2 & _COUNTS_CHANGE)):
            return
        if it.opcode not in ("Insert", "IdxInsert"):
            _add(self.writes, runs)
        self._changes = True
        _add(self._measured["total"], runs)
        if it.frame == 0:
            _add(self._measured["changes"], runs)

    def relations(self) -> list[Relation]:
        """The instruction count comes last, so that it is asked for only where it is needed."""
        names = ["rows", "FULLSCAN_STEP", "AUTOINDEX", "SORT"]
        if self._changes:
            names += ["changes"] if self.writes_virtual else ["changes", "total"]
        if not self._destroyed:
            names.append("VM_STEP")
        found = [Relation(self._measured[name], {name: 1}) for name in names]
        for unknown, register in self._entries:
            column = self._program.column_of(register)
            if column is not None:
                self.columns[f"column {column}"] = column
                found.insert(0, Relation({unknown: 1}, {f"column {column}": 1}))
        return found


def _estimated(program: Program) -> tuple[Known, Known]:
    """Each positioning once and all steps of full scans; for each changed row an entry in each index."""
    positions = sum(it.opcode in _READS or it.opcode in SEEKS for it in program.code)
    indexes = {(it.frame, it.p1) for it in program.code if it.opcode == "IdxInsert"}
    return {"": positions, "FULLSCAN_STEP": 1}, {"total": 1 + len(indexes)}


def _fails_otherwise(it: Instruction) -> bool:
    """Whether it may fail so that rows stay, or the transaction ends: OR FAIL and OR ROLLBACK, and so raise()."""
    return it.opcode in ("Halt", "HaltIfNull") and it.p1 != 0 and it.p2 in _ON_CONFLICT


def _add(target: Form, form: Form) -> None:
    for unknown, factor in form.items():
        target[unknown] = target.get(unknown, 0) + factor
