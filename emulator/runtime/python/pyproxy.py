"""Python objects in JavaScript's hands (PyProxy), and `to_js`, which makes JavaScript values of Python ones.

Source: Pyodide's documentation of `pyodide.ffi.create_proxy` and `to_js`, and src/core/python2js.c.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from flarebed.bindings import ecma
from flarebed.bindings.errors import JsError
from flarebed.bindings.values import ArrayBuffer, Map, Set, View
from flarebed.emulator.runtime.python.context import CURRENT, IoContext
from flarebed.emulator.runtime.python.data import JsTypedArray
from flarebed.emulator.runtime.python.promise import thrown_by
from flarebed.emulator.runtime.python.proxy import (
    _WRAPPERS,
    JsNull,
    JsProxy,
    from_python,
    to_python,
)


class PyProxy:
    """A Python object as a JavaScript value. Called (by an engine), it runs on the Worker's loop."""

    __slots__ = ("__weakref__", "of")

    def __init__(self, of: Any) -> None:
        self.of = of

    def toString(self) -> str:
        """String(proxy) in JavaScript is str(of) in Python."""
        return str(self.of)

    __str__ = toString

    @property
    def is_callable(self) -> bool:
        return callable(self.of)


class PyFunction(PyProxy):
    """A Python function: values in, a value out; what it raises is a JsError (`values.Function`)."""

    __slots__ = ("_io",)

    def __init__(self, of: Any) -> None:
        super().__init__(of)
        self._io = CURRENT.get(None)

    async def __call__(self, *arguments: Any) -> Any:
        """Called from the host's loop, and awaited there. An engine may keep it beyond the event that it is from."""
        io, later = self._io, None
        assert io is not None
        if io.closed:
            io = later = IoContext(io.loop, io.services)
        task = io.create_task(_call(self.of, [to_python(argument) for argument in arguments]))
        done = io.services.clock.loop.create_future()
        task.add_done_callback(lambda _task: None if done.done() else done.set_result(None))
        try:
            await done
        except BaseException:
            task.cancel()
            raise
        finally:
            if later is not None:
                later.answer()
        if task.cancelled():
            raise JsError("The operation was aborted", "AbortError")
        error = task.exception()
        if error is not None:
            raise thrown_by(error) from error
        return task.result()


async def _call(function: Callable[..., Any], arguments: list[Any]) -> Any:
    """In the Worker, also what makes a value of the result: a stream belongs to the event that it comes from."""
    result = function(*arguments)
    return from_python(await result if inspect.isawaitable(result) else result)


def make_proxy(value: Any) -> PyProxy:
    return PyFunction(value) if callable(value) and not isinstance(value, type) else PyProxy(value)


_WRAPPERS[object] = make_proxy
_WRAPPERS[PyProxy] = _WRAPPERS[PyFunction] = lambda proxy: proxy.of


class JsDoubleProxy(JsProxy, js="PyProxy"):
    """What `create_proxy` gives back to Python: a handle on a PyProxy, to be destroyed by hand."""

    __slots__ = ("__weakref__", "_proxy")

    def __init__(self, proxy: PyProxy) -> None:
        self._proxy = proxy

    def js_value(self) -> Any:
        return self._proxy

    def toString(self) -> str:
        return self._proxy.toString()

    def unwrap(self) -> Any:
        return self._proxy.of

    def destroy(self) -> None:
        """A Python object is freed when nothing holds it, so there is nothing to do."""

    def copy(self) -> JsDoubleProxy:
        return JsDoubleProxy(self._proxy)

    def getBuffer(self, _kind: str | None = None) -> PyBuffer:
        return PyBuffer(self._proxy.of)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self._proxy.of(*arguments, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._proxy.of, name)


class PyBuffer(JsProxy, js="PyBufferView"):
    """The bytes of a Python buffer as a typed array."""

    __slots__ = ("data",)

    def __init__(self, of: Any) -> None:
        self.data = JsTypedArray(View(ArrayBuffer(of if type(of) is bytes else bytes(of))))

    def release(self) -> None:
        """The typed array keeps its bytes."""


def create_proxy(obj: Any, /, *, capture_this: bool = False, roundtrip: bool = True) -> JsDoubleProxy:
    return JsDoubleProxy(make_proxy(obj))


