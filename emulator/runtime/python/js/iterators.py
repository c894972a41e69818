"""The iterators that `entries()`, `keys()` and `values()` give, by the names that their collections give them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flarebed.emulator.runtime.python.proxy import JsProxy, from_python, to_python


class JsIterator(JsProxy, js="Iterator"):
    """An iterator of Python looks."""

    __slots__ = ("_items",)

    def __init__(self, items: Iterable[Any]) -> None:
        self._items = iter(items)

    def __iter__(self) -> JsIterator:
        return self

    def __next__(self) -> Any:
        return next(self._items)

    def next(self) -> Any:
        for item in self._items:
            return to_python({"value": from_python(item), "done": False})
        return to_python({"value": from_python(None), "done": True})


class EntryIterator(JsIterator):
    """Of a web collection's `entries()` (workerd src/workerd/jsg/iterator.h)."""

    __slots__ = ()


class KeyIterator(JsIterator):
    """Of a web collection's `keys()`."""

    __slots__ = ()


class ValueIterator(JsIterator):
    """Of a web collection's `values()`."""

    __slots__ = ()


class ArrayIterator(JsIterator, js="Iterator"):
    """Of an Array or a typed array."""

    __slots__ = ()
    js_tag = "Array Iterator"


class MapIterator(JsIterator, js="Iterator"):
    """Of a Map's `entries()`: Python has views for its keys and values."""

    __slots__ = ()
    js_tag = "Map Iterator"


class SetIterator(JsIterator, js="Iterator"):
    """Of a Set."""

    __slots__ = ()
    js_tag = "Set Iterator"
