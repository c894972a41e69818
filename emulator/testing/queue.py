"""A batch of messages handed straight to a Worker's `queue` handler, and what it said about them.

The words are those of Cloudflare's `getQueueResult`. To test delivery itself (batching, retries, dead letters), send to
the queue's binding and `drain`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from flarebed.bindings.errors import JsError, UserError
from flarebed.bindings.queues.backlog import RETENTION_MS, Metrics
from flarebed.bindings.queues.backlog import Message as Stored
from flarebed.bindings.queues.binding import QueueController
from flarebed.bindings.queues.verdict import Verdict
from flarebed.emulator.app import App
from flarebed.emulator.testing.uncaught import raise_as_thrown


@dataclass(frozen=True)
class Message:
    """A message to deliver: `body` is JSON, text or bytes; `attempts` counts this delivery."""

    body: Any
    id: str | None = None
    attempts: int = 1
    timestamp_ms: float | None = None


@dataclass(frozen=True)
class RetryMessage:
    msg_id: str
    delay_seconds: int | None = None


@dataclass(frozen=True)
class RetryBatch:
    retry: bool
    delay_seconds: int | None = None


@dataclass(frozen=True)
class QueueResult:
    """What the handler said. `acked` and `retried` are what comes of it: each message is in one of them."""

    outcome: Literal["ok", "exception"]
    ack_all: bool
    retry_batch: RetryBatch
    explicit_acks: list[str]
    retry_messages: list[RetryMessage]
    acked: list[str]
    retried: list[str]
    error: BaseException | None = field(default=None, compare=False)


async def deliver(
    app: App, queue: str, messages: Sequence[Any], now_ms: float, *, raise_exceptions: bool
) -> QueueResult:
    if isinstance(messages, str | bytes | Message):
        raise UserError(f"The messages of a batch are a list, not {messages!r}.")
    __tracebackhide__ = True
    stored = [_stored(number, message, now_ms) for number, message in enumerate(messages, 1)]
    verdict = Verdict(lambda text: app.worker.services.log("warn", text))
    error: BaseException | None = None
    try:
        await app.worker.queue(QueueController(queue, stored, Metrics(0, 0, None), verdict))
    except JsError as thrown:
        if raise_exceptions:
            raise_as_thrown(thrown, app.config.code_folder())
        error = thrown.thrown if isinstance(thrown.thrown, BaseException) else thrown
    return _result(verdict, [message.id for message in stored], error)


def _stored(number: int, message: Any, now_ms: float) -> Stored:
    given = message if isinstance(message, Message) else Message(message)
    sent_ms = int(now_ms if given.timestamp_ms is None else given.timestamp_ms)
    content_type, body = _content(given.body)
    return Stored(given.id or str(number), content_type, sent_ms, sent_ms + RETENTION_MS, given.attempts - 1, body)


def _content(body: Any) -> tuple[str, bytes]:
    if isinstance(body, bytes):
        return "bytes", body
    return ("text", body.encode()) if isinstance(body, str) else ("json", json.dumps(body).encode())


def _result(verdict: Verdict, ids: list[str], error: BaseException | None) -> QueueResult:
    again = [id for id in ids if verdict.retry_delay_s(id, 0, threw=error is not None) is not None]
    return QueueResult(
        outcome="ok" if error is None else "exception",
        ack_all=verdict.all_acked,
        retry_batch=RetryBatch(verdict.all_retried, verdict.all_delay_s),
        explicit_acks=[id for id in ids if id in verdict.acked],
        retry_messages=[RetryMessage(id, verdict.retried[id]) for id in ids if id in verdict.retried],
        acked=[id for id in ids if id not in again],
        retried=again,
        error=error,
    )
