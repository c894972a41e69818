"""`js.Object` and `js.Reflect`: properties of any object."""

from __future__ import annotations

from typing import Any

from flarebed.bindings import ecma
from flarebed.bindings.values import UNDEFINED, BigInt, Error, Map, Set, View, same_value_zero
from flarebed.emulator.runtime.python.js.protocols import (
    JsFunction,
    Namespace,
    ValueConstructor,
    caller,
    entry,
    iterate,
    own_properties,
    truthy,
)
from flarebed.emulator.runtime.python.proxy import JsProxy, from_python, throw, to_python


class ObjectConstructor(ValueConstructor, js="Function"):
    """`js.Object`. Freezing changes nothing: what a Worker could tell by it is an error that sloppy code never sees."""

    __slots__ = ()

    def make(self, value: Any = UNDEFINED, *_rest: Any) -> Any:
        return {} if value is None or value is UNDEFINED else value

    def new(self, *arguments: Any, **options: Any) -> Any:
        """Pyodide's keyword arguments arrive as an object."""
        return super().new(*arguments) if arguments else to_python({k: from_python(v) for k, v in options.items()})

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self.new(*arguments, **options)

    def keys(self, of: Any = None) -> Any:
        return to_python(list(own_properties(from_python(of))))

    def values(self, of: Any = None) -> Any:
        return to_python(list(own_properties(from_python(of)).values()))

    def entries(self, of: Any = None) -> Any:
        return to_python([[key, value] for key, value in own_properties(from_python(of)).items()])

    def fromEntries(self, entries: Any = None) -> Any:
        pairs = map(entry, iterate(from_python(entries)))
        return to_python({ecma.to_string(key): value for key, value in pairs})

    def assign(self, target: Any, *sources: Any) -> Any:
        into = from_python(target)
        for source in map(from_python, sources):
            if source is not None and source is not UNDEFINED:
                for key, value in own_properties(source).items():
                    set_property(into, key, value)
        return target

    def create(self, prototype: Any = None, properties: Any = None) -> Any:
        if from_python(prototype) is not None and not isinstance(prototype, JsProxy):
            described = ecma.to_string(from_python(prototype))
            raise throw(f"Object prototype may only be an Object or null: {described}", "TypeError")
        made: Any = to_python({})
        return made if properties is None else self.defineProperties(made, properties)

    def getOwnPropertyNames(self, of: Any = None) -> Any:
        value = from_python(of)
        hidden = ["length"] if isinstance(value, list | str) else []
        if isinstance(value, Error):
            hidden = ["stack", "message"]
        return to_python([*own_properties(value), *hidden])

    def getOwnPropertySymbols(self, of: Any = None) -> Any:
        own_properties(from_python(of))
        return to_python([])

    def getOwnPropertyDescriptor(self, of: Any, name: Any) -> Any:
        properties = own_properties(from_python(of))
        key = ecma.to_string(from_python(name))
        if key not in properties:
            return None
        return to_python({"value": properties[key], "writable": True, "enumerable": True, "configurable": True})

    def defineProperty(self, of: Any, name: Any, descriptor: Any) -> Any:
        described = own_properties(from_python(descriptor))
        value = caller(described["get"])() if "get" in described else described.get("value", UNDEFINED)
        set_property(from_python(of), ecma.to_string(from_python(name)), value)
        return of

    def defineProperties(self, of: Any, descriptors: Any) -> Any:
        for key, descriptor in own_properties(from_python(descriptors)).items():
            self.defineProperty(of, key, to_python(descriptor))
        return of

    def getPrototypeOf(self, of: Any) -> Any:
        return to_python(of).constructor.prototype if isinstance(of, JsProxy) else None

    def setPrototypeOf(self, of: Any, _prototype: Any) -> Any:
        return of

    def hasOwn(self, of: Any, name: Any) -> bool:
        return ecma.to_string(from_python(name)) in own_properties(from_python(of))

    def is_(self, one: Any, two: Any) -> bool:
        """Object.is: `is` is a word of Python's."""
        first, second = from_python(one), from_python(two)
        if isinstance(first, float) and isinstance(second, int | float) and first == second == 0:
            return str(float(first)) == str(float(second))
        return bool(same_value_zero(first) == same_value_zero(second))

    def groupBy(self, items: Any, callback: Any) -> Any:
        key_of, groups = caller(from_python(callback)), dict[str, list[Any]]()
        for index, item in enumerate(iterate(from_python(items))):
            groups.setdefault(ecma.to_string(key_of(item, index)), []).append(item)
        return to_python(groups)

    def freeze(self, of: Any = None) -> Any:
        return of

    seal = preventExtensions = freeze

    def isFrozen(self, of: Any = None) -> bool:
        return not ecma.is_object(from_python(of))

    isSealed = isFrozen

    def isExtensible(self, of: Any = None) -> bool:
        return ecma.is_object(from_python(of))


