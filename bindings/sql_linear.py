"""Linear relations between unknown counts, and the least surprising counts that satisfy them. Pure.

`sql_counts.py` makes the relations of a statement's bytecode; the counts of one run are whole and not negative.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, islice
from typing import Final, NamedTuple, TypeVar

Number = int | Fraction
Form = dict[int, Number]
"""Coefficients of unknowns."""
Known = dict[str, Number]
"""Coefficients of what is measured; "" stands for 1."""

Key = TypeVar("Key", int, str)

_PIVOTS: Final = 40
_MORE: Final = 2
_TRIES: Final = 100


class Relation(NamedTuple):
    """`form` of the unknowns equals `known` of the measures."""

    form: Form
    known: Known


class System:
    """Relations, solved for as many unknowns as they determine; `weights` say how surprising one of an unknown is.

    `is_possible` is asked about counts that are whole and not negative, for what no relation can say.
    """

    def __init__(
        self, relations: Sequence[Relation], weights: Sequence[float], is_possible: Callable[[Form], bool]
    ) -> None:
        self._weights = weights
        self._is_possible = is_possible
        self._solved: dict[int, Relation] = {}
        for relation in relations:
            self._add(relation)
        self._values: dict[frozenset[tuple[str, Number]], Known] = {}
        """The different sums of measures that unknowns are equal to, if the undetermined ones are 0."""
        self._value_of: dict[int, frozenset[tuple[str, Number]]] = {}
        for unknown, solved in self._solved.items():
            self._value_of[unknown] = key = frozenset(solved.known.items())
            self._values[key] = solved.known
        self._verdicts: dict[tuple[bool, ...], bool] = {}

    def _add(self, relation: Relation) -> None:
        new = Relation({}, {})
        _add_scaled(new.form, relation.form, 1)
        _add_scaled(new.known, relation.known, 1)
        for unknown in [unknown for unknown in new.form if unknown in self._solved]:
            _subtract(new, self._solved[unknown], new.form.get(unknown, 0))
        if not new.form:
            return
        unknown = min(new.form, key=lambda candidate: (self._weights[candidate], candidate))
        scale = new.form[unknown]
        new = Relation(_divided(new.form, scale), _divided(new.known, scale))
        for other in [other for other in self._solved.values() if unknown in other.form]:
            _subtract(other, new, other.form[unknown])
        self._solved[unknown] = new

    def expressed(self, form: Form) -> Relation:
        """`form` as a sum of undetermined unknowns (`form`) and measures (`known`)."""
        free: Form = {}
        known: Known = {}
        for unknown, factor in form.items():
            relation = self._solved.get(unknown)
            if relation is None:
                _add_scaled(free, {unknown: 1}, factor)
            else:
                _add_scaled(known, relation.known, factor)
                _add_scaled(free, {key: value for key, value in relation.form.items() if key != unknown}, -factor)
        return Relation(free, known)

    def least(self, measures: Mapping[str, int]) -> tuple[Form, bool]:
        """Counts that satisfy all, with as little weight as is easily found; and whether they are possible counts."""
        values = {key: valued(known, measures) for key, known in self._values.items()}
        counts = {unknown: values[key] for unknown, key in self._value_of.items()}
        if all(value >= 0 and value.denominator == 1 for value in values.values()):
            pattern = tuple(map(bool, values.values()))
            if pattern not in self._verdicts:
                self._verdicts[pattern] = self._is_possible(counts)
            if self._verdicts[pattern]:
                return counts, True
        rows = {
            unknown: (counts[unknown], {other: factor for other, factor in relation.form.items() if other != unknown})
            for unknown, relation in self._solved.items()
        }
        for _ in range(_PIVOTS):
            worst = min(rows, key=lambda unknown: rows[unknown][0], default=None)
            if worst is None or rows[worst][0] >= 0:
                break
            rising = [unknown for unknown, factor in rows[worst][1].items() if factor < 0]
            if not rising:
                break
            _exchange(rows, worst, min(rising, key=lambda unknown: self._price(unknown, rows[worst][1][unknown])))
        return self._whole(rows)

    def _price(self, unknown: int, factor: Number) -> tuple[float, int]:
        return (1 + 9 * self._weights[unknown]) / -float(factor), unknown

    def _whole(self, rows: dict[int, tuple[Number, Form]]) -> tuple[Form, bool]:
        """Of the solutions near by, the first in whole numbers."""
        free = sorted({unknown for _, form in rows.values() for unknown in form}, key=lambda u: (self._weights[u], u))
        trials = (more for total in range(_MORE + 1) for more in combinations_with_replacement(free, total))
        for more in islice(trials, _TRIES):
            counts = _counts(rows, more)
            if counts is not None and self._is_possible(counts):
                return counts, True
        return {unknown: value for unknown, (value, _) in rows.items()}, False


def _counts(rows: Mapping[int, tuple[Number, Form]], more: Sequence[int]) -> Form | None:
    """With the free unknowns `more` raised by one each; None unless all are whole and none negative."""
    counts: Form = {}
    for unknown, (least, form) in rows.items():
        value = least
        for risen in more:
            value -= form.get(risen, 0)
        if value < 0 or value.denominator != 1:
            return None
        counts[unknown] = value
    for risen in more:
        counts[risen] = counts.get(risen, 0) + 1
    return counts


def valued(form: Mapping[str, Number], measures: Mapping[str, int]) -> Number:
    total: Number = 0
    for name, factor in form.items():
        total += factor * measures[name]
    return total


def _exchange(rows: dict[int, tuple[Number, Form]], leaving: int, entering: int) -> None:
    """One step of the dual simplex method: `entering` takes the place of `leaving`, which becomes 0."""
    value, form = rows.pop(leaving)
    scale = form.pop(entering)
    form[leaving] = 1
    value, form = _quotient(value, scale), _divided(form, scale)
    for unknown, (before, other) in rows.items():
        factor = other.pop(entering, 0)
        if factor:
            _add_scaled(other, form, -factor)
            rows[unknown] = (before - factor * value, other)
    rows[entering] = (value, form)


def _subtract(target: Relation, relation: Relation, factor: Number) -> None:
    if factor:
        _add_scaled(target.form, relation.form, -factor)
        _add_scaled(target.known, relation.known, -factor)


def _add_scaled(target: dict[Key, Number], form: Mapping[Key, Number], factor: Number) -> None:
    for key, value in form.items():
        total = target.get(key, 0) + factor * value
        if total:
            target[key] = total
        else:
            target.pop(key, None)


def _divided(form: Mapping[Key, Number], scale: Number) -> dict[Key, Number]:
    return {key: _quotient(value, scale) for key, value in form.items()}


def _quotient(value: Number, scale: Number) -> Number:
    """Whole numbers stay `int`, with which Python is much faster."""
    if scale == 1 or scale == -1:
        return value * scale
    exact = Fraction(value) / scale
    return exact.numerator if exact.denominator == 1 else exact
