"""The command and its groups; here the options of `flarebed dev`, named as wrangler names them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from flarebed.bindings.errors import UserError
from flarebed.emulator.cli.check_commands import check
from flarebed.emulator.cli.clock_commands import clock
from flarebed.emulator.cli.d1_commands import d1
from flarebed.emulator.cli.kv_commands import kv
from flarebed.emulator.cli.options import PATH, env_option, mode_options, persist_option
from flarebed.emulator.cli.output import told
from flarebed.emulator.cli.queue_commands import queues
from flarebed.emulator.cli.state_commands import state
from flarebed.emulator.cli.workflow_commands import workflows
from flarebed.emulator.supervisor.forkserver import ForkServer


@click.group(context_settings={"help_option_names": ["--help", "-h"]})
@click.version_option(None, "--version", "-v", package_name="flarebed", message="%(version)s")
def app() -> None:
    """A local Cloudflare for Workers in Python, TypeScript and JavaScript."""


@app.command()
@click.option(
    "--config",
    "-c",
    "configs",
    multiple=True,
    type=PATH,
    metavar="FILE",
    help="The wrangler config file; repeatable: the first one's Worker answers requests, the others run beside it.",
)
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
@click.option(
    "--virtual-time",
    is_flag=False,
    flag_value="",
    metavar="[START]",
    help="Time moves only when `flarebed clock` moves it; START is where it begins, if it is not further already.",
)
@mode_options
@click.pass_obj
def dev(
    server: ForkServer | None,
    /,
    configs: tuple[Path, ...],
    env: str | None,
    ip: str | None,
    port: int | None,
    persist_to: Path | None,
    var: tuple[str, ...],
    log_level: str,
    synchronous: str,
    virtual_time: str | None,
    **modes: Any,
) -> None:
    """Run the Worker on this machine, and again after each change."""
    with told():
        if server is None:
            raise UserError("`flarebed dev` needs Linux or macOS.", hint="On Windows, run it in WSL.")
        from flarebed.emulator.cli.dev import run
        from flarebed.emulator.supervisor.launch import Launch

        launch = Launch(
            folder=os.getcwd(),
            configs=[str(config.absolute()) for config in configs],
            environment=env,
            variables=_variables(var),
            persist_to=str(persist_to.absolute()) if persist_to else None,
            log_level=log_level,
            synchronous=synchronous.upper(),
            virtual_start_ms=None if virtual_time is None else _start_ms(virtual_time),
            modes=modes,
        )
        code = run(launch, server, ip, port)
    raise SystemExit(code)


for group in (kv, d1, queues, workflows, state, clock, check):
    app.add_command(group)


def _start_ms(given: str) -> float:
    from flarebed.emulator.cli.times import parse_time

    return parse_time(given, "--virtual-time") if given else 0.0


def _variables(pairs: Sequence[str]) -> dict[str, str]:
    """`--var KEY:VALUE`."""
    variables = {}
    for pair in pairs:
        name, colon, value = pair.partition(":")
        if not colon or not name:
            raise UserError(f'"--var {pair}" is not KEY:VALUE.', hint="For example: --var API_HOST:localhost")
        variables[name] = value
    return variables
