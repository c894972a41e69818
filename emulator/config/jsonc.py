"""JSON with comments and trailing commas, as wrangler reads .json and .jsonc alike; remembers where each field stands.

Accepts exactly what wrangler's parser (jsonc-parser) accepts without an error, and names the first error as that does.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple, NoReturn

from flarebed.bindings.values import MAX_SAFE_INTEGER
from flarebed.emulator.config.document import SyntaxProblem

MAX_DEPTH = 200
_SPACE = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:(?<!\.)[eE][+-]?[0-9]*)?")
_WORD = re.compile(r'[^ \t\r\n{}\[\]",:/]+')
_STRING = re.compile(r'"(?:[^"\\\r\n]|\\[^\r\n])*"')
_BAD_IN_STRING = (
    (re.compile(r"[\x00-\x1f]"), "InvalidCharacter"),
    (re.compile(r'(?<!\\)(?:\\\\)*\\(?!["\\/bfnrtu])'), "InvalidEscapeCharacter"),
    (re.compile(r"(?<!\\)(?:\\\\)*\\u(?![0-9a-fA-F]{4})"), "InvalidUnicode"),
)
_LITERALS = {"true": True, "false": False, "null": None}


class Token(NamedTuple):
    """`kind` is the text of a punctuation mark, or "string", "number", "literal", "unknown", "" at the end."""

    kind: str
    offset: int
    end: int
    value: Any = None


def parse(text: str) -> tuple[Any, dict[str, int]]:
    """The value and the offsets of its fields by path; raises SyntaxProblem."""
    return _Parser(text).document()


def extent(text: str, offset: int) -> tuple[int, int]:
    """Where the value of the field that `parse` found at `offset` begins and ends."""
    return _Parser(text, offset).extent()


class _Parser:
    def __init__(self, text: str, start: int = 0) -> None:
        self._text = text
        self._offsets: dict[str, int] = {}
        self._end = start
        self._token = self._scan(start)

    def document(self) -> tuple[Any, dict[str, int]]:
        value = self._value("", 0)
        if self._token.kind:
            self._fail("EndOfFileExpected")
        return value, self._offsets

    def extent(self) -> tuple[int, int]:
        start = self._token.offset
        self._value("", 0)
        if self._token.kind == ":":  # what stood there was the name
            self._next()
            start = self._token.offset
            self._value("", 0)
        return start, self._end

    def _value(self, path: str, depth: int) -> Any:
        token = self._token
        if depth > MAX_DEPTH:
            self._fail("The file is nested too deeply")
        if token.kind == "{":
            return self._object(path, depth)
        if token.kind == "[":
            return self._array(path, depth)
        if token.kind not in ("string", "number", "literal"):
            self._fail("ValueExpected")
        self._next()
        return token.value

    def _object(self, path: str, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self._next()
        while self._more("}", first=not found):
            if self._token.kind != "string":
                self._fail("PropertyNameExpected")
            name = self._token.value
            inner = f"{path}.{name}" if path else name
            self._offsets[inner] = self._token.offset
            self._next()
            if self._token.kind != ":":
                self._fail("ColonExpected")
            self._next()
            found[name] = self._value(inner, depth + 1)
        return found

    def _array(self, path: str, depth: int) -> list[Any]:
        found: list[Any] = []
        self._next()
        while self._more("]", first=not found):
            inner = f"{path}[{len(found)}]"
            self._offsets[inner] = self._token.offset
            found.append(self._value(inner, depth + 1))
        return found

    def _more(self, close: str, *, first: bool) -> bool:
        """Whether another member follows; steps over the comma before it, or over `close`."""
        if self._token.kind == ",":
            if first:
                self._fail("ValueExpected")
            self._next()
        elif self._token.kind not in (close, "") and not first:
            self._fail("CommaExpected")
        elif not self._token.kind:
            self._fail("CloseBraceExpected" if close == "}" else "CloseBracketExpected")
        if self._token.kind != close:
            return True
        self._next()
        return False

    def _next(self) -> None:
        self._end = self._token.end
        self._token = self._scan(self._end)

    def _scan(self, start: int) -> Token:
        space = _SPACE.match(self._text, start)
        at = space.end() if space else start
        letter = self._text[at : at + 1]
        if letter in ("", "{", "}", "[", "]", ",", ":"):
            return Token(letter, at, at + len(letter))
        if letter == '"':
            return self._string(at)
        if self._text.startswith("/*", at):
            raise SyntaxProblem("UnexpectedEndOfComment", at, len(self._text) - at)
        number = _NUMBER.match(self._text, at)
        if number:
            if not number[0][-1].isdigit():
                raise SyntaxProblem("UnexpectedEndOfNumber", at, len(number[0]))
            return Token("number", at, number.end(), _number(number[0]))
        word = _WORD.match(self._text, at)
        if word and word[0] in _LITERALS:
            return Token("literal", at, word.end(), _LITERALS[word[0]])
        raise SyntaxProblem("InvalidSymbol", at, len(word[0]) if word else 1)

    def _string(self, at: int) -> Token:
        found = _STRING.match(self._text, at)
        if not found:
            end = re.compile(r"[\r\n]|\Z").search(self._text, at)
            raise SyntaxProblem("UnexpectedEndOfString", at, (end.start() if end else at + 1) - at)
        for bad, problem in _BAD_IN_STRING:
            if bad.search(found[0]):
                raise SyntaxProblem(problem, at, len(found[0]))
        return Token("string", at, found.end(), json.loads(found[0]))

    def _fail(self, problem: str) -> NoReturn:
        raise SyntaxProblem(problem, self._token.offset, self._token.end - self._token.offset)


def _number(text: str) -> int | float:
    """JavaScript has no integers beyond 2**53; within, an int stays one."""
    value = float(text)
    return int(value) if text.lstrip("-").isdigit() and abs(value) <= MAX_SAFE_INTEGER else value
