"""Queues behind workerd's `queue` binding: POST /message, POST /batch, GET /metrics.

Source: workerd src/workerd/api/queue.c++.
"""

from __future__ import annotations

import json

from flarebed.bindings.errors import JsError
from flarebed.bindings.queues.binding import WorkerQueue
from flarebed.bindings.values import Date
from flarebed.emulator.runtime.workerd import wire
from flarebed.emulator.runtime.workerd.host import Adapter, Answered, Asked


def adapter(queue: WorkerQueue) -> Adapter:
    async def answer(asked: Asked) -> Answered:
        try:
            sent = await queue.send(json.loads(await asked.body()))
        except JsError as error:
            return Answered(500, reason=error.message)
        metrics = sent["metadata"]["metrics"]
        oldest = metrics["oldestMessageTimestamp"]
        shown = {**metrics, "oldestMessageTimestamp": oldest.ms if isinstance(oldest, Date) else 0}
        return Answered(body=wire.dumps({"metadata": {"metrics": shown}}).encode())

    return answer
