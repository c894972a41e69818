"""The `flarebed` command. Commands import what they need when they run, so that `--help` is quick."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """The entry point. For `dev` the fork server comes first: it loads its modules while the options are read."""
    server = None
    if sys.argv[1:2] == ["dev"] and not {"--help", "-h"} & {*sys.argv} and hasattr(os, "fork"):
        from flarebed.emulator.supervisor import forkserver, launch

        server = forkserver.start(launch.DEFAULT_PROJECT)
    from flarebed.emulator.cli import commands

    commands.app(obj=server)
