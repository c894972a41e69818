"""What to do about a statement of a script that D1 refuses, where that is known. Pure.

D1 takes SQLite's SQL and not all of that, and people bring dumps of sqlite3, PostgreSQL and MySQL. Nothing of them is
rewritten: what a dialect means by a statement is for its owner to decide.
https://developers.cloudflare.com/d1/best-practices/import-export-data/#troubleshooting
"""

from __future__ import annotations

import re
from typing import Final

_POSTGRES: Final = "This is PostgreSQL's SQL, D1 takes SQLite's: "
_MYSQL: Final = "This is MySQL's SQL, D1 takes SQLite's: "

_UNREAD: Final = "syntax error|unrecognized token|did not contain a statement"

_HINTS: Final[tuple[tuple[str, str, str], ...]] = (
    # what the message says, what the statement says, the hint
    (_UNREAD, r"\A\\", "A command of psql: delete the line."),
    (_UNREAD, r"\ASET\s", "SQLite has no settings: delete the SET statements."),
    (_UNREAD, r"pg_catalog\.", _POSTGRES + "delete the statements about pg_catalog; SQLite counts ids by itself."),
    (_UNREAD, r"\ACOPY\s", _POSTGRES + "dump with `pg_dump --inserts`, which writes INSERTs instead of COPY."),
    (
        _UNREAD,
        r"\A(?:CREATE|ALTER|DROP)\s+(?:SEQUENCE|EXTENSION|TYPE|FUNCTION|SCHEMA|DOMAIN)\b|\A(?:COMMENT\s+ON|GRANT|REVOKE)\b",
        _POSTGRES + "delete this statement.",
    ),
    (
        _UNREAD,
        r"\AALTER\s+TABLE\s+ONLY\b|\bOWNER\s+TO\b",
        _POSTGRES + "move keys to CREATE TABLE, delete this.",
    ),
    (r"syntax error", r"\bnextval\(", _POSTGRES + "a column that counts is INTEGER PRIMARY KEY."),
    (r"unknown database|no such table", r"\bpublic\.", _POSTGRES + "write names without the schema `public.`."),
    (r"syntax error", r"\bE'", _POSTGRES + "E'...' is no string; write the characters themselves, or char(10)."),
    (r'unrecognized token: ":"', r"::", _POSTGRES + "a cast is CAST(value AS type), not value::type."),
    (
        _UNREAD,
        r"\A(?:UN)?LOCK\s+TABLES\b|\bENGINE\s*=|\bAUTO_INCREMENT\b|/\*!\d",
        _MYSQL + "convert the dump before.",
    ),
    (r"syntax error|unrecognized token", r"\\'", _MYSQL + "a quote in a string is doubled ('it''s'), not written \\'."),
    (
        r"function: unistr",
        "",
        "D1 has no unistr(), which sqlite3 3.50 and later writes for the ends of lines and the like. "
        "Dump with `sqlite3 --escape off FILE .dump`.",
    ),
    (r"state\.storage\.transaction", "", "The whole is one transaction anyway: delete BEGIN and COMMIT."),
    (
        r"statement too long",
        "",
        "A statement may have 100,000 bytes: split a long INSERT into several. Is a quote not closed?",
    ),
    (r"no such table: main\.", "", "A foreign key names a table that is not there yet: create it before."),
    (
        r"FOREIGN KEY constraint failed",
        "",
        "Foreign keys are always on. Begin with `PRAGMA defer_foreign_keys = ON;`, or put parents before children.",
    ),
    (
        r"not authorized",
        r"\APRAGMA\s+writable_schema|\AINSERT\s+INTO\s+sqlite_(?:master|schema)\b",
        "So sqlite3 dumps virtual tables: delete this, and write their CREATE VIRTUAL TABLE and INSERT statements.",
    ),
    (r"not authorized", r"\b_cf_\w", "Tables whose names begin with _cf_ are Cloudflare's own: delete the statement."),
    (r"not authorized", r"\APRAGMA\s", "D1 does not allow this pragma: delete the statement."),
    (r"database is locked", "", "Another process writes to it for long. Try again when it is done."),
    (r"unrecognized token: \"['\"`\[]", "", "A quote is not closed."),
)
_COMPILED: Final = tuple((re.compile(said), re.compile(written, re.IGNORECASE), hint) for said, written, hint in _HINTS)


def hint_for(message: str, statement: str) -> str:
    """`statement` begins with its first word; "" where nothing is known."""
    for said, written, hint in _COMPILED:
        if said.search(message) and written.search(statement):
            return hint
    return ""
