"""What one start of the Worker is made from: the command line's options, and the composition root's answer to them.

The supervisor itself does not import the composition root, so that its own process stays small: it knows the name, and
the processes that it makes import it.
"""

from __future__ import annotations

import asyncio
import importlib
import signal
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from flarebed.bindings.clock import VirtualClock
from flarebed.emulator.runtime.http import WorkerApp

DEFAULT_PROJECT: Final = "flarebed.emulator.supervisor.project"
"""The module whose `open_project` opens a Worker."""


@dataclass(frozen=True)
class Launch:
    """The options of `flarebed dev`, for the Workers that share a process. Paths are absolute."""

    folder: str
    configs: Sequence[str] = ()
    """Without any, the one that is found from `folder` upwards."""
    names: Sequence[str] = ()
    """The Workers of `configs`, if the command has several: what is said of them is told apart by these."""
    environment: str | None = None
    variables: dict[str, str] = field(default_factory=dict)
    persist_to: str | None = None
    log_level: str = "log"
    synchronous: str = "NORMAL"
    virtual_start_ms: float | None = None
    """Where a virtual clock begins, unless it has been further already (0: no matter where); None: real time."""
    modes: dict[str, Any] = field(default_factory=dict)
    """The fields of `kind.Modes` that are not as usual."""
    project: str = DEFAULT_PROJECT
    javascript: bool = False
    """Whether what runs JavaScript Workers is needed."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def folders(self) -> list[Path]:
        """Where a change may mend a Worker that can't run."""
        return [Path(config).parent for config in self.configs] or [Path(self.folder)]


@dataclass(frozen=True)
class Project:
    """Opened Workers, and what the server and the terminal need to know about them."""

    app: WorkerApp
    roots: Sequence[Path]
    """The import roots: a new module below them means a reload."""
    crons: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    host: str | None = None
    """What request URLs name instead of the host that the client asked for."""
    clock: VirtualClock | None = None
    """The Worker's, if it isn't the machine's."""


STACK_SIGNAL: Final = signal.SIGUSR1
"""On this signal a Worker's process writes the stacks of its threads, even if Python code is stuck."""

OpenProject = Callable[[Launch, asyncio.AbstractEventLoop, Callable[[str, str], None]], Awaitable[Project]]


def opener(launch: Launch) -> OpenProject:
    function: OpenProject = importlib.import_module(launch.project).open_project
    return function
