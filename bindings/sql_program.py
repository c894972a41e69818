"""SQLite's bytecode of a statement as a graph: what may run after what, and how often each instruction runs. Pure.

The counts are sums of unknowns, one for each way between two straight pieces of code; `sql_counts.py` relates them to
what SQLite measures. Instructions: https://sqlite.org/opcode.html and src/vdbe.c.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from flarebed.bindings.sql_linear import Form, Number, Relation

SEEKS: Final = frozenset({"SeekLT", "SeekLE", "SeekGE", "SeekGT"})
STEPS: Final = frozenset({"Next", "Prev", "SorterNext"})
_JUMP_NAMES: Final = """
    If IfNot IfPos IfNotZero DecrJumpZero IfNullRow IfNotOpen IsNull NotNull IsType Eq Ne Lt Le Gt Ge ElseEq Once
    IfNoHope NoConflict NotFound Found SeekRowid NotExists Rewind Last IfSizeBetween IfEmpty Sort SorterSort
    IdxGT IdxGE IdxLT IdxLE RowSetRead RowSetTest FkIfZero VFilter VNext Filter MustBeInt SorterCompare Program
    """
_JUMPS: Final = SEEKS | STEPS | frozenset(_JUMP_NAMES.split())
"""They go to P2, if there is one, or to the next instruction."""
_GOES: Final = _JUMPS | {"Goto", "Gosub", "Init", "InitCoroutine", "Yield", "SeekScan", "Jump"}
_ENDS: Final = ("Halt", "Destroy")
"""What follows Destroy is for a page that moved, of which there is none."""
_OPENS: Final = ("OpenRead", "OpenWrite", "OpenEphemeral", "OpenAutoindex", "OpenDup")
_SEEKS_EQUAL: Final = 0x02


class Instruction(NamedTuple):
    """`frame` is 0 for the statement, and counts the programs of its triggers from 1; jumps are absolute."""

    frame: int
    opcode: str
    p1: int
    p2: int
    p3: int
    p4: str | None
    p5: int


class LiteralTable(NamedTuple):
    """The rows of a VALUES: a coroutine of straight code. `taker` is the one Yield that takes them; `steps` is how many
    instructions there are up to the last row, of which the first row has `first_steps`."""

    made: int
    taker: int
    end: int
    rows: int
    steps: int
    first_steps: int


class Program:
    """`rows` is what EXPLAIN gives: address, opcode, p1 to p5, comment; triggers' programs follow the main one."""

    def __init__(self, rows: Sequence[tuple[Any, ...]]) -> None:
        self.starts = [at for at, row in enumerate(rows) if row[0] == 0]
        self.code = list(self._instructions(rows))
        self._places: dict[tuple[str, int, int], list[int]] = {}
        for at, it in enumerate(self.code):
            self._places.setdefault((it.opcode, it.frame, it.p1), []).append(at)
        self.tables = dict(self._literal_tables())
        """By the first Yield of a coroutine that gives rows one after the other and nothing else."""
        self._next = [self._successors(at) for at in range(len(rows))]
        self.live = sorted(self._reachable())
        self._piece_of: dict[int, int] = {}
        self._pieces = self._straight_pieces()
        self.ways: list[tuple[int, int | None]] = []
        """(the last instruction of a piece, the first of the one that follows)"""
        self._out: list[list[int]] = [[] for _ in self._pieces]
        self._in: list[list[int]] = [[] for _ in self._pieces]
        self._connect()
        self.unknowns = len(self.ways)

    def new_unknown(self) -> int:
        """For a count beside the ways."""
        self.unknowns += 1
        return self.unknowns - 1

    def _literal_tables(self) -> Iterator[tuple[int, LiteralTable]]:
        """Each row has code of its own, which as ways would be as many unknowns: only the first is looked at."""
        if any(it.opcode == "DecrJumpZero" for it in self.code):
            return  # a LIMIT may leave rows
        for made, it in enumerate(self.code):
            if it.opcode != "InitCoroutine":
                continue
            end = next(at for at in range(it.p3, len(self.code)) if self.code[at].opcode == "EndCoroutine")
            yields = self.all("Yield", it.frame, it.p1)
            rows = [at for at in yields if not self.code[at].p2]
            takers = [at for at in yields if self.code[at].p2]
            body = self.code[it.p3 : end]
            is_straight = not any(other.opcode in _GOES and other.p2 for other in body)
            if len(rows) > 1 and len(takers) == 1 and is_straight and it.p3 <= rows[0] and rows[-1] < end:
                steps = rows[-1] + 1 - it.p3
                yield rows[0], LiteralTable(made, takers[0], end, len(rows), steps, rows[0] + 1 - it.p3)

    def _instructions(self, rows: Sequence[tuple[Any, ...]]) -> Iterator[Instruction]:
        frame = -1
        for address, opcode, p1, p2, p3, p4, p5, *_ in rows:
            frame += address == 0
            start = self.starts[frame]
            goes = opcode in _GOES
            yield Instruction(
                frame,
                opcode,
                p1 + start if opcode == "Jump" else p1,
                p2 + start if goes and p2 else p2,
                p3 + start if opcode in ("Jump", "InitCoroutine") else p3,
                p4,
                p5,
            )

    def _successors(self, at: int) -> tuple[int, ...]:
        """A conditional jump's target comes first."""
        it = self.code[at]
        if it.opcode in _ENDS:
            return ()
        if it.opcode in ("Goto", "Gosub"):
            return (it.p2,)
        if it.opcode in ("Init", "InitCoroutine"):
            return (it.p2 or at + 1,)
        if it.opcode == "Jump":
            return tuple(sorted({it.p1, it.p2, it.p3}))
        if it.opcode in ("Return", "Yield", "EndCoroutine"):
            return self._resumed(at)
        if it.opcode == "SeekScan":
            return tuple(sorted({at + 1, it.p2, self.code[at + 1].p2}))
        if it.opcode in _JUMPS and it.p2:
            return (it.p2, at + 2 if self.seeks_equal(at) else at + 1)
        return (at + 1,)

    def _resumed(self, at: int) -> tuple[int, ...]:
        it = self.code[at]
        if it.opcode == "Return":
            calls = tuple(call + 1 for call in self.all("Gosub", it.frame, it.p1))
            return calls + ((at + 1,) if it.p3 else ())
        yields = self.all("Yield", it.frame, it.p1)
        takers = [other for other in yields if self.code[other].p2]
        if it.opcode == "EndCoroutine":
            return tuple(self.code[taker].p2 for taker in takers)
        if not it.p2:
            return tuple(taker + 1 for taker in takers)
        entries = tuple(self.code[made].p3 for made in self.all("InitCoroutine", it.frame, it.p1))
        for table in self.tables.values():
            if table.taker == at:
                return (*entries, table.end)
        return entries + tuple(other + 1 for other in yields if not self.code[other].p2)

    def seeks_equal(self, at: int) -> bool:
        """A seek for one key alone: it skips the comparison that follows, and a miss is not counted as a row read."""
        it = self.code[at]
        if it.opcode not in ("SeekGE", "SeekLE") or self.code[at + 1].opcode not in ("IdxGT", "IdxLT"):
            return False
        opened = self.opened(at)
        return opened is not None and bool(opened.p5 & _SEEKS_EQUAL)

    def opened(self, at: int) -> Instruction | None:
        """What opened the cursor P1 of the instruction: the nearest before it, else the last in the frame."""
        it = self.code[at]
        opens = [other for opcode in _OPENS for other in self.all(opcode, it.frame, it.p1)]
        before = [other for other in opens if other < at]
        return self.code[max(before or opens)] if opens else None

    def all(self, opcode: str, frame: int, p1: int) -> Sequence[int]:
        """Where the instruction stands in the frame with that P1."""
        return self._places.get((opcode, frame, p1), ())

    def _reachable(self) -> set[int]:
        found: set[int] = set()
        waiting = list(self.starts)
        while waiting:
            at = waiting.pop()
            if at not in found:
                found.add(at)
                waiting += self._next[at]
        return found

    def _straight_pieces(self) -> list[list[int]]:
        entered = set(self.starts)
        for at in self.live:
            if self._next[at] != (at + 1,):
                entered.update(self._next[at])
        pieces: list[list[int]] = []
        for at in self.live:
            if at in entered or at - 1 not in self._piece_of or self._next[at - 1] != (at,):
                pieces.append([])
            pieces[-1].append(at)
            self._piece_of[at] = len(pieces) - 1
        return pieces

    def _connect(self) -> None:
        for index, piece in enumerate(self._pieces):
            for target in self._next[piece[-1]] or (None,):
                way = len(self.ways)
                self.ways.append((piece[-1], target))
                self._out[index].append(way)
                if target is not None:
                    self._in[self._piece_of[target]].append(way)

    def runs(self, at: int) -> Form:
        """How often the instruction runs."""
        return dict.fromkeys(self._out[self._piece_of[at]], 1)

    def jumps(self, at: int) -> Form:
        """How often it goes to P2."""
        return self._goes(at, 0)

    def passes(self, at: int) -> Form:
        """How often it does not."""
        return self._goes(at, 1)

    def goes(self, at: int, target: int) -> Form:
        return self._goes(at, self._next[at].index(target))

    def _goes(self, at: int, which: int) -> Form:
        ways = self._out[self._piece_of[at]]
        return {ways[which]: 1} if which < len(ways) else {}

    def column_of(self, register: int) -> int | None:
        """Which column of the rows a register's value ends as, after copies."""
        registers = {register}
        for it in self.code:
            if it.opcode in ("Copy", "SCopy") and it.p1 in registers:
                registers.add(it.p2)
            elif it.opcode == "ResultRow":
                return next((at for at in range(it.p2) if it.p1 + at in registers), None)
        return None

    def is_run(self, counts: Mapping[int, Number]) -> bool:
        """Whether all ways that are gone are come to: a loop must not go round by itself."""
        gone = {way for way in range(len(self.ways)) if counts.get(way)}
        come = [way for start in self.starts for way in self._out[self._piece_of[start]] if way in gone]
        while come:
            way = come.pop()
            target = self.ways[way][1]
            if way in gone:
                gone.remove(way)
                come += self._out[self._piece_of[target]] if target is not None else ()
        return not gone

    def branches(self, at: int) -> bool:
        return len(self._next[at]) > 1

    def target(self, at: int, target: int) -> bool:
        return target in self._next[at]

    def conservation(self) -> Iterator[Relation]:
        """What comes into a piece goes out of it; a trigger's program is entered by the instruction that calls it."""
        calls = [at for at in self.live if self.code[at].opcode == "Program"]
        entered_by = dict(zip(self.starts[1:], calls, strict=True)) if len(calls) == len(self.starts) - 1 else {}
        for index, piece in enumerate(self._pieces):
            form: Form = dict.fromkeys(self._in[index], 1)
            for way in self._out[index]:
                form[way] = form.get(way, 0) - 1
            if piece[0] == 0:
                yield Relation(form, {"": -1})
            elif piece[0] not in self.starts:
                yield Relation(form, {})
            elif piece[0] in entered_by:
                yield Relation(_sum(form, self.runs(entered_by[piece[0]])), {})


def _sum(first: Form, second: Form) -> Form:
    return {key: first.get(key, 0) + second.get(key, 0) for key in first | second}
