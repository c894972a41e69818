"""JavaScript's coercions and JSON over the values of `values.py`.

Bindings use it where production applies String(), Number() or JSON to what a Worker gave; the runtime builds its
`JSON`, `String` and `Number` on it. Dates as text are in `ecma_date.py`, V8's complaints about
JSON in `ecma_json_error.py`.
"""

from __future__ import annotations

import json
import math
import re
from json.encoder import encode_basestring
from typing import Any, Final

from flarebed.bindings.ecma_date import date_to_iso, date_to_string
from flarebed.bindings.ecma_json_error import circular_error, json_syntax_error
from flarebed.bindings.errors import JsError, type_error
from flarebed.bindings.values import MAX_SAFE_INTEGER, UNDEFINED, BigInt, Date, Error, Undefined, View

_WHITESPACE: Final = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_DECIMAL: Final = re.compile(r"[+-]?(?:Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")
_PREFIXED: Final = re.compile(r"0(?:[xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)")
_INDEX_KEY: Final = re.compile(r"0|[1-9][0-9]{0,9}")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def is_object(value: Any) -> bool:
    """Whether JavaScript would call it an object (functions included)."""
    return not (value is None or isinstance(value, (str, int, float, Undefined)))


def typeof(value: Any) -> str:
    if isinstance(value, str):
        return "string"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, BigInt):
        return "bigint"
    if isinstance(value, (int, float)):
        return "number"
    if value is UNDEFINED:
        return "undefined"
    return "function" if callable(value) else "object"


# --- String() ---------------------------------------------------------------------------------------------------------


def to_string(value: Any) -> str:
    """String(value). A host object's own `toString` decides; else its `js_tag`, or else its class name, is the tag."""
    if isinstance(value, str):
        return value
    if type(value) is int:
        return number_to_string(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return number_to_string(value)
    if value is UNDEFINED:
        return "undefined"
    if isinstance(value, list):
        return _join(value, ())
    if isinstance(value, Date):
        return date_to_string(value.ms)
    if isinstance(value, View):
        return "[object DataView]" if value.kind == "DataView" else ",".join(map(number_to_string, value.elements()))
    return _object_text(value)


def _object_text(value: Any) -> str:
    if isinstance(value, dict):
        return "[object Object]"
    if isinstance(value, Error | JsError):
        return str(value)
    if own := getattr(value, "toString", None):
        return str(own())
    tag = getattr(value, "js_tag", None)
    if tag is None and callable(value):
        return f"function {getattr(value, '__name__', '')}() {{ [native code] }}"
    return f"[object {tag or type(value).__name__}]"


def _join(items: list[Any], around: tuple[Any, ...]) -> str:
    """Array.prototype.join(","): null and undefined are empty, and so is an array inside itself."""
    around = (*around, items)
    texts = []
    for item in items:
        if item is None or item is UNDEFINED or any(item is outer for outer in around):
            texts.append("")
        else:
            texts.append(_join(item, around) if isinstance(item, list) else to_string(item))
    return ",".join(texts)


def number_to_string(number: float) -> str:
    """ECMA-262 Number::toString; a BigInt gives all its digits."""
    if isinstance(number, int):
        if isinstance(number, BigInt) or -MAX_SAFE_INTEGER <= number <= MAX_SAFE_INTEGER:
            return int.__repr__(number)
        number = float(number)
    text = repr(number)
    if "e" in text:
        return _digits_to_text(text)
    if text.endswith(".0"):
        return text[:-2] if number else "0"
    return _NOT_FINITE.get(text, text)


_NOT_FINITE: Final = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def _digits_to_text(text: str) -> str:
    """Python's shortest digits with an exponent in JavaScript's layout (ECMA-262 Number::toString)."""
    sign = "-" if text[0] == "-" else ""
    mantissa, _, exponent = text.lstrip("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    point = int(exponent or 0) + len(whole) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        return f"{sign}{digits}{'0' * (point - count)}"
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    tail = f".{digits[1:]}" if count > 1 else ""
    return f"{sign}{digits[0]}{tail}e{point - 1:+}"


# --- Number() ---------------------------------------------------------------------------------------------------------


def to_number(value: Any) -> int | float:
    """Number(value); TypeError for a BigInt, as where WebIDL or an arithmetic operator converts."""
    if isinstance(value, BigInt):
        raise type_error("Cannot convert a BigInt value to a number")
    if isinstance(value, bool) or value is None:
        return int(value or 0)
    if isinstance(value, (int, float)):
        return value
    if value is UNDEFINED:
        return math.nan
    if isinstance(value, Date):
        return value.ms
    return _string_to_number(value if isinstance(value, str) else to_string(value))


def _string_to_number(text: str) -> int | float:
    text = text.strip(_WHITESPACE)
    if not text:
        return 0
    if _PREFIXED.fullmatch(text):
        return shrink(float(int(text, 0)))
    if not _DECIMAL.fullmatch(text):
        return math.nan
    return shrink(float(text))


def shrink(number: float) -> int | float:
    """An int where the number is a safe integer (not -0): how values.py holds numbers that come from text."""
    if number.is_integer() and abs(number) <= MAX_SAFE_INTEGER and (number or math.copysign(1, number) > 0):
        return int(number)
    return number


# --- JSON -------------------------------------------------------------------------------------------------------------


def is_index(key: str) -> bool:
    """Is the property key that of an array element, "0" to "4294967294"?"""
    return key[:1].isdigit() and _INDEX_KEY.fullmatch(key) is not None and int(key) < 2**32 - 1


def order_keys(members: dict[str, Any]) -> dict[str, Any]:
    """The object with its integer-like keys first, ascending, as JavaScript keeps them."""
    indices = [key for key in members if is_index(key)]
    if not indices:
        return members
    ordered = {key: members[key] for key in sorted(indices, key=int)}
    ordered.update(members)
    return ordered


def json_parse(text: str) -> Any:
    """JSON.parse(text); JsError "SyntaxError" with V8's message. Integral numbers come as int, unsafe ones as float."""
    try:
        return _decoder(text).decode(text)
    except (json.JSONDecodeError, _NotJson):
        raise json_syntax_error(text) from None


class _NotJson(ValueError):
    """A word that Python's JSON knows and JavaScript's does not."""


def _reject(word: str) -> Any:
    raise _NotJson(word)


def _parse_number(text: str) -> int | float:
    return shrink(float(text))


_PLAIN_DECODER: Final = json.JSONDecoder(parse_float=_parse_number, parse_constant=_reject)
_FULL_DECODER: Final = json.JSONDecoder(
    object_hook=order_keys, parse_float=_parse_number, parse_int=_parse_number, parse_constant=_reject
)
_NEEDS_FULL: Final = re.compile(r'-0|[0-9]{16}|"[0-9]|\\u003')
"""What Python's JSON would read otherwise than JavaScript's: -0, unsafe integers, integer-like keys."""


def _decoder(text: str) -> json.JSONDecoder:
    return _FULL_DECODER if _NEEDS_FULL.search(text) else _PLAIN_DECODER


def json_stringify(value: Any, indent: int = 0) -> Any:
    """JSON.stringify(value, null, indent): the text, or UNDEFINED where the value has none."""
    if not indent and type(value) in (dict, list) and _is_plain(value, 0):
        return _PLAIN_ENCODER.encode(value)
    return _Stringify(indent).text(value, "")


_PLAIN_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":"))
_PLAIN_LEAVES: Final = frozenset({bool, type(None)})
_DEEPEST_PLAIN: Final = 100


