"""What a Worker sees of queues: WorkerQueue to send with, QueueController and QueueMessage in its `queue` handler.

Classes and coercions of workerd's `api/queue.c++`; what is sent goes through `service.py`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from flarebed.bindings.queues import errors
from flarebed.bindings.queues.backlog import Message, Metrics, Outgoing
from flarebed.bindings.queues.body import (
    checked_content_type,
    default_content_type,
    deserialize,
    serialize,
)
from flarebed.bindings.queues.service import Service
from flarebed.bindings.queues.verdict import Verdict
from flarebed.bindings.values import UNDEFINED, Date, Map, Set, View
from flarebed.bindings.webidl import ABSENT, members, optional_integer, string, wrong_parameter


class WorkerQueue:
    """https://developers.cloudflare.com/queues/configuration/javascript-apis/#queue"""

    def __init__(self, service: Service, flags: frozenset[str]) -> None:
        self._service = service
        self._flags = flags
        self._default = default_content_type(flags)

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
        return await self._told("send", self._service.send(Outgoing(content_type, content, delay_s or 0)))

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
        return await self._told("sendBatch", self._service.send_batch(batch, delay_s))

    async def metrics(self) -> dict[str, Any]:
        return shown(self._service.metrics())

    def _outgoing(self, body: Any, content_type: str | None, delay_s: int | None, batch_delay_s: int) -> Outgoing:
        if body is UNDEFINED:
            raise errors.undefined_body()
        if content_type is None:
            content_type = self._default
        else:
            checked_content_type(content_type)  # in any case of letters, but serialize() wants lower case, as queue.c++
        return Outgoing(content_type, serialize(body, content_type), batch_delay_s if delay_s is None else delay_s)

    async def _told(self, operation: str, sending: Awaitable[Metrics]) -> dict[str, Any]:
        try:
            return {"metadata": {"metrics": shown(await sending)}}
        except errors.Refused as refused:
            raise errors.failed(operation, refused, self._flags) from None


def service_of(queue: WorkerQueue) -> Service:
    """What a binding sends to, for a client that does the rest itself."""
    return queue._service


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
        self._stored = messages
        self._metrics = metrics
        self._verdict = verdict
        self.queue = queue

    @cached_property
    def messages(self) -> list[QueueMessage]:
        return [QueueMessage(message, self._verdict) for message in self._stored]

    @cached_property
    def metadata(self) -> dict[str, Any]:
        return {"metrics": shown(self._metrics)}

    def ackAll(self) -> Any:
        self._verdict.ack_all()
        return UNDEFINED

    def retryAll(self, options: Any = UNDEFINED) -> Any:
        self._verdict.retry_all(_retry_delay("QueueController", "retryAll", options))
        return UNDEFINED


class Delivery(NamedTuple):
    """What is behind a QueueController, for a runtime whose own one it is that the Worker sees."""

    queue: str
    messages: Sequence[Message]
    metrics: Metrics
    verdict: Verdict


def delivery_of(batch: QueueController) -> Delivery:
    return Delivery(batch.queue, batch._stored, batch._metrics, batch._verdict)


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
