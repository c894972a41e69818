"""`js.RegExp` over Python's `re`, as far as the two languages agree.

Named groups, sticky and Unicode escapes are rewritten; `d` and `v` add nothing here. What `re` can't express (variable
lookbehind) is the SyntaxError that JavaScript would give for a bad pattern.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from flarebed.bindings import ecma
from flarebed.bindings.values import UNDEFINED
from flarebed.emulator.runtime.python.proxy import Constructor, JsProxy, from_python, throw, to_python

_FLAGS: Final = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}
_OTHER_FLAGS: Final = "dguvy"


_SLASH: Final = re.compile(r"(\\.|\[(?:\\.|[^\]\\])*\])|/", re.DOTALL)
"""A slash that would end a literal; what is escaped or in a class would not."""


class RegExpConstructor(Constructor, js="Function"):
    """`js.RegExp`."""

    __slots__ = ()

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self.new(*arguments, **options)

    def escape(self, text: Any) -> str:
        return re.sub(r"[\^$\\.*+?()\[\]{}|/]", r"\\\g<0>", ecma.to_string(from_python(text)))


class RegExp(JsProxy, js="RegExp"):
    """A regular expression."""

    __slots__ = ("_pattern", "flags", "lastIndex", "source")
    Static = RegExpConstructor

    def __init__(self, pattern: Any = "", flags: Any = None) -> None:
        given = pattern.flags if isinstance(pattern, RegExp) else ""
        of_pattern = pattern.source if isinstance(pattern, RegExp) else ecma.to_string(from_python(pattern))
        self.source: str = _SLASH.sub(lambda match: match[1] or "\\/", of_pattern) or "(?:)"
        self.flags: str = "".join(sorted(given if flags is None else ecma.to_string(from_python(flags))))
        self.lastIndex = 0
        self._pattern = self._compile()

    def _compile(self) -> re.Pattern[str]:
        if len(set(self.flags)) < len(self.flags) or set(self.flags) - set(_FLAGS) - set(_OTHER_FLAGS):
            raise throw(f"Invalid flags supplied to RegExp constructor '{self.flags}'", "SyntaxError")
        flags = re.RegexFlag(0)
        for flag in self.flags:
            flags |= _FLAGS.get(flag, re.RegexFlag(0))
        try:
            return re.compile(to_python_pattern(self.source, multiline="m" in self.flags), flags)
        except re.error as error:
            text = f"Invalid regular expression: /{self.source}/{self.flags}: {error.msg}"
            raise throw(text, "SyntaxError") from None

    def __getattr__(self, name: str) -> Any:
        letters = {"hasIndices": "d", "global": "g", "ignoreCase": "i", "multiline": "m", "dotAll": "s", "unicode": "u",
                   "unicodeSets": "v", "sticky": "y", "global_": "g"}  # fmt: skip
        if name not in letters:
            raise AttributeError(name)
        return letters[name] in self.flags

    def test(self, text: Any = None) -> bool:
        return self._match(ecma.to_string(from_python(text))) is not None

    def exec(self, text: Any = None) -> Any:
        """The match as an array of texts; its index, input and groups are those of Python's Match object in turn."""
        searched = ecma.to_string(from_python(text))
        match = self._match(searched)
        if match is None:
            return to_python(None)
        return MatchArray(match)

    def _match(self, text: str) -> re.Match[str] | None:
        """RegExpBuiltinExec, with `lastIndex` for the global and the sticky."""
        remembers = "g" in self.flags or "y" in self.flags
        start = self.lastIndex if remembers else 0
        find = self._pattern.match if "y" in self.flags else self._pattern.search
        match = find(text, start) if start <= len(text) else None
        if remembers:
            self.lastIndex = match.end() if match else 0
        return match

    def toString(self) -> str:
        return f"/{self.source}/{self.flags}"

    @property
    def js_tag(self) -> str:
        return "RegExp"


class MatchArray(JsProxy, js="Array"):
    """What `exec` gives."""

    __slots__ = ("_match",)

    def __init__(self, match: re.Match[str]) -> None:
        self._match = match

    @property
    def index(self) -> int:
        return self._match.start()

    @property
    def input(self) -> str:
        return self._match.string

    @property
    def groups(self) -> Any:
        named = self._match.groupdict()
        return to_python({name: _text(text) for name, text in named.items()}) if named else None

    @property
    def length(self) -> int:
        return len(self)

    def __len__(self) -> int:
        return 1 + self._match.re.groups

    def __getitem__(self, index: int) -> str | None:
        return self._texts()[index]

    def __iter__(self) -> Iterator[str | None]:
        return iter(self._texts())

    def _texts(self) -> list[str | None]:
        return [self._match[0], *self._match.groups()]

    def own_properties(self) -> dict[str, Any]:
        return {str(index): _text(text) for index, text in enumerate(self)} | {"index": self.index, "input": self.input}

    def toString(self) -> str:
        return ecma.to_string([_text(text) for text in self])


def _text(text: str | None) -> Any:
    return UNDEFINED if text is None else text


_TOKEN: Final = re.compile(
    r"\\u\{(?P<point>[0-9a-fA-F]+)\}|\\u(?P<unit>[0-9a-fA-F]{4})|\\k<(?P<name>\w+)>|\\c(?P<control>[A-Za-z])|\\[\s\S]"
    r"|\(\?<(?=[A-Za-z_$])|\[\^\]|\[\]|[\[\]$]"
)
_SPELLINGS: Final = {
    "\\/": "/", "\\d": "[0-9]", "\\w": "[a-zA-Z0-9_]", "\\D": "[^0-9]", "\\W": "[^a-zA-Z0-9_]", "(?<": "(?P<",
    "[]": "(?!)", "[^]": r"[\s\S]", "$": r"\Z",
}  # fmt: skip
_SPELLINGS_IN_CLASS: Final = {"\\/": "/", "\\d": "0-9", "\\w": "a-zA-Z0-9_", "\\b": r"\x08", "[": r"\["}


def to_python_pattern(source: str, *, multiline: bool = False) -> str:
    """The pattern in Python's spelling: ASCII digits and words, named groups, `$` at the very end only."""
    in_class = False

    def respell(match: re.Match[str]) -> str:
        nonlocal in_class
        token, parts = match[0], match.groupdict()
        if in_class:
            in_class = token != "]"
            if token in ("[]", "[^]"):  # a bracket in a class is itself, and what follows ends the class
                in_class = False
                return "\\" + token
        elif token == "[":
            in_class = True
            return token
        if code := parts["point"] or parts["unit"]:
            return re.escape(chr(int(code, 16)))
        if parts["name"]:
            return f"(?P={parts['name']})"
        if parts["control"]:
            return re.escape(chr(ord(parts["control"]) % 32))
        if token == "$" and multiline:
            return token
        return (_SPELLINGS_IN_CLASS if in_class else _SPELLINGS).get(token, token)

    return _TOKEN.sub(respell, source)
