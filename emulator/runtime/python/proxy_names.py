"""What `dir()` of a proxy gives: the names of Python's object, Pyodide's additions, and those of the JavaScript object
and its prototypes. Observed on Pyodide 314.
"""

from __future__ import annotations

from typing import Final

_OF_PYODIDE: Final = frozenset(
    {"__bool__", "_js_type_flags", "_sig", "as_object_map", "as_py_json", "bind_class", "bind_sig", "js_id",
     "object_entries", "object_keys", "object_values", "to_py", "to_weakref", "typeof"}
)  # fmt: skip
_OF_OBJECTS: Final = frozenset(
    {"__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__", "__proto__", "constructor",
     "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf"}
)  # fmt: skip
_OPERATORS: Final = frozenset(
    {"__add__", "__aiter__", "__anext__", "__await__", "__call__", "__contains__", "__delitem__", "__getitem__",
     "__iadd__", "__iter__", "__len__", "__mul__", "__next__", "__reversed__", "__rmul__", "__setitem__"}
)  # fmt: skip
_OURS: Final = frozenset({"Static", "js_name", "js_tag", "js_value", "own_properties", "to_rpc", "value"})
_ALWAYS: Final = _OF_PYODIDE | _OF_OBJECTS | {*dir(object), "__module__"}


def names_of(classes: tuple[type, ...], own: dict[str, object]) -> list[str]:
    """`classes` are those of the proxy that say what it can do, `own` its properties."""
    members = {name for cls in classes for name in vars(cls)} - _OURS
    return [*_ALWAYS.union(own, (name for name in members if not name.startswith("_") or name in _OPERATORS))]
