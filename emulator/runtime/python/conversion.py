"""JsProxy.to_py: what a JavaScript value becomes when Python asks for Python's own types.

Source: Pyodide's documentation, "Type translations", and src/core/js2python.c.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flarebed.bindings.values import ArrayBuffer, Map, Set, View
from flarebed.emulator.runtime.python.proxy import JsProxy, from_python, to_python

_SAME = frozenset((str, int, bool))
"""Types of values that are the same in both languages."""


def to_py(value: Any, depth: int = -1, default_converter: Callable[..., Any] | None = None) -> Any:
    """JsProxy.to_py: arrays, plain objects, maps and sets become list, dict, dict and set; buffers memoryviews.

    What has no Python form goes to `default_converter(proxy, convert, cache_conversion)`, or stays a proxy.
    """
    return _Conversion(default_converter).convert(value, depth)


class _Conversion:
    """One call of to_py; remembers containers, so that cycles and shared parts stay as they are."""

    def __init__(self, default_converter: Callable[..., Any] | None) -> None:
        self._default_converter = default_converter
        self._done: dict[int, Any] = {}

    def convert(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind in _SAME:
            return value
        if kind is dict or kind is list or kind is Map or kind is Set:
            return self._container(value, depth) if depth else to_python(value)
        if kind is View or kind is ArrayBuffer:
            return to_python(value).to_memoryview()
        proxy = to_python(value)
        if self._default_converter is None or not isinstance(proxy, JsProxy):
            return proxy
        return self._default_converter(
            proxy, lambda inner: self.convert(from_python(inner), depth - 1), self._done.__setitem__
        )

    def _container(self, value: Any, depth: int) -> Any:
        done = self._done.get(id(value))
        if done is not None:
            return done
        convert = self.convert
        if type(value) is list:
            items: list[Any] = []
            self._done[id(value)] = items
            items.extend([item if type(item) in _SAME else convert(item, depth - 1) for item in value])
            return items
        if type(value) is Set:
            members: set[Any] = set()
            self._done[id(value)] = members
            members.update(convert(member, depth - 1) for member in value)
            return members
        entries: dict[Any, Any] = {}
        self._done[id(value)] = entries
        for key, item in value.items():
            name = key if type(key) is str else convert(key, depth - 1)
            entries[name] = item if type(item) in _SAME else convert(item, depth - 1)
        return entries
