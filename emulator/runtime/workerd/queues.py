"""Queues of a JavaScript Worker. Sending, behind workerd's `queue` binding: POST /message and /batch, GET /metrics.
Delivering: a batch goes to `js/queues.js`, which calls the Worker's `queue` handler, and what it says comes back.

Sources: workerd src/workerd/api/queue.c++, api/http.c++ (Fetcher::queue); what producers are answered, miniflare's
src/workers/queues/broker.worker.ts.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any, Final

from flarebed.bindings import codec, v8
from flarebed.bindings.queues import errors
from flarebed.bindings.queues.backlog import Message, Metrics, Outgoing
from flarebed.bindings.queues.binding import Delivery, WorkerQueue, service_of
from flarebed.bindings.queues.service import Service
from flarebed.bindings.queues.verdict import Verdict
from flarebed.emulator.runtime.workerd import wire
from flarebed.emulator.runtime.workerd.host import Adapter, Answered, Asked, refused

_FORMAT: Final = "x-msg-fmt"
_DELAY: Final = "x-msg-delay-secs"
_DEFAULT_FORMAT: Final = "v8"
_TEXTS: Final = frozenset({"json", "text"})
DELIVER: Final = "/queue"
"""Where `js/control.js` takes batches, below the Worker's own path."""


def adapter(queue: WorkerQueue) -> Adapter:
    service = service_of(queue)

    async def answer(asked: Asked) -> Answered:
        try:
            return _json(await _answer(service, asked))
        except errors.Refused as refusal:
            return refused(500, refusal.text)

    return answer


async def _answer(service: Service, asked: Asked) -> dict[str, Any]:
    if asked.path == "/metrics":
        return _shown(service.metrics())
    delay_s = int(asked.headers.get(_DELAY, "0"))
    if asked.path == "/message":
        content_type = asked.headers.get(_FORMAT, _DEFAULT_FORMAT)
        before = await service.send(_outgoing(content_type, await asked.body(), delay_s))
    else:
        given = json.loads(await asked.body())
        before = await service.send_batch([_item(item, delay_s) for item in given["messages"]], delay_s)
    return {"metadata": {"metrics": _shown(before)}}


def _item(item: Mapping[str, Any], batch_delay_s: int) -> Outgoing:
    content_type = item.get("contentType", _DEFAULT_FORMAT)
    return _outgoing(content_type, base64.b64decode(item["body"]), item.get("delaySecs", batch_delay_s))


def _outgoing(content_type: str, body: bytes, delay_s: int) -> Outgoing:
    """A lone surrogate comes as three bytes, which are no UTF-8."""
    if content_type in _TEXTS and not body.isascii():
        body = body.decode("utf-8", "replace").encode()
    return Outgoing(content_type, body, delay_s)


def _shown(metrics: Metrics) -> dict[str, Any]:
    """workerd takes a 0 for no time."""
    oldest_ms = 0 if metrics.oldest_ms is None else metrics.oldest_ms
    return {
        "backlogCount": metrics.messages,
        "backlogBytes": metrics.bytes,
        "oldestMessageTimestamp": oldest_ms,
    }


def _json(value: Any) -> Answered:
    return Answered(body=wire.dumps(value).encode())


# Delivering


def to_deliver(delivery: Delivery) -> bytes:
    """The batch for `js/queues.js`. A body that is JSON stands in this JSON as it is."""
    messages = b",".join(map(_to_deliver, delivery.messages))
    head = wire.dumps({"queue": delivery.queue, "metadata": {"metrics": _shown(delivery.metrics)}}).encode()
    return b'%b,"messages":[%b]}' % (head[:-1], messages)


def _to_deliver(message: Message) -> bytes:
    kind, body = _body(message)
    head = wire.dumps([message.id, message.enqueued_ms, message.attempts + 1, kind]).encode()
    return b"%b,%b]" % (head[:-1], body)


def _body(message: Message) -> tuple[str, bytes]:
    """How `js/queues.js` reads it, and in that form."""
    content_type, body = message.content_type, message.body
    if content_type == "json":
        return "json", body
    if content_type == "text":
        return "json", wire.dumps(body.decode()).encode()
    if content_type == "bytes" or v8.is_v8(body):
        return content_type, b'"%b"' % base64.b64encode(body)
    return "wire", wire.dumps(wire.to_wire(codec.decode(body), wire.no_function)).encode("utf-8", "surrogatepass")


def take(result: Mapping[str, Any], verdict: Verdict) -> None:
    """What the handler said (workerd api/http.h, Fetcher::QueueResult)."""
    retried = {each["msgId"]: each.get("delaySeconds") for each in result["retryMessages"]}
    batch = result["retryBatch"]
    verdict.replace(result["explicitAcks"], retried, result["ackAll"], batch["retry"], batch.get("delaySeconds"))
