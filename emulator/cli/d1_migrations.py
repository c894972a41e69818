"""`flarebed d1 migrations`: what is said and asked; what migrations are is in bindings/d1/migrations.py."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from flarebed.bindings.d1.migrations import DRIZZLE_PATTERN, Migrations, normal
from flarebed.bindings.d1.spec import D1DatabaseSpec
from flarebed.bindings.ecma_date import date_to_iso
from flarebed.bindings.errors import UserError
from flarebed.emulator.cli.d1 import Opened
from flarebed.emulator.cli.dialogs import confirmed
from flarebed.emulator.cli.output import warn
from flarebed.emulator.cli.tables import show_table
from flarebed.emulator.config import Config

_NONE_LEFT = "✅ No migrations to apply!"


def create(spec: D1DatabaseSpec, config: Config, message: str, now_ms: float) -> None:
    migrations = Migrations.of(spec, config.root, config.path.name)
    number = f"{migrations.next_number():04}"
    if re.search(r"[\\/]", message):
        raise UserError(
            f"The migration name {json.dumps(message, ensure_ascii=False)} contains a path separator "
            '("/" or "\\"). Please remove this and try again.'
        )
    name = f"{number}_{message.replace(' ', '_')}.sql"
    if not migrations.matches(name):
        raise _not_matched(migrations, name, config.path.name)
    folder = _folder(migrations, spec, config, create=True)
    (folder / name).write_text(f"-- Migration number: {number} \t {date_to_iso(now_ms)}\n", "utf-8")
    print(f"✅ Successfully created Migration '{name}'!\n")
    print(f"The migration is available for editing here\n{folder / name}")


def list_pending(one: Opened) -> None:
    _, names = _pending(one)
    if not names:
        print(_NONE_LEFT)
        return
    print("Migrations to be applied:")
    show_table(["Name"], [[name] for name in names])


def apply(one: Opened) -> None:
    """Each file by itself: those before a failing one stay."""
    migrations, names = _pending(one)
    if not names:
        print(_NONE_LEFT)
        return
    print("Migrations to be applied:")
    show_table(["name"], [[name] for name in names])
    if not confirmed(
        f"About to apply {len(names)} migration(s)\n"
        "Your database may not be available to serve requests during the migration, continue?"
    ):
        return
    for number, name in enumerate(names, 1):
        one.say("Executing on")
        count = migrations.apply(one.database, name)
        print(f"🚣 {count} command{'' if count == 1 else 's'} executed successfully.")
        states = ["✅" if at <= number else "🕒️" for at in range(1, len(names) + 1)]
        show_table(["name", "status"], [list(row) for row in zip(names, states, strict=True)])


def _pending(one: Opened) -> tuple[Migrations, list[str]]:
    config = one.project.config
    migrations = Migrations.of(one.spec, config.root, config.path.name)
    _folder(migrations, one.spec, config, create=False)
    names = migrations.pending(one.database)
    if not migrations.found() and migrations.found(DRIZZLE_PATTERN):
        pattern, drizzle = (normal(f"{migrations.name}/{each}") for each in (migrations.pattern, DRIZZLE_PATTERN))
        warn(
            f"Could not find any migration files matching `{pattern}`. It looks like there are migration files "
            f"matching `{drizzle}` though. If you are using drizzle to manage your migrations, please set "
            f"`migrations_pattern` to `{drizzle}` in {config.path.name}."
        )
    return migrations, names


def _folder(migrations: Migrations, spec: D1DatabaseSpec, config: Config, *, create: bool) -> Path:
    folder = migrations.folder
    if folder.exists():
        os.listdir(folder)  # a file, or a folder that can't be read, has no migrations: that is an error
        return folder
    missing = "No migrations folder found."
    if not spec.has_migrations_dir:
        missing += f" Set `migrations_dir` in your {config.path.name} file to choose a different path."
    if create and confirmed(f"{missing}\nOk to create {folder}?"):
        folder.mkdir(parents=True)
        return folder
    warn(missing)
    raise UserError(f"No migrations present at {folder}.")


def _not_matched(migrations: Migrations, name: str, config: str) -> UserError:
    proposed = normal(f"{migrations.name}/{name}")
    pattern = normal(f"{migrations.name}/{migrations.pattern}")
    return UserError(
        f"Wrangler would like to make a new migration called `{proposed}` but it does not match the configured "
        f'`migrations_pattern: "{pattern}"` in your {config} file, so `wrangler d1 migrations apply` would not pick it '
        "up. `wrangler d1 migrations create` only writes top-level files inside `migrations_dir`.\n\n"
        "If you are using an ORM like drizzle to manage migrations, use the ORM's command (e.g. `drizzle-kit "
        "generate`) instead of `wrangler d1 migrations create` — it will create files in the nested layout your "
        "`migrations_pattern` expects.\n\n"
        f"Otherwise, change `migrations_pattern` in your {config} file to match top-level `.sql` files (for example, "
        f"`{normal(migrations.name + '/*.sql')}`)."
    )
