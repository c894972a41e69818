"""Workflows behind workerd's own binding (`cloudflare-internal:workflows-api`), whose calls `js/workflows.js` hands on:
POST /<method> with the arguments, answered by the value or the error; for a subscription by a line for each event.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from typing import Any, Final

from flarebed.bindings.errors import JsError
from flarebed.bindings.values import ArrayBuffer
from flarebed.bindings.workflows.binding import InstanceImpl, WorkflowImpl
from flarebed.bindings.workflows.subscription import WorkflowSubscription
from flarebed.emulator.runtime.workerd import wire
from flarebed.emulator.runtime.workerd.host import Adapter, Answered, Asked

_OF_WORKFLOW: Final = frozenset({"create", "createBatch", "deleteBatch", "get"})
_LINES: Final = (("content-type", "application/jsonl"),)


def adapter(workflow: WorkflowImpl) -> Adapter:
    async def answer(asked: Asked) -> Answered:
        method, arguments = asked.path[1:], wire.from_wire(json.loads(await asked.body()), wire.no_function)
        try:
            value = await _call(workflow, method, *arguments)
        except JsError as error:
            return Answered(body=_thrown(error))
        if isinstance(value, WorkflowSubscription):
            return Answered(body=_events(workflow, value), headers=_LINES)
        return Answered(body=_given(_plain(value)))

    return answer


async def _call(workflow: WorkflowImpl, method: str, *arguments: Any) -> Any:
    if method in _OF_WORKFLOW:
        return await getattr(workflow, method)(*arguments)
    instance = InstanceImpl(arguments[0], workflow._workflow)
    call = getattr(instance, method)(*arguments[1:])
    if method != "terminate":
        return await call
    with _in_time(workflow):
        return await call


@contextmanager
def _in_time(workflow: WorkflowImpl) -> Iterator[None]:
    """What goes on here may need time to pass: it is no operation outside, which would keep a clock from moving."""
    clock = workflow._workflow._clock
    clock.outside -= 1
    try:
        yield
    finally:
        clock.outside += 1


async def _events(workflow: WorkflowImpl, subscription: WorkflowSubscription) -> AsyncGenerator[bytes, None]:
    while True:
        try:
            with _in_time(workflow):
                following = await subscription.next()
        except JsError as error:
            yield _thrown(error) + b"\n"
            return
        yield await _told(following) + b"\n"
        if following["done"]:
            return


async def _told(following: dict[str, Any]) -> bytes:
    """A step's output that is a stream goes as bytes."""
    event = following["value"]
    stream: Any = event.get("output") if isinstance(event, dict) else None
    if not hasattr(stream, "__aiter__"):
        return _given(following)
    content = ArrayBuffer(b"".join([chunk async for chunk in stream]))
    return _given({"done": False, "value": {**event, "output": content}, "isStream": True})


def _plain(value: Any) -> Any:
    if isinstance(value, InstanceImpl):
        return {"id": value.id}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


def _given(value: Any) -> bytes:
    return wire.encoded({"value": wire.to_wire(value, wire.no_function)})


def _thrown(error: JsError) -> bytes:
    return wire.encoded({"error": wire.error_to_wire(error, wire.no_function)})
