"""The options of `flarebed d1`, named as wrangler names them; what the commands do is in `d1.py` and its neighbours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from flarebed.bindings.errors import UserError
from flarebed.emulator.cli.options import (
    PATH,
    Command,
    config_option,
    env_option,
    json_option,
    of_the_project,
    persist_option,
)
from flarebed.emulator.cli.output import told


@click.group()
def d1() -> None:
    """The local D1 databases."""


@d1.group()
def migrations() -> None:
    """The migrations of a database."""


def on_a_database(command: Command) -> Command:
    """What finds a database, and how wrangler says which of several: here only `--local` can be meant."""
    for parameter in (
        click.option("--local", is_flag=True, help="What is meant anyway."),
        click.option("--remote", is_flag=True, help="Refused: nothing here is remote."),
        persist_option, env_option, config_option,
        click.argument("name"),
    ):  # fmt: skip
        command = parameter(command)
    return command


preview_option = click.option("--preview", is_flag=True, hidden=True)


@d1.command("execute")
@on_a_database
@preview_option
@click.option("--command", help="SQL to run.")
@click.option("--file", type=PATH, metavar="FILE", help="A file of SQL to run.")
@click.option("--yes", "-y", is_flag=True, expose_value=False, help="Nothing is asked anyway.")
@json_option
def d1_execute(
    name: str, command: str | None, file: Path | None, as_json: bool,
    local: bool, remote: bool, preview: bool, **project: Any,
) -> None:  # fmt: skip
    """Run SQL on the database of this name or binding, all of it or nothing."""
    with told(as_json=as_json):
        from flarebed.emulator.cli.d1 import check_place, execute_command, execute_file, opened

        if command and file:
            raise UserError("Error: can't provide both --command and --file.")
        if not command and not file:
            raise UserError(
                "Missing required option --command or --file. Provide a SQL command inline with "
                '--command="<SQL>", or a path to a SQL file with --file=<path>.'
            )
        check_place(local, remote, preview)
        with opened(name, **project) as database:
            if file:
                execute_file(database, file, as_json)
            else:
                execute_command(database, command or "", as_json)


@d1.command("export")
@on_a_database
@click.option("--output", type=PATH, required=True, metavar="FILE", help="The file of SQL to write.")
@click.option("--table", multiple=True, metavar="TABLE", help="Only this table; repeatable.")
@click.option("--no-schema", "schema", flag_value=False, default=True, type=bool, help="Only what is in the tables.")
@click.option("--no-data", "data", flag_value=False, default=True, type=bool, help="Only the schema.")
@click.option("--compatibility", type=click.Choice(["d1", "sqlite3_cli_only"]), help="The format; here always d1.")
@click.option("--skip-confirmation", "-y", is_flag=True, expose_value=False, help="Nothing is asked anyway.")
def d1_export(
    name: str, output: Path, table: tuple[str, ...], schema: bool, data: bool, compatibility: str | None,
    local: bool, remote: bool, **project: Any,
) -> None:  # fmt: skip
    """Write a database as a file of SQL, which `execute --file` takes."""
    with told():
        from flarebed.emulator.cli.d1 import check_place, opened
        from flarebed.emulator.cli.d1_export import check, export_database

        check_place(local, remote)
        check(output, schema, data, compatibility)
        with opened(name, **project) as database:
            export_database(database, output, table, schema, data)


@d1.command("list")
@of_the_project
@json_option
def d1_list(as_json: bool, **project: Any) -> None:
    """List the databases of the config."""
    with told(as_json=as_json):
        from flarebed.emulator.cli.d1 import list_all

        list_all(as_json, **project)


@d1.command("info")
@click.argument("name")
@of_the_project
@json_option
def d1_info(name: str, as_json: bool, **project: Any) -> None:
    """Show a database: its tables, its size, its file."""
    with told(as_json=as_json):
        from flarebed.emulator.cli.d1 import info

        info(name, as_json, **project)


@migrations.command("create")
@click.argument("name")
@click.argument("message")
@of_the_project
def migrations_create(name: str, message: str, **project: Any) -> None:
    """Make a file for a new migration; MESSAGE becomes part of its name."""
    with told():
        from flarebed.emulator.cli.d1 import found
        from flarebed.emulator.cli.d1_migrations import create
        from flarebed.emulator.cli.opening import opened_project

        with opened_project(**project) as it:
            create(found(name, it.config), it.config, message, it.around.clock.now_ms())


@migrations.command("list")
@on_a_database
@preview_option
def migrations_list(name: str, local: bool, remote: bool, preview: bool, **project: Any) -> None:
    """Show which migrations have not been applied yet."""
    with told():
        from flarebed.emulator.cli.d1 import check_place, opened
        from flarebed.emulator.cli.d1_migrations import list_pending

        check_place(local, remote, preview)
        with opened(name, **project) as database:
            list_pending(database)


@migrations.command("apply")
@on_a_database
@preview_option
def migrations_apply(name: str, local: bool, remote: bool, preview: bool, **project: Any) -> None:
    """Apply the migrations that have not been applied yet."""
    with told():
        from flarebed.emulator.cli.d1 import check_place, opened
        from flarebed.emulator.cli.d1_migrations import apply

        check_place(local, remote, preview)
        with opened(name, **project) as database:
            apply(database)


def _only_remote(name: str, hint: str = "") -> None:
    @d1.command(name, hidden=True, context_settings={"ignore_unknown_options": True, "help_option_names": []})
    @click.argument("arguments", nargs=-1)
    def refuse(arguments: tuple[str, ...]) -> None:
        with told():
            from flarebed.emulator.cli.d1 import remote_only

            raise remote_only(name, hint)


_only_remote("create", "A local database is there as soon as the config has it in d1_databases.")
_only_remote("delete", "A local database is a file, which `flarebed d1 info` names.")
_only_remote("time-travel")
_only_remote("insights")
