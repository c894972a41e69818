"""What is known of a run of SQLite's bytecode beyond its jumps: instructions that go together, and what is rare. Pure.

`sql_counts.py` needs it where the measures alone leave several runs possible. The patterns are those that SQLite's code
generator writes (src/where.c, insert.c, update.c, delete.c).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from flarebed.bindings.sql_linear import Form, Relation
from flarebed.bindings.sql_program import SEEKS, Instruction, Program

_RARELY_JUMP: Final = (
    SEEKS | {"IsNull", "MustBeInt", "Rewind", "Last", "VFilter", "Program", "IfNullRow", "Sort"} | {"SorterSort"}
)
_RARE: Final = 1.0
_UNUSUAL: Final = 0.5
_UNLIKELY: Final = 5.0
_APPENDS: Final = 0x08
_REGISTER_OF: Final = {"Rowid": "p2", "IdxRowid": "p2", "NewRowid": "p2", "RowSetRead": "p3", "MakeRecord": "p3"}
"""Where an instruction leaves its result."""
_SETS_P2: Final = frozenset({"Copy", "SCopy", "IntCopy", "Rowid", "IdxRowid", "Variable", "Param", "Null", "Real"})


def surprises(program: Program) -> list[float]:
    """How surprising it is to go each way once."""
    return [_surprise(program, at, target) for at, target in program.ways]


def _surprise(program: Program, at: int, target: int | None) -> float:
    it = program.code[at]
    if target is None or not program.branches(at):
        return 0.0
    jumps = target == it.p2
    if it.opcode in ("NoConflict", "FkIfZero") or program.code[target].opcode == "FkCounter":
        return 0.0 if jumps else _RARE  # else there is a conflict, or a parent is missing
    if not jumps:
        return 0.0
    if it.opcode == "IsNull" and _makers(program, at, it.p1, ("MakeRecord",)):
        return 0.0
    if it.opcode == "Le" and program.code[at + 1].opcode == "OpenWrite":
        return _UNUSUAL
    if it.opcode == "Next" and _looks_up_sequence(program, at):
        return _UNLIKELY
    return _RARE if it.opcode in _RARELY_JUMP else 0.0


def _looks_up_sequence(program: Program, at: int) -> bool:
    """Whether the loop looks for a table's row in sqlite_sequence, which seldom has many."""
    pages = {
        opened.p2
        for other in program.live
        if program.code[other].opcode == "Insert" and program.code[other].p4 is None
        and program.code[other].p5 == _APPENDS and (opened := program.opened(other)) is not None
    }  # fmt: skip
    opened = program.opened(at)
    return opened is not None and opened.opcode == "OpenRead" and opened.p2 in pages


def _makers(program: Program, at: int, register: int, opcodes: Sequence[str]) -> list[int]:
    """The instructions of the same frame that set the register."""
    frame = program.code[at].frame
    return [
        other
        for other in program.live
        if (it := program.code[other]).frame == frame and it.opcode in opcodes
        and getattr(it, _REGISTER_OF[it.opcode]) == register
    ]  # fmt: skip


def facts(program: Program) -> Iterator[Relation]:
    """What always holds."""
    for at in program.live:
        it = program.code[at]
        if it.opcode == "Gosub":
            yield from _returned(program, at)
        elif at in program.tables:
            table = program.tables[at]
            made: Form = dict.fromkeys(program.runs(table.made), table.rows)
            yield _equal(program.runs(at), made)
        if not program.branches(at):
            continue
        if it.opcode == "IsNull":
            makers = _makers(program, at, it.p1, ("MakeRecord", "Rowid"))
            if makers:
                yield _equal(program.passes(at), *(program.runs(maker) for maker in makers))
        elif it.opcode == "NotExists":
            makers = _makers(program, at, it.p3, ("Rowid", "IdxRowid", "RowSetRead", "NewRowid"))
            if makers and all(program.code[maker].opcode != "NewRowid" for maker in makers):
                yield Relation(program.jumps(at), {})  # the row was found before
        elif it.opcode == "Le" and it.frame == 0 and program.code[at + 1].opcode == "OpenWrite":
            yield from _sequence_grows(program, at)


def _returned(program: Program, at: int) -> Iterator[Relation]:
    """A subroutine with one end returns to each place as often as it was called from there."""
    it = program.code[at]
    ends = program.all("Return", it.frame, it.p1)
    if len(ends) == 1 and ends[0] in program.live and program.branches(ends[0]):
        yield _equal(program.runs(at), program.goes(ends[0], at + 1))


def _sequence_grows(program: Program, at: int) -> Iterator[Relation]:
    """AUTOINCREMENT: the new maximum is written at most once per row that was given a row id."""
    register = program.code[at].p3
    given = [other for other in program.live if (it := program.code[other]).opcode == "MemMax" and it.p1 == register]
    if given:
        unused = program.new_unknown()
        yield _equal(program.passes(at) | {unused: 1}, *(program.runs(other) for other in given))


