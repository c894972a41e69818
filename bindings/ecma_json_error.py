"""V8's complaints about JSON, in its words.

`ecma.json_parse` asks where V8 stops in a text that Python's parser has refused: a scan that follows
v8/src/json/json-parser.cc, without recursion, and builds nothing; positions count UTF-16 code units.
`ecma.json_stringify` asks for the description of a circle.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

from flarebed.bindings.errors import InternalError, JsError, type_error

_CONTEXT: Final = 10
"""V8's kMaxContextCharacters: how much of the text it quotes on each side."""
_SPECIAL: Final = frozenset({"NaN", "Infinity", "undefined", "[object Object]"})
_SPACE: Final = re.compile(r"[ \t\n\r]*")
_PLAIN_STRING: Final = re.compile(r'[^"\\\x00-\x1f]*')
_DIGITS: Final = re.compile(r"[0-9]*")
_ESCAPE: Final = re.compile(r'["\\/bfnrt]')
_HEX: Final = "0123456789abcdefABCDEF"
_LITERALS: Final = {"t": "true", "f": "false", "n": "null"}


def json_syntax_error(text: str) -> JsError:
    """The SyntaxError that V8's JSON.parse throws for this text."""
    scan = _Scan(_code_units(text))
    try:
        scan.document()
    except _Stop as stop:
        message = stop.args[0].encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        return JsError(message, "SyntaxError")
    raise InternalError(f"V8's JSON grammar accepts what was refused: {text[:100]!r}")


def _code_units(text: str) -> str:
    """One character for each UTF-16 code unit."""
    return "".join(map(chr, array("H", text.encode("utf-16-le", "surrogatepass"))))


class _Stop(Exception):
    """V8's message."""


