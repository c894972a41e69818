"""Where one SQL statement ends and the next begins, by SQLite's own rules (https://sqlite.org/c3ref/complete.html).

`sql.py` needs it because each statement of a text is prepared by itself; the D1 command line because it sends the
statements of a file one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_TOKEN: Final = re.compile(
    r"""
      (?P<space>   [ \t\n\v\f\r]+ )
    | (?P<comment> --[^\n]*  |  /\*.*?(?:\*/|\Z) )
    | (?P<quoted>  '(?:[^']|'')*(?:'|\Z)  |  "(?:[^"]|"")*(?:"|\Z)  |  `(?:[^`]|``)*(?:`|\Z)  |  \[[^\]]*(?:\]|\Z) )
    | (?P<word>    [A-Za-z_\u0080-\U0010ffff][\w$]* )
    | (?P<semi>    ; )
    | (?P<other>   [^ \t\n\v\f\r'"`\[;A-Za-z_\u0080-\U0010ffff/-]+  |  . )
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Statement:
    """`text` up to and with its semicolon; `verb` is its first word in capitals, "" where there is no statement."""

    text: str
    verb: str


def tokens(sql: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Every token of `sql` with its kind: space, comment, quoted, word, semi, other."""
    for match in _TOKEN.finditer(sql):
        yield match.lastgroup or "other", match


def split_statements(sql: str) -> tuple[Statement, ...]:
    """The statements as workerd prepares them one after the other; the first keeps its leading space, others lose it.

    What follows the last semicolon counts unless it is only space, so that `SELECT 1;;` and `SELECT 1; -- end` have a
    second, empty one.
    """
    found: list[Statement] = []
    start = 0
    words: list[str] = []
    recent = ["", ""]  # the two tokens before, to see the "; END ;" that ends a trigger
    for kind, match in tokens(sql):
        if kind in ("space", "comment"):
            start = match.end() if kind == "space" and match.start() == start and found else start
            continue
        token = match.group().upper()
        if kind == "semi" and words and not (_makes_trigger(words) and recent != [";", "END"]):
            found.append(Statement(sql[start : match.end()], words[0]))
            start, words, recent = match.end(), [], ["", ""]
            continue
        if kind != "semi" and len(words) < 6:
            words.append(token)
        recent = [recent[1], token]
    if start < len(sql):
        found.append(Statement(sql[start:], words[0] if words else ""))
    return tuple(found)


def quoted(name: str) -> str:
    """As an identifier."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _makes_trigger(words: list[str]) -> bool:
    """`[EXPLAIN [QUERY PLAN]] CREATE [TEMP|TEMPORARY] TRIGGER`, whose body has semicolons of its own."""
    if words[0] == "EXPLAIN":
        words = words[3:] if words[1:3] == ["QUERY", "PLAN"] else words[1:]
    if words[:1] != ["CREATE"]:
        return False
    return words[1:2] == ["TRIGGER"] or (words[1:2] in (["TEMP"], ["TEMPORARY"]) and words[2:3] == ["TRIGGER"])
