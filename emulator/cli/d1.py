"""`flarebed d1`: the local databases, beside a running `flarebed dev` or without one.

Options and texts are those of wrangler 4.164 (packages/wrangler/src/d1). There is nothing remote here, so nothing is
said of that. Migrations and export are in files of their own.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Final, cast

from flarebed.bindings.clock import Clock
from flarebed.bindings.d1 import engine, script
from flarebed.bindings.d1.database import Database
from flarebed.bindings.d1.errors import internal_error
from flarebed.bindings.d1.hints import hint_for
from flarebed.bindings.d1.parameters import to_objects
from flarebed.bindings.d1.script import ScriptError
from flarebed.bindings.d1.spec import D1DatabaseSpec
from flarebed.bindings.d1.splitter import split
from flarebed.bindings.ecma import json_stringify, to_string
from flarebed.bindings.errors import UserError
from flarebed.bindings.sql import Columns, CommitError, Row, SqlError
from flarebed.emulator.cli.opening import OpenedProject, opened_project
from flarebed.emulator.cli.sql_file import pieces
from flarebed.emulator.cli.tables import show_table, table_text
from flarebed.emulator.config import Config

_IN_MEMORY_BYTES: Final = 1_000_000
_REMOTE: Final = "flarebed is local: it doesn't reach Cloudflare's databases."
_TABLES: Final = (
    "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'sqlite_*' AND name NOT GLOB '_cf_*'"
)


@dataclass(frozen=True)
class Opened:
    """A database; `name` is what the user calls it."""

    name: str
    spec: D1DatabaseSpec
    database: Database
    project: OpenedProject

    def say(self, doing: str) -> None:
        folder = os.path.relpath(self.project.state / "v3" / "d1")
        readable = folder if folder.startswith(".") else f"./{folder}"
        print(f"🌀 {doing} local database {self.name} ({self.spec.local_id}) from {readable}:")


@contextmanager
def opened(name: str, **project: Any) -> Iterator[Opened]:
    """The database that the config calls `name`, by name, binding or id."""
    with opened_project(**project) as it, _told_as_the_users():
        spec = found(name, it.config)
        yield Opened(name, spec, engine.database(spec, it.around), it)


@contextmanager
def _told_as_the_users() -> Iterator[None]:
    """What SQLite says."""
    try:
        yield
    except CommitError as error:
        raise UserError(internal_error().message, hint=f"What the statements left: {error.message}") from None
    except ScriptError as error:
        raise UserError(error.message, place=error.place, hint=error.hint) from None
    except SqlError as error:
        raise UserError(error.message, hint=hint_for(error.message, "")) from None


def found(name: str, config: Config) -> D1DatabaseSpec:
    for spec in specs(config):
        if name in (spec.binding, spec.database_name, spec.database_id):
            return spec
    bindings = ", ".join(spec.binding for spec in specs(config))
    raise UserError(
        f"Couldn't find a D1 DB with the name or binding '{name}' in your {config.path.name} file.",
        hint=f"It has: {bindings}" if bindings else "It has no d1_databases.",
    )


def specs(config: Config) -> Sequence[D1DatabaseSpec]:
    return cast("Sequence[D1DatabaseSpec]", config.specs.get("d1", ()))


def remote_only(command: str, hint: str) -> UserError:
    return UserError(_REMOTE, hint=f"`wrangler d1 {command}` does. {hint}".rstrip())


def check_place(local: bool, remote: bool, preview: bool = False) -> None:
    """Wrangler's rules for --local, --remote and --preview."""
    if local and remote:
        raise UserError("Error: can't use --local and --remote at the same time")
    if preview and not remote:
        raise UserError(
            "Cannot use --preview without --remote. The --preview flag targets a preview D1 database, which requires "
            "the --remote flag. Remove --preview or add --remote."
        )
    if remote:
        raise UserError(_REMOTE, hint="Leave --remote out, or use wrangler.")


def execute_command(one: Opened, sql: str, as_json: bool) -> None:
    if not as_json:
        one.say("Executing on")
    with _answers(one.project.around.clock, as_json) as answers:
        answers.count = script.run(one.database, list(split([sql])), answers.take)


def execute_file(one: Opened, file: Path, as_json: bool) -> None:
    with _answers(one.project.around.clock, as_json) as answers, pieces(file) as text:
        if not as_json:
            one.say("Executing on")
        answers.count = script.run(one.database, split(text), answers.take, source=str(file))


