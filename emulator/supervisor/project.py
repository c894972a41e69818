"""From the options of a start to opened Workers: reads the configs, asks the composition root, says what went wrong.

Runs in the Workers' process, at each start, so that a change of a config is a reload like any other.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Sequence
from itertools import chain

from flarebed.bindings.errors import UserError
from flarebed.bindings.kind import Modes
from flarebed.bindings.store import enter
from flarebed.emulator.app import Log
from flarebed.emulator.group import Part, build_group
from flarebed.emulator.runtime.http import WorkerError
from flarebed.emulator.runtime.python.modules import HostModules
from flarebed.emulator.runtime.python.promise import thrown_by
from flarebed.emulator.runtime.python.tracebacks import worker_frames
from flarebed.emulator.runtime.registry import Registry, default_folder
from flarebed.emulator.supervisor.launch import Launch, Project
from flarebed.emulator.supervisor.named_output import named
from flarebed.emulator.supervisor.options import read_configs, state_folder
from flarebed.emulator.supervisor.virtual_clock import KeptClock

HostModules.installed()  # here, so that the fork server does it once for all the processes to come


async def open_project(launch: Launch, loop: asyncio.AbstractEventLoop, log: Log) -> Project:
    """Raises UserError for what the user can mend outside of the code, WorkerError for what the code raised."""
    configs = read_configs(launch)
    folders = [config.code_folder() for config in configs]
    state = state_folder(launch.persist_to, configs[0])
    presence = enter(state)  # before the clock's file is opened, which is a part of the state
    try:
        clock = None if launch.virtual_start_ms is None else KeptClock(loop, state, launch.virtual_start_ms)
        group = await build_group(
            [Part(config, _voice(log, config.name) if launch.names else log) for config in configs],
            persist_to=state,
            clock=clock,
            synchronous=launch.synchronous,
            modes=Modes(**launch.modes),
            presence=presence,
            registry=Registry(default_folder(os.environ)),
        )
    except (UserError, WorkerError):
        presence.leave()
        raise
    except (Exception, SystemExit) as error:
        presence.leave()
        raise WorkerError(f"{thrown_by(error)}\n", error, worker_frames(error)) from error
    return Project(
        group,
        roots=folders,
        crons=_all(config.crons for config in configs),
        notices=_all(config.notices for config in configs),
        warnings=_all(config.warnings for config in configs),
        host=configs[0].host,
        clock=clock,
    )


def _voice(log: Log, worker: str) -> Log:
    return lambda level, text: log(level, named([worker], text))


def _all(several: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(chain.from_iterable(several))
