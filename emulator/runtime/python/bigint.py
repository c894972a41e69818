"""JsBigInt: a JavaScript bigint in Python, an int that stays what it is in arithmetic, as in Pyodide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class JsBigInt(int):
    """A JavaScript bigint in Python."""


def _keeps_type(operation: Callable[..., Any]) -> Callable[..., Any]:
    def operate(self: JsBigInt, *others: Any) -> Any:
        result = operation(self, *others)
        return JsBigInt(result) if type(result) is int else result

    return operate


_INTEGER_OPERATIONS = ("add", "sub", "mul", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift", "neg")
for _name in _INTEGER_OPERATIONS:
    setattr(JsBigInt, f"__{_name}__", _keeps_type(getattr(int, f"__{_name}__")))


JsBigInt.__module__ = "pyodide.ffi"
