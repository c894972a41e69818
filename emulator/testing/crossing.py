"""Values and exceptions of a test, as the Worker's engines would get them from Worker code, and back."""

from __future__ import annotations

import copy
import importlib
from typing import Any

from flarebed.bindings.errors import JsError
from flarebed.emulator.runtime.python.promise import thrown_by
from flarebed.emulator.runtime.python.proxy import JsException, from_js_error, from_python, to_python
from flarebed.emulator.runtime.python.workflow_step import last_line_message

_NON_RETRYABLE = "NonRetryableError"
_KNOWN = frozenset((_NON_RETRYABLE, "RangeError", "ReferenceError", "SyntaxError", "TypeError"))


def as_result(value: Any) -> Any:
    """What a step's callback hands to the engine when it returns `value`."""
    return from_python(importlib.import_module("workers.rpc").python_to_rpc(value))


def as_seen(value: Any) -> Any:
    """What Worker code gets of an engine's `value`."""
    return importlib.import_module("workers.rpc").python_from_rpc(to_python(value))


def as_thrown(error: Exception, *, by_python: bool) -> JsError:
    """What the engine gets when Worker code raises `error`.

    Of a Python Worker, NonRetryableError keeps its name, as the SDK sees to. A JavaScript Worker has no Python
    exceptions: it throws an Error of that message, with the name if JavaScript knows it.
    """
    if isinstance(error, JsError):
        return copy.copy(error)
    if not by_python:
        name = type(error).__name__
        return JsError(str(error), name if name in _KNOWN else "Error")
    if type(error).__name__ == _NON_RETRYABLE and not isinstance(error, JsException):
        return JsError(last_line_message(error), _NON_RETRYABLE)
    return thrown_by(error)


def as_raised(error: JsError) -> Exception:
    """What Worker code catches of an engine's `error`."""
    exception: Exception = importlib.import_module("workers.utils")._from_js_error(from_js_error(error))
    return exception
