"""The options of `flarebed clock`; what the commands do is in `clock.py`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from flarebed.emulator.cli.options import config_option, env_option, persist_option
from flarebed.emulator.cli.output import told


@click.group()
def clock() -> None:
    """The time of a running `flarebed dev --virtual-time`."""


def on_a_clock(command: Callable[..., Any]) -> Callable[..., Any]:
    for parameter in (persist_option, env_option, config_option):
        command = parameter(command)
    return command


@clock.command("now")
@on_a_clock
def now(config: Path | None, env: str | None, persist_to: Path | None) -> None:
    """Show the time."""
    with told():
        from flarebed.emulator.cli.clock import show, virtual_dev

        show(virtual_dev(config, env, persist_to).ask())


@clock.command("advance")
@click.argument("duration", nargs=-1, required=True)
@on_a_clock
def advance(duration: tuple[str, ...], config: Path | None, env: str | None, persist_to: Path | None) -> None:
    """Move time on, and wait until all that this sets off is done: `flarebed clock advance 30 days`."""
    with told():
        from flarebed.emulator.cli.clock import move, virtual_dev
        from flarebed.emulator.cli.times import parse_duration

        move(virtual_dev(config, env, persist_to), f"by={parse_duration(' '.join(duration))!r}")


@clock.command("run-until")
@click.argument("time", metavar="TIME|idle")
@on_a_clock
def run_until(time: str, config: Path | None, env: str | None, persist_to: Path | None) -> None:
    """Move time on to TIME, or from one thing that waits to the next until nothing waits any more."""
    with told():
        from flarebed.emulator.cli.clock import move, virtual_dev
        from flarebed.emulator.cli.times import parse_time

        to = "idle" if time == "idle" else repr(parse_time(time, "run-until"))
        move(virtual_dev(config, env, persist_to), f"to={to}")
