"""How the web classes read what Worker code passes: strings, numbers, options, sequences, and iterators to give back.

Python's None is undefined; an options object is a JavaScript object, another web object, or keyword arguments.
Source: WebIDL as workerd implements it (src/workerd/jsg).
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from flarebed.bindings import ecma
from flarebed.bindings.errors import JsError
from flarebed.bindings.values import ArrayBuffer, View
from flarebed.emulator.runtime.python.data import JsBuffer
from flarebed.emulator.runtime.python.js.iterators import EntryIterator
from flarebed.emulator.runtime.python.proxy import JsProxy, from_js_error, from_python, jsnull, throw, to_python


def string(value: Any) -> str:
    """A USVString: lone surrogates become U+FFFD."""
    text = value if type(value) is str else _text(value)
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _text(value: Any) -> str:
    return str(value) if isinstance(value, JsProxy) else ecma.to_string(from_python(value))


def optional_string(value: Any, default: str = "") -> str:
    return default if value is None else string(value)


def utf8(text: str) -> bytes:
    """The bytes of a string; lone surrogates become U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return string(text).encode()


def number(value: Any) -> int | float:
    """Number(value)."""
    if type(value) is int or type(value) is float:
        return value
    try:
        return ecma.to_number(from_python(value))
    except JsError as error:
        raise from_js_error(error) from None


def integer(value: Any, default: int = 0) -> int:
    """A number with its fraction cut off; NaN and infinities are 0, undefined is `default`."""
    if value is None:
        return default
    converted = number(value)
    return int(converted) if math.isfinite(converted) else 0


def truthy(value: Any) -> bool:
    """Boolean(value): every object is true, whatever Python says."""
    return True if isinstance(value, JsProxy) and value is not jsnull else bool(value)


def is_nothing(value: Any) -> bool:
    """undefined or null."""
    return value is None or value is jsnull


def member(init: Any, options: dict[str, Any], name: str) -> Any:
    """A member of an options object, given as an object, a dict, keyword arguments; None if it has none."""
    if name in options:
        return options[name]
    if isinstance(init, dict):
        return init.get(name)
    return None if init is None or init is jsnull else getattr(init, name, None)


def check_options(init: Any, interface: str, position: int, expected: str) -> None:
    """TypeError for a constructor's options that are no object."""
    if isinstance(init, str | int | float):
        raise not_of_type("constructor", interface, position, expected)


class Keyed(JsProxy):
    """A web object with `get`, `set`, `has` and `delete`, which Pyodide also shows as Python's operators.

    `del` fails after it deleted, since these classes' `delete` gives no answer (as in Pyodide's src/core/jsproxy.c).
    """

    __slots__ = ()

    if TYPE_CHECKING:

        def get(self, key: Any) -> Any: ...
        def set(self, key: Any, value: Any) -> None: ...
        def has(self, key: Any) -> bool: ...
        def delete(self, key: Any) -> None: ...
        def entries(self) -> EntryIterator: ...

    def __getitem__(self, key: Any) -> Any:
        return self.get(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.set(key, value)

    def __delitem__(self, key: Any) -> None:
        self.delete(key)
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        return self.has(key)

    def js_iterator(self) -> EntryIterator:
        """What JavaScript iterates over, where Python sees keys."""
        return self.entries()


def pairs(init: Any) -> Iterator[tuple[Any, Any]] | None:
    """The entries of a sequence of pairs or of a plain object; None for what is neither. Lengths are checked."""
    if isinstance(init, str) or is_nothing(init):
        return None
    if isinstance(init, Keyed):
        return _pairs_of(init.js_iterator())
    own = init.own_properties() if isinstance(init, JsProxy) and not hasattr(init, "__iter__") else None
    if own is not None:
        return ((key, to_python(item)) for key, item in own.items())
    return _pairs_of(init) if hasattr(init, "__iter__") else None


def _pairs_of(sequence: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    for entry in sequence:
        items = list(entry) if hasattr(entry, "__iter__") and not isinstance(entry, str) else []
        if len(items) != 2:
            raise BadPair
        yield items[0], items[1]


class BadPair(Exception):
    """An entry of a sequence that is not a pair."""


def buffer(value: Any) -> bytes | None:
    """The bytes of an ArrayBuffer or a view, not copied if they can't change; None for anything else.

    Python's bytes are no buffer to JavaScript: Pyodide shows it a proxy of them.
    """
    return value_bytes(value.js_value()) if isinstance(value, JsBuffer) else None


def value_bytes(value: ArrayBuffer | View) -> bytes:
    """The bytes of a buffer value, without a copy where it holds exactly one bytes object."""
    data = value.data if type(value) is ArrayBuffer else value.buffer.data  # type: ignore[union-attr]
    if type(data) is bytes and (type(value) is ArrayBuffer or value.byte_length == len(data)):  # type: ignore[union-attr]
        return data
    return bytes(value)


def chunk_bytes(value: Any) -> bytes | None:
    """The bytes of a chunk of a byte stream; a string is a chunk too, as in workerd's IdentityTransformStream."""
    return utf8(value) if isinstance(value, str) else buffer(value)


def not_of_type(method: str, interface: str, position: int, expected: str) -> Exception:
    """The complaint of a parameter of the wrong type (workerd src/workerd/jsg/util.c++)."""
    if method == "constructor":
        text = f"Failed to construct '{interface}': constructor parameter {position} is not of type '{expected}'."
    else:
        text = f"Failed to execute '{method}' on '{interface}': parameter {position} is not of type '{expected}'."
    return throw(text, "TypeError")


class JsAsyncIterator(JsProxy, js="AsyncIterator"):
    """An async iterator; `step()` is a promise of {value, done}."""

    __slots__ = ("_step",)

    def __init__(self, step: Callable[[], Any]) -> None:
        self._step = step

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    def next(self) -> Any:
        return self._step()

    async def __anext__(self) -> Any:
        result = await self._step()
        if result.done:
            raise StopAsyncIteration
        return result.value
