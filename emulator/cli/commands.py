"""The commands and their options, named as wrangler names them."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from flarebed.bindings.errors import UserError
from flarebed.emulator.cli.output import told

app = typer.Typer(
    help="A local Cloudflare for Python Workers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class LogLevel(StrEnum):
    debug = "debug"
    info = "info"
    log = "log"
    warn = "warn"
    error = "error"
    none = "none"


class Synchronous(StrEnum):
    normal = "normal"
    full = "full"


ConfigOption = Annotated[Path | None, typer.Option("--config", "-c", help="The wrangler config file.")]
EnvOption = Annotated[str | None, typer.Option("--env", "-e", help="The environment of the config.")]
PersistOption = Annotated[Path | None, typer.Option("--persist-to", help="The folder of the local state.")]


@app.callback()
def root() -> None:
    """Without this, typer would make a lone command the program itself."""


@app.command()
def dev(
    context: typer.Context,
    config: ConfigOption = None,
    env: EnvOption = None,
    ip: Annotated[str | None, typer.Option(help="The address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="The port to listen on (8787, or the next free one).")] = None,
    persist_to: PersistOption = None,
    var: Annotated[list[str] | None, typer.Option(help="KEY:VALUE, a variable of the Worker; repeatable.")] = None,
    log_level: Annotated[LogLevel, typer.Option(help="How much is written.")] = LogLevel.log,
    synchronous: Annotated[
        Synchronous, typer.Option(help="What an acknowledged write survives: kill -9, or a power cut too (full).")
    ] = Synchronous.normal,
) -> None:
    """Run the Worker on this machine, and again after each change."""
    with told():
        if context.obj is None:
            raise UserError("`flarebed dev` needs Linux or macOS.", hint="On Windows, run it in WSL.")
        from flarebed.emulator.cli.dev import run
        from flarebed.emulator.supervisor.launch import Launch
        from flarebed.emulator.supervisor.options import read_config

        launch = Launch(
            folder=os.getcwd(),
            config=str(config.absolute()) if config else None,
            environment=env,
            variables=_variables(var or []),
            persist_to=str(persist_to.absolute()) if persist_to else None,
            log_level=log_level.value,
            synchronous=synchronous.value.upper(),
        )
        code = run(launch, read_config(launch), context.obj, ip, port)
    raise typer.Exit(code)


d1 = typer.Typer(help="The local D1 databases.", no_args_is_help=True)
migrations = typer.Typer(help="The migrations of a database.", no_args_is_help=True)
app.add_typer(d1, name="d1")
d1.add_typer(migrations, name="migrations")

NameArgument = Annotated[str, typer.Argument(help="The database's name or binding.")]
LocalOption = Annotated[bool, typer.Option("--local", help="What is meant anyway: nothing here is remote.")]


@d1.command("execute")
def d1_execute(
    name: NameArgument,
    command: Annotated[str | None, typer.Option(help="SQL to run.")] = None,
    file: Annotated[Path | None, typer.Option(help="A file of SQL to run.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Answer in JSON.")] = False,
    config: ConfigOption = None,
    env: EnvOption = None,
    persist_to: PersistOption = None,
    local: LocalOption = False,
) -> None:
    """Run SQL on a local database."""
    with told():
        from flarebed.emulator.cli.d1 import execute, opened

        if command is not None and file is not None:
            raise UserError("Error: can't provide both --command and --file.")
        if command is None and file is None:
            raise UserError("Missing required option --command or --file.")
        sql = command if command is not None else _read(file)
        with opened(name, config, env, persist_to) as database:
            execute(database, sql, json)


@migrations.command("list")
def migrations_list(
    name: NameArgument,
    config: ConfigOption = None,
    env: EnvOption = None,
    persist_to: PersistOption = None,
    local: LocalOption = False,
) -> None:
    """Show which migrations have not been applied yet."""
    with told():
        from flarebed.emulator.cli.d1 import list_migrations, opened

        with opened(name, config, env, persist_to) as database:
            list_migrations(database)


@migrations.command("apply")
def migrations_apply(
    name: NameArgument,
    config: ConfigOption = None,
    env: EnvOption = None,
    persist_to: PersistOption = None,
    local: LocalOption = False,
) -> None:
    """Apply the migrations that have not been applied yet."""
    with told():
        from flarebed.emulator.cli.d1 import apply_migrations, opened

        with opened(name, config, env, persist_to) as database:
            apply_migrations(database)


def _read(file: Path | None) -> str:
    assert file is not None
    try:
        return file.read_text("utf-8")
    except OSError as error:
        raise UserError(f"Can't read {file}: {error.strerror}.") from None


def _variables(pairs: list[str]) -> dict[str, str]:
    """`--var KEY:VALUE`."""
    variables = {}
    for pair in pairs:
        name, colon, value = pair.partition(":")
        if not colon or not name:
            raise UserError(f'"--var {pair}" is not KEY:VALUE.', hint="For example: --var API_HOST:localhost")
        variables[name] = value
    return variables
