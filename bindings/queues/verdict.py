"""What a Worker says about the messages of one batch: ack, retry, or nothing.

Pure. The first word counts and a contradiction is only warned about (workerd `api/queue.c++`); a word about one message
beats one about the batch, and an explicit ack survives an exception, as in production. (wrangler dev redelivers.)

https://developers.cloudflare.com/queues/configuration/batching-retries/#explicit-acknowledgement-and-retries
"""

from __future__ import annotations

from collections.abc import Callable, Iterable


class Verdict:
    """Delays are seconds; None where the Worker named none. `warn` writes to the Worker's console.

    `acked` has the ids, `retried` also their delays; `all_acked`, `all_retried` and `all_delay_s` are of the batch.
    """

    def __init__(self, warn: Callable[[str], None]) -> None:
        self._warn = warn
        self.acked: set[str] = set()
        self.retried: dict[str, int | None] = {}
        self.all_acked = False
        self.all_retried = False
        self.all_delay_s: int | None = None

    def replace(
        self, acked: Iterable[str], retried: dict[str, int | None], all_acked: bool, all_retried: bool,
        all_delay_s: int | None,
    ) -> None:  # fmt: skip
        """What a Worker has said to workerd, which has judged it and warned already."""
        self.acked = set(acked)
        self.retried = retried
        self.all_acked = all_acked
        self.all_retried = all_retried
        self.all_delay_s = all_delay_s

    def ack(self, message_id: str) -> None:
        if self.all_acked:
            return
        if self.all_retried:
            self._contradiction(f"ack() on message {message_id}", "ack() on a message", "retryAll()")
        elif message_id in self.retried:
            self._contradiction(f"ack() on message {message_id}", "ack() on a message", "retry()")
        else:
            self.acked.add(message_id)

    def retry(self, message_id: str, delay_s: int | None) -> None:
        if self.all_acked:
            self._contradiction(f"retry() on message {message_id}", "retry() on a message", "ackAll()")
        elif message_id in self.acked:
            self._contradiction(f"retry() on message {message_id}", "retry() on a message", "ack()")
        else:
            self.retried[message_id] = delay_s  # one without a delay takes that of an earlier one away (`upsert` there)

    def ack_all(self) -> None:
        if self.all_retried:
            self._contradiction("ackAll()", "ackAll()", "retryAll()")
        else:
            self.all_acked = True

    def retry_all(self, delay_s: int | None) -> None:
        if self.all_acked:
            self._contradiction("retryAll()", "retryAll()", "ackAll()")
            return
        self.all_retried = True
        if delay_s is not None:
            self.all_delay_s = delay_s

    def retry_delay_s(self, message_id: str, default_s: float, *, threw: bool) -> float | None:
        """After how many seconds the message comes again, or None if it is done."""
        if message_id in self.acked:
            return None
        of_batch_s = default_s if self.all_delay_s is None else self.all_delay_s
        if message_id in self.retried:
            delay_s = self.retried[message_id]
            return of_batch_s if delay_s is None else delay_s
        if self.all_acked or not (self.all_retried or threw):
            return None
        return of_batch_s

    def _contradiction(self, call: str, kind: str, earlier: str) -> None:
        self._warn(
            f"Received a call to {call} after {earlier} was already called. "
            f"Calling {kind} after calling {earlier} has no effect."
        )
