"""`flarebed d1`: SQL and migrations on the local databases, beside a running `flarebed dev` or without one.

Options and texts are those of wrangler 4.164 (packages/wrangler/src/d1). There is nothing remote here, so nothing is
said of that, and nothing is asked before it is done.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from flarebed.bindings.clock import RealClock
from flarebed.bindings.d1 import engine, migrations
from flarebed.bindings.d1.database import Database, Result
from flarebed.bindings.d1.spec import D1DatabaseSpec
from flarebed.bindings.d1.splitter import split_queries
from flarebed.bindings.dispatch import Dispatch
from flarebed.bindings.errors import UserError
from flarebed.bindings.kind import Surroundings
from flarebed.bindings.sql import SqlError
from flarebed.bindings.store import Store
from flarebed.emulator.cli.tables import show_table
from flarebed.emulator.config import Config, load
from flarebed.emulator.server.log import line


@dataclass(frozen=True)
class Opened:
    spec: D1DatabaseSpec
    database: Database
    config: Config
    state: Path

    @property
    def migrations_folder(self) -> Path:
        return self.config.root / self.spec.migrations_dir

    def pending(self) -> list[str]:
        if not self.migrations_folder.is_dir():
            raise UserError(f"No migrations present at {self.migrations_folder}.")
        pattern = migrations.pattern_of(self.spec)
        return migrations.pending(self.database, self.migrations_folder, self.spec.migrations_table, pattern)


@contextmanager
def opened(name: str, config_file: Path | None, env: str | None, persist_to: Path | None) -> Iterator[Opened]:
    """The database that the config calls `name`, by name, binding or id; SQLite's complaints become the user's."""
    config = load(config_file, cwd=Path.cwd(), env=env, environ=os.environ)
    spec = _find(cast("Sequence[D1DatabaseSpec]", config.specs.get("d1", ())), name, config)
    state = persist_to.absolute() if persist_to else config.root / ".wrangler" / "state"
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        store = Store(state, loop)
        no_worker = cast("Dispatch", None)  # a command runs no Worker's code
        around = Surroundings(RealClock(loop), store, no_worker, config.name, config.flags, _say)
        try:
            yield Opened(spec, engine.database(spec, around), config, state)
        except SqlError as error:
            raise UserError(error.message) from None
        finally:
            store.close()


def execute(one: Opened, name: str, sql: str, as_json: bool) -> None:
    """Run the statements as one batch and show what they gave. `name` is what the user calls the database."""
    queries = [(query, ()) for query in split_queries(sql)]
    if not as_json:
        folder = os.path.relpath(one.state / "v3" / "d1")
        print(f"🌀 Executing on local database {name} ({one.spec.local_id}) from {folder}:")
    results = one.database.query_now(queries)
    if not as_json:
        print(f"🚣 {len(results)} command{'' if len(results) == 1 else 's'} executed successfully.")
    if as_json or not sys.stdout.isatty():
        print(json.dumps([_as_json(result) for result in results], indent=2, ensure_ascii=False))
        return
    for result in results:
        if result.rows:
            show_table(list(result.columns), [[_shown(value) for value in row] for row in result.rows])


def list_migrations(one: Opened) -> None:
    names = one.pending()
    if not names:
        print("✅ No migrations to apply!")
        return
    print("Migrations to be applied:")
    show_table(["Name"], [[name] for name in names])


def apply_migrations(one: Opened) -> None:
    """Each file by itself: those before a failing one stay."""
    names = one.pending()
    if not names:
        print("✅ No migrations to apply!")
        return
    print("Migrations to be applied:")
    show_table(["name"], [[name] for name in names])
    for number, name in enumerate(names, 1):
        sql = (one.migrations_folder / name).read_text("utf-8")
        migrations.apply(one.database, name, sql, one.spec.migrations_table)
        states = ["✅" if at <= number else "🕒️" for at in range(1, len(names) + 1)]
        show_table(["name", "status"], [list(row) for row in zip(names, states, strict=True)])


def _find(specs: Sequence[D1DatabaseSpec], name: str, config: Config) -> D1DatabaseSpec:
    for spec in specs:
        if name in (spec.binding, spec.database_name, spec.database_id):
            return spec
    raise UserError(
        f"Couldn't find a D1 DB with the name or binding '{name}' in your {config.path.name} file.",
        hint="It has: " + ", ".join(spec.binding for spec in specs) if specs else "It has no d1_databases.",
    )


def _as_json(result: Result) -> dict[str, Any]:
    rows = [dict(zip(result.columns, map(_plain, row), strict=True)) for row in result.rows]
    return {"results": rows, "success": True, "meta": {"duration": result.meta["duration"]}}


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return f"[{', '.join(map(str, value))}]"
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _shown(value: Any) -> str:
    return "null" if value is None else str(_plain(value))


def _say(level: str, text: str) -> None:
    sys.stderr.write(line(level, text))
