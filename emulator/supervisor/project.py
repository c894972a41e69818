"""From the options of a start to an opened Worker: reads the config, asks the composition root, says what went wrong.

Runs in the Worker's process, at each start, so that a change of the config is a reload like any other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from flarebed.bindings.errors import UserError
from flarebed.bindings.kind import Modes
from flarebed.bindings.store import enter
from flarebed.emulator.group import Part, build_group
from flarebed.emulator.runtime.http import WorkerError
from flarebed.emulator.runtime.python.modules import HostModules
from flarebed.emulator.runtime.python.promise import thrown_by
from flarebed.emulator.runtime.python.tracebacks import worker_frames
from flarebed.emulator.supervisor.launch import Launch, Project
from flarebed.emulator.supervisor.options import read_config, state_folder
from flarebed.emulator.supervisor.virtual_clock import KeptClock

HostModules.installed()  # here, so that the fork server does it once for all the processes to come


async def open_project(launch: Launch, loop: asyncio.AbstractEventLoop, log: Callable[[str, str], None]) -> Project:
    """Raises UserError for what the user can mend outside of the code, WorkerError for what the code raised."""
    config = read_config(launch)
    entry = config.entry_point()
    state = state_folder(launch.persist_to, config)
    presence = enter(state)  # before the clock's file is opened, which is a part of the state
    try:
        clock = None if launch.virtual_start_ms is None else KeptClock(loop, state, launch.virtual_start_ms)
        group = await build_group(
            (Part(config, log),),
            persist_to=state,
            clock=clock,
            synchronous=launch.synchronous,
            modes=Modes(**launch.modes),
            presence=presence,
        )
    except UserError:
        presence.leave()
        raise
    except (Exception, SystemExit) as error:
        presence.leave()
        raise WorkerError(f"{thrown_by(error)}\n", error, worker_frames(error)) from error
    return Project(group, entry.parent, config.crons, config.notices, config.warnings, config.host, clock)
