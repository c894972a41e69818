"""Ways to break KV, D1 and queues, one promise each, by which tests show that the judge would see it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from flarebed.bindings.kv.namespace import Namespace
from flarebed.bindings.queues.backlog import Backlog, Lease
from flarebed.bindings.queues.consumer import Consumer, Ending
from flarebed.bindings.sql import SqlDatabase
from flarebed.bindings.store import Database
from tests.crash.faults import AFTER, BEFORE, NOTED, REFUSED, Side


class Shown(NamedTuple):
    """In which scenario a sabotage shows, and at what sort of points; some only if the next life is killed too."""

    scenario: str
    side: Side
    is_killed_again: bool = False


def forgets_what_is_in_delivery() -> None:
    """A lease without its row: what a dead process had is nobody's."""
    lease = Backlog.lease

    def unnoted(self: Backlog, most: int) -> Lease:
        taken = lease(self, most)
        self._database.execute("DELETE FROM deliveries")
        return taken

    Backlog.lease = unnoted  # type: ignore[method-assign]


def tells_before_it_has_ended() -> None:
    """An acknowledgement in the log whose commit comes later."""
    end = Consumer._end

    async def told(self: Consumer, ending: Ending) -> None:
        for level, text in ending.told:
            self._log(level, text)
        await end(self, ending._replace(told=[]))

    Consumer._end = told  # type: ignore[method-assign]


def does_not_end_deliveries() -> None:
    """Acknowledged, and not removed."""

    def settle(self: Backlog, lease: Lease, retries: Sequence[Any]) -> None:
        self._database.execute("DELETE FROM deliveries WHERE first = ?", (lease.first,))

    Backlog.settle = settle  # type: ignore[method-assign]


def does_not_count_interrupted_deliveries() -> None:
    leases = Backlog.leases

    def uncounted(self: Backlog) -> list[Lease]:
        return [
            Lease(first, [message._replace(attempts=message.attempts - 1) for message in messages])
            for first, messages in leases(self)
        ]

    Backlog.leases = uncounted  # type: ignore[method-assign]


def buries_after_the_end() -> None:
    """The dead leave their queue before they reach the other."""
    end = Consumer._end

    async def late(self: Consumer, ending: Ending) -> None:
        self._backlog.settle(ending.lease, ending.again)
        await self._backlog.durable()
        await end(self, ending)

    Consumer._end = late  # type: ignore[method-assign]


def delivers_what_is_not_leased() -> None:
    """The Worker is called although the lease's commit failed."""
    deliver = Consumer._deliver

    async def at_once(self: Consumer, lease: Lease, leased: Any) -> None:
        await deliver(self, lease, self._backlog.committed())

    Consumer._deliver = at_once  # type: ignore[method-assign]


def stores_a_batch_in_parts() -> None:
    """Of several messages each in a transaction of its own."""
    append = Backlog.append

    def one_by_one(self: Backlog, outgoing: Sequence[Any]) -> Any:
        answers = []
        for message in outgoing:
            answers.append(append(self, [message]))
            self._database.flush()
        return answers[0]

    Backlog.append = one_by_one  # type: ignore[method-assign]


def replaces_a_value_in_two_steps() -> None:
    put = Namespace.put

    def gone_for_a_moment(self: Namespace, key: str, *rest: Any) -> None:
        self.delete(key)
        self._database.flush()
        put(self, key, *rest)

    Namespace.put = gone_for_a_moment  # type: ignore[method-assign]


def reads_what_is_not_committed() -> None:
    get = Namespace.get

    def too_early(self: Namespace, key: str, *rest: Any) -> Any:
        flush, Database.flush = Database.flush, lambda self: None  # type: ignore[method-assign]
        try:
            return get(self, key, *rest)
        finally:
            Database.flush = flush  # type: ignore[method-assign]

    Namespace.get = too_early  # type: ignore[method-assign]


def commits_each_statement() -> None:
    @contextmanager
    def none(self: SqlDatabase, *, writes: bool) -> Iterator[None]:
        yield

    SqlDatabase.transaction = none  # type: ignore[method-assign]


DATA_SABOTAGES: Final[dict[Callable[[], None], Shown]] = {
    forgets_what_is_in_delivery: Shown("sends", NOTED),
    tells_before_it_has_ended: Shown("sends", BEFORE),
    does_not_end_deliveries: Shown("sends", NOTED),
    does_not_count_interrupted_deliveries: Shown("sends", NOTED),
    buries_after_the_end: Shown("dying", AFTER),
    delivers_what_is_not_leased: Shown("sends", REFUSED),
    stores_a_batch_in_parts: Shown("sends", AFTER),
    replaces_a_value_in_two_steps: Shown("puts", AFTER),
    reads_what_is_not_committed: Shown("puts", BEFORE),
    commits_each_statement: Shown("rows", AFTER),
}
