"""Bindings in a Worker's hands: a proxy class for each binding class of `bindings/`.

Methods keep their JavaScript names; arguments cross as values, keyword arguments as one trailing object, surplus ones
are dropped; what is `async def` there gives a promise here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from flarebed.bindings.errors import JsError
from flarebed.emulator.runtime.python.js.readable import ReadableStream
from flarebed.emulator.runtime.python.promise import start
from flarebed.emulator.runtime.python.proxy import (
    _WRAPPERS,
    JsProxy,
    ProxyType,
    from_js_error,
    from_python,
    to_python,
)

_ABSENT = object()


class BindingProxy(JsProxy):
    """A binding object; subclasses are made per class by `proxy_class`."""

    __slots__ = ("__weakref__", "_target")

    def __init__(self, target: Any) -> None:
        self._target = target

    def js_value(self) -> Any:
        return self._target

    def own_properties(self) -> dict[str, Any]:
        own: Callable[[], dict[str, Any]] | None = getattr(self._target, "own_properties", None)
        return {} if own is None else own()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        value = getattr(self._target, name, _ABSENT)
        if value is _ABSENT:
            raise AttributeError(name)
        return to_python(value)


def proxy_class(of: type) -> type[BindingProxy]:
    """The proxy class for a binding class, whose name is the JavaScript constructor's."""
    methods = {
        name: _method(name, function)
        for name, function in inspect.getmembers(of, inspect.isfunction)
        if not name.startswith("_") and name != "own_properties"
    }
    made: type[BindingProxy] = ProxyType(of.__name__, (BindingProxy,), {"__slots__": (), **methods})  # type: ignore[assignment]
    return made


def _method(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    arity = _arity(function)

    def arguments_of(arguments: tuple[Any, ...], options: dict[str, Any]) -> list[Any]:
        values = [from_python(argument) for argument in arguments]
        if options:
            values.append({key: from_python(value) for key, value in options.items()})
        return values[:arity]

    def call(self: BindingProxy, *arguments: Any, **options: Any) -> Any:
        try:
            result = getattr(self._target, name)(*arguments_of(arguments, options))
        except JsError as error:
            raise from_js_error(error) from None
        return to_python(result)

    def promise(self: BindingProxy, *arguments: Any, **options: Any) -> Any:
        return start(getattr(self._target, name)(*arguments_of(arguments, options)))

    method = promise if inspect.iscoroutinefunction(function) else call
    method.__name__ = name
    method.__qualname__ = function.__qualname__
    return method


def _arity(function: Callable[..., Any]) -> int | None:
    """How many arguments a method looks at; None if all."""
    parameters = list(inspect.signature(function).parameters.values())[1:]
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return None
    return len(parameters)


def register() -> None:
    """Let `to_python` show the values of classes that it meets for the first time: bindings, and their byte streams."""
    _WRAPPERS[type] = lambda of: ReadableStream.of_host if hasattr(of, "__aiter__") else proxy_class(of)
