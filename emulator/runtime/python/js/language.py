"""The names of the JavaScript language itself that Python reaches through `js`.

`exports()` gives them as they look in Python; web classes and timers come from their own modules.
"""

from __future__ import annotations

import math
from typing import Any

from flarebed.bindings import codec, ecma
from flarebed.bindings.errors import JsError
from flarebed.bindings.values import UNDEFINED, ArrayBuffer
from flarebed.emulator.runtime.python import data
from flarebed.emulator.runtime.python.js import number, text
from flarebed.emulator.runtime.python.js.collections import Symbol, WeakMap, WeakRef, WeakSet
from flarebed.emulator.runtime.python.js.console import Console
from flarebed.emulator.runtime.python.js.object import Boolean, Reflect
from flarebed.emulator.runtime.python.js.promises import PromiseConstructor, queueMicrotask
from flarebed.emulator.runtime.python.js.protocols import JsFunction, Namespace, caller, iterate, plain, to_integer
from flarebed.emulator.runtime.python.js.regexp import RegExp
from flarebed.emulator.runtime.python.promise import JsPromise
from flarebed.emulator.runtime.python.proxy import (
    Constructor,
    ErrorConstructor,
    from_js_error,
    from_python,
    throw,
    to_python,
)

_ERRORS = ("Error", "EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError", "URIError")
_NO_CODE = "Code generation from strings disallowed for this context"


class Json(Namespace, js="JSON"):
    """`js.JSON`."""

    __slots__ = ()

    def parse(self, text: Any = None, reviver: Any = None) -> Any:
        try:
            value = ecma.json_parse(ecma.to_string(from_python(text)))
        except JsError as error:
            raise from_js_error(error) from None
        return to_python(value if reviver is None else _revived({"": value}, "", caller(from_python(reviver))))

    def stringify(self, value: Any = None, replacer: Any = None, space: Any = None) -> Any:
        chosen = plain(from_python(value))
        if isinstance(from_python(replacer), list):
            chosen = _with_keys(chosen, frozenset(map(ecma.to_string, from_python(replacer))))
        elif callable(replacer):
            chosen = _replaced({"": chosen}, "", caller(from_python(replacer)))
        try:
            return to_python(ecma.json_stringify(chosen, _step(from_python(space))))
        except JsError as error:
            raise from_js_error(error) from None


def _step(space: Any) -> int:
    return len(space) if isinstance(space, str) else max(0, to_integer(space, 0))


def _revived(holder: Any, key: Any, revive: Any) -> Any:
    """InternalizeJSONProperty: members first, then the value itself; undefined drops a member."""
    value = holder[key]
    if isinstance(value, list):
        value[:] = [_revived(value, index, revive) for index in range(len(value))]
    elif isinstance(value, dict):
        revived = {name: _revived(value, name, revive) for name in list(value)}
        value.clear()
        value.update({name: member for name, member in revived.items() if member is not UNDEFINED})
    return revive(str(key), value)


def _replaced(holder: Any, key: Any, replace: Any) -> Any:
    value = holder[key]
    look = to_python(value)
    if hasattr(look, "toJSON"):
        value = from_python(look.toJSON())
    value = replace(str(key), value)
    if isinstance(value, list):
        return [_replaced(value, index, replace) for index in range(len(value))]
    if isinstance(value, dict):
        return {name: _replaced(value, name, replace) for name in value}
    return value


def _with_keys(value: Any, keys: frozenset[str]) -> Any:
    if isinstance(value, list):
        return [_with_keys(item, keys) for item in value]
    if isinstance(value, dict):
        return {name: _with_keys(member, keys) for name, member in value.items() if name in keys}
    return value


def structuredClone(value: Any = None, options: Any = None) -> Any:
    try:
        cloned = codec.clone(from_python(value))
    except JsError as error:
        raise from_js_error(error) from None
    for buffer in iterate(from_python(getattr(options, "transfer", None) or to_python([]))):
        if isinstance(buffer, ArrayBuffer):
            buffer.detach()
    return to_python(cloned)


class AggregateErrorConstructor(ErrorConstructor, js="Function"):
    """`js.AggregateError`: errors first, then the message."""

    __slots__ = ()

    def new(self, *arguments: Any, **options: Any) -> Any:
        error = super().new(*arguments[1:], **options)
        error.value.properties["errors"] = list(iterate(from_python(arguments[0] if arguments else None)))
        return error

    __call__ = new


class FunctionConstructor(Constructor, js="Function"):
    """`js.Function`: Workers may not make code from text (observed)."""

    __slots__ = ()

    def new(self, *_arguments: Any, **_options: Any) -> Any:
        raise throw(_NO_CODE, "EvalError")

    __call__ = new


def eval_(_code: Any = None) -> Any:
    raise throw(_NO_CODE, "EvalError")


def exports() -> dict[str, Any]:
    """Name to what it looks like in Python; None is undefined."""
    wrapped = (data.JsObject, data.JsArray, data.JsMap, data.JsSet, data.JsDate, data.JsArrayBuffer, data.JsDataView)
    classes = (*wrapped, WeakMap, WeakSet, WeakRef, Symbol, RegExp)
    return {
        **{each.js_name: Constructor.of(each) for each in classes},
        **{name: ErrorConstructor(name) for name in _ERRORS},
        **data.TYPED_ARRAYS,
        **number.exports(),
        **text.exports(),
        "AggregateError": AggregateErrorConstructor("AggregateError"),
        "Promise": PromiseConstructor(JsPromise, "Promise"),
        "Function": FunctionConstructor(JsFunction, "Function"),
        "Boolean": Boolean,
        "JSON": Json(),
        "Reflect": Reflect(),
        "console": Console(),
        "structuredClone": JsFunction(structuredClone),
        "queueMicrotask": JsFunction(queueMicrotask),
        "eval": JsFunction(eval_, "eval"),
        "undefined": None,
        "NaN": math.nan,
        "Infinity": math.inf,
    }
