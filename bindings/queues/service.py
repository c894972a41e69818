"""A queue as the service takes messages for it: what is wrong is Refused. `backlog.py` stands below.

Two clients stand above: `binding.py`, for a Worker in this process, and workerd's own, which asks over HTTP.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import apsw

from flarebed.bindings.queues import errors
from flarebed.bindings.queues.backlog import Backlog, Metrics, Outgoing
from flarebed.bindings.queues.body import NO_JSON

MAX_MESSAGE_BYTES: Final = 128_000
MAX_BATCH_BYTES: Final = 288_000
"""Documented as 256 KB; what the service counts leaves room for 32 KB more (observed on wrangler 4.164)."""
MAX_BATCH_COUNT: Final = 100
MAX_DELAY_S: Final = 86_400


class Service:
    """`written` is called when new messages are committed; `warn` tells why messages were refused, if that is all that
    tells (`is_opaque`)."""

    def __init__(
        self, backlog: Backlog, written: Callable[[], None], warn: Callable[[str], None], *, is_opaque: bool
    ) -> None:
        self._backlog = backlog
        self._written = written
        self._warn = warn
        self._is_opaque = is_opaque

    async def send(self, message: Outgoing) -> Metrics:
        """Returns when the message is stored, with the queue's metrics before it."""
        return await self._store("send", [message], lambda: _check_message(message))

    async def send_batch(self, messages: list[Outgoing], delay_s: int) -> Metrics:
        return await self._store("sendBatch", messages, lambda: _check_batch(messages, delay_s))

    def metrics(self) -> Metrics:
        """Of the messages that wait, without those that are delayed or in delivery."""
        return self._backlog.metrics()

    async def _store(self, operation: str, messages: list[Outgoing], check: Callable[[], None]) -> Metrics:
        try:
            check()
        except errors.Refused as refused:
            if self._is_opaque:
                self._warn(f"{operation}() failed: {refused.cause}")
            raise
        try:
            before = self._backlog.append(messages)
            await self._backlog.durable()
        except apsw.Error as error:  # a full disk, say
            self._warn(f"{operation}() failed: {error}")
            raise errors.not_stored() from None
        self._written()
        return before


def _check_message(message: Outgoing) -> None:
    if len(message.body) > MAX_MESSAGE_BYTES:
        raise errors.message_too_long(len(message.body), MAX_MESSAGE_BYTES)
    _check_delay(message.delay_s)
    _check_json(message)


def _check_batch(messages: list[Outgoing], delay_s: int) -> None:
    if len(messages) > MAX_BATCH_COUNT:
        raise errors.too_many_messages(len(messages), MAX_BATCH_COUNT)
    lengths = [len(message.body) for message in messages]
    if max(lengths) > MAX_MESSAGE_BYTES:
        raise errors.item_too_long(max(lengths), MAX_MESSAGE_BYTES)
    if sum(lengths) > MAX_BATCH_BYTES:
        raise errors.batch_too_long(sum(lengths), MAX_BATCH_BYTES)
    if not 0 <= delay_s <= MAX_DELAY_S:
        raise errors.wrong_batch_delay(delay_s, MAX_DELAY_S)
    for message in messages:
        _check_delay(message.delay_s)
        _check_json(message)


def _check_delay(delay_s: int) -> None:
    if not 0 <= delay_s <= MAX_DELAY_S:
        raise errors.wrong_delay(delay_s, MAX_DELAY_S)


def _check_json(message: Outgoing) -> None:
    if message.body == NO_JSON and message.content_type == "json":
        raise errors.not_json()
