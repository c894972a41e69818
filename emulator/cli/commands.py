"""The commands and their options, named as wrangler names them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from flarebed.bindings.errors import UserError
from flarebed.emulator.cli.output import told
from flarebed.emulator.supervisor.forkserver import ForkServer

PATH = click.Path(path_type=Path)

config_option = click.option("--config", "-c", type=PATH, metavar="FILE", help="The wrangler config file.")
env_option = click.option("--env", "-e", metavar="NAME", help="The environment of the config.")
persist_option = click.option("--persist-to", type=PATH, metavar="FOLDER", help="The folder of the local state.")


@click.group(context_settings={"help_option_names": ["--help", "-h"]})
@click.version_option(None, "--version", "-v", package_name="flarebed", message="%(version)s")
def app() -> None:
    """A local Cloudflare for Python Workers."""


@app.command()
@config_option
@env_option
@click.option("--ip", metavar="ADDRESS", help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), help="The port to listen on (8787, or the next free one).")
@persist_option
@click.option("--var", multiple=True, metavar="KEY:VALUE", help="A variable of the Worker; repeatable.")
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "log", "warn", "error", "none"]),
    default="log",
    show_default=True,
    help="How much is written.",
)
@click.option(
    "--synchronous",
    type=click.Choice(["normal", "full"]),
    default="normal",
    show_default=True,
    help="What an acknowledged write survives: kill -9, or a power cut too (full).",
)
@click.pass_obj
def dev(
    server: ForkServer | None,
    config: Path | None,
    env: str | None,
    ip: str | None,
    port: int | None,
    persist_to: Path | None,
    var: tuple[str, ...],
    log_level: str,
    synchronous: str,
) -> None:
    """Run the Worker on this machine, and again after each change."""
    with told():
        if server is None:
            raise UserError("`flarebed dev` needs Linux or macOS.", hint="On Windows, run it in WSL.")
        from flarebed.emulator.cli.dev import run
        from flarebed.emulator.supervisor.launch import Launch
        from flarebed.emulator.supervisor.options import read_config

        launch = Launch(
            folder=os.getcwd(),
            config=str(config.absolute()) if config else None,
            environment=env,
            variables=_variables(var),
            persist_to=str(persist_to.absolute()) if persist_to else None,
            log_level=log_level,
            synchronous=synchronous.upper(),
        )
        code = run(launch, read_config(launch), server, ip, port)
    raise SystemExit(code)


@app.group()
def d1() -> None:
    """The local D1 databases."""


@d1.group()
def migrations() -> None:
    """The migrations of a database."""


def on_a_database(command: Any) -> Any:
    """What all commands on a database take. Nothing here is remote, so `--local` changes nothing."""
    local_option = click.option("--local", is_flag=True, expose_value=False, help="What is meant anyway.")
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


@app.group()
def check() -> None:
    """Rules that the code should keep, checked before it is deployed."""


@check.command("workflow")
@click.argument("name", required=False)
@click.option("--params", metavar="JSON", help="The params of the instance.")
@click.option("--params-file", type=PATH, metavar="FILE", help="A file with the params.")
@click.option("--instance", metavar="ID", help="A recorded instance, for its params and events.")
@click.option("--event", "events", multiple=True, metavar="TYPE=JSON", help="An event for the instance; repeatable.")
@click.option("--answer", "answers", multiple=True, metavar="URL=JSON", help="What requests to it get; repeatable.")
@click.option(
    "--outbound",
    type=click.Choice(["stub", "refuse", "real"]),
    default="stub",
    show_default=True,
    help="What answers requests: 200 and {}, nobody, or the network.",
)
@click.option("--with-state", is_flag=True, help="Begin with a copy of the local D1 and KV.")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
@click.option("--strict", is_flag=True, help="Warnings count as errors.")
@config_option
@env_option
@persist_option
def check_workflow(as_json: bool, **options: Any) -> None:
    """Run a workflow, or all of them, as production may run it, and report which rules it breaks."""
    with told(as_json=as_json):
        from flarebed.emulator.cli.check import Wanted, run

        code = run(Wanted(as_json=as_json, **options))
    raise SystemExit(code)


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


def _variables(pairs: Sequence[str]) -> dict[str, str]:
    """`--var KEY:VALUE`."""
    variables = {}
    for pair in pairs:
        name, colon, value = pair.partition(":")
        if not colon or not name:
            raise UserError(f'"--var {pair}" is not KEY:VALUE.', hint="For example: --var API_HOST:localhost")
        variables[name] = value
    return variables
