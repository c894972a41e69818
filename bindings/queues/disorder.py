"""What production may do at any time, done on purpose: a message comes once more, messages come in another order.

Queues promise delivery at least once and no order, so a consumer has to bear both. With `queue_duplicates` and
`queue_shuffle` (`kind.Modes`) a test or a developer sees whether it does. Nothing is lost by it: a message that comes
once more is put back in the transaction that ends its delivery, so it outlives the process.

https://developers.cloudflare.com/queues/reference/delivery-guarantees/
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from flarebed.bindings.kind import Surroundings
from flarebed.bindings.queues.backlog import Backlog, Message

REDELIVERY_S: Final = 30
"""Within this time what is acknowledged comes once more: as if the acknowledgement had come too late, after the
visibility timeout (https://developers.cloudflare.com/queues/configuration/pull-consumers/ has that of 30 seconds)."""
SPAN_BATCHES: Final = 10
"""How many batches' messages are mixed."""


class Disorder:
    """Of one consumer. Chance comes from `Surroundings.entropy`, so a seeded test sees the same each time."""

    def __init__(self, around: Surroundings) -> None:
        self._share = around.modes.queue_duplicates
        self._shuffles = around.modes.queue_shuffle
        self._entropy = around.entropy
        self._repeated: set[str] = set()

    def mix(self, backlog: Backlog, batch_size: int) -> None:
        """To be called before a batch is taken."""
        if self._shuffles:
            backlog.shuffle(batch_size * SPAN_BATCHES, self._entropy)

    def repeats(self, done: Iterable[Message]) -> list[tuple[Message, float]]:
        """Which of these acknowledged messages come once more, and after how many seconds; each at most once."""
        if not self._share:
            return []
        again = [message for message in done if self._is_to_repeat(message)]
        self._repeated.update(message.id for message in again)
        return [(message, self._entropy.uniform(0, REDELIVERY_S)) for message in again]

    def _is_to_repeat(self, message: Message) -> bool:
        if message.id in self._repeated:
            self._repeated.remove(message.id)
            return False
        return self._entropy.random() < self._share
