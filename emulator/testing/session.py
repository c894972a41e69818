"""A Worker in the test's own process and thread, on a loop and a clock of its own that run only when they are asked to.

Everything that a Worker and its engines do is a callback of that loop, an entry of that clock, or an operation outside
that is counted (`Clock.outside`). So it is known, not guessed, when all is idle: its clock jumps to the next entry,
or there is nothing left to do. The test's own loop, if it has one, is not involved: a test may be a plain function, or
run under asyncio or Trio.
"""

from __future__ import annotations

import asyncio
import math
import random
from asyncio import events, tasks
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from flarebed.bindings.clock import VirtualClock
from flarebed.bindings.dispatch import Dispatch
from flarebed.bindings.kind import Modes
from flarebed.emulator.app import App, Log
from flarebed.emulator.config.model import Config
from flarebed.emulator.group import Group, Part, build_group

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")

START_MS = 1_767_225_600_000.0
"""2026-01-01T00:00:00Z"""
_OUTSIDE_S = 0.001
"""For how long a turn waits for what is outside, where the test's own tasks want their turn too."""
_PATIENCE_MS = 10 * 365 * 86_400_000.0
_PATIENCE_MOVES = 10_000
PATIENCE_S = 30.0
"""Real time: for so long a clock that stands still waits for what is outside."""


class StuckError(Exception):
    """What a test waits for can never come: nothing is left to do, and no time to pass would change that."""


class FrozenError(Exception):
    """What a test waits for needs time to pass, and the clock is frozen."""


class SessionLoop(asyncio.SelectorEventLoop):
    """A loop that runs one turn at a time, beside a loop that may be running in this thread already.

    `entropy` is where randomness on this loop comes from, if not from the machine.
    """

    entropy: random.Random | None = None

    def turn(self, *, wait: bool = False) -> None:
        """Run what is ready; with `wait`, wait until something outside makes something ready."""
        if not wait:
            self.call_soon(_nothing)
        with beside_the_running_loop():
            self.run_forever()

    def is_idle(self) -> bool:
        return not self._ready  # type: ignore[attr-defined]

    def _run_once(self) -> None:
        super()._run_once()  # type: ignore[misc]
        self.stop()


