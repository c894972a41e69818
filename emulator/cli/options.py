"""Options that several groups of commands have, named as wrangler names them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

PATH = click.Path(path_type=Path)
Command = Callable[..., Any]

config_option = click.option("--config", "-c", type=PATH, metavar="FILE", help="The wrangler config file.")
env_option = click.option("--env", "-e", metavar="NAME", help="The environment of the config.")
persist_option = click.option("--persist-to", type=PATH, metavar="FOLDER", help="The folder of the local state.")
local_option = click.option("--local", is_flag=True, expose_value=False, help="What is meant anyway.")
json_option = click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")


def of_the_project(command: Command) -> Command:
    """The options that find a config and its state. Nothing here is remote, so `--local` changes nothing."""
    for option in (local_option, persist_option, env_option, config_option):
        command = option(command)
    return command


def mode_options(command: Command) -> Command:
    """The fields of `kind.Modes`."""
    for option in (
        click.option(
            "--queue-shuffle", is_flag=True, help="Deliver messages in disorder, as production may."
        ),
        click.option(
            "--queue-duplicates", type=click.FloatRange(0, 1), default=0.0, metavar="RATE",
            help="Deliver this share of messages (0 to 1) once more, as production may.",
        ),
        click.option(
            "--queue-defaults", type=click.Choice(["production", "wrangler"]), default="production", show_default=True,
            help="Whose defaults queue consumers have.",
        ),
        click.option(
            "--kv-consistency", type=click.Choice(["strong", "eventual"]), default="strong", show_default=True,
            help="Whether reads of KV may be stale, as they may be in production (eventual).",
        ),
    ):  # fmt: skip
        command = option(command)
    return command