class _Scan:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def document(self) -> None:
        """Scan a value and the end. `open_ends` are the brackets that values on the way are inside of."""
        open_ends: list[str] = []
        while True:
            if self._begin_value(open_ends):
                continue
            while open_ends and not self._next_member(open_ends[-1]):
                open_ends.pop()
            if not open_ends:
                break
        if self._peek():
            self._fail("Unexpected non-whitespace character after JSON")

    def _begin_value(self, open_ends: list[str]) -> bool:
        """Scan one value; True if it opened an object or array whose first member's value is next."""
        char = self._peek()
        if char == '"':
            self._string()
        elif char in "-0123456789" and char:
            self._number()
        elif char == "{":
            self._at += 1
            if self._take("}"):
                return False
            self._key("Expected property name or '}'")
            open_ends.append("}")
            return True
        elif char == "[":
            self._at += 1
            if self._take("]"):
                return False
            open_ends.append("]")
            return True
        elif char in _LITERALS:
            self._literal(_LITERALS[char])
        else:
            self._fail_at_token()
        return False

    def _next_member(self, end: str) -> bool:
        """After a member: True if another follows, False if the bracket closed."""
        if self._take(","):
            if end == "}":
                self._key("Expected double-quoted property name")
            return True
        if not self._take(end):
            what = "property value" if end == "}" else "array element"
            self._fail(f"Expected ',' or '{end}' after {what}")
        return False

    def _key(self, complaint: str) -> None:
        if self._peek() != '"':
            self._fail(complaint)
        self._string()
        if not self._take(":"):
            self._fail("Expected ':' after property name")

    def _string(self) -> None:
        self._at += 1
        while True:
            self._skip(_PLAIN_STRING)
            char = self._char()
            if char == '"':
                self._at += 1
                return
            if not char:
                self._fail("Unterminated string")
            if char != "\\":
                self._fail("Bad control character in string literal")
            self._at += 1
            self._escape()

    def _escape(self) -> None:
        char = self._char()
        if not char:
            self._fail_at_token()
        self._at += 1
        if char == "u":
            for _ in range(4):
                if not (digit := self._char()) or digit not in _HEX:
                    self._fail("Bad Unicode escape")
                self._at += 1
        elif not _ESCAPE.match(char):
            self._at -= 1
            self._fail("Bad escaped character")

    def _number(self) -> None:
        if self._char() == "-":
            self._at += 1
            if not self._is_digit():
                self._fail("No number after minus sign")
        if self._char() == "0":
            self._at += 1
            if self._is_digit():
                self._fail("Unexpected number")
        self._skip(_DIGITS)
        if self._char() == ".":
            self._at += 1
            if not self._is_digit():
                self._fail("Unterminated fractional number")
            self._skip(_DIGITS)
        if self._char() in ("e", "E"):
            self._at += 1
            if self._char() in ("+", "-"):
                self._at += 1
            if not self._is_digit():
                self._fail("Exponent part is missing a number")
            self._skip(_DIGITS)

    def _literal(self, word: str) -> None:
        for letter in word:
            if self._char() != letter:
                self._fail_at_token()
            self._at += 1

    def _char(self) -> str:
        """The character here; "" at the end."""
        return self._text[self._at : self._at + 1]

    def _is_digit(self) -> bool:
        return "0" <= self._char() <= "9"

    def _skip(self, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self._text, self._at)
        self._at = match.end() if match else self._at

    def _peek(self) -> str:
        """The next character that is not white space."""
        self._skip(_SPACE)
        return self._char()

    def _take(self, char: str) -> bool:
        if self._peek() != char:
            return False
        self._at += 1
        return True

    def _fail(self, what: str) -> None:
        before = self._text[: self._at].replace("\r\n", "\n").replace("\r", "\n")
        line = before.count("\n") + 1
        column = len(before) - before.rfind("\n")
        place = f"at position {self._at} (line {line} column {column})"
        raise _Stop(f"{what} {place}" if what.endswith("after JSON") else f"{what} in JSON {place}")

    def _fail_at_token(self) -> None:
        """V8's LookUpErrorMessageForJsonToken."""
        char, text, at = self._char(), self._text, self._at
        if not char:
            raise _Stop("Unexpected end of JSON input")
        if char == '"':
            self._fail("Unexpected string")
        if char in "-0123456789":
            self._fail("Unexpected number")
        if text in _SPECIAL:
            raise _Stop(f'"{text}" is not valid JSON')
        cut_left = len(text) > 2 * _CONTEXT and at >= _CONTEXT
        cut_right = len(text) > 2 * _CONTEXT and (at < _CONTEXT or at < len(text) - _CONTEXT)
        quoted = text[at - _CONTEXT if cut_left else 0 : at + _CONTEXT if cut_right else len(text)]
        left, right = "..." * cut_left, "..." * cut_right
        raise _Stop(f"Unexpected token '{char}', {left}\"{quoted}\"{right} is not valid JSON")


def circular_error(value: Any, around: list[Any], members: Callable[[Any], dict[str, Any]]) -> JsError:
    """The TypeError for `value` inside itself; `around` are the objects being written, outermost first.

    V8 names the constructors on the way round: the first three and the last two.
    """
    start = next(index for index, outer in enumerate(around) if outer is value)
    steps = [(_step(outer, inner, members), _constructor(inner)) for outer, inner in pairwise([*around[start:], value])]
    lines = [f"--> starting at object with constructor '{_constructor(value)}'"]
    lines += [f"|     {step} -> object with constructor '{constructor}'" for step, constructor in steps[:-1]]
    if len(lines) > 4:
        lines[3:-1] = ["|     ..."]
    lines.append(f"--- {steps[-1][0]} closes the circle")
    return type_error("\n    ".join(["Converting circular structure to JSON", *lines]))


def _step(outer: Any, inner: Any, members: Callable[[Any], dict[str, Any]]) -> str:
    if isinstance(outer, list):
        return f"index {next(index for index, item in enumerate(outer) if item is inner)}"
    return f"property '{next(key for key, item in members(outer).items() if item is inner)}'"


def _constructor(value: Any) -> str:
    return "Array" if isinstance(value, list) else "Object" if isinstance(value, dict) else type(value).__name__
