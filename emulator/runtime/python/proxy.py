"""JsProxy: how a JavaScript object looks in Python, as in Pyodide.

Three sorts of class derive from it: wrappers around the plain values of `bindings.values` (`data.py`), the web classes
written natively (`js/`), and the proxies of bindings (`binding.py`). As in Pyodide they are many types that all call
themselves `pyodide.ffi.JsProxy`; what JavaScript would call them is `js_name`.
Source: Pyodide's documentation, "Type translations", and src/core/jsproxy.c.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from flarebed.bindings import ecma
from flarebed.bindings.errors import JsError
from flarebed.bindings.values import UNDEFINED, BigInt, Error, Undefined
from flarebed.emulator.runtime.python.bigint import JsBigInt
from flarebed.emulator.runtime.python.proxy_names import names_of

if TYPE_CHECKING:
    from typing import Self

_LIMIT = 2**53 - 1
"""Integers from here on cross as bigint: 2**53 - 1 itself does too (observed)."""


class JsNull:
    """The type of `jsnull`, JavaScript's null."""

    _instance: ClassVar[JsNull | None] = None

    def __new__(cls) -> JsNull:
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __repr__(self) -> str:
        return "jsnull"

    def __bool__(self) -> bool:
        return False

    def __reduce__(self) -> str:
        return "jsnull"


jsnull = JsNull()


JsNull.__module__ = "pyodide.ffi"


class ProxyType(type):
    """Names the classes below as Pyodide does, and knows which value type a class wraps (`wraps=`)."""

    js_name: str
    constructor: Any
    constructor_of: ClassVar[Callable[[type], Any] | None] = None

    def __new__(
        mcs, name: str, bases: tuple[type, ...], space: dict[str, Any], *,
        public: bool = False, js: str | None = None, wraps: tuple[type, ...] = (),
    ) -> ProxyType:  # fmt: skip
        space["__module__"] = "pyodide.ffi"
        shown = space["__qualname__"] = name if public else "JsProxy"
        cls = super().__new__(mcs, f"pyodide.ffi.{shown}", bases, space)
        cls.js_name = js or name
        _WRAPPERS[cls] = _itself
        for wrapped in wraps:
            _WRAPPERS[wrapped] = cls
        return cls

    @property
    def __name__(cls) -> str:  # type: ignore[override]
        """Python's own messages name the type as C does, in full; its name for others is the short one."""
        full: str = type.__dict__["__name__"].__get__(cls)
        return full.rpartition(".")[2]

    def __init__(cls, name: str, bases: tuple[type, ...], space: dict[str, Any], **_options: Any) -> None:
        super().__init__(name, bases, space)
        make = ProxyType.constructor_of
        if make is not None and not isinstance(getattr(cls, "constructor", None), property):
            cls.constructor = make(cls)  # an attribute, because the SDK asks for it all the time


_WRAPPERS: dict[type, Callable[[Any], Any]] = {}
"""How a value of a given type looks in Python. `object` is for Python objects that cross into JavaScript, `type` makes
the entry of a class that is met for the first time (a binding's)."""


def _itself(value: Any) -> Any:
    return value


