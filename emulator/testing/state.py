"""A test's state: migrations, rows to begin with, and copies of the whole folder to come back to."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from flarebed.bindings.d1.database import Database
from flarebed.bindings.d1.engine import D1Resources
from flarebed.bindings.d1.migrations import apply_pending
from flarebed.bindings.d1.spec import D1DatabaseSpec
from flarebed.bindings.d1.splitter import split_queries
from flarebed.bindings.errors import UserError
from flarebed.bindings.sql import SqlError
from flarebed.emulator.app import App
from flarebed.emulator.state.capture import copy_database

_QUEUE_BATCH = 100


@dataclass(frozen=True)
class Snapshot:
    """The state folder as it was, and the time."""

    folder: Path
    now_ms: float


def apply_migrations(app: App, binding: str | None) -> list[str]:
    """As `flarebed d1 migrations apply`: what is pending, of one database or of all; returns the files' names."""
    specs = cast("Sequence[D1DatabaseSpec]", app.config.specs.get("d1", ()))
    chosen = [spec for spec in specs if binding in (None, spec.binding, spec.database_name)]
    if binding is not None and not chosen:
        raise UserError(f'There is no D1 database "{binding}" in {app.config.path.name}.')
    applied: list[str] = []
    for spec in chosen:
        if binding is None and not (app.config.root / spec.migrations_dir).is_dir():
            continue
        try:
            applied += apply_pending(_databases(app)[spec.binding], spec, app.config.root)
        except SqlError as error:
            raise UserError(error.message, place=spec.migrations_dir) from None
    return applied


async def seed(app: App, env: Any, binding: str, source: Any) -> None:
    """Fill a database with SQL, a namespace with values by key, a queue with messages; a path names a file of that."""
    known = {name for kind in app.resources.values() for name in kind.bindings()}
    if binding not in known:
        raise UserError(f'There is no binding "{binding}".', hint=f"The config has {', '.join(sorted(known))}.")
    path = app.config.root / source if isinstance(source, Path) or _is_file_name(source) else None
    if binding in _databases(app):
        _run_sql(_databases(app)[binding], path.read_text("utf-8") if path else source, path)
        return
    data = json.loads(path.read_text("utf-8")) if path else source
    target = getattr(env, binding)
    if not isinstance(data, Mapping | Sequence) or isinstance(data, str | bytes):
        raise UserError(
            f'"{binding}" can\'t be filled with {data!r}.', hint="Give values by key, or messages in a list."
        )
    if hasattr(target, "sendBatch"):
        for start in range(0, len(data), _QUEUE_BATCH):
            await target.sendBatch([{"body": body} for body in data[start : start + _QUEUE_BATCH]])
        return
    for key, value, options in _entries(data):
        await target.put(key, value if isinstance(value, str | bytes) else json.dumps(value), **options)


def _is_file_name(source: Any) -> bool:
    return isinstance(source, str) and source.endswith((".sql", ".json")) and "\n" not in source


def _run_sql(database: Database, sql: str, path: Path | None) -> None:
    try:
        database.query_now([(query, ()) for query in split_queries(sql)])
    except SqlError as error:
        raise UserError(error.message, place=path.name if path else "") from None


def _entries(data: Any) -> list[tuple[str, Any, dict[str, Any]]]:
    """`{key: value}`, or the list that `wrangler kv bulk put` takes."""
    if isinstance(data, Mapping):
        return [(key, value, {}) for key, value in data.items()]
    options = {"metadata": "metadata", "expiration": "expiration", "expiration_ttl": "expirationTtl"}
    return [
        (row["key"], row["value"], {ours: row[theirs] for theirs, ours in options.items() if theirs in row})
        for row in data
    ]


def _databases(app: App) -> Mapping[str, Database]:
    return cast("D1Resources", app.resources["d1"]).databases if "d1" in app.resources else {}


def copy_databases(source: Path, target: Path) -> None:
    """Each SQLite file below `source`."""
    for file in sorted(source.rglob("*.sqlite")):
        copy_database(file, target / file.relative_to(source))


def put_back(snapshot: Snapshot, state: Path) -> None:
    shutil.rmtree(state, ignore_errors=True)
    shutil.copytree(snapshot.folder, state)
