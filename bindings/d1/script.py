"""A script of SQL on a database: its statements one after the other in one transaction, none of them kept.

For `flarebed d1 execute` and migrations, which have nothing else to do meanwhile. As long as a script that writes runs,
others can read what was there before it; who wants to write waits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from flarebed.bindings.d1.database import Database, is_comment
from flarebed.bindings.d1.errors import NO_STATEMENTS
from flarebed.bindings.d1.hints import hint_for
from flarebed.bindings.d1.splitter import Statement, lead
from flarebed.bindings.sql import Columns, Row, SqlError

Take = Callable[[Columns, list[Row]], object]
"""Columns and rows that a statement gave; no columns where there are no rows."""

_WORD: Final = re.compile(r"\w+")
_SHOWN: Final = 60
"""Characters of a statement that did not work."""


class ScriptError(SqlError):
    """A statement failed, and so nothing of the script was done. `place` is where it stands, if it is in a file."""

    def __init__(self, error: SqlError, statement: Statement, source: str) -> None:
        super().__init__(error.message, is_foreign_key=error.is_foreign_key)
        words = statement.text[lead(statement.text) :].rstrip("; \t\r\n")
        beginning = " ".join(words[:_SHOWN].split()) + ("..." if len(words) > _SHOWN else "")
        self.place = f"{source}:{statement.line}: {beginning}" if source else ""
        self.hint = hint_for(error.message, words)


def run(
    database: Database, statements: Iterable[Statement], take: Take = lambda columns, rows: None, *, source: str = ""
) -> int:
    """How many there were; `take` gets what each gave. ScriptError as soon as one fails, and then nothing is done.

    Statements that come as a list are looked at before: if they only read, no lock is needed. `source` is their file.
    """
    count = 0
    with database.connected() as connection:
        only_reads = isinstance(statements, list) and all(connection.plan(one.text).is_reading for one in statements)
        with connection.transaction(writes=not only_reads):
            for statement in statements:
                if is_comment(statement.text):
                    continue
                try:
                    answer = connection.run_once(statement.text, _verb(statement))
                except SqlError as error:
                    raise ScriptError(error, statement, source) from None
                take(*answer)
                count += 1
            if not count:
                raise SqlError(NO_STATEMENTS)
    return count


def _verb(statement: Statement) -> str:
    found = _WORD.search(statement.text, lead(statement.text))
    return found[0].upper() if found else ""