class JsProxy(metaclass=ProxyType, public=True, js="Object"):
    """A JavaScript object. Properties are attributes; a missing one is an AttributeError."""

    __slots__ = ()

    if TYPE_CHECKING:
        js_name: ClassVar[str]

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    # What every JavaScript object has.

    @property
    def js_tag(self) -> str:
        """The XXX of "[object XXX]"."""
        return type(self).js_name

    def toString(self) -> str:
        return f"[object {self.js_tag}]"

    def toLocaleString(self) -> str:
        return self.toString()

    def valueOf(self) -> Any:
        return self

    def hasOwnProperty(self, name: str) -> bool:
        return name in self.own_properties()

    # What Pyodide adds.

    @property
    def js_id(self) -> int:
        """The identity of the JavaScript object."""
        return id(self.js_value())

    @property
    def typeof(self) -> str:
        return "function" if callable(self) else "object"

    def object_keys(self) -> Any:
        return to_python(list(self.own_properties()))

    def object_values(self) -> Any:
        return to_python(list(self.own_properties().values()))

    def object_entries(self) -> Any:
        return to_python([[key, value] for key, value in self.own_properties().items()])

    def to_py(self, *, depth: int = -1, default_converter: Callable[..., Any] | None = None) -> Any:
        """The Python form of a plain value; of anything else what `default_converter(value, convert, cache)` says."""
        return self if default_converter is None else default_converter(self, lambda value: value, _ignore)

    def bind_sig(self, _signature: Any) -> Self:
        return self

    def bind_class(self, _signature: Any) -> Self:
        return self

    # What the rest of the runtime asks.

    def js_value(self) -> Any:
        """What this proxy stands for among the values of `bindings.values`; a web object stands for itself."""
        return self

    def own_properties(self) -> dict[str, Any]:
        """The enumerable own properties, as values."""
        return {}

    def __repr__(self) -> str:
        return ecma.to_string(self.js_value())

    def __str__(self) -> str:
        return ecma.to_string(self.js_value())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JsProxy) and self.js_value() is other.js_value()

    __hash__ = None  # type: ignore[assignment]

    def __dir__(self) -> list[str]:
        return names_of(type(self).__mro__[: -len(JsProxy.__mro__)], self.own_properties())

    def __reduce_ex__(self, _protocol: Any) -> Any:
        raise TypeError("cannot pickle 'pyodide.ffi.JsProxy' object")


class JsException(JsProxy, Exception, public=True):
    """A JavaScript Error, or anything else that was thrown. As a value it is not raised."""

    def __init__(self, value: Any = "", message: str | None = None) -> None:
        if message is not None or isinstance(value, str):  # JsException(name, message) as in Pyodide
            value = Error(message or "", value or "Error")
        Exception.__init__(self)
        self.value = value

    @property
    def args(self) -> tuple[Any, ...]:  # type: ignore[override]
        return (self,)

    def __reduce_ex__(self, _protocol: Any) -> Any:
        return JsException, (self.value.name, self.value.message)

    @property
    def constructor(self) -> Any:
        return ErrorConstructor(self.value.properties.get("constructor", _error_class(self.value.name)))

    @property
    def js_tag(self) -> str:
        return "Error"

    def js_value(self) -> Any:
        return self.value

    def own_properties(self) -> dict[str, Any]:
        return dict(self.value.properties)

    def toString(self) -> str:
        return str(self)

    def __getattr__(self, name: str) -> Any:
        if name in ("name", "message", "stack"):
            return getattr(self.value, name)
        if name == "js_error":
            return self
        if name == "cause" and self.value.cause is not UNDEFINED:
            return to_python(self.value.cause)
        if name != "value" and name in self.value.properties:
            return to_python(self.value.properties[name])
        raise AttributeError(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("name", "message", "stack"):
            setattr(self.value, name, value)
        else:
            super().__setattr__(name, value)

    def __str__(self) -> str:
        return str(self.value)

    __repr__ = __str__


class Constructor(JsProxy, js="Function"):
    """The constructor of a class: `js.Headers`, whose `new(...)` makes an instance."""

    __slots__ = ("_of", "name")
    _known: ClassVar[dict[type, Constructor]] = {}

    def __init__(self, of: type, name: str) -> None:
        self._of = of
        self.name = name

    @classmethod
    def of(cls, proxy_class: type) -> Constructor:
        """The one constructor object of a class, so that `a.constructor is b.constructor`."""
        known = cls._known.get(proxy_class)
        if known is None:
            statics = getattr(proxy_class, "Static", cls)
            known = cls._known[proxy_class] = statics(proxy_class, proxy_class.js_name)  # type: ignore[attr-defined]
        return known

    def new(self, *arguments: Any, **options: Any) -> Any:
        return self._of(*arguments, **options)

    def __call__(self, *_arguments: Any, **_options: Any) -> Any:
        raise throw(f"Class constructor {self.name} cannot be invoked without 'new'", "TypeError")

    def toString(self) -> str:
        return f"function {self.name}() {{ [native code] }}"

    def __repr__(self) -> str:
        return self.toString()

    __str__ = __repr__

    @property
    def prototype(self) -> Any:
        return to_python({"constructor": self})


ProxyType.constructor_of = Constructor.of
for _early in (JsProxy, Constructor):
    _early.constructor = Constructor.of(_early)


class ErrorConstructor(Constructor, js="Function"):
    """The constructor of one of the Error classes, known by its name."""

    __slots__ = ()

    def __init__(self, name: str) -> None:
        super().__init__(JsException, name)

    def new(self, *arguments: Any, **options: Any) -> JsException:
        message = arguments[0] if arguments else None
        cause = options.get("cause", getattr(arguments[1], "cause", None) if len(arguments) > 1 else None)
        text = "" if message is None else ecma.to_string(from_python(message))
        return JsException(Error(text, self.name, cause=from_python(cause)))

    __call__ = new

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ErrorConstructor) and self.name == other.name

    __hash__ = None  # type: ignore[assignment]


