"""The project that a command works on: its config, found upwards from here, and its state, where a `dev` may run.

What a command writes goes through the same engines as a Worker's; a `dev` on that state hears of it at once.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from flarebed.bindings.clock import Clock, RealClock, VirtualClock
from flarebed.bindings.dispatch import Dispatch
from flarebed.bindings.kind import Surroundings
from flarebed.bindings.owner import Doorbell
from flarebed.bindings.store import Store
from flarebed.emulator.cli.output import warn
from flarebed.emulator.config import Config, load
from flarebed.emulator.server.log import line
from flarebed.emulator.supervisor import running
from flarebed.emulator.supervisor.options import state_folder
from flarebed.emulator.supervisor.running import Running
from flarebed.emulator.supervisor.virtual_clock import kept_ms

T = TypeVar("T")


@dataclass(frozen=True)
class OpenedProject:
    """`around` is what engines need, on the time that the state's `dev` goes or went by. `dev` is it, if one runs."""

    config: Config
    state: Path
    around: Surroundings
    dev: Running | None
    runner: asyncio.Runner

    @property
    def served(self) -> bool:
        return self.dev is not None

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)


@dataclass(frozen=True)
class Place:
    """Which config, and where its state lies; nothing is opened."""

    config: Config
    state: Path

    @classmethod
    def of(cls, config: Path | None, env: str | None, persist_to: Path | None) -> Place:
        """`config` is the option's, or the nearest one from the current folder up. Raises UserError."""
        loaded = load(config, cwd=Path.cwd(), env=env, environ=os.environ)
        for text in loaded.warnings:
            warn(text)
        return cls(loaded, state_folder(str(persist_to.absolute()) if persist_to else None, loaded))


@contextmanager
def opened_project(config: Path | None, env: str | None, persist_to: Path | None) -> Iterator[OpenedProject]:
    place = Place.of(config, env, persist_to)
    with asyncio.Runner() as runner:
        store = Store(place.state, runner.get_loop())
        dev, alive = running.last(place.state)
        clock = clock_of(runner.get_loop(), place.state, dev)
        doorbell = Doorbell(place.state)
        store.doorbell = doorbell.ring
        no_worker = cast("Dispatch", None)  # a command runs no Worker's code
        around = Surroundings(clock, store, no_worker, place.config.name, place.config.flags, _say)
        try:
            yield OpenedProject(place.config, place.state, around, dev if alive else None, runner)
        finally:
            store.close()
            doorbell.close()


def clock_of(loop: asyncio.AbstractEventLoop, state: Path, dev: Running | None) -> Clock:
    """The time that the last `dev` on the state goes or went by."""
    reached_ms = kept_ms(state) if dev is not None and dev.virtual else None
    return RealClock(loop) if reached_ms is None else VirtualClock(loop, reached_ms)


def _say(level: str, text: str) -> None:
    sys.stderr.write(line(level, text))
