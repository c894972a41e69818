"""Map, Set, WeakMap, WeakSet, WeakRef and Symbol as `js` offers them; what their proxies can do stands in `data.py`."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any, ClassVar

from flarebed.bindings import ecma
from flarebed.bindings.values import UNDEFINED, Map, Set
from flarebed.emulator.runtime.python.js.iterators import MapIterator, SetIterator
from flarebed.emulator.runtime.python.js.protocols import ValueConstructor, caller, entry, iterate
from flarebed.emulator.runtime.python.proxy import Constructor, JsProxy, from_python, throw, to_python


class MappingMethods:
    """Python's mutable mapping, for what has `get`, `set`, `has`, `delete`, a size and an iterator of its keys."""

    __slots__ = ()

    keys = MutableMapping.keys
    values = MutableMapping.values
    items = MutableMapping.items
    popitem = MutableMapping.popitem
    setdefault = MutableMapping.setdefault
    update = MutableMapping.update

    def pop(self: Any, key: Any, *default: Any) -> Any:
        if key not in self:
            if default:
                return default[0]
            raise KeyError(key)
        value = self[key]
        self.delete(key)
        return value


class MapMethods(MappingMethods):
    """The methods of a Map's proxy beside Python's mapping; `value` is the Map."""

    __slots__ = ()
    value: Map

    def entries(self) -> MapIterator:
        return MapIterator(to_python([key, value]) for key, value in self.value.items())

    def forEach(self, action: Any) -> None:
        call = caller(from_python(action))
        for key, value in self.value.items():
            call(value, key, self.value)


class MapConstructor(ValueConstructor, js="Function"):
    """`js.Map`."""

    __slots__ = ()

    def make(self, entries: Any = UNDEFINED, *_rest: Any) -> Any:
        return Map(map(entry, _members(entries)))

    def groupBy(self, items: Any, callback: Any) -> Any:
        key_of, groups = caller(from_python(callback)), Map()
        for index, item in enumerate(iterate(from_python(items))):
            key = key_of(item, index)
            if not groups.has(key):
                groups.set(key, [])
            groups.get(key).append(item)
        return to_python(groups)


class SetMethods:
    """The methods of a Set's proxy beside Python's; `value` is the Set."""

    __slots__ = ()
    value: Set

    def has(self, member: Any) -> bool:
        return self.value.has(from_python(member))

    def add(self, member: Any) -> Any:
        self.value.add(from_python(member))
        return self

    def delete(self, member: Any) -> bool:
        return self.value.delete(from_python(member))

    def clear(self) -> None:
        self.value.clear()

    def forEach(self, action: Any) -> None:
        call = caller(from_python(action))
        for member in self.value:
            call(member, member, self.value)

    def values(self) -> SetIterator:
        return SetIterator(map(to_python, self.value))

    keys = values

    def entries(self) -> SetIterator:
        return SetIterator(to_python([member, member]) for member in self.value)

    def union(self, other: Any) -> Any:
        return to_python(Set([*self.value, *from_python(other)]))

    def intersection(self, other: Any) -> Any:
        others = from_python(other)
        return to_python(Set(member for member in self.value if others.has(member)))

    def difference(self, other: Any) -> Any:
        others = from_python(other)
        return to_python(Set(member for member in self.value if not others.has(member)))

    def symmetricDifference(self, other: Any) -> Any:
        others = from_python(other)
        alone = [member for member in self.value if not others.has(member)]
        return to_python(Set([*alone, *(member for member in others if not self.value.has(member))]))

    def isSubsetOf(self, other: Any) -> bool:
        return all(from_python(other).has(member) for member in self.value)

    def isSupersetOf(self, other: Any) -> bool:
        return all(self.value.has(member) for member in from_python(other))

    def isDisjointFrom(self, other: Any) -> bool:
        return not any(self.value.has(member) for member in from_python(other))


class SetConstructor(ValueConstructor, js="Function"):
    """`js.Set`."""

    __slots__ = ()

    def make(self, members: Any = UNDEFINED, *_rest: Any) -> Any:
        return Set(_members(members))


