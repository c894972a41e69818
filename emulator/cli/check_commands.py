"""The options of `flarebed check`; what the command does is in `check.py`."""

from __future__ import annotations

from typing import Any

import click

from flarebed.emulator.cli.options import PATH, config_option, env_option, json_option, persist_option
from flarebed.emulator.cli.output import told


@click.group()
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
@json_option
@click.option("--strict", is_flag=True, help="Warnings count as errors.")
@click.option("--may-fail", is_flag=True, help="A run that does not complete counts as checked.")
@config_option
@env_option
@persist_option
def check_workflow(as_json: bool, **options: Any) -> None:
    """Run a workflow, or all of them, as production may run it, and report which rules it breaks."""
    with told(as_json=as_json):
        from flarebed.emulator.cli.check import Wanted, run

        code = run(Wanted(as_json=as_json, **options))
    raise SystemExit(code)
