"""How workerd makes typed parameters of what a Worker passes: WebIDL's coercions, with the texts of its own JSG.

The `binding.py` files of kinds that are native classes in workerd (KvNamespace, WorkerQueue, ...) use it; those that
workerd writes in JavaScript (D1, Workflows) check by themselves. Source: workerd `jsg/value.h`, `jsg/struct.h`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from flarebed.bindings.ecma import is_object, to_number, to_string
from flarebed.bindings.errors import JsError, type_error
from flarebed.bindings.values import UNDEFINED

ABSENT: Final[Any] = object()
"""The default of a parameter that must be passed: an explicit undefined is a value, and often a valid one."""

_INT32: Final = range(-(2**31), 2**31)


def wrong_parameter(interface: str, method: str, position: int, expected: str) -> JsError:
    """The TypeError for a parameter that is absent or can't be made an `expected`; `position` counts from 1."""
    return type_error(
        f"Failed to execute '{method}' on '{interface}': parameter {position} is not of type '{expected}'."
    )


def string(value: Any) -> str:
    """A string that UTF-8 can hold: lone surrogates become U+FFFD."""
    text = value if isinstance(value, str) else to_string(value)
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def integer(value: Any) -> int:
    """An int: what is no finite number is 0, fractions are cut off, TypeError outside 32 bits."""
    number = to_number(value)
    if not math.isfinite(number):
        return 0
    if not _INT32.start <= number < _INT32.stop:
        raise type_error(f"Value out of range. Must be between {_INT32.start} and {_INT32.stop - 1} (inclusive).")
    return int(number)


def optional_integer(value: Any) -> int | None:
    return None if value is UNDEFINED else integer(value)


def members(value: Any) -> Mapping[str, Any] | None:
    """The members of an options object (none of undefined, null and objects of other kinds); None of a primitive."""
    if isinstance(value, dict):
        return value
    return {} if value is UNDEFINED or value is None or is_object(value) else None