def _members(source: Any) -> Iterator[Any]:
    return iter(()) if source is None or source is UNDEFINED else iterate(source)


class _Weak(JsProxy):
    """What WeakMap and WeakSet share. The keys live as long as the collection: nothing in a Worker could tell."""

    __slots__ = ("_held",)

    def __init__(self, members: Any = None) -> None:
        self._held = Map()

    def has(self, key: Any) -> bool:
        return self._held.has(from_python(key))

    def delete(self, key: Any) -> bool:
        return self._held.delete(from_python(key))

    __contains__ = has

    def _hold(self, key: Any, value: Any, complaint: str) -> None:
        if not ecma.is_object(from_python(key)):
            raise throw(f"Invalid value used {complaint}", "TypeError")
        self._held.set(from_python(key), value)


class WeakMap(_Weak, js="WeakMap"):
    """`js.WeakMap`."""

    __slots__ = ()

    def __init__(self, entries: Any = None) -> None:
        super().__init__()
        for key, value in map(entry, _members(from_python(entries))):
            self.set(to_python(key), to_python(value))

    def get(self, key: Any) -> Any:
        return to_python(self._held.get(from_python(key)))

    def set(self, key: Any, value: Any = None) -> WeakMap:
        self._hold(key, from_python(value), "as weak map key")
        return self


class WeakSet(_Weak, js="WeakSet"):
    """`js.WeakSet`."""

    __slots__ = ()

    def __init__(self, members: Any = None) -> None:
        super().__init__()
        for member in _members(from_python(members)):
            self.add(to_python(member))

    def add(self, member: Any) -> WeakSet:
        self._hold(member, True, "in weak set")
        return self


class WeakRef(JsProxy, js="WeakRef"):
    """`js.WeakRef`; it holds its target, as any engine may for as long as it likes."""

    __slots__ = ("_target",)

    def __init__(self, target: Any = None) -> None:
        if not ecma.is_object(from_python(target)):
            raise throw("WeakRef: invalid target", "TypeError")
        self._target = target

    def deref(self) -> Any:
        return self._target


class SymbolConstructor(Constructor, js="Function"):
    """`js.Symbol`."""

    __slots__ = ("_registry",)
    _well_known: ClassVar[dict[str, Symbol]] = {}

    def new(self, *_arguments: Any, **_options: Any) -> Any:
        raise throw("Symbol is not a constructor", "TypeError")

    def __call__(self, description: Any = None, *_rest: Any, **_options: Any) -> Any:
        return Symbol(None if description is None else ecma.to_string(from_python(description)))

    def for_(self, key: Any) -> Any:
        """Symbol.for: `for` is a word of Python's."""
        name = ecma.to_string(from_python(key))
        return self._well_known.setdefault(name, Symbol(name))

    def keyFor(self, symbol: Any) -> Any:
        return next((name for name, known in self._well_known.items() if known is symbol), None)

    def __getattr__(self, name: str) -> Any:
        if name not in _WELL_KNOWN:
            raise AttributeError(name)
        return self._well_known.setdefault(f"Symbol.{name}", Symbol(f"Symbol.{name}"))


_WELL_KNOWN = frozenset(
    {"asyncDispose", "asyncIterator", "dispose", "hasInstance", "isConcatSpreadable", "iterator", "match", "matchAll",
     "replace", "search", "species", "split", "toPrimitive", "toStringTag", "unscopables"}
)  # fmt: skip


class Symbol(JsProxy, js="Symbol"):
    """A symbol."""

    __slots__ = ("description",)
    Static = SymbolConstructor

    def __init__(self, description: str | None = None) -> None:
        self.description = description

    @property
    def typeof(self) -> str:
        return "symbol"

    def toString(self) -> str:
        return f"Symbol({self.description or ''})"

    @property
    def clone_error(self) -> str:
        return f"{self.toString()} could not be cloned."
