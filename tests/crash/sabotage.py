"""Ways to break the product, one promise each, by which tests show that the judge would see it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from flarebed.bindings.store import Database
from flarebed.bindings.workflows.history import History
from flarebed.bindings.workflows.journal import Journal
from flarebed.bindings.workflows.run import Run
from flarebed.bindings.workflows.workflow import Workflow


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
    Run.find = lambda self, kind, name, count: None  # type: ignore[method-assign]


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
    find = Run.find

    def forgetful(self: Run, kind: str, name: str, count: int) -> Any:
        return None if kind == "rollback" else find(self, kind, name, count)

    Run.find = forgetful  # type: ignore[method-assign]


SCENARIO: dict[str, str] = {"undoes_again": "rolled_back"}
"""In which they show, if not in `crowd`."""

SABOTAGES: dict[str, Callable[[], None]] = {
    sabotage.__name__: sabotage
    for sabotage in (
        answers_before_it_is_durable, takes_an_event_before_its_wait_has_it, keeps_an_event_that_was_delivered,
        forgets_interrupted_attempts, does_a_recorded_step_again, leaves_what_was_running, moves_a_wake_time,
        goes_on_from_what_was_rolled_back, undoes_again,
    )
}  # fmt: skip
