"""The config that the command line's options name, and where its state lies."""

from __future__ import annotations

import os
from pathlib import Path

from flarebed.emulator.config import Config, load
from flarebed.emulator.supervisor.launch import Launch


def read_config(launch: Launch) -> Config:
    return load(
        Path(launch.config) if launch.config else None,
        cwd=Path(launch.folder),
        env=launch.environment,
        environ=os.environ,
        var=launch.variables,
    )


def state_folder(persist_to: str | None, config: Config) -> Path:
    """`--persist-to`, or wrangler's folder beside the config."""
    return Path(persist_to) if persist_to else config.root / ".wrangler" / "state"
