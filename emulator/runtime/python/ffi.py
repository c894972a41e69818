"""The names of the module `pyodide.ffi`."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from typing import Any

from flarebed.emulator.runtime.python import data, promise, proxy, pyproxy
from flarebed.emulator.runtime.python.bigint import JsBigInt
from flarebed.emulator.runtime.python.context import CURRENT
from flarebed.emulator.runtime.python.js.protocols import JsFunction
from flarebed.emulator.runtime.python.proxy import JsProxy, ProxyType, from_python, to_python
from flarebed.emulator.runtime.python.pyproxy import ToJs, dict_to_map, dict_to_object


def to_js(
    obj: Any,
    /,
    *,
    depth: int = -1,
    pyproxies: Any = None,
    create_pyproxies: bool = True,
    dict_converter: Callable[..., Any] | None = None,
    default_converter: Callable[..., Any] | None = None,
    eager_converter: Callable[..., Any] | None = None,
) -> Any:
    """The JavaScript form of a Python object; a value that is the same in both comes back as it is.

    A dict becomes a plain object (a Map before Pyodide 314), or what `dict_converter` makes of its pairs.
    """
    if isinstance(obj, _SAME):
        return obj
    value = ToJs(_dict_factory(dict_converter), default_converter, create_pyproxies).convert(obj, depth)
    return pyproxy.JsDoubleProxy(value) if isinstance(value, pyproxy.PyProxy) else to_python(value)


_SAME = (str, int, float, type(None), JsProxy)


def _dict_factory(converter: Callable[..., Any] | None) -> Callable[[list[list[Any]]], Any]:
    if converter is None:
        io = CURRENT.get(None)
        return dict_to_map if io is not None and io.services.pyodide_version.startswith("0.") else dict_to_object
    if isinstance(converter, JsFunction) and converter.name == "fromEntries":
        return dict_to_object
    return lambda pairs: from_python(converter(to_python(pairs)))


def run_sync(awaitable: Awaitable[Any], /) -> Any:
    """Wait for the awaitable inside a synchronous call."""
    io = CURRENT.get(None)
    if io is None:
        raise RuntimeError("No suspender")
    return io.loop.run_sync(awaitable)


def can_run_sync() -> bool:
    """Could `run_sync` wait here?"""
    return CURRENT.get(None) is not None


def register_js_module(name: str, module: Any) -> None:
    """Make a JavaScript object importable under `name`."""
    sys.modules[name] = module


def unregister_js_module(name: str) -> None:
    """Undo `register_js_module`."""
    del sys.modules[name]


def _virtual(name: str, test: Callable[[Any], bool]) -> type:
    """One of Pyodide's types that no object is made of: it is told by what an object is or can do."""

    class Virtual(ProxyType):
        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, JsProxy) and test(instance)

    return Virtual(name, (JsProxy,), {}, public=True)


def _is(*classes: type) -> Callable[[Any], bool]:
    return lambda proxy: isinstance(proxy, classes)


def _has(*attributes: str) -> Callable[[Any], bool]:
    return lambda proxy: all(hasattr(proxy, attribute) for attribute in attributes)


_VIRTUAL = {
    "JsArray": _is(data.JsArray, data.JsTypedArray),
    "JsTypedArray": _is(data.JsTypedArray),
    "JsBuffer": _is(data.JsBuffer),
    "JsMap": _has("__getitem__", "keys", "size"),
    "JsMutableMap": _has("__getitem__", "__setitem__", "keys", "size"),
    "JsPromise": _is(promise.JsPromise),
    "JsDoubleProxy": _is(pyproxy.JsDoubleProxy),
    "JsCallable": callable,
    "JsOnceCallable": callable,
    "JsCallableDoubleProxy": lambda proxy: callable(proxy) and isinstance(proxy, pyproxy.JsDoubleProxy),
    "JsIterable": _has("__iter__"),
    "JsIterator": _has("__next__"),
    "JsAsyncIterable": _has("__aiter__"),
    "JsAsyncIterator": _has("__anext__"),
    "JsGenerator": _has("__next__", "send"),
    "JsAsyncGenerator": _has("__anext__", "asend"),
    "JsFetchResponse": _has("arrayBuffer", "status"),
    "JsDomElement": _has("tagName"),
    "JsWeakRef": _has("deref"),
}


class InternalError(Exception):
    """Thrown when Pyodide itself fails; kept for code that names it."""


def ffi_names() -> dict[str, Any]:
    """The members of `pyodide.ffi`."""
    own: list[Any] = [
        to_js, run_sync, can_run_sync, register_js_module, unregister_js_module, InternalError, JsBigInt,
    ]  # fmt: skip
    taken = {
        proxy: ("JsProxy", "JsException", "JsNull", "jsnull"),
        pyproxy: ("ConversionError", "create_proxy", "create_once_callable", "destroy_proxies"),
    }
    names = {function.__name__: function for function in own}
    names |= {name: getattr(module, name) for module, members in taken.items() for name in members}
    return names | {name: _virtual(name, test) for name, test in _VIRTUAL.items()}