def get_property(of: Any, name: str) -> Any:
    """of[name], undefined if there is none."""
    if isinstance(of, dict):
        return of.get(name, UNDEFINED)
    if name.isdigit():
        return own_properties(of).get(name, UNDEFINED)
    return from_python(getattr(to_python(of), name, None))


def set_property(of: Any, name: str, value: Any) -> None:
    """of[name] = value."""
    if isinstance(of, dict):
        of[name] = value
    elif isinstance(of, list) and name.isdigit():
        of.extend([UNDEFINED] * (int(name) + 1 - len(of)))
        of[int(name)] = value
    elif isinstance(of, View) and name.isdigit():
        to_python(of)[int(name)] = to_python(value)
    elif isinstance(of, Map | Set | str | int | float | BigInt):
        raise throw(f"Cannot add property {name}, object is not extensible", "TypeError")
    else:
        setattr(to_python(of), name, to_python(value))


class Reflect(Namespace, js="Reflect"):
    """`js.Reflect`."""

    __slots__ = ()

    def ownKeys(self, of: Any) -> Any:
        _require_object(of, "ownKeys")
        return to_python({}).constructor.getOwnPropertyNames(of)

    def has(self, of: Any, name: Any) -> bool:
        _require_object(of, "has")
        key = ecma.to_string(from_python(name))
        return key in own_properties(from_python(of)) or hasattr(to_python(from_python(of)), key)

    def get(self, of: Any, name: Any) -> Any:
        _require_object(of, "get")
        return to_python(get_property(from_python(of), ecma.to_string(from_python(name))))

    def set(self, of: Any, name: Any, value: Any = None) -> bool:
        _require_object(of, "set")
        set_property(from_python(of), ecma.to_string(from_python(name)), from_python(value))
        return True

    def deleteProperty(self, of: Any, name: Any) -> bool:
        _require_object(of, "deleteProperty")
        target = from_python(of)
        if isinstance(target, dict):
            target.pop(ecma.to_string(from_python(name)), None)
        return True

    def apply(self, function: Any, _this: Any, arguments: Any) -> Any:
        return to_python(caller(from_python(function))(*iterate(from_python(arguments))))

    def construct(self, constructor: Any, arguments: Any) -> Any:
        return constructor.new(*map(to_python, iterate(from_python(arguments))))

    def defineProperty(self, of: Any, name: Any, descriptor: Any) -> bool:
        to_python({}).constructor.defineProperty(of, name, descriptor)
        return True

    def getPrototypeOf(self, of: Any) -> Any:
        return to_python({}).constructor.getPrototypeOf(of)


def _require_object(of: Any, method: str) -> None:
    if not ecma.is_object(from_python(of)):
        raise throw(f"Reflect.{method} called on non-object", "TypeError")


def boolean(value: Any = None) -> bool:
    """`js.Boolean(value)`."""
    return truthy(from_python(value))


Boolean = JsFunction(boolean, "Boolean")