class _Answers:
    """What the statements gave, written to `kept` until it is certain that all of them went well."""

    def __init__(self, kept: IO[str], clock: Clock, as_tables: bool) -> None:
        self.count = 0
        self._kept = kept
        self._clock = clock
        self._before_ms = clock.now_ms()
        self._as_tables = as_tables
        self._between = "[\n"
        self._empty: dict[int, str] = {}

    def take(self, columns: Columns, rows: list[Row]) -> None:
        if self._as_tables:
            if rows:
                self._kept.write(table_text(*_cells(to_objects(columns, rows))))
            return
        now_ms = self._clock.now_ms()
        duration_ms, self._before_ms = int(now_ms - self._before_ms), now_ms
        self._kept.write(self._between + self._entry(columns, rows, duration_ms))
        self._between = ",\n"

    def end(self) -> None:
        if not self._as_tables:
            self._kept.write("\n]\n")

    def _entry(self, columns: Columns, rows: list[Row], duration_ms: int) -> str:
        """Of a large file nearly all give no rows, and so one of few texts."""
        if not rows and duration_ms in self._empty:
            return self._empty[duration_ms]
        objects = [{key: _plain(value) for key, value in row.items()} for row in to_objects(columns, rows)]
        entry = {"results": objects, "success": True, "meta": {"duration": duration_ms}}
        text = str(json_stringify([entry], 2))[2:-2]
        if not rows:
            self._empty[duration_ms] = text
        return text


@contextmanager
def _answers(clock: Clock, as_json: bool) -> Iterator[_Answers]:
    with SpooledTemporaryFile(_IN_MEMORY_BYTES, "w+", encoding="utf-8", newline="") as kept:
        answers = _Answers(kept, clock, as_tables=sys.stdout.isatty() and not as_json)
        yield answers
        answers.end()
        if not as_json:
            print(f"🚣 {answers.count} command{'' if answers.count == 1 else 's'} executed successfully.")
        kept.seek(0)
        shutil.copyfileobj(kept, sys.stdout)


def _plain(value: Any) -> Any:
    """A blob is shown as the text of its numbers."""
    return f"[{', '.join(map(str, value))}]" if isinstance(value, list) else value


def _cells(rows: Sequence[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    return list(rows[0]), [[to_string(_plain(value)) for value in row.values()] for row in rows]


def list_all(as_json: bool, **project: Any) -> None:
    with opened_project(**project) as it, _told_as_the_users():
        databases = [_described(spec, it) for spec in specs(it.config)]
    if as_json:
        print(json.dumps(databases, indent=2, ensure_ascii=False))
        return
    for one in databases:
        del one["file"]  # too long for a column
    if databases:
        show_table(list(databases[0]), [[str(value) for value in one.values()] for one in databases])
    else:
        print("There are no d1_databases in the config.")


def info(name: str, as_json: bool, **project: Any) -> None:
    with opened_project(**project) as it, _told_as_the_users():
        spec = found(name, it.config)
        described = _described(spec, it)
    described["database_size"] = described.pop("file_size")
    del described["version"]
    if as_json:
        print(json.dumps(described, indent=2, ensure_ascii=False))
        return
    heading = [described.pop("binding"), described.pop("uuid")]
    described["database_size"] = _pretty_bytes(described["database_size"])
    show_table(heading, [[key, str(value)] for key, value in described.items()])


def _described(spec: D1DatabaseSpec, project: OpenedProject) -> dict[str, Any]:
    """As Cloudflare's API describes a database; a file that is not there yet is not made."""
    path = engine.path(project.state, spec)
    tables = size_bytes = 0
    if path.exists():
        with engine.database(spec, project.around).connected() as connection:
            tables, size_bytes = connection.control(_TABLES)[0][0], connection.size_bytes()
    return {
        "uuid": spec.local_id,
        "name": spec.database_name or spec.binding,
        "binding": spec.binding,
        "version": "production",
        "num_tables": tables,
        "file_size": size_bytes,
        "file": os.path.relpath(path),
    }


def _pretty_bytes(size_bytes: float) -> str:
    """In steps of 1,000 and three digits, as wrangler shows sizes."""
    for unit in ("B", "kB", "MB", "GB"):
        if size_bytes < 1000 or unit == "GB":
            break
        size_bytes /= 1000
    return f"{size_bytes:.3g} {unit}"
