"""Array: the methods that a proxy of a list has beside Python's, and `js.Array`.

Where Python's sequence and JavaScript's Array have a method of one name (index, pop, reverse, count ...) Pyodide gives
Python's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key
from typing import Any

from flarebed.bindings import ecma
from flarebed.bindings.values import MAX_SAFE_INTEGER, UNDEFINED, same_value_zero
from flarebed.emulator.runtime.python.js.iterators import ArrayIterator
from flarebed.emulator.runtime.python.js.protocols import (
    ValueConstructor,
    caller,
    iterate,
    relative_index,
    strict_equals,
    to_integer,
    to_number,
    truthy,
)
from flarebed.emulator.runtime.python.proxy import from_python, throw, to_python


class ArrayReads:
    """What Array and the typed arrays share: methods that look at the elements and change nothing."""

    __slots__ = ()

    def _elements(self) -> list[Any]:
        raise NotImplementedError

    def _like(self, items: list[Any]) -> Any:
        """A new array of the same kind."""
        raise NotImplementedError

    def at(self, index: Any = 0) -> Any:
        items, position = self._elements(), to_integer(from_python(index))
        return to_python(items[position]) if -len(items) <= position < len(items) else None

    def every(self, test: Any) -> bool:
        return all(truthy(result) for _, result in self._each(test))

    def some(self, test: Any) -> bool:
        return any(truthy(result) for _, result in self._each(test))

    def find(self, test: Any) -> Any:
        return to_python(next((item for item, result in self._each(test) if truthy(result)), UNDEFINED))

    def findIndex(self, test: Any) -> int:
        return next((index for index, (_, result) in enumerate(self._each(test)) if truthy(result)), -1)

    def findLast(self, test: Any) -> Any:
        index = self.findLastIndex(test)
        return None if index < 0 else to_python(self._elements()[index])

    def findLastIndex(self, test: Any) -> int:
        call, items = caller(from_python(test)), self._elements()
        for index in range(len(items) - 1, -1, -1):
            if truthy(call(items[index], index, from_python(self))):
                return index
        return -1

    def filter(self, test: Any) -> Any:
        return self._like([item for item, result in self._each(test) if truthy(result)])

    def map(self, change: Any) -> Any:
        return self._like([result for _, result in self._each(change)])

    def forEach(self, action: Any) -> None:
        for _ in self._each(action):
            pass

    def reduce(self, combine: Any, *initial: Any) -> Any:
        return self._fold(combine, initial, list(enumerate(self._elements())))

    def reduceRight(self, combine: Any, *initial: Any) -> Any:
        return self._fold(combine, initial, list(enumerate(self._elements()))[::-1])

    def includes(self, item: Any = None, start: Any = 0) -> bool:
        items = self._elements()
        slot = same_value_zero(from_python(item))
        begin = relative_index(from_python(start), len(items), 0)
        return any(same_value_zero(each) == slot for each in items[begin:])

    def indexOf(self, item: Any = None, start: Any = 0) -> int:
        items, wanted = self._elements(), from_python(item)
        begin = relative_index(from_python(start), len(items), 0)
        return next((index for index in range(begin, len(items)) if strict_equals(items[index], wanted)), -1)

    def lastIndexOf(self, item: Any = None) -> int:
        items, wanted = self._elements(), from_python(item)
        return next((index for index in range(len(items) - 1, -1, -1) if strict_equals(items[index], wanted)), -1)

    def join(self, separator: Any = ",") -> str:
        between = "," if separator is None else ecma.to_string(from_python(separator))
        return between.join(ecma.to_string([item]) for item in self._elements())

    def slice(self, start: Any = None, end: Any = None) -> Any:
        items = self._elements()
        begin = relative_index(from_python(start), len(items), 0)
        return self._like(items[begin : relative_index(from_python(end), len(items), len(items))])

    def toReversed(self) -> Any:
        return self._like(self._elements()[::-1])

    def toSorted(self, compare: Any = None) -> Any:
        return self._like(sorted(self._elements(), key=self._order(compare)))

    def with_(self, index: Any, value: Any) -> Any:
        items = self._elements()
        position = to_integer(from_python(index))
        if not -len(items) <= position < len(items):
            raise throw("Invalid index : " + ecma.to_string(from_python(index)), "RangeError")
        items[position] = from_python(value)
        return self._like(items)

    def entries(self) -> Any:
        return ArrayIterator([to_python([index, item]) for index, item in enumerate(self._elements())])

    def values(self) -> Any:
        return ArrayIterator([to_python(item) for item in self._elements()])

    def _each(self, function: Any) -> Any:
        """(element, what the function gives for it), as far as it is asked for."""
        call, whole = caller(from_python(function)), from_python(self)
        return ((item, call(item, index, whole)) for index, item in enumerate(self._elements()))

    def _fold(self, combine: Any, initial: tuple[Any, ...], items: list[tuple[int, Any]]) -> Any:
        call, whole = caller(from_python(combine)), from_python(self)
        if not initial and not items:
            raise throw("Reduce of empty array with no initial value", "TypeError")
        total = from_python(initial[0]) if initial else items[0][1]
        for index, item in items if initial else items[1:]:
            total = call(total, item, index, whole)
        return to_python(total)

    def _order(self, compare: Any) -> Callable[[Any], Any]:
        return sort_key(compare)


def sort_key(compare: Any) -> Callable[[Any], Any]:
    """The order of Array.prototype.sort: by text (UTF-16 code units) or a function; undefined comes last."""
    if compare is None:
        return lambda item: (item is UNDEFINED, ecma.to_string(item).encode("utf-16-be", "surrogatepass"))
    call = caller(from_python(compare))
    ordered = cmp_to_key(lambda one, two: _sign(call(one, two)))
    return lambda item: (item is UNDEFINED, 0 if item is UNDEFINED else ordered(item))


def _sign(compared: Any) -> int:
    number = to_number(compared)
    return (number > 0) - (number < 0)


class ArrayMethods(ArrayReads):
    """The methods of an Array's proxy; `value` is the list."""

    __slots__ = ()
    value: list[Any]

    def _elements(self) -> list[Any]:
        return self.value.copy()

    def _like(self, items: list[Any]) -> Any:
        return to_python(items)

    def push(self, *items: Any) -> int:
        self.value.extend(map(from_python, items))
        return len(self.value)

    def pop(self, *index: int) -> Any:
        """Python's: IndexError where there is nothing."""
        return to_python(self.value.pop(*index))

    def shift(self) -> Any:
        return to_python(self.value.pop(0)) if self.value else None

    def unshift(self, *items: Any) -> int:
        self.value[:0] = map(from_python, items)
        return len(self.value)

    def reverse(self) -> None:
        """Python's: gives None."""
        self.value.reverse()

    def splice(self, start: Any = None, *rest: Any) -> Any:
        begin = relative_index(from_python(start), len(self.value), 0)
        count = len(self.value) - begin
        if rest:
            count = max(0, min(to_integer(from_python(rest[0])), count))
        removed = self.value[begin : begin + count]
        self.value[begin : begin + count] = map(from_python, rest[1:])
        return to_python(removed)

    def toSpliced(self, start: Any = None, *rest: Any) -> Any:
        copy = to_python(self.value.copy())
        copy.splice(start, *rest)
        return copy

    def sort(self, compare: Any = None) -> Any:
        self.value.sort(key=sort_key(compare))
        return self

    def fill(self, item: Any = None, start: Any = None, end: Any = None) -> Any:
        begin = relative_index(from_python(start), len(self.value), 0)
        stop = relative_index(from_python(end), len(self.value), len(self.value))
        self.value[begin:stop] = [from_python(item)] * max(0, stop - begin)
        return self

    def copyWithin(self, target: Any, start: Any = None, end: Any = None) -> Any:
        length = len(self.value)
        to, begin = (relative_index(from_python(index), length, 0) for index in (target, start))
        moved = self.value[begin : relative_index(from_python(end), length, length)][: length - to]
        self.value[to : to + len(moved)] = moved
        return self

    def concat(self, *others: Any) -> Any:
        joined = self.value.copy()
        for other in map(from_python, others):
            joined.extend(other) if isinstance(other, list) else joined.append(other)
        return to_python(joined)

    def flat(self, depth: Any = 1) -> Any:
        return to_python(_flat(self.value, to_integer(from_python(depth))))

    def flatMap(self, change: Any) -> Any:
        return to_python(_flat([result for _, result in self._each(change)], 1))