def _is_plain(value: Any, depth: int) -> bool:
    """Whether Python's JSON writes this list or dict as JavaScript's does."""
    if depth > _DEEPEST_PLAIN:  # deep or circular
        return False
    if type(value) is dict:
        for key in value:
            if key[:1].isdigit() or not (key.isascii() or not _SURROGATE.search(key)):
                return False
        value = value.values()
    for item in value:
        kind = type(item)
        if kind is str:
            if not (item.isascii() or not _SURROGATE.search(item)):
                return False
        elif kind is int:
            if not -MAX_SAFE_INTEGER <= item <= MAX_SAFE_INTEGER:
                return False
        elif kind is dict or kind is list:
            if not _is_plain(item, depth + 1):
                return False
        elif kind not in _PLAIN_LEAVES:
            return False
    return True


def quote(text: str) -> str:
    """A JSON string literal; lone surrogates are escaped (well-formed JSON.stringify)."""
    quoted = encode_basestring(text)
    return quoted if text.isascii() else _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)


class _Stringify:
    """ECMA-262 SerializeJSONProperty, with the objects being written to find a circle."""

    def __init__(self, indent: int) -> None:
        self._step = " " * min(indent, 10)
        self._around: list[Any] = []

    def text(self, value: Any, margin: str) -> Any:
        kind = type(value)
        if kind is str:
            return quote(value)
        if kind is int or kind is float:
            return number_to_string(value) if math.isfinite(value) else "null"
        if kind is dict or kind is list:
            return self._structure(value, margin)
        if value is None or kind is bool:
            return "null" if value is None else "true" if value else "false"
        return self._rare(value, margin)

    def _rare(self, value: Any, margin: str) -> Any:
        if isinstance(value, BigInt):
            raise type_error("Do not know how to serialize a BigInt")
        if isinstance(value, Date):
            return "null" if math.isnan(value.ms) else f'"{date_to_iso(value.ms)}"'
        if value is UNDEFINED or callable(value):
            return UNDEFINED
        if to_json := getattr(value, "toJSON", None):
            return self.text(to_json(), margin)
        return self._structure(value, margin)

    def _structure(self, value: Any, margin: str) -> str:
        if any(value is outer for outer in self._around):
            raise circular_error(value, self._around, _own_members)
        self._around.append(value)
        inner = margin + self._step
        if isinstance(value, list):
            texts = [self.text(item, inner) for item in value]
            written = self._bracket("[]", ["null" if text is UNDEFINED else text for text in texts], margin)
        else:
            colon = ": " if self._step else ":"
            pairs = ((key, self.text(item, inner)) for key, item in _own_members(value).items())
            members = [f"{quote(key)}{colon}{text}" for key, text in pairs if text is not UNDEFINED]
            written = self._bracket("{}", members, margin)
        self._around.pop()
        return written

    def _bracket(self, ends: str, texts: list[str], margin: str) -> str:
        if not texts or not self._step:
            return f"{ends[0]}{','.join(texts)}{ends[1]}"
        line = f"\n{margin}{self._step}"
        return f"{ends[0]}{line}{f',{line}'.join(texts)}\n{margin}{ends[1]}"


def _own_members(value: Any) -> dict[str, Any]:
    """The enumerable own properties that JSON.stringify writes of an object that is no array."""
    if isinstance(value, dict):
        return order_keys(value)
    if isinstance(value, View) and value.kind != "DataView":
        return {str(index): element for index, element in enumerate(value.elements())}
    if isinstance(value, Error):
        return value.properties
    own = getattr(value, "own_properties", None)  # a host object's
    return {} if own is None else own()
