"""`js.console`: what Worker code writes to the log from JavaScript's side, as `wrangler dev` prints it.

Objects are shown as Node.js's util.inspect shows them, which is what workerd prints with.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, Final

from flarebed.bindings import ecma
from flarebed.bindings.values import ArrayBuffer, BigInt, Date, Error, Map, Set, View
from flarebed.emulator.runtime.python.context import current
from flarebed.emulator.runtime.python.js.protocols import Namespace, own_properties, truthy
from flarebed.emulator.runtime.python.proxy import Constructor, JsProxy, from_python

_DEEPEST: Final = 2
_WIDEST: Final = 72
_IDENTIFIER: Final = re.compile(r"[A-Za-z_$][\w$]*")
_PLACEHOLDER: Final = re.compile(r"%[sdifjoOc%]")


class Console(Namespace, js="console"):
    """`js.console`."""

    __slots__ = ("_counts", "_timers")

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._timers: dict[str, float] = {}

    def log(self, *values: Any) -> None:
        _write("log", values)

    def info(self, *values: Any) -> None:
        _write("info", values)

    def debug(self, *values: Any) -> None:
        _write("debug", values)

    def warn(self, *values: Any) -> None:
        _write("warn", values)

    def error(self, *values: Any) -> None:
        _write("error", values)

    trace = group = groupCollapsed = table = dir = dirxml = log

    def groupEnd(self) -> None:
        """Groups are not indented."""

    def assert_(self, condition: Any = None, *values: Any) -> None:
        """`assert` is a word of Python's."""
        if not truthy(from_python(condition)):
            _write("error", ("Assertion failed", *values))

    def count(self, label: str = "default") -> None:
        self._counts[label] = self._counts.get(label, 0) + 1
        _write("log", (f"{label}: {self._counts[label]}",))

    def countReset(self, label: str = "default") -> None:
        self._counts.pop(label, None)

    def time(self, label: str = "default") -> None:
        self._timers[label] = current().services.clock.now_ms()

    def timeLog(self, label: str = "default") -> None:
        if label in self._timers:
            _write("log", (f"{label}: {current().services.clock.now_ms() - self._timers[label]:g} ms",))

    def timeEnd(self, label: str = "default") -> None:
        self.timeLog(label)
        self._timers.pop(label, None)


def _write(level: str, values: tuple[Any, ...]) -> None:
    current().services.log(level, formatted([from_python(value) for value in values]))


def formatted(values: list[Any]) -> str:
    """One line of the log: placeholders of a first string are filled, the rest follows, spaces between."""
    if len(values) > 1 and isinstance(values[0], str) and "%" in values[0]:
        rest = iter(values[1:])
        values = [_PLACEHOLDER.sub(lambda match: _fill(match[0], rest), values[0]), *rest]
    return " ".join(value if isinstance(value, str) else inspect(value) for value in values)


def _fill(placeholder: str, rest: Any) -> str:
    if placeholder == "%%":
        return "%"
    value = next(rest, None)
    if placeholder == "%c":
        return ""
    if placeholder in ("%d", "%i", "%f"):
        number = ecma.to_number(value)
        return ecma.number_to_string(number if placeholder != "%i" or not math.isfinite(number) else int(number))
    if placeholder == "%s":
        return value if isinstance(value, str) else inspect(value)
    return str(ecma.json_stringify(value)) if placeholder == "%j" else inspect(value)


def inspect(value: Any, around: tuple[Any, ...] = ()) -> str:
    """util.inspect(value)."""
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, BigInt):
        return f"{int(value)}n"
    if isinstance(value, float) and value == 0 and math.copysign(1, value) < 0:
        return "-0"
    if not ecma.is_object(value):
        return ecma.to_string(value)
    if any(value is outer for outer in around):
        return "[Circular *1]"
    if isinstance(value, Date):
        return "Invalid Date" if math.isnan(value.ms) else str(ecma.json_stringify(value)).strip('"')
    if isinstance(value, Error):
        return value.stack or str(value)
    if callable(value) or isinstance(value, Constructor):
        name = getattr(value, "name", getattr(value, "__name__", ""))
        return f"[class {name}]" if isinstance(value, Constructor) else f"[Function: {name}]"
    return _structure(value, around)


def _structure(value: Any, around: tuple[Any, ...]) -> str:
    prefix, ends, deeper = _shape(value)
    if len(around) > _DEEPEST:
        return "[Array]" if isinstance(value, list) else f"[{prefix or 'Object'}]"
    within = (*around, value)
    parts = deeper(lambda inner: inspect(inner, within))
    prefix = f"{prefix} " if prefix else ""
    if not parts:
        return f"{prefix}{ends}"
    space = " "
    line = f"{prefix}{ends[0]}{space}{', '.join(parts)}{space}{ends[1]}"
    if len(line) <= _WIDEST and "\n" not in line:
        return line
    margin = "  " * (len(around) + 1)
    return f"{prefix}{ends[0]}\n{margin}" + f",\n{margin}".join(parts) + f"\n{margin[2:]}{ends[1]}"


Show = Callable[[Any], str]


def _shape(value: Any) -> tuple[str, str, Callable[[Show], list[str]]]:
    """The name before the brackets, the brackets, and what is between them."""
    if isinstance(value, list):
        return "", "[]", lambda show: [show(item) for item in value]
    if isinstance(value, Map):
        return f"Map({len(value)})", "{}", lambda show: [f"{show(key)} => {show(item)}" for key, item in value.items()]
    if isinstance(value, Set):
        return f"Set({len(value)})", "{}", lambda show: [show(member) for member in value]
    if isinstance(value, View):
        return f"{value.kind}({len(value)})", "[]", lambda show: [show(element) for element in value.elements()]
    if isinstance(value, ArrayBuffer):
        contents = f"[Uint8Contents]: <{bytes(value).hex(' ')}>"
        return "ArrayBuffer", "{}", lambda _show: [contents, f"byteLength: {len(value)}"]
    name = "" if isinstance(value, dict) else _name(value)
    return name, "{}", lambda show: [f"{_key(key)}: {show(item)}" for key, item in own_properties(value).items()]


def _name(value: Any) -> str:
    return value.js_tag if isinstance(value, JsProxy) else type(value).__name__


def _key(key: str) -> str:
    return key if _IDENTIFIER.fullmatch(key) else _quoted(key)


def _quoted(text: str) -> str:
    """With single quotes, unless the text has some."""
    escaped = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")
    if "'" not in text:
        return f"'{escaped}'"
    if '"' not in text:
        return f'"{escaped}"'
    return f"`{escaped}`" if "`" not in text and "${" not in text else "'" + escaped.replace("'", "\\'") + "'"
