"""What JavaScript asks of any value: its own properties, its iterator, a call. The standard library is written on it.

Functions here take and give values (of `bindings.values`), not their Python looks; a Python object among them is a
PyProxy, which `to_python` opens.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from flarebed.bindings import ecma
from flarebed.bindings.errors import JsError
from flarebed.bindings.values import UNDEFINED, Error, Map, Set, View
from flarebed.emulator.runtime.python.proxy import Constructor, JsProxy, from_js_error, from_python, throw, to_python


def own_properties(value: Any) -> dict[str, Any]:
    """The enumerable own string properties in JavaScript's order; TypeError for undefined and null."""
    if isinstance(value, dict):
        return ecma.order_keys(value)
    if value is None or value is UNDEFINED:
        raise throw("Cannot convert undefined or null to object", "TypeError")
    if isinstance(value, list | str):
        return {str(index): item for index, item in enumerate(value)}
    if isinstance(value, View):
        return {str(index): item for index, item in enumerate(value.elements())}
    if isinstance(value, Error):
        return value.properties
    if isinstance(value, JsProxy):
        return value.own_properties()
    look = to_python(value)
    if isinstance(look, dict):
        return {ecma.to_string(from_python(key)): from_python(item) for key, item in look.items()}
    return {}


def plain(value: Any) -> Any:
    """The value with Python's containers opened, as JSON.stringify sees them: dicts are objects, sequences arrays."""
    look = to_python(value)
    if isinstance(look, dict):
        return {name: plain(item) for name, item in own_properties(value).items()}
    if isinstance(look, list | tuple | range | bytes | bytearray):
        return [plain(from_python(item)) for item in look]
    return value


def iterate(value: Any) -> Iterator[Any]:
    """value[Symbol.iterator](); TypeError if there is none."""
    if isinstance(value, list | str | Set):
        return iter(value)
    if isinstance(value, Map):
        return iter([[key, item] for key, item in value.items()])
    if isinstance(value, View):
        return iter(value.elements())
    look = to_python(value)
    if not ecma.is_object(value) or not isinstance(look, Iterable):
        why = " (cannot read property Symbol(Symbol.iterator))" if value is not None and value is not UNDEFINED else ""
        raise throw(f"{_described(value)} is not iterable{why}", "TypeError")
    return map(from_python, look.js_iterator() if hasattr(look, "js_iterator") else look)


def entry(pair: Any) -> tuple[Any, Any]:
    """The key and value of an entry object: [key, value], or a Python pair."""
    if isinstance(pair, list):
        return (*pair, UNDEFINED, UNDEFINED)[:2]
    if not ecma.is_object(pair):
        raise throw(f"Iterator value {ecma.to_string(pair)} is not an entry object", "TypeError")
    look = to_python(pair)
    if isinstance(look, tuple | list) and len(look) >= 2:
        return from_python(look[0]), from_python(look[1])
    return UNDEFINED, UNDEFINED


def caller(function: Any) -> Callable[..., Any]:
    """A Python callable that calls a JavaScript or Python function with values and gives a value."""
    look = to_python(function)
    if not callable(look):
        raise throw(f"{_described(function)} is not a function", "TypeError")
    return lambda *arguments: from_python(look(*map(to_python, arguments)))


def truthy(value: Any) -> bool:
    """ToBoolean."""
    if isinstance(value, bool | int | float | str):
        return bool(value) and value == value
    return value is not None and value is not UNDEFINED


def strict_equals(one: Any, two: Any) -> bool:
    """one === two."""
    if isinstance(one, int | float | str) or isinstance(two, int | float | str):
        return ecma.typeof(one) == ecma.typeof(two) and bool(one == two)
    return one is two


def to_number(value: Any) -> int | float:
    """Number(value); a JsException for a BigInt."""
    try:
        return ecma.to_number(value)
    except JsError as error:
        raise from_js_error(error) from None


def to_integer(value: Any, default: int = 0) -> int:
    """ToIntegerOrInfinity, with infinities cut to what no length reaches; undefined is `default`."""
    if value is UNDEFINED:
        return default
    number = to_number(value)
    if number != number:
        return 0
    return int(max(-(2.0**53), min(2.0**53, number)))


def relative_index(value: Any, length: int, default: int) -> int:
    """A relative index (negative from the end) within 0..length, as slice, fill and at take it."""
    index = to_integer(value, default)
    return max(0, length + index) if index < 0 else min(index, length)


def _described(value: Any) -> str:
    """How V8 names a value in "... is not iterable" and "... is not a function"."""
    kind = ecma.typeof(value)
    if value is None or kind in ("undefined", "object", "function"):
        return ecma.to_string(None) if value is None else kind
    return f'string "{value}"' if kind == "string" else f"{kind} {ecma.to_string(value)}"


class JsFunction(JsProxy, js="Function"):
    """A function that is no constructor, over a Python callable of Python looks."""

    __slots__ = ("_function", "name")

    def __init__(self, function: Callable[..., Any], name: str = "") -> None:
        self._function = function
        self.name = name or function.__name__

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self._function(*arguments, **options)

    def call(self, _this: Any = None, *arguments: Any) -> Any:
        return self._function(*arguments)

    def apply(self, _this: Any = None, arguments: Iterable[Any] = ()) -> Any:
        return self._function(*arguments)

    def bind(self, _this: Any = None, *first: Any) -> JsFunction:
        return JsFunction(lambda *rest: self._function(*first, *rest), f"bound {self.name}")

    def toString(self) -> str:
        return f"function {self.name}() {{ [native code] }}"


class _Member:
    """A method that is seen as the function of JavaScript it is: `js.JSON.stringify`."""

    __slots__ = ("_function", "_name")

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._name = function.__name__.removesuffix("_")

    def __get__(self, instance: Any, _owner: Any = None) -> Any:
        return JsFunction(self._function.__get__(instance), self._name)


_PLAIN_METHODS = frozenset({*vars(JsProxy), "call", "apply", "bind", "make", "new"})


def _members_are_functions(cls: type) -> None:
    for name, member in [*vars(cls).items()]:
        if inspect.isfunction(member) and not name.startswith("_") and name not in _PLAIN_METHODS:
            setattr(cls, name, _Member(member))


class Namespace(JsProxy):
    """An object like Math: functions under a tag, not a class."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        _members_are_functions(cls)

    @property
    def constructor(self) -> Any:
        return to_python({}).constructor


class ValueConstructor(Constructor, js="Function"):
    """A constructor whose instances are plain values; subclasses say how one is made."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        _members_are_functions(cls)

    def new(self, *arguments: Any, **options: Any) -> Any:
        return to_python(self.make(*map(from_python, arguments)))

    def make(self, *arguments: Any) -> Any:
        raise NotImplementedError

    def __call__(self, *_arguments: Any, **_options: Any) -> Any:
        raise throw(f"Constructor {self.name} requires 'new'", "TypeError")
