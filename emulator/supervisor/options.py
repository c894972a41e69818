"""The configs that the command line's options name, where their state lies, and which of them share a process."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from flarebed.bindings.errors import UserError
from flarebed.emulator.config import Config, load
from flarebed.emulator.config.clashes import complain_of_clashes
from flarebed.emulator.supervisor.launch import Launch

_NO_VARIABLES: Final[Mapping[str, str]] = {}


def read_configs(launch: Launch) -> list[Config]:
    """The primary's comes first. `--var` is for that one, as in wrangler."""
    paths: list[Path | None] = [Path(config) for config in launch.configs]
    return [
        _read(launch, path, _NO_VARIABLES if number else launch.variables)
        for number, path in enumerate(paths or [None])
    ]


def _read(launch: Launch, path: Path | None, variables: Mapping[str, str]) -> Config:
    return load(path, cwd=Path(launch.folder), env=launch.environment, environ=os.environ, var=variables)


def state_folder(persist_to: str | None, config: Config) -> Path:
    """`--persist-to`, or wrangler's folder beside the config."""
    return Path(persist_to) if persist_to else config.root / ".wrangler" / "state"


def divided(launch: Launch, configs: Sequence[Config]) -> list[Launch]:
    """What each process starts, the primary's first: all Workers in JavaScript share one, each in Python has its own.

    Raises UserError if they can't run together.
    """
    if len(configs) == 1:
        return [replace(launch, javascript=not configs[0].is_python())]
    complain_of_clashes(configs)
    javascript = [config for config in configs if not config.is_python()]
    lines = [
        [config] if config.is_python() else javascript
        for config in configs
        if config.is_python() or config is javascript[0]
    ]
    if len(lines) > 1 and launch.virtual_start_ms is not None:
        raise UserError(
            "--virtual-time is for one process, and a Worker in Python has its own beside other Workers.",
            hint="Start them one by one, or without --virtual-time.",
        )
    return [_line(launch, configs, group) for group in lines]


def _line(launch: Launch, configs: Sequence[Config], group: Sequence[Config]) -> Launch:
    primary = configs[0]
    return replace(
        launch,
        configs=[path for path, config in zip(launch.configs, configs, strict=True) if config in group],
        names=[config.name for config in group],
        variables=launch.variables if group[0] is primary else {},
        persist_to=str(state_folder(launch.persist_to, primary)),
        javascript=not group[0].is_python(),
    )
