"""`js.Number`, `js.BigInt`, `js.Math`, and the global functions that read numbers.

A number in a Worker's hands is a Python int or float, so it has no methods of JavaScript's.
"""

from __future__ import annotations

import math
import random
import re
import struct
from typing import Any, Final

from flarebed.bindings import ecma
from flarebed.bindings.values import MAX_SAFE_INTEGER, UNDEFINED, BigInt
from flarebed.emulator.runtime.python.js.protocols import JsFunction, Namespace, iterate, to_number
from flarebed.emulator.runtime.python.proxy import Constructor, JsProxy, from_python, throw, to_python

_FLOAT: Final = re.compile(r"[+-]?(?:Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")
_WHITE_SPACE: Final = "\t\n\v\f\r \u00a0\u2028\u2029\ufeff"


def parseFloat(text: Any = None) -> int | float:
    match = _FLOAT.match(ecma.to_string(from_python(text)).lstrip(_WHITE_SPACE))
    return math.nan if match is None else _look(to_number(match[0]))


def parseInt(text: Any = None, radix: Any = None) -> int | float:
    digits = ecma.to_string(from_python(text)).lstrip(_WHITE_SPACE)
    negative, digits = digits[:1] == "-", digits.lstrip("+-") if digits[:1] in ("+", "-") else digits
    base = int(_finite(to_number(from_python(radix))))
    if base in (0, 16) and digits[:2] in ("0x", "0X"):
        base, digits = 16, digits[2:]
    base = base or 10
    valid = "0123456789abcdefghijklmnopqrstuvwxyz"[: base if 2 <= base <= 36 else 0]
    length = next((index for index, digit in enumerate(digits.lower()) if digit not in valid), len(digits))
    if not length:
        return math.nan
    number = int(digits[:length], base)
    return (
        _look(float(-number if negative else number)) if number > MAX_SAFE_INTEGER else -number if negative else number
    )


def isNaN(value: Any = None) -> bool:
    number = to_number(from_python(value))
    return number != number


def isFinite(value: Any = None) -> bool:
    return math.isfinite(to_number(from_python(value)))


def _look(number: int | float) -> int | float:
    """How a number looks in Python."""
    looked: int | float = to_python(float(number))
    return looked


def _finite(number: int | float) -> int | float:
    return number if math.isfinite(number) else 0


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool | BigInt)


class NumberConstructor(Constructor, js="Function"):
    """`js.Number`."""

    __slots__ = ()
    MAX_SAFE_INTEGER = MAX_SAFE_INTEGER
    MIN_SAFE_INTEGER = -MAX_SAFE_INTEGER
    MAX_VALUE = 1.7976931348623157e308
    MIN_VALUE = 5e-324
    EPSILON = 2.0**-52
    POSITIVE_INFINITY = math.inf
    NEGATIVE_INFINITY = -math.inf
    NaN = math.nan
    parseFloat = staticmethod(parseFloat)
    parseInt = staticmethod(parseInt)

    def __call__(self, value: Any = 0, *_rest: Any, **_options: Any) -> int | float:
        number = from_python(value)
        return _look(float(number) if isinstance(number, BigInt) else to_number(number))

    new = __call__

    def isInteger(self, value: Any = None) -> bool:
        number = from_python(value)
        return _is_number(number) and math.isfinite(number) and number == int(number)

    def isSafeInteger(self, value: Any = None) -> bool:
        return self.isInteger(value) and abs(value) <= MAX_SAFE_INTEGER

    def isFinite(self, value: Any = None) -> bool:
        return _is_number(from_python(value)) and math.isfinite(value)

    def isNaN(self, value: Any = None) -> bool:
        return isinstance(value, float) and math.isnan(value)


class Number(JsProxy, js="Number"):
    """The class behind `js.Number`; it has no instances, because numbers are Python's."""

    __slots__ = ()
    Static = NumberConstructor


class BigIntConstructor(Constructor, js="Function"):
    """`js.BigInt`."""

    __slots__ = ()

    def new(self, *_arguments: Any, **_options: Any) -> Any:
        raise throw("BigInt is not a constructor", "TypeError")

    def __call__(self, value: Any = None, *_rest: Any, **_options: Any) -> Any:
        given = from_python(value)
        if isinstance(given, int | float):
            return to_python(_from_number(given))
        if given is None or given is UNDEFINED:
            raise throw(f"Cannot convert {ecma.to_string(given)} to a BigInt", "TypeError")
        return to_python(_from_text(ecma.to_string(given)))

    def asIntN(self, bits: int, value: int) -> Any:
        wrapped = int(value) & ((1 << bits) - 1)
        return to_python(BigInt(wrapped - (1 << bits) if bits and wrapped >> (bits - 1) else wrapped))

    def asUintN(self, bits: int, value: int) -> Any:
        return to_python(BigInt(int(value) & ((1 << bits) - 1)))


def _from_number(number: int | float) -> BigInt:
    if isinstance(number, int):
        return BigInt(number)
    if not number.is_integer():
        text = ecma.number_to_string(number)
        message = f"The number {text} cannot be converted to a BigInt because it is not an integer"
        raise throw(message, "RangeError")
    return BigInt(int(number))


def _from_text(text: str) -> BigInt:
    digits = text.strip(_WHITE_SPACE)
    try:
        if not digits:
            return BigInt(0)
        if re.fullmatch(r"[+-]?[0-9]+|0(?:[xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)", digits):
            return BigInt(int(digits, 10 if digits.lstrip("+-").isdigit() else 0))
    except ValueError as too_long:
        raise throw("Maximum BigInt size exceeded", "RangeError") from too_long
    raise throw(f"Cannot convert {text} to a BigInt", "SyntaxError")


