"""Workflows behind workerd's own binding (`cloudflare-internal:workflows-api`), whose calls `js/control.js` hands on:
POST /<method> with the arguments, answered by the value or the error.
"""

from __future__ import annotations

import json
from typing import Any

from flarebed.bindings.errors import JsError
from flarebed.bindings.workflows.binding import InstanceImpl, WorkflowImpl
from flarebed.emulator.runtime.workerd import wire
from flarebed.emulator.runtime.workerd.host import Adapter, Answered, Asked


def adapter(workflow: WorkflowImpl) -> Adapter:
    async def answer(asked: Asked) -> Answered:
        method, arguments = asked.path[1:], wire.from_wire(json.loads(await asked.body()), wire.no_function)
        try:
            value = await _call(workflow, method, *arguments)
        except JsError as error:
            return _answered({"error": wire.error_to_wire(error, wire.no_function)})
        return _answered({"value": wire.to_wire(_plain(value), wire.no_function)})

    return answer


async def _call(workflow: WorkflowImpl, method: str, *arguments: Any) -> Any:
    match method:
        case "create" | "createBatch" | "deleteBatch" | "get":
            return await getattr(workflow, method)(*arguments)
    instance = await workflow.get(arguments[0])
    return await getattr(instance, method)(*arguments[1:])


def _plain(value: Any) -> Any:
    if isinstance(value, InstanceImpl):
        return {"id": value.id}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


def _answered(answer: dict[str, Any]) -> Answered:
    return Answered(body=wire.dumps(answer).encode())