def create_once_callable(obj: Any, /) -> JsDoubleProxy:
    return create_proxy(obj)


def destroy_proxies(_pyproxies: Any, /) -> None:
    """Python objects are freed when nothing holds them."""


class ConversionError(Exception):
    """A Python value that has no JavaScript form."""


ConversionError.__module__ = "pyodide.ffi"


class ToJs:
    """One call of `to_js`; remembers containers, so that cycles and shared parts stay as they are.

    `dict_factory` makes the JavaScript value of a dict from its [key, value] pairs.
    """

    def __init__(
        self, dict_factory: Callable[[list[list[Any]]], Any], default_converter: Callable[..., Any] | None,
        create_pyproxies: bool,
    ) -> None:  # fmt: skip
        self._dict_factory = dict_factory
        self._default_converter = default_converter
        self._create_pyproxies = create_pyproxies
        self._done: dict[int, Any] = {}

    def convert(self, obj: Any, depth: int) -> Any:
        """The value (of `bindings.values`) that `obj` becomes."""
        kind = type(obj)
        if kind in (str, int, float, bool, type(None), JsNull) or isinstance(obj, JsProxy):
            return from_python(obj)
        if depth == 0:
            return self._other(obj, depth)
        if id(obj) in self._done:
            return self._done[id(obj)]
        if isinstance(obj, dict):
            return self._dict(obj, depth)
        if isinstance(obj, list | tuple):
            items: list[Any] = []
            self._done[id(obj)] = items
            items.extend([self.convert(item, depth - 1) for item in obj])
            return items
        if isinstance(obj, set | frozenset):
            members = self._done[id(obj)] = Set(self.convert(member, depth - 1) for member in obj)
            return members
        if isinstance(obj, str | int | float):
            return from_python(obj)
        buffer = buffer_view(obj)
        return self._other(obj, depth) if buffer is None else buffer

    def _dict(self, obj: dict[Any, Any], depth: int) -> Any:
        if self._dict_factory is dict_to_object:
            target: dict[str, Any] = {}
            self._done[id(obj)] = target
            for key, value in obj.items():
                target[key if type(key) is str else property_name(key)] = self.convert(value, depth - 1)
            return target
        pairs = [[self.convert(key, depth - 1), self.convert(value, depth - 1)] for key, value in obj.items()]
        made = self._done[id(obj)] = self._dict_factory(pairs)
        return made

    def _other(self, obj: Any, depth: int) -> Any:
        if self._default_converter is not None:
            converted = self._default_converter(
                obj,
                lambda inner: to_python(self.convert(inner, depth - 1)),
                lambda source, made: self._done.__setitem__(id(source), from_python(made)),
            )
            return from_python(converted)
        if self._create_pyproxies:
            return make_proxy(obj)
        raise ConversionError("No conversion known for x.")


def dict_to_object(pairs: Iterable[list[Any]]) -> dict[str, Any]:
    """Object.fromEntries over values."""
    return {property_name(key): value for key, value in pairs}


def dict_to_map(pairs: Iterable[list[Any]]) -> Map:
    return Map((key, value) for key, value in pairs)


def property_name(key: Any) -> str:
    """A property key as JavaScript would spell it."""
    if isinstance(key, str):
        return key
    if key is not None and not isinstance(key, int | float):
        raise ConversionError(f"Cannot use {key!r} as a key for a Javascript Map")
    return ecma.to_string(from_python(key))


_FORMATS = {
    "b": "Int8Array", "B": "Uint8Array", "h": "Int16Array", "H": "Uint16Array", "i": "Int32Array", "I": "Uint32Array",
    "f": "Float32Array", "d": "Float64Array", "q": "BigInt64Array", "Q": "BigUint64Array", "c": "Uint8Array",
}  # fmt: skip


def buffer_view(obj: Any) -> View | None:
    """A typed array over a copy of the bytes (bytes themselves can't change, so they are not copied); None for what is
    no buffer."""
    if type(obj) is bytes:
        return View(ArrayBuffer(obj))
    try:
        memory = memoryview(obj)
    except TypeError:
        return None
    return View(ArrayBuffer(bytearray(memory.cast("B"))), _FORMATS.get(memory.format, "Uint8Array"))
