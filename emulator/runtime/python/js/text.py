"""`js.String`, and the global functions over text: URI components, escape.

A string in a Worker's hands is a Python str, so it has no methods of JavaScript's.
"""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import quote

from flarebed.bindings import ecma
from flarebed.emulator.runtime.python.js.protocols import JsFunction, own_properties, to_integer, to_number
from flarebed.emulator.runtime.python.proxy import Constructor, JsProxy, from_python, throw

_COMPONENT: Final = "-_.!~*'()"
_RESERVED: Final = ";/?:@&=+$,#"
_ESCAPED: Final = re.compile(r"(?:%[0-9a-fA-F]{2})+")


class StringConstructor(Constructor, js="Function"):
    """`js.String`."""

    __slots__ = ()

    def __call__(self, *values: Any, **_options: Any) -> str:
        return _text(values[0]) if values else ""

    new = __call__

    def fromCharCode(self, *codes: Any) -> str:
        units = b"".join((to_integer(from_python(code)) & 0xFFFF).to_bytes(2, "little") for code in codes)
        return units.decode("utf-16-le", "surrogatepass")

    def fromCodePoint(self, *points: Any) -> str:
        return "".join(map(_character, points))

    def raw(self, strings: Any, *substitutions: Any) -> str:
        parts = [ecma.to_string(part) for part in own_properties(own_properties(from_python(strings))["raw"]).values()]
        between = [*map(_text, substitutions[: len(parts) - 1])]
        between += [""] * (len(parts) - len(between))
        return "".join(part + value for part, value in zip(parts, between, strict=True))


class String(JsProxy, js="String"):
    """The class behind `js.String`; it has no instances, because strings are Python's."""

    __slots__ = ()
    Static = StringConstructor


def _text(value: Any) -> str:
    return ecma.to_string(from_python(value))


def _character(point: Any) -> str:
    number = to_number(from_python(point))
    if not 0 <= number <= 0x10FFFF or number != int(number):
        raise throw(f"Invalid code point {ecma.number_to_string(number)}", "RangeError")
    return chr(int(number))


def encodeURIComponent(text: Any = None) -> str:
    return _encode(_text(text), _COMPONENT)


def encodeURI(text: Any = None) -> str:
    return _encode(_text(text), _COMPONENT + _RESERVED)


def _encode(text: str, safe: str) -> str:
    try:
        return quote(text, safe=safe)
    except UnicodeEncodeError:
        raise throw("URI malformed", "URIError") from None


def decodeURIComponent(text: Any = None) -> str:
    return _decode(_text(text), "")


def decodeURI(text: Any = None) -> str:
    return _decode(_text(text), _RESERVED)


def _decode(text: str, keep: str) -> str:
    """Percent sequences as UTF-8; those of a character in `keep` stay."""

    def plain(match: re.Match[str]) -> str:
        try:
            characters = bytes.fromhex(match[0].replace("%", "")).decode()
        except UnicodeDecodeError:
            raise throw("URI malformed", "URIError") from None
        written = iter(re.findall("%..", match[0]))
        pieces = [(character, [next(written) for _ in character.encode()]) for character in characters]
        return "".join("".join(codes) if character in keep else character for character, codes in pieces)

    if "%" in _ESCAPED.sub("", text):
        raise throw("URI malformed", "URIError")
    return _ESCAPED.sub(plain, text)


def escape(text: Any = None) -> str:
    def code(match: re.Match[str]) -> str:
        units = match[0].encode("utf-16-be", "surrogatepass")
        numbers = (int.from_bytes(units[index : index + 2], "big") for index in range(0, len(units), 2))
        return "".join(f"%{number:02X}" if number < 256 else f"%u{number:04X}" for number in numbers)

    return re.sub(r"[^A-Za-z0-9@*_+\-./]", code, _text(text))


def unescape(text: Any = None) -> str:
    plain = re.sub(
        r"%u([0-9a-fA-F]{4})|%([0-9a-fA-F]{2})", lambda match: chr(int(match[1] or match[2], 16)), _text(text)
    )
    return plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def exports() -> dict[str, Any]:
    functions = (encodeURIComponent, encodeURI, decodeURIComponent, decodeURI, escape, unescape)
    return {**{function.__name__: JsFunction(function) for function in functions}, "String": Constructor.of(String)}
