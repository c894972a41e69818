"""Text as SQLite has it: where a prefix ends in its order, and what becomes of text that is not well formed.

U+FFFD stands in for that, as in workerd, where apsw refuses it (`sql.py` asks). For what is not UTF-8 in a result the
query runs once more with each text as bytes, so it must be one that only reads.
"""

from __future__ import annotations

from typing import Any

Row = tuple[Any, ...]


def end_of(prefix: str) -> str | bytes:
    """The least value after all that begin with `prefix`: a string, or else a blob, which SQLite sorts after text."""
    for length in range(len(prefix), 0, -1):
        following = ord(prefix[length - 1]) + 1
        if following <= 0x10FFFF:
            return prefix[: length - 1] + chr(0xE000 if following == 0xD800 else following)
    return b""


def well_formed(value: Any) -> Any:
    """Lone surrogates become U+FFFD, as where JavaScript's strings turn into UTF-8."""
    if not isinstance(value, str):
        return value
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def with_bytes(sql: str, columns: int) -> str:
    """A query that gives two cells for each of `sql`: whether it is text, and the value, text as a BLOB."""
    names = [f"c{number}" for number in range(columns)]
    cells = (f"typeof({name}) = 'text', iif(typeof({name}) = 'text', CAST({name} AS BLOB), {name})" for name in names)
    return f"WITH q({', '.join(names)}) AS ({sql.rstrip().rstrip(';')}\n) SELECT {', '.join(cells)} FROM q"


def repaired(row: Row) -> Row:
    """A row of such a query as it was meant, invalid bytes as U+FFFD."""
    pairs = zip(row[::2], row[1::2], strict=True)
    return tuple(value.decode("utf-8", "replace") if is_text else value for is_text, value in pairs)
