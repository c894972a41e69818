"""How a replay may differ from the run before it in what is not recorded: the time, randomness, reads outside of steps.

Dice and times are chosen to fall on the other side of what code compares with: extremes beside some of the usual, and
for reads the constants that stand in comparisons of the Worker's files.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from flarebed.emulator.checking.dice import HIGH, LOW, Loaded
from flarebed.emulator.checking.places import tree
from flarebed.emulator.checking.witness import Answer, Call

HOUR_MS, DAY_MS = 3_600_000.0, 86_400_000.0
CLOCK, RANDOMNESS = "the clock", "randomness"

MOST_PER_READ = 24


@dataclass(frozen=True)
class Variation:
    """`of` is what varies. `reading` is the outside read that gets another answer.

    `goes_along`: the replay takes as long as the run did, `later_ms` later; else it is all at one moment after it.
    """

    of: str
    later_ms: float = 0.0
    goes_along: bool = False
    seed: str | Random = ""
    reading: Call | None = None
    answer: Any = None

    def answered(self, outside: list[Call]) -> Tape:
        return Tape(outside, self)


class Tape:
    """Answers calls outside of steps as they were answered before, but for the one that varies."""

    def __init__(self, outside: list[Call], variation: Variation) -> None:
        self._left = list(outside)
        self._variation = variation

    def __call__(self, call: Call) -> Answer | None:
        """None for a call that was not made then: it is made."""
        same = [before for before in self._left if _asks(before) == _asks(call)]
        if not same:
            return None
        before = same[0]
        self._left.remove(before)
        if before is self._variation.reading:
            return Answer(self._variation.answer)
        return Answer(before.result, before.error)


def _asks(call: Call) -> tuple[str, str, str]:
    return call.target, call.operation, call.what


def of_time() -> Iterator[Variation]:
    """Another second, hour, weekday, month, year for the whole run; and a replay at its end, or later."""
    hours = (7.217, 12.689, 18.4)
    days = (1, 2, 3, 5, 17, 40, 100, 170, 250, 400)
    shifts_ms = [1_001.0, *(hour * HOUR_MS for hour in hours), *(day * DAY_MS + 1_001.0 for day in days)]
    for later_ms in shifts_ms:
        yield Variation(CLOCK, later_ms, seed="outside", goes_along=True)
    for later_ms in (1_001.0, 9 * HOUR_MS, 3 * DAY_MS):
        yield Variation(CLOCK, later_ms, seed="outside")


def of_randomness() -> Iterator[Variation]:
    for value in (LOW, HIGH):
        yield Variation(RANDOMNESS, seed=Loaded(value))
    for number in range(4):
        yield Variation(RANDOMNESS, seed=f"another {number}")


def of_reads(outside: Iterable[Call], files: Iterable[str]) -> Iterator[Variation]:
    constants = list(dict.fromkeys(constant for file in files for constant in _compared(file)))
    for call in outside:
        if not call.is_effect and call.kind != "fetch" and call.error is None and call.site is not None:
            for other in list(_others(call.result, constants))[:MOST_PER_READ]:
                yield Variation(f"what {call} answers", seed="outside", reading=call, answer=other)


def _others(value: Any, constants: list[Any]) -> Iterator[Any]:
    """Values that might have been read instead."""
    texts = [constant for constant in constants if isinstance(constant, str)]
    numbers = [constant for constant in constants if isinstance(constant, int | float)]
    if value is None:
        yield from texts or ["1"]
        yield "1"
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, str):
        yield from (other for other in (*texts, "", "1", "0") if other != value)
        yield None
    elif isinstance(value, int | float):
        around = [near for number in numbers for near in (number, number - 1, number + 1)]
        yield from (other for other in (*around, 0, -1, value + 1, value + 1_000_000) if other != value)
    elif isinstance(value, list):
        yield []
        for other in _others(value[0], constants) if value else ():
            yield [other, *value[1:]]
        yield [*value, *value]
    elif isinstance(value, dict):
        yield from _other_members(value, constants)


def _other_members(value: dict[str, Any], constants: list[Any]) -> Iterator[Any]:
    is_answer_of_d1 = {"success", "meta", "results"} <= value.keys()
    if not is_answer_of_d1:
        yield None
    for name in ["results"] if is_answer_of_d1 else value:
        for other in _others(value[name], constants):
            yield {**value, name: other}


def _compared(file: str) -> Iterator[Any]:
    """Constants that stand in comparisons, and patterns of `match`."""
    for node in ast.walk(tree(file)):
        parts: list[ast.AST] = []
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.match_case):
            parts = [node.pattern]
        for constant in (each for part in parts for each in ast.walk(part) if isinstance(each, ast.Constant)):
            if isinstance(constant.value, str | int | float) and not isinstance(constant.value, bool):
                yield constant.value
