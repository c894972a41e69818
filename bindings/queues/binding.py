"""What a Worker sees of queues: WorkerQueue to send with, QueueController and QueueMessage in its `queue` handler.

Classes and coercions of workerd's `api/queue.c++`; the messages themselves are in `backlog.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import apsw

from flarebed.bindings.queues import errors
from flarebed.bindings.queues.backlog import Backlog, Message, Metrics, Outgoing
from flarebed.bindings.queues.body import (
    NO_JSON,
    checked_content_type,
    default_content_type,
    deserialize,
    serialize,
)
from flarebed.bindings.queues.verdict import Verdict
from flarebed.bindings.values import UNDEFINED, Date, Map, Set, View
from flarebed.bindings.webidl import ABSENT, members, optional_integer, string, wrong_parameter

MAX_MESSAGE_BYTES: Final = 128_000
MAX_BATCH_BYTES: Final = 288_000
"""Documented as 256 KB; what the service counts leaves room for 32 KB more (observed on wrangler 4.164)."""
MAX_BATCH_COUNT: Final = 100
MAX_DELAY_S: Final = 86_400


class WorkerQueue:
    """https://developers.cloudflare.com/queues/configuration/javascript-apis/#queue"""

    def __init__(
        self,
        backlog: Backlog,
        flags: frozenset[str],
        written: Callable[[], None],
        warn: Callable[[str], None],
    ) -> None:
        """`written` is called when new messages are committed; `warn` tells why the service refused some."""
        self._backlog = backlog
        self._flags = flags
        self._default = default_content_type(flags)
        self._written = written
        self._warn = warn

    async def send(self, body: Any = ABSENT, options: Any = UNDEFINED) -> dict[str, Any]:
        """Resolves when the message is stored, with the queue's metrics before it."""
        if body is ABSENT:
            raise wrong_parameter("WorkerQueue", "send", 1, "Value")
        fields = members(options)
        if fields is None:
            raise wrong_parameter("WorkerQueue", "send", 2, "SendOptions")
        content_type = _optional_text(fields.get("contentType", UNDEFINED))
        delay_s = optional_integer(fields.get("delaySeconds", UNDEFINED))
        if body is UNDEFINED:
            raise errors.undefined_body()
        content_type = self._default if content_type is None else checked_content_type(content_type)
        content = serialize(body, content_type)
        if content_type == "bytes":
            body.buffer.detach()  # send() takes the buffer, sendBatch() does not
        return await self._store("send", [Outgoing(content_type, content, delay_s or 0)], _check_message)

    async def sendBatch(self, messages: Any = ABSENT, options: Any = UNDEFINED) -> dict[str, Any]:
        items = _sequence(messages)
        if items is None:
            raise wrong_parameter("WorkerQueue", "sendBatch", 1, "Sequence")
        requests = [_request(item) for item in items]
        fields = members(options)
        if fields is None:
            raise wrong_parameter("WorkerQueue", "sendBatch", 2, "SendBatchOptions")
        delay_s = optional_integer(fields.get("delaySeconds", UNDEFINED)) or 0
        if not requests:
            raise errors.empty_batch()
        batch = [self._outgoing(*request, delay_s) for request in requests]
        return await self._store("sendBatch", batch, lambda batch: _check_batch(batch, delay_s))

    async def metrics(self) -> dict[str, Any]:
        """Of the messages that wait, without those that are delayed or in delivery."""
        return shown(self._backlog.metrics())

    def _outgoing(self, body: Any, content_type: str | None, delay_s: int | None, batch_delay_s: int) -> Outgoing:
        if body is UNDEFINED:
            raise errors.undefined_body()
        if content_type is None:
            content_type = self._default
        else:
            checked_content_type(content_type)  # in any case of letters, but serialize() wants lower case, as queue.c++
        return Outgoing(content_type, serialize(body, content_type), batch_delay_s if delay_s is None else delay_s)

    async def _store(
        self, operation: str, messages: list[Outgoing], check: Callable[[list[Outgoing]], None]
    ) -> dict[str, Any]:
        try:
            check(messages)
        except errors.Refused as refused:
            if errors.EXPOSE_ERROR_CODES in self._flags:
                self._warn(f"{operation}() failed: {refused.cause}")
            raise errors.failed(operation, refused, self._flags) from None
        try:
            before = self._backlog.append(messages)
            await self._backlog.durable()
        except apsw.Error as error:  # a full disk, say
            self._warn(f"{operation}() failed: {error}")
            raise errors.failed(operation, errors.not_stored(), self._flags) from None
        self._written()
        return {"metadata": {"metrics": shown(before)}}


class QueueMessage:
    """https://developers.cloudflare.com/queues/configuration/javascript-apis/#message"""

    def __init__(self, message: Message, verdict: Verdict) -> None:
        self._verdict = verdict
        self.id = message.id
        self.timestamp = Date(message.enqueued_ms)
        self.body = deserialize(message.body, message.content_type)
        self.attempts = message.attempts + 1

    def ack(self) -> Any:
        self._verdict.ack(self.id)
        return UNDEFINED

    def retry(self, options: Any = UNDEFINED) -> Any:
        self._verdict.retry(self.id, _retry_delay("QueueMessage", "retry", options))
        return UNDEFINED


class QueueController:
    """https://developers.cloudflare.com/queues/configuration/javascript-apis/#messagebatch"""

    def __init__(self, queue: str, messages: Sequence[Message], metrics: Metrics, verdict: Verdict) -> None:
        """`metrics` are those without this batch."""
        self._verdict = verdict
        self.metadata = {"metrics": shown(metrics)}
        self.queue = queue
        self.messages = [QueueMessage(message, verdict) for message in messages]

    def ackAll(self) -> Any:
        self._verdict.ack_all()
        return UNDEFINED

    def retryAll(self, options: Any = UNDEFINED) -> Any:
        self._verdict.retry_all(_retry_delay("QueueController", "retryAll", options))
        return UNDEFINED


def shown(metrics: Metrics) -> dict[str, Any]:
    """Metrics as a Worker sees them."""
    return {
        "backlogCount": metrics.messages,
        "backlogBytes": metrics.bytes,
        "oldestMessageTimestamp": UNDEFINED if metrics.oldest_ms is None else Date(metrics.oldest_ms),
    }


def _retry_delay(interface: str, method: str, options: Any) -> int | None:
    fields = members(options)
    if fields is None:
        raise wrong_parameter(interface, method, 1, "QueueRetryOptions")
    return optional_integer(fields.get("delaySeconds", UNDEFINED))


def _sequence(value: Any) -> list[Any] | None:
    """What JavaScript can iterate; a string's letters are no sequence."""
    if isinstance(value, list):
        return value
    if isinstance(value, Set):
        return list(value)
    if isinstance(value, Map):
        return [[key, item] for key, item in value.items()]
    return value.elements() if isinstance(value, View) and value.kind != "DataView" else None


def _request(item: Any) -> tuple[Any, str | None, int | None]:
    """Body, content type and delay of one member of sendBatch's argument."""
    if item is None or item is UNDEFINED:
        raise errors.no_item()
    fields = members(item)
    if fields is None:
        raise errors.wrong_item()
    return (
        fields.get("body", UNDEFINED),
        _optional_text(fields.get("contentType", UNDEFINED)),
        optional_integer(fields.get("delaySeconds", UNDEFINED)),
    )


def _optional_text(value: Any) -> str | None:
    return None if value is UNDEFINED else string(value)


def _check_message(messages: list[Outgoing]) -> None:
    (message,) = messages
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