_ERROR_CLASSES = frozenset(
    {"Error", "TypeError", "RangeError", "SyntaxError", "ReferenceError", "EvalError", "URIError", "AggregateError",
     "PythonError"}
)  # fmt: skip
_DOM_EXCEPTIONS = frozenset(
    {"AbortError", "DataCloneError", "DataError", "InvalidAccessError", "InvalidCharacterError", "InvalidStateError",
     "NetworkError", "NotSupportedError", "OperationError", "QuotaExceededError", "SyntaxError", "TimeoutError",
     "TypeMismatchError"}
)  # fmt: skip


def _error_class(name: str) -> str:
    if name in _ERROR_CLASSES:
        return name
    return "DOMException" if name in _DOM_EXCEPTIONS else "Error"


def throw(message: str, name: str = "Error", **properties: Any) -> JsException:
    """A JsException to raise: `raise throw("Invalid header name.", "TypeError")`."""
    return JsException(Error(message, name, properties=properties))


def from_js_error(error: JsError) -> JsException:
    """The exception that Worker code sees for what an engine or a binding threw."""
    cause = error.cause
    if isinstance(cause, JsError):
        cause = Error(cause.message, cause.name)
    return JsException(
        Error(error.message, error.name, cause=UNDEFINED if cause is None else cause, properties=error.properties)
    )


def to_python(value: Any) -> Any:
    """How a JavaScript value looks in Python: undefined is None, null is jsnull, objects are proxies."""
    kind = type(value)
    if kind is str or kind is int or kind is bool:
        return value
    wrap = _WRAPPERS.get(kind)
    return adopt(value) if wrap is None else wrap(value)


def adopt(value: Any) -> Any:
    """The proxy of a value of a type not met before: by the rule of its nearest known base, else a binding's."""
    kind = type(value)
    for base in kind.__mro__[1:-1]:
        if base in _WRAPPERS:
            _WRAPPERS[kind] = _WRAPPERS[base]
            return to_python(value)
    maker = _WRAPPERS[type]
    wrap = _WRAPPERS[kind] = maker(kind)
    return wrap(value)


def from_python(value: Any) -> Any:
    """What a Python object is in JavaScript: None is undefined, whatever JavaScript has no word for is a PyProxy."""
    kind = type(value)
    if kind is str or kind is bool or kind is float:
        return value
    if value is None:
        return UNDEFINED
    if kind is int:
        return value if -_LIMIT < value < _LIMIT else BigInt(value)
    if isinstance(value, JsProxy):
        return value.js_value()
    if value is jsnull:
        return None
    if isinstance(value, JsBigInt):
        return BigInt(value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int | float):
        return from_python(int(value) if isinstance(value, int) else float(value))
    return _WRAPPERS[object](value)


def _number(value: float) -> int | float:
    return int(value) if value.is_integer() and abs(value) <= _LIMIT else value


def _ignore(*_arguments: Any) -> None:
    """The `cache` argument of a default converter for a value that is not recursive."""


_WRAPPERS.update(
    {
        str: _itself,
        int: _itself,
        bool: _itself,
        type(None): lambda _null: jsnull,
        Undefined: lambda _undefined: None,
        float: _number,
        BigInt: JsBigInt,
        Error: JsException,
    }
)