class Session:
    """A loaded Worker that owns its state; `close` it in the end.

    `beside` are Workers that it can call. `observe` may put its own Dispatch between the engines and the Worker.
    `log(level, text)` gets what they say.
    """

    def __init__(
        self,
        config: Config,
        state: Path,
        log: Log,
        *,
        beside: Sequence[Part] = (),
        start_ms: float = START_MS,
        outbound: Callable[[], httpx.AsyncClient] | None = None,
        observe: Callable[[Dispatch], Dispatch] | None = None,
        entropy: random.Random | None = None,
        modes: Modes | None = None,
        synchronous: str = "OFF",  # no test outlives a power cut
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._patience_s = patience_s
        self._patient_since_s: float | None = None
        self.loop = SessionLoop()
        self.loop.entropy = entropy
        self.clock = VirtualClock(self.loop, start_ms)
        self.begun = 0
        self.frozen = False
        try:
            self.group: Group = self.run(
                build_group(
                    [Part(config, log, outbound, observe), *beside], persist_to=state, clock=self.clock,
                    synchronous=synchronous, modes=modes, entropy=entropy,
                )
            )  # fmt: skip
            self.app: App = self.group.primary
            self.run(self.group.own())
        except BaseException:
            self.loop.close()
            raise

    def close(self) -> None:
        self.run(self.group.close())
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        try:
            self.settle()
        finally:
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
        """Run until `done()`, jumping from one entry of the clock to the next. Raises StuckError.

        Entries that only come again and again (schedules, retention) are no hope.
        """
        while not done():
            is_over = self.is_idle() and self.clock.next_work_ms() is None
            if is_over or not self._step(no_later_than_ms):
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
        if self.work(wait=True):
            return True
        due_ms = self.clock.next_ms()
        if due_ms is None or due_ms > max(no_later_than_ms, self.clock.now_ms()):
            return False
        self.clock.move_to(due_ms)
        return True

    # The parts of that

    def work(self, *, wait: bool, what: str = "") -> bool:
        """Run one turn of what is ready at this instant; False if nothing is.

        If all waits for something outside: until that comes, or, without `wait`, for a moment. Raises StuckError when
        that has taken too long; `what` is wanted.
        """
        if self.clock.is_idle_outside():
            self._patient_since_s = None
            if self.loop.is_idle():
                return False
        else:
            self._check_patience(what)
        if not self.loop.is_idle():
            self.loop.turn()
            return True
        alarm = self.loop.call_later(min(self._patience_s, PATIENCE_S) if wait else _OUTSIDE_S, _nothing)
        self.loop.turn(wait=True)
        alarm.cancel()
        return True

    def be_patient(self) -> None:
        """Something new is waited for."""
        self._patient_since_s = None

    def _check_patience(self, what: str) -> None:
        now_s = self.loop.time()
        if self._patient_since_s is None:
            self._patient_since_s = now_s
        patience_s = self._patience_s if what else PATIENCE_S  # loading and closing are not the test's to hurry
        if now_s - self._patient_since_s >= patience_s:
            self.be_patient()
            raise StuckError(self._stands_still(what or "What it waits for", patience_s))

    def _stands_still(self, what: str, patience_s: float) -> str:
        doing = ", ".join(+self.clock.named) or "something outside of it"
        due_ms = self.clock.next_work_ms()
        waits = "" if due_ms is None else f" What is next on the clock is due at {iso(due_ms)}."
        return (
            f"{what} did not come: the clock has stood still at {iso(self.clock.now_ms())} for "
            f"{patience_s:g} s of real time, because this is in progress: {doing}.{waits} What a JavaScript "
            "Worker waits for by itself (setTimeout, a loop that asks again) takes real time, and the clock moves when "
            "that is over. So let it have what it waits for (disable_sleeps(), mock_step_result(), drain() before the "
            "request), or more time: @pytest.mark.flarebed(patience_s=120)."
        )

    def is_idle(self) -> bool:
        """Whether nothing can happen unless time moves."""
        return self.loop.is_idle() and self.clock.is_idle_outside()

    def is_waiting_outside(self) -> bool:
        return self.loop.is_idle() and self.clock.outside > 0

    def jump(self, what: str, since_ms: float, moves: int, *, moves_time: bool = False) -> bool:
        """Move to the next entry of the clock, for `what` is waited for since then, after so many `moves` to work.

        Returns whether it was one. Schedules alone are no hope.
        """
        due_ms, work_ms, now_ms = self.clock.next_ms(), self.clock.next_work_ms(), self.clock.now_ms()
        if due_ms is None or work_ms is None:
            raise StuckError(f"{what} can never come: nothing is left to do, and no timer is set.")
        if (due_ms - since_ms > _PATIENCE_MS or moves >= _PATIENCE_MOVES) and not moves_time:
            raise StuckError(
                f"{what} did not come: things go on without end, after {moves} timers and until {iso(now_ms)}."
            )
        if self.frozen and not moves_time and due_ms > now_ms:
            raise FrozenError(
                f"{what} needs time to pass, and the clock is frozen at {iso(now_ms)}: nothing happens before "
                f"{iso(due_ms)}, {(due_ms - now_ms) / 1000:g} s from now. Move it with clock.advance(), or let it run "
                "with clock.unfreeze()."
            )
        self.clock.move_to(due_ms)
        return due_ms == work_ms


def iso(when_ms: float) -> str:
    """As JavaScript's toISOString."""
    text = datetime.fromtimestamp(when_ms / 1000, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


@contextmanager
def beside_the_running_loop(loop: asyncio.AbstractEventLoop | None = None) -> Iterator[None]:
    """Let another loop run in a thread whose loop is in the middle of a task; `loop` is to be the running one."""
    outer = events._get_running_loop()
    task = tasks.current_task(outer) if outer is not None else None
    if outer is not None and task is not None:
        tasks._leave_task(outer, task)
    events._set_running_loop(loop)
    try:
        yield
    finally:
        events._set_running_loop(outer)
        if outer is not None and task is not None:
            tasks._enter_task(outer, task)


def _nothing() -> None:
    """Something to run, so that a turn does not wait."""