def assumptions(program: Program) -> Iterator[Relation]:
    """What nearly always holds."""
    yield from _same_comparisons(program)
    for at in program.live:
        it = program.code[at]
        if it.opcode == "NotNull" and program.branches(at):
            makers = _makers(program, at, it.p1, ("Rowid",))
            if makers:
                yield _equal(program.jumps(at), *(program.runs(maker) for maker in makers))
        elif it.opcode == "Once" and it.frame == 0:
            yield Relation(program.passes(at), {"": 1})
        elif it.opcode == "Yield" and not it.p2 and at not in program.tables:
            yield from _resumed(program, at)
        elif it.opcode == "SorterOpen":
            yield from _taken_out(program, at, ("SorterInsert",), ("SorterSort", "Sort"), "SorterNext")
        elif it.opcode == "OpenEphemeral" and not program.all("OpenDup", it.frame, it.p1):
            yield from _taken_out(program, at, ("Insert", "IdxInsert"), ("Rewind", "Sort"), "Next")
        elif it.opcode == "RowSetRead":
            put = [program.runs(other) for other in program.all("RowSetAdd", it.frame, it.p1)]
            yield _equal(program.passes(at), *put)


def _resumed(program: Program, at: int) -> Iterator[Relation]:
    """A coroutine goes on each time after it has given a row."""
    it = program.code[at]
    takers = [
        other
        for other in program.all("Yield", it.frame, it.p1)
        if other in program.live and program.code[other].p2 and program.target(other, at + 1)
    ]
    if takers:
        yield _equal(program.runs(at), *(program.goes(taker, at + 1) for taker in takers))


def _taken_out(program: Program, at: int, puts: Sequence[str], starts: Sequence[str], step: str) -> Iterator[Relation]:
    """All rows that are put into a transient table are gone through once."""
    it = program.code[at]

    def here(*opcodes: str) -> list[int]:
        return [other for opcode in opcodes for other in program.all(opcode, it.frame, it.p1) if other in program.live]

    first, steps = here(*starts), here(step)
    if len(first) == len(steps) == 1 or step == "SorterNext":
        put = [program.runs(other) for other in here(*puts)]
        gone = [program.passes(other) for other in first] + [program.jumps(other) for other in steps]
        yield _equal(_total(put), *gone, *(program.runs(other) for other in here("Delete")))


def _same_comparisons(program: Program) -> Iterator[Relation]:
    """An UPDATE asks twice whether a row belongs to a partial index: before it changes the row, and after."""
    opcodes = {program.code[at].opcode for at in program.live}
    if "OpenWrite" not in opcodes or ("IdxDelete" not in opcodes and "Yield" in opcodes):
        return  # nothing is written; or several rows come through the same registers
    asked: dict[tuple[object, ...], Form] = {}
    for at in program.live:
        it = program.code[at]
        if it.opcode in ("Ne", "Eq") and program.branches(at):
            left, right = _source(program, at, it.p1), _source(program, at, it.p3)
            if left[0] == right[0] == "constant":
                jumps = (left != right) == (it.opcode == "Ne")
                yield Relation(program.passes(at) if jumps else program.jumps(at), {})
            key = (it.frame, it.opcode, left, right)
            if key in asked:
                yield _equal(program.passes(at), asked[key])
            asked.setdefault(key, program.passes(at))


def _source(program: Program, at: int, register: int) -> tuple[object, ...]:
    """Where a register's value comes from: the nearest instruction before that sets it, or a constant's at the end."""
    start = program.starts[program.code[at].frame]
    for other in range(at - 1, start - 1, -1):
        it = program.code[other]
        if it.opcode == "Column" and it.p3 == register:
            return "column", it.p1, it.p2
        if constant := _constant(it, register):
            return constant
        if it.p2 == register and it.opcode in _SETS_P2:
            return "register", other
    for other in program.live:
        if other > at and (constant := _constant(program.code[other], register)):
            return constant
    return "unknown", at


def _constant(it: Instruction, register: int) -> tuple[object, ...] | None:
    if it.p2 != register or it.opcode not in ("String8", "Integer"):
        return None
    return "constant", it.p4 if it.opcode == "String8" else it.p1


def _equal(form: Form, *parts: Form) -> Relation:
    difference = dict(form)
    for part in parts:
        for unknown, factor in part.items():
            difference[unknown] = difference.get(unknown, 0) - factor
    return Relation(difference, {})


def _total(forms: Sequence[Form]) -> Form:
    total: Form = {}
    for form in forms:
        for unknown, factor in form.items():
            total[unknown] = total.get(unknown, 0) + factor
    return total
