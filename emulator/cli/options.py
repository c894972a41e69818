"""Options that several groups of commands have, named as wrangler names them."""

from __future__ import annotations

from pathlib import Path

import click

PATH = click.Path(path_type=Path)

config_option = click.option("--config", "-c", type=PATH, metavar="FILE", help="The wrangler config file.")
env_option = click.option("--env", "-e", metavar="NAME", help="The environment of the config.")
persist_option = click.option("--persist-to", type=PATH, metavar="FOLDER", help="The folder of the local state.")
local_option = click.option("--local", is_flag=True, expose_value=False, help="What is meant anyway.")
json_option = click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
