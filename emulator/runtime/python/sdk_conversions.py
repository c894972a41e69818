"""A short way for the SDK's two conversions, `python_to_rpc` and `python_from_rpc`: each call goes through both.

The SDK walks over a value three times, and asks each part what it might be. Most values are plain data (text, numbers,
null, lists and objects of them) or bindings, for which one pass gives the same; anything else goes the SDK's own way,
and so does everything with an SDK that is not known here. What a call gives is wrapped on a short way too. Both ways
are compared in the tests. `HostModules.installed` has the SDK's module changed.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from flarebed.bindings.values import MAX_SAFE_INTEGER, BigInt, Undefined
from flarebed.emulator.runtime.python.binding import BindingProxy
from flarebed.emulator.runtime.python.data import JsArray, JsObject
from flarebed.emulator.runtime.python.proxy import JsNull, from_python, jsnull, to_python

_SAME: Final = frozenset((str, int, bool, float))
"""Python's types that the SDK hands on as they are, in both directions."""
_SAME_CELLS: Final = frozenset((str, int, bool, type(None)))
"""Types of JavaScript's values whose form in a Python container is the value itself."""
_NUMBERS: Final = frozenset((float, BigInt))
KNOWN: Final = frozenset(("ea2e4e8b9bcc284e",))
"""The SDK's `rpc.py` that the short way was compared with, by the start of its SHA-256: 1.9.5."""


class _NotPlain(Exception):
    """The value has a part that only the SDK knows what to do with."""


def shorten(rpc: ModuleType) -> None:
    """Let the SDK's module `workers.rpc` go the short way first, if it is one that is known."""
    assert rpc.__file__ is not None
    if hashlib.sha256(Path(rpc.__file__).read_bytes()).hexdigest()[:16] in KNOWN:
        rpc.python_to_rpc = _to_rpc(rpc.python_to_rpc, rpc._BindingWrapper)  # type: ignore[attr-defined]
        rpc.python_from_rpc = _from_rpc(rpc.python_from_rpc, rpc.JsDict)  # type: ignore[attr-defined]
        rpc._BindingWrapper._convert_result = _result(rpc._BindingWrapper._convert_result)


def _to_rpc(long_way: Callable[[Any], Any], wrapper: type) -> Callable[[Any], Any]:
    outwards = _outwards(wrapper)

    @functools.wraps(long_way)
    def python_to_rpc(value: Any) -> Any:
        kind = type(value)
        if kind in _SAME:
            return value
        if value is None:
            return jsnull
        if kind is dict or kind is list:
            try:
                return to_python(outwards(value))
            except _NotPlain:
                pass
        return long_way(value)

    return python_to_rpc


def _from_rpc(long_way: Callable[[Any], Any], js_dict: Callable[[Any], Any]) -> Callable[[Any], Any]:
    inwards = _inwards(js_dict)

    @functools.wraps(long_way)
    def python_from_rpc(obj: Any) -> Any:
        kind = type(obj)
        if kind in _SAME:
            return obj
        if kind is JsNull:
            return None
        if kind is JsObject or kind is JsArray:
            try:
                return inwards(obj.js_value())
            except _NotPlain:
                pass
        return obj if isinstance(obj, BindingProxy) else long_way(obj)

    return python_from_rpc


def _result(long_way: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """For a binding's object that a call gives, such as a statement: what becomes of one becomes of all of its type."""
    wrapped: set[type] = set()

    @functools.wraps(long_way)
    def convert_result(self: Any, result: Any) -> Any:
        kind = type(result)
        if kind in wrapped:
            return self.__class__(result)
        converted = long_way(self, result)
        if isinstance(result, BindingProxy) and not callable(result) and type(converted) is type(self):
            wrapped.add(kind)
        return converted

    return convert_result


def _outwards(wrapper: type) -> Callable[[Any], Any]:
    """What makes the value that a Python object becomes; a binding comes in the SDK's `wrapper`."""

    def convert(value: Any) -> Any:
        kind = type(value)
        if kind is str or kind is bool or kind is float or value is None:
            return value
        if kind is int:
            return value if -MAX_SAFE_INTEGER < value < MAX_SAFE_INTEGER else from_python(value)
        if kind is list:
            return [convert(item) for item in value]
        if kind is dict and all(type(key) is str for key in value):
            return {key: convert(item) for key, item in value.items()}
        if kind is wrapper and isinstance(value._binding, BindingProxy):
            return value._binding.js_value()
        raise _NotPlain

    return convert


def _inwards(js_dict: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What makes Python's form of a value, its objects as `js_dict`."""

    def convert(value: Any) -> Any:
        kind = type(value)
        if kind is dict:
            return js_dict({key: item if type(item) in _SAME_CELLS else convert(item) for key, item in value.items()})
        if kind is list:
            if _are_flat_objects(value):
                return list(map(js_dict, value))
            return [item if type(item) in _SAME_CELLS else convert(item) for item in value]
        if kind in _NUMBERS:
            return to_python(value)
        if kind is Undefined:
            return None
        proxy = to_python(value)
        if isinstance(proxy, BindingProxy):
            return proxy
        raise _NotPlain

    return convert


def _are_flat_objects(values: list[Any]) -> bool:
    """Whether all are objects without a part that needs a look: a table's rows, told at once."""
    if not values or type(values[0]) is not dict or set(map(type, values)) != {dict}:
        return False
    return _SAME_CELLS.issuperset(map(type, chain.from_iterable(map(dict.values, values))))
