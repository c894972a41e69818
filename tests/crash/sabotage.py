"""Ways to break the product, one promise each, by which tests show that the judge would see it."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from flarebed.bindings.store import Database
from flarebed.bindings.workflows.history import History
from flarebed.bindings.workflows.journal import Journal
from flarebed.bindings.workflows.run import Run
from flarebed.bindings.workflows.workflow import Workflow
from tests.crash.data_sabotage import DATA_SABOTAGES, Shown
from tests.crash.faults import AFTER, BEFORE, NOTED, REFUSED


def answers_before_it_is_durable() -> None:
    def durable(self: Database) -> asyncio.Future[None]:
        future: asyncio.Future[None] = self._loop.create_future()
        future.set_result(None)
        return future

    Database.durable = durable  # type: ignore[method-assign]


def takes_an_event_before_its_wait_has_it() -> None:
    """In two transactions."""
    deliver = History.deliver

    def split(self: History, event: Any, *arguments: Any) -> None:
        self._db.execute("DELETE FROM events WHERE seq = ?", (event.seq,))
        self._db.flush()
        deliver(self, event, *arguments)

    History.deliver = split  # type: ignore[method-assign]


def keeps_an_event_that_was_delivered() -> None:
    def deliver(self: History, event: Any, key: int, seq: int, end_seq: int, result: bytes, now_ms: float) -> None:
        self.finish(key, seq, end_seq, result, now_ms)

    History.deliver = deliver  # type: ignore[method-assign]


def forgets_interrupted_attempts() -> None:
    take_up = Journal.take_up

    def forgetting(self: Journal, key: int) -> Any:
        self.take_back_attempts(key)
        return take_up(self, key)

    Journal.take_up = forgetting  # type: ignore[method-assign]


def does_a_recorded_step_again() -> None:
    _forget_all("do")


def leaves_what_was_running() -> None:
    Journal.requeue = lambda self, now_ms: None  # type: ignore[method-assign]


def moves_a_wake_time() -> None:
    requeue = Journal.requeue

    def late(self: Journal, now_ms: float) -> None:
        requeue(self, now_ms)
        self._db.execute("UPDATE steps SET wake_ms = wake_ms + 1")

    Journal.requeue = late  # type: ignore[method-assign]


def goes_on_from_what_was_rolled_back() -> None:
    Workflow._lost = lambda self, error: None  # type: ignore[method-assign]


def undoes_again() -> None:
    _forget_all("rollback")


def _forget_all(forgotten: str) -> None:
    """Of this kind of steps."""
    find = Run.find

    def forgetful(self: Run, kind: str, name: str, count: int) -> Any:
        return None if kind == forgotten else find(self, kind, name, count)

    Run.find = forgetful  # type: ignore[method-assign]


SABOTAGES: Final = {
    answers_before_it_is_durable: Shown("crowd", BEFORE),
    takes_an_event_before_its_wait_has_it: Shown("crowd", AFTER),
    keeps_an_event_that_was_delivered: Shown("crowd", NOTED),
    forgets_interrupted_attempts: Shown("crowd", NOTED),
    does_a_recorded_step_again: Shown("effects", NOTED),
    leaves_what_was_running: Shown("crowd", NOTED),
    moves_a_wake_time: Shown("crowd", NOTED, is_killed_again=True),
    goes_on_from_what_was_rolled_back: Shown("crowd", REFUSED),
    undoes_again: Shown("terminated_and_rolled_back", AFTER),
    **DATA_SABOTAGES,
}
