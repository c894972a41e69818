"""Migrations as wrangler applies them: numbered SQL files, each with the note that it was applied in one batch.

Both wrangler's table and its file names are kept, so that either tool goes on where the other stopped.
Source: workers-sdk packages/wrangler/src/d1/migrations/helpers.ts.
"""

from __future__ import annotations

import fnmatch
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from flarebed.bindings.d1.database import Database
from flarebed.bindings.d1.spec import D1DatabaseSpec
from flarebed.bindings.d1.splitter import split_queries

DEFAULT_PATTERN: Final = "*.sql"
_LEADING_NUMBER: Final = re.compile(r"\s*([+-]?[0-9]+)")


def apply_pending(database: Database, spec: D1DatabaseSpec, root: Path) -> list[str]:
    """Apply what is pending and return the names; SqlError at the first that fails, the ones before it stay.

    `root` is the folder of the config.
    """
    folder = root / spec.migrations_dir
    names = pending(database, folder, spec.migrations_table, pattern_of(spec))
    for name in names:
        apply(database, name, (folder / name).read_text("utf-8"), spec.migrations_table)
    return names


def pattern_of(spec: D1DatabaseSpec) -> str:
    """`migrations_pattern` is written relative to the config's folder; this is relative to `migrations_dir`."""
    if spec.migrations_pattern is None:
        return DEFAULT_PATTERN
    pattern, folder = _normal(spec.migrations_pattern), _normal(spec.migrations_dir)
    return pattern.removeprefix(f"{folder}/")


def pending(database: Database, folder: Path, table: str, pattern: str = DEFAULT_PATTERN) -> list[str]:
    """The names of the files in `folder` that `table` does not have, in order. Makes the table if it is missing."""
    database.query_now([(_table_ddl(table), ())])
    [applied] = database.query_now([(f"SELECT name FROM {_quoted(table)} ORDER BY id", ())])
    done = {row[0] for row in applied.rows}
    return [name for name in found(folder, pattern) if name not in done]


def apply(database: Database, name: str, sql: str, table: str) -> None:
    """Run the file's text and note it, all or nothing; SqlError with SQLite's text."""
    literal = name.replace("'", "''")
    noted = f"{sql}\nINSERT INTO {_quoted(table)} (name)\nvalues ('{literal}');"
    database.query_now([(query, ()) for query in split_queries(noted)])


def found(folder: Path, pattern: str = DEFAULT_PATTERN) -> list[str]:
    """The migrations in `folder`, as paths with forward slashes, in the order in which they are applied."""
    files = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return sorted((name for name in files if _matches(name.split("/"), pattern.split("/"))), key=_order)


def next_number(folder: Path, pattern: str = DEFAULT_PATTERN) -> int:
    """One more than the highest number in use."""
    numbers = (_number(name.split("/")[0]) for name in found(folder, pattern))
    return 1 + max((int(number) for number in numbers if math.isfinite(number)), default=0)


def _matches(parts: Sequence[str], patterns: Sequence[str]) -> bool:
    """A glob over whole segments, where `**` is any number of them and a hidden name needs its dot in the pattern."""
    if not patterns or not parts:
        return not patterns and not parts
    if patterns[0] == "**":
        deeper = not parts[0].startswith(".") and _matches(parts[1:], patterns)
        return deeper or _matches(parts, patterns[1:])
    is_hidden = parts[0].startswith(".") and not patterns[0].startswith(".")
    return not is_hidden and fnmatch.fnmatchcase(parts[0], patterns[0]) and _matches(parts[1:], patterns[1:])


def _order(name: str) -> list[tuple[float, str]]:
    """By the number before the first `_` of each segment, those without one last, then by the text."""
    return [(_number(segment), segment) for segment in name.split("/")]


def _number(segment: str) -> float:
    match = _LEADING_NUMBER.match(segment.split("_")[0])
    return int(match[1]) if match else math.inf


def _normal(path: str) -> str:
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    return "/".join(parts)


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _table_ddl(table: str) -> str:
    return (
        f"CREATE TABLE IF NOT EXISTS {_quoted(table)}(\n"
        "\t\tid         INTEGER PRIMARY KEY AUTOINCREMENT,\n"
        "\t\tname       TEXT UNIQUE,\n"
        "\t\tapplied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL\n"
        ");"
    )
