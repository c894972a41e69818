"""Migrations as wrangler applies them: numbered SQL files, each with the note that it was applied in one transaction.

Both wrangler's table and its file names are kept, so that either tool goes on where the other stopped.
Source: workers-sdk packages/wrangler/src/d1/migrations/helpers.ts.
"""

from __future__ import annotations

import fnmatch
import math
import os
import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from flarebed.bindings.d1 import script
from flarebed.bindings.d1.database import Database
from flarebed.bindings.d1.spec import D1DatabaseSpec
from flarebed.bindings.d1.splitter import split
from flarebed.bindings.errors import UserError
from flarebed.bindings.sql_statements import quoted

DRIZZLE_PATTERN: Final = "*/migration.sql"
_BRACES: Final = re.compile(r"\{([^{}]*,[^{}]*)\}")
_LEADING_NUMBER: Final = re.compile(r"\s*([+-]?[0-9]+)")
_NO_FOLDER_SET: Final = (
    '`migrations_pattern: "{pattern}"` in your {config} file but have not set `migrations_dir` for this D1 binding.\n\n'
    "When `migrations_pattern` is set, `migrations_dir` must also be set, and `migrations_pattern` must start with "
    "`${{migrations_dir}}/`. Add a `migrations_dir` entry to your {config} file (for example, "
    '`"migrations_dir": "migrations"`).'
)
_OTHER_FOLDER: Final = (
    'The configured `migrations_pattern: "{pattern}"` in your {config} file must start with `{folder}/` to match '
    '`"migrations_dir": "{folder}"`.\n\nEither change `migrations_pattern` so it starts with `{folder}/` (for example, '
    '`"{folder}/*.sql"`), or change `migrations_dir` to match the start of your pattern.'
)


@dataclass(frozen=True)
class Migrations:
    """Where a database's migrations are. `name` is the folder as the config has it, `pattern` is relative to it."""

    folder: Path
    name: str
    pattern: str
    table: str

    @classmethod
    def of(cls, spec: D1DatabaseSpec, root: Path, config: str = "Wrangler configuration") -> Migrations:
        """`root` is the folder of the config, whose file's name is `config`.

        UserError if `migrations_pattern` and `migrations_dir` don't go together.
        """
        name = normal(spec.migrations_dir)
        words = {"pattern": spec.migrations_pattern, "config": config, "folder": name}
        if spec.migrations_pattern is None:
            pattern = "*.sql"
        elif not spec.has_migrations_dir:
            raise UserError("You have set " + _NO_FOLDER_SET.format(**words))
        else:
            whole = normal(spec.migrations_pattern)
            pattern = whole if name == "." else whole.removeprefix(f"{name}/")
            if pattern == whole and name != ".":
                raise UserError(_OTHER_FOLDER.format(**words))
        return cls(root / name, name, pattern, spec.migrations_table)

    def found(self, pattern: str | None = None) -> list[str]:
        """Names of the files, as paths with forward slashes, in the order in which they are applied."""
        patterns = [one.split("/") for one in _alternatives(pattern or self.pattern)]
        deepest = None if any("**" in one for one in patterns) else max(map(len, patterns))
        return sorted((name for name in _files(self.folder, deepest) if _matches_any(name, patterns)), key=_order)

    def pending(self, database: Database) -> list[str]:
        """The names of the files that the table does not have, in order. Makes the table if it is missing."""
        database.query_now([(_table_ddl(self.table), ())])
        [applied] = database.query_now([(f"SELECT name FROM {quoted(self.table)} ORDER BY id", ())])
        done = {row[0] for row in applied.rows}
        return [name for name in self.found() if name not in done]

    def apply(self, database: Database, name: str) -> int:
        """Run the file and note it, all or nothing, and say how many statements that was. ScriptError."""
        literal = name.replace("'", "''")
        text = (self.folder / name).read_text("utf-8-sig", "replace")
        noted = f"{text}\nINSERT INTO {quoted(self.table)} (name)\nvalues ('{literal}');"
        database.warn_of([text])
        return script.run(database, split([noted]), source=f"{self.name}/{name}")

    def next_number(self) -> int:
        """One more than the highest number in use."""
        numbers = (_number(name.split("/")[0]) for name in self.found())
        return 1 + max((int(number) for number in numbers if math.isfinite(number)), default=0)

    def matches(self, name: str) -> bool:
        return _matches_any(name, [one.split("/") for one in _alternatives(self.pattern)])


def apply_pending(database: Database, spec: D1DatabaseSpec, root: Path) -> list[str]:
    """Apply what is pending and return the names; ScriptError at the first that fails, the ones before it stay."""
    migrations = Migrations.of(spec, root)
    names = migrations.pending(database)
    for name in names:
        migrations.apply(database, name)
    return names


def normal(path: str) -> str:
    """With forward slashes, without `./` at its beginning and `/` at its end."""
    return posixpath.normpath(path.replace("\\", "/"))


def _files(folder: Path, deepest: int | None) -> Iterator[str]:
    """Relative to the folder, with forward slashes; of at most `deepest` segments."""
    for where, folders, names in os.walk(folder):
        above = Path(where).relative_to(folder)
        if deepest is not None and len(above.parts) + 1 >= deepest:
            folders.clear()
        yield from ((above / name).as_posix() for name in names)


def _alternatives(pattern: str) -> list[str]:
    """The patterns that one with `{a,b}` stands for, in fnmatch's words."""
    braces = _BRACES.search(pattern)
    if braces is None:
        return [pattern.replace("[^", "[!")]
    return [
        whole
        for choice in braces[1].split(",")
        for whole in _alternatives(pattern[: braces.start()] + choice + pattern[braces.end() :])
    ]


def _matches_any(name: str, patterns: Sequence[Sequence[str]]) -> bool:
    return any(_matches(name.split("/"), pattern) for pattern in patterns)


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


def _table_ddl(table: str) -> str:
    return (
        f"CREATE TABLE IF NOT EXISTS {quoted(table)}(\n"
        "\t\tid         INTEGER PRIMARY KEY AUTOINCREMENT,\n"
        "\t\tname       TEXT UNIQUE,\n"
        "\t\tapplied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL\n"
        ");"
    )
