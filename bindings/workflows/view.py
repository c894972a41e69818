"""How an instance is shown: the answer of `status()`.

The real engine keeps results for showing as JSON, with what JSON can't hold described; the values themselves stay in
the journal (workers-sdk packages/workflows-shared/src/engine.ts, and observations on wrangler 4.164).
"""

from __future__ import annotations

import json
import math
from typing import Any, Final

from flarebed.bindings.codec import decode
from flarebed.bindings.ecma import order_keys
from flarebed.bindings.ecma_date import date_to_iso
from flarebed.bindings.values import UNDEFINED, ArrayBuffer, BigInt, Date, Error, View
from flarebed.bindings.workflows.journal import Instance
from flarebed.bindings.workflows.streams import StoredStream

WAITING: Final = "waiting"
"""What a running instance that only sleeps or waits for an event is called, as in production.

https://developers.cloudflare.com/workflows/build/workers-api/#instancestatus; wrangler 4.164 says "running".
"""


def status(instance: Instance, waiting: bool, outputs: list[Any]) -> dict[str, Any]:
    """`__LOCAL_DEV_STEP_OUTPUTS` is wrangler's addition: what steps returned, and the payloads of events."""
    order = json.loads(instance.rollback or "{}")
    shown = "rollingBack" if order and instance.status == "queued" else instance.status
    rolled_back = {"rollback": {"outcome": order["outcome"], "error": order.get("error")}} if "outcome" in order else {}
    return {
        "status": WAITING if waiting else shown,
        "__LOCAL_DEV_STEP_OUTPUTS": outputs,
        "output": None if instance.output is None else _or(None, describe(decode(instance.output))),
        "error": UNDEFINED if instance.error is None else json.loads(instance.error),
        **rolled_back,
    }


def output(kind: str, value: Any) -> Any:
    """A step's, as it is shown; of a `wait` the event's payload is."""
    if isinstance(value, StoredStream):
        return value.preview()
    return describe(value["payload"] if kind == "wait" else value)


def describe(value: Any) -> Any:
    """`value` after JSON.stringify with the engine's replacer, and JSON.parse; UNDEFINED if nothing is left of it."""
    try:
        return _describe(value)
    except RecursionError:
        return "[Circular]"


def _describe(value: Any) -> Any:
    if isinstance(value, BigInt):
        return f"[BigInt({int(value)})]"
    if isinstance(value, Date):
        return None if math.isnan(value.ms) else date_to_iso(value.ms)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, ArrayBuffer):
        return f"[ArrayBuffer({len(value)} bytes)]"
    if isinstance(value, View) and value.kind != "DataView":
        return f"[{value.kind}({value.byte_length} bytes)]"
    if isinstance(value, list):
        return [_or(None, _describe(item)) for item in value]
    if isinstance(value, dict | Error):
        members = order_keys(value) if isinstance(value, dict) else value.properties
        described = {key: _describe(member) for key, member in members.items()}
        return {key: member for key, member in described.items() if member is not UNDEFINED}
    return value if value is None or value is UNDEFINED or isinstance(value, str | int) else {}


def _or(default: Any, value: Any) -> Any:
    return default if value is UNDEFINED else value
