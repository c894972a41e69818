"""SQL text into the statements that `wrangler d1 execute` and migrations send, one by one. Pure.

It reads chunk by chunk, so that a large file is never in memory. A statement ends where SQLite's own rule says
(https://sqlite.org/c3ref/complete.html), as in wrangler 4.164 (packages/workers-utils/src/d1-splitter.ts), and one pair
of BEGIN TRANSACTION and COMMIT is dropped, as sqlite3's `.dump` writes it (d1-trimmer.ts): D1 makes its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from flarebed.bindings.errors import UserError
from flarebed.bindings.sql_policy import MAX_SQL_BYTES

SEVERAL_TRANSACTIONS: Final = (
    "Wrangler could not process the provided SQL file, as it contains several transactions.\n"
    "D1 runs your SQL in a transaction for you.\n"
    "Please export an SQL file from your SQLite database and try again."
)

_BEGIN: Final = "BEGIN TRANSACTION"
_COMMIT: Final = "COMMIT"
_SPACES: Final = re.compile(r"[ \t\n\f\r]*+")
_REST: Final = r"(?: [ \t\n\f\r] | --[^\n]*+(?:\n|\Z) | /\*(?s:.*?)(?:\*/|\Z) )"  # space and comments
_LEAD: Final = re.compile(_REST + "*+", re.VERBOSE)
_TO_SEMICOLON: Final = re.compile(
    r"""(?: [^;'"`\[/\-]++ | '[^']*+' | "[^"]*+" | `[^`]*+` | \[[^\]]*+\]
          | --[^\n]*+\n | /\*(?s:.*?)\*/ | /(?!\*) | -(?!-) )*+ ;""",
    re.VERBOSE,
)
"""In a cut text it finds no semicolon that a quote or a comment might hold."""
_TRIGGER: Final = re.compile(
    rf"""{_REST}*+ (?:EXPLAIN\b {_REST}++ (?:QUERY\b {_REST}++ PLAN\b {_REST}++)?)?
         CREATE\b {_REST}++ (?:TEMP(?:ORARY)?\b {_REST}++)? TRIGGER\b""",
    re.VERBOSE | re.IGNORECASE,
)
_END: Final = re.compile(rf"{_REST}*+ END {_REST}*+ ;", re.VERBOSE | re.IGNORECASE)


class Statement(NamedTuple):
    """`text` has no semicolon at its end; comments before it belong to it. `line` is its first word's, from 1."""

    text: str
    line: int


def split_queries(sql: str) -> list[str]:
    """The texts of the statements; UserError where there is more than one transaction."""
    return [statement.text for statement in split([sql])]


def split(chunks: Iterable[str]) -> Iterator[Statement]:
    """The statements of a text that comes in chunks. One statement alone is left as it is, as wrangler leaves it.

    Of a statement longer than D1 takes comes only as much as tells that. UserError at a second BEGIN TRANSACTION.
    """
    texts = iter(chunks)
    first, second = next(texts, ""), next(texts, "")
    if not second and _is_one(first):
        yield Statement(first, 1 + first.count("\n", 0, lead(first)))
        return
    yield from _without_transaction(_split(first + second, texts))


def lead(text: str) -> int:
    """How many characters of space and comments stand before the first word."""
    found = _LEAD.match(text)
    return found.end() if found else 0


def _is_one(sql: str) -> bool:
    return ";" not in sql.rstrip()[:-1] and _BEGIN not in sql


def _split(buffer: str, more: Iterator[str]) -> Iterator[Statement]:
    at, line = 0, 1
    while True:
        spaces = _SPACES.match(buffer, at)
        start = spaces.end() if spaces else at
        line, at = line + buffer.count("\n", at, start), start
        end = _end(buffer, at)
        if end is not None:
            text, next_line = buffer[at : end - 1], line + buffer.count("\n", at, end)
        elif len(buffer) - at <= MAX_SQL_BYTES and (chunk := next(more, "")):
            buffer, at = buffer[at:] + chunk, 0
            continue
        else:
            text, next_line, end = buffer[at:], line, None
        before = 0 if text[:1].isalpha() else lead(text)
        if before < len(text):
            yield Statement(text.rstrip(), line + text.count("\n", 0, before))
        if end is None and text[before:].rstrip() == _BEGIN:
            raise UserError(SEVERAL_TRANSACTIONS)
        if end is None:
            return
        at, line = end, next_line


def _end(buffer: str, start: int) -> int | None:
    """Where the statement at `start` ends, past its semicolon; None if that is not in the buffer."""
    found = _TO_SEMICOLON.match(buffer, start)
    if found is None or not _TRIGGER.match(buffer, start, found.end()):
        return found and found.end()
    while (after := _TO_SEMICOLON.match(buffer, found.end())) and not _END.fullmatch(buffer, *after.span()):
        found = after
    return after and after.end()


def _without_transaction(statements: Iterable[Statement]) -> Iterator[Statement]:
    begun = committed = False
    for statement in statements:
        if not statement.text.endswith((_BEGIN, _COMMIT)):
            yield statement
            continue
        bare = statement.text[lead(statement.text) :]
        if bare == _BEGIN:
            if begun:
                raise UserError(SEVERAL_TRANSACTIONS)
            begun = True
        elif bare == _COMMIT and begun and not committed:
            committed = True
        else:
            yield statement