class BigIntClass(JsProxy, js="BigInt"):
    """The class behind `js.BigInt`."""

    __slots__ = ()
    Static = BigIntConstructor


class Math(Namespace, js="Math"):
    """`js.Math`. What Python's math has under the same name with the same answers is taken from it."""

    __slots__ = ("_dice",)
    E = math.e
    LN10 = math.log(10)
    LN2 = math.log(2)
    LOG10E = 1 / math.log(10)
    LOG2E = 1 / math.log(2)
    PI = math.pi
    SQRT1_2 = math.sqrt(0.5)
    SQRT2 = math.sqrt(2)

    def __init__(self) -> None:
        self._dice = random.Random()

    def random(self) -> float:
        """Allowed while a Worker starts, too, unlike crypto's (observed)."""
        return self._dice.random()

    def abs(self, x: Any = None) -> int | float:
        return _look(abs(_number(x)))

    def floor(self, x: Any = None) -> int | float:
        return _rounded(math.floor, x)

    def ceil(self, x: Any = None) -> int | float:
        return _rounded(math.ceil, x)

    def trunc(self, x: Any = None) -> int | float:
        return _rounded(math.trunc, x)

    def round(self, x: Any = None) -> int | float:
        return _rounded(lambda number: math.floor(number) + (number - math.floor(number) >= 0.5), x)

    def sign(self, x: Any = None) -> int | float:
        number = _number(x)
        return number if number != number else (number > 0) - (number < 0)

    def max(self, *xs: Any) -> int | float:
        return _extreme(max, -math.inf, xs)

    def min(self, *xs: Any) -> int | float:
        return _extreme(min, math.inf, xs)

    def pow(self, x: Any = None, y: Any = None) -> int | float:
        base, exponent = float(_number(x)), float(_number(y))
        if exponent != exponent or (abs(base) == 1 and math.isinf(exponent)):
            return math.nan
        return _real(math.pow, base, exponent, overflow=-math.inf if base < 0 and exponent % 2 == 1 else math.inf)

    def sqrt(self, x: Any = None) -> int | float:
        return _real(math.sqrt, _number(x))

    def cbrt(self, x: Any = None) -> int | float:
        """Exact for cubes of integers, which the C library's cbrt need not be."""
        number = _number(x)
        root = _real(math.cbrt, number)
        return round(root) if math.isfinite(root) and round(root) ** 3 == number else root

    def hypot(self, *xs: Any) -> int | float:
        return _look(math.hypot(*map(_number, xs)))

    def log(self, x: Any = None) -> int | float:
        return _logarithm(math.log, _number(x))

    def log2(self, x: Any = None) -> int | float:
        return _logarithm(math.log2, _number(x))

    def log10(self, x: Any = None) -> int | float:
        return _logarithm(math.log10, _number(x))

    def log1p(self, x: Any = None) -> int | float:
        number = _number(x)
        return -math.inf if number == -1 else _real(math.log1p, number)

    def atan2(self, y: Any = None, x: Any = None) -> int | float:
        return _real(math.atan2, _number(y), _number(x))

    def fround(self, x: Any = None) -> int | float:
        try:
            return _look(struct.unpack("f", struct.pack("f", _number(x)))[0])
        except OverflowError:
            return math.copysign(math.inf, _number(x))

    def clz32(self, x: Any = None) -> int:
        return 32 - (int(_finite(_number(x))) & 0xFFFFFFFF).bit_length()

    def imul(self, x: Any = None, y: Any = None) -> int:
        product = int(_finite(_number(x))) * int(_finite(_number(y))) & 0xFFFFFFFF
        return product - 2**32 if product >= 2**31 else product

    def sumPrecise(self, numbers: Any) -> int | float:
        return _look(math.fsum(to_number(number) for number in iterate(from_python(numbers))))

    def __getattr__(self, name: str) -> Any:
        if name not in _SAME_IN_PYTHON:
            raise AttributeError(name)
        function = getattr(math, name)
        return JsFunction(lambda x=None: _real(function, _number(x)), name)


_SAME_IN_PYTHON: Final = frozenset(
    {"acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "expm1", "sin", "sinh", "tan", "tanh"}
)


def _number(value: Any) -> int | float:
    return to_number(from_python(value))


def _real(function: Any, *numbers: float, overflow: float = math.inf) -> int | float:
    """Python raises where JavaScript has NaN or an infinity."""
    try:
        return _look(function(*numbers))
    except OverflowError:
        return overflow
    except ValueError:
        return overflow if function is math.pow and numbers[0] == 0 else math.nan


def _logarithm(function: Any, number: float) -> int | float:
    return -math.inf if number == 0 else _real(function, number)


def _rounded(function: Any, value: Any) -> int | float:
    number = _number(value)
    return number if not math.isfinite(number) else _look(function(number))


def _extreme(choose: Any, none: float, values: tuple[Any, ...]) -> int | float:
    numbers = [_number(value) for value in values]
    if any(number != number for number in numbers):
        return math.nan
    return _look(choose(numbers, default=none))


def exports() -> dict[str, Any]:
    functions = {function.__name__: JsFunction(function) for function in (parseFloat, parseInt, isNaN, isFinite)}
    constructors = {"Number": Constructor.of(Number), "BigInt": Constructor.of(BigIntClass)}
    return {**functions, **constructors, "Math": Math(), "NaN": math.nan, "Infinity": math.inf}