def _flat(items: list[Any], depth: int) -> list[Any]:
    flat: list[Any] = []
    for item in items:
        if isinstance(item, list) and depth > 0:
            flat.extend(_flat(item, depth - 1))
        elif item is not UNDEFINED:
            flat.append(item)
    return flat


class ArrayConstructor(ValueConstructor, js="Function"):
    """`js.Array`."""

    __slots__ = ()

    def make(self, *items: Any) -> Any:
        if len(items) == 1 and isinstance(items[0], int | float) and not isinstance(items[0], bool):
            length = items[0]
            if length < 0 or length != int(length) or length >= 2**32:
                raise throw("Invalid array length", "RangeError")
            return [UNDEFINED] * int(length)
        return list(items)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self.new(*arguments, **options)

    def from_(self, source: Any = None, change: Any = None) -> Any:
        """Array.from: `from` is a word of Python's."""
        items = array_like(from_python(source))
        if change is not None:
            call = caller(from_python(change))
            items = [call(item, index) for index, item in enumerate(items)]
        return to_python(items)

    def of(self, *items: Any) -> Any:  # type: ignore[override]
        return to_python(list(map(from_python, items)))

    def isArray(self, value: Any = None) -> bool:
        return isinstance(from_python(value), list)


def array_like(source: Any) -> list[Any]:
    """The elements of an iterable or of an object with a length."""
    if isinstance(source, dict) and "length" in source:
        length = max(0, min(to_integer(source["length"]), MAX_SAFE_INTEGER))
        return [source.get(str(index), UNDEFINED) for index in range(length)]
    look = to_python(source)
    if isinstance(source, bool | int | float) or (ecma.is_object(source) and not hasattr(look, "__iter__")):
        return []
    return list(iterate(source))
