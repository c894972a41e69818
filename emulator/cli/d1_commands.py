"""The options of `flarebed d1`, named as wrangler names them; what the commands do is in `d1.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from flarebed.bindings.errors import UserError
from flarebed.emulator.cli.options import PATH, config_option, env_option, local_option, persist_option
from flarebed.emulator.cli.output import told


@click.group()
def d1() -> None:
    """The local D1 databases."""


@d1.group()
def migrations() -> None:
    """The migrations of a database."""


def on_a_database(command: Any) -> Any:
    """What all commands on a database take. Nothing here is remote, so `--local` changes nothing."""
    for parameter in (local_option, persist_option, env_option, config_option, click.argument("name")):
        command = parameter(command)
    return command


@d1.command("execute")
@on_a_database
@click.option("--command", help="SQL to run.")
@click.option("--file", type=PATH, metavar="FILE", help="A file of SQL to run.")
@click.option("--json", is_flag=True, help="Answer in JSON.")
def d1_execute(
    name: str,
    command: str | None,
    file: Path | None,
    json: bool,
    config: Path | None,
    env: str | None,
    persist_to: Path | None,
) -> None:
    """Run SQL on the database of this name or binding."""
    with told(as_json=json):
        from flarebed.emulator.cli.d1 import execute, opened

        if command is not None and file is not None:
            raise UserError("Error: can't provide both --command and --file.")
        if command is None and file is None:
            raise UserError(
                "Missing required option --command or --file. Provide a SQL command inline with "
                '--command="<SQL>", or a path to a SQL file with --file=<path>.'
            )
        sql = command if command is not None else _read(file)
        with opened(name, config, env, persist_to) as database:
            execute(database, name, sql, json)


@migrations.command("list")
@on_a_database
def migrations_list(name: str, config: Path | None, env: str | None, persist_to: Path | None) -> None:
    """Show which migrations have not been applied yet."""
    with told():
        from flarebed.emulator.cli.d1 import list_migrations, opened

        with opened(name, config, env, persist_to) as database:
            list_migrations(database)


@migrations.command("apply")
@on_a_database
def migrations_apply(name: str, config: Path | None, env: str | None, persist_to: Path | None) -> None:
    """Apply the migrations that have not been applied yet."""
    with told():
        from flarebed.emulator.cli.d1 import apply_migrations, opened

        with opened(name, config, env, persist_to) as database:
            apply_migrations(database)


def _read(file: Path | None) -> str:
    """The file's text; the refusals are wrangler's (packages/wrangler/src/d1/execute.ts)."""
    assert file is not None
    try:
        content = file.read_bytes()
    except OSError:
        raise UserError(f'Unable to read SQL text file "{file}". Please check the file path and try again.') from None
    if content.startswith(b"SQLite format 3"):
        raise UserError(
            "Provided file is a binary SQLite database file instead of an SQL text file. The execute command can only "
            "process SQL text files. Please export an SQL file from your SQLite database and try again."
        )
    return content.decode("utf-8", "replace")
