"""A Worker in the test's own process and thread, on a loop and a clock of its own that run only when they are asked to.

Everything that a Worker and its engines do is a callback of that loop, an entry of that clock, or an operation outside
that is counted (`Clock.outside`). So it is known, not guessed, when all is idle: its clock jumps to the next entry,
or there is nothing left to do. The test's own loop, if it has one, is not involved: a test may be a plain function, or
run under asyncio or Trio.
"""

from __future__ import annotations

import asyncio
import math
from asyncio import events, tasks
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from flarebed.bindings.clock import VirtualClock
from flarebed.bindings.dispatch import Dispatch
from flarebed.emulator.app import App, Log, build
from flarebed.emulator.config.model import Config

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")

START_MS = 1_767_225_600_000.0
"""2026-01-01T00:00:00Z"""


class StuckError(Exception):
    """Nothing can go on any more, and what was waited for has not come."""


class SessionLoop(asyncio.SelectorEventLoop):
    """A loop that runs one turn at a time, beside a loop that may be running in this thread already."""

    def turn(self, *, wait: bool = False) -> None:
        """Run what is ready; with `wait`, wait until something outside makes something ready."""
        if not wait:
            self.call_soon(_nothing)
        with _beside_the_running_loop():
            self.run_forever()

    def is_idle(self) -> bool:
        return not self._ready  # type: ignore[attr-defined]

    def _run_once(self) -> None:
        super()._run_once()  # type: ignore[misc]
        self.stop()


class Session:
    """A loaded Worker that owns its state; `close` it in the end.

    `observe` may put its own Dispatch between the engines and the Worker. `log(level, text)` gets what they say.
    """

    def __init__(
        self,
        config: Config,
        state: Path,
        log: Log,
        *,
        start_ms: float = START_MS,
        outbound: Callable[[], httpx.AsyncClient] | None = None,
        observe: Callable[[Dispatch], Dispatch] | None = None,
    ) -> None:
        self.loop = SessionLoop()
        self.clock = VirtualClock(self.loop, start_ms)
        try:
            self.app: App = self.run(
                build(config, persist_to=state, log=log, clock=self.clock, outbound=outbound, observe=observe)
            )
            self.run(self.app.own())
        except BaseException:
            self.loop.close()
            raise

    def close(self) -> None:
        self.run(self.app.close())
        self.loop.close()

    # Running: each returns when what it waits for has come, in no real time where nothing outside is involved

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of engine code; time moves as far as it needs. Raises StuckError if it can never end."""
        task = self.loop.create_task(work)
        try:
            self.run_until(task.done)
        except BaseException:
            task.cancel()
            self.loop.turn()
            raise
        return task.result()

    def run_until(self, done: Callable[[], bool], *, no_later_than_ms: float = math.inf) -> None:
        """Run until `done()`, jumping from one entry of the clock to the next. Raises StuckError."""
        while not done():
            if not self._step(no_later_than_ms):
                raise StuckError

    def settle(self) -> None:
        """Run until nothing is left to do at this instant."""
        while self._step(-math.inf):
            pass

    def advance(self, delta_ms: float) -> None:
        """Move time on, stopping at each entry for all that it sets off."""
        end_ms = self.clock.now_ms() + delta_ms
        while self._step(end_ms):
            pass
        self.clock.move_to(end_ms)

    def _step(self, no_later_than_ms: float) -> bool:
        """Do what can be done next; False if nothing can, up to that time."""
        if not self.loop.is_idle():
            self.loop.turn()
        elif self.clock.outside:
            self.loop.turn(wait=True)
        else:
            due_ms = self.clock.next_ms()
            if due_ms is None or due_ms > max(no_later_than_ms, self.clock.now_ms()):
                return False
            self.clock.move_to(due_ms)
        return True


@contextmanager
def _beside_the_running_loop() -> Iterator[None]:
    """Let another loop run in a thread whose loop is in the middle of a task."""
    outer = events._get_running_loop()
    task = tasks.current_task(outer) if outer is not None else None
    if outer is not None and task is not None:
        tasks._leave_task(outer, task)
    events._set_running_loop(None)
    try:
        yield
    finally:
        events._set_running_loop(outer)
        if outer is not None and task is not None:
            tasks._enter_task(outer, task)


def _nothing() -> None:
    """Something to run, so that a turn does not wait."""
