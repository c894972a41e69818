"""How an instance is shown: the answer of `status()`, and its details as Cloudflare's API gives them.

The real engine keeps results for showing as JSON, with what JSON can't hold described; the values themselves stay in
the journal (workers-sdk packages/workflows-shared/src/engine.ts, and observations on wrangler 4.164).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any, Final

from flarebed.bindings.codec import decode
from flarebed.bindings.ecma import order_keys
from flarebed.bindings.ecma_date import date_to_iso
from flarebed.bindings.values import UNDEFINED, ArrayBuffer, BigInt, Boxed, Date, Error, SparseArray, View
from flarebed.bindings.workflows import history, retry
from flarebed.bindings.workflows.history import Stage
from flarebed.bindings.workflows.journal import Instance
from flarebed.bindings.workflows.streams import StoredStream

Shown = Callable[[int, bytes | None, bytes | None], Any]
"""The value to show of a step by its seq, result and config: `outcome.shown_output` of an instance."""

WAITING: Final = "waiting"
"""What a running instance that only sleeps or waits for an event is called, as in production.

https://developers.cloudflare.com/workflows/build/workers-api/#instancestatus; wrangler 4.164 says "running".
"""


def status(instance: Instance, waiting: bool, outputs: list[Any]) -> dict[str, Any]:
    """`__LOCAL_DEV_STEP_OUTPUTS` is wrangler's addition: what steps returned, and the payloads of events."""
    return {
        "status": _status(instance, waiting),
        "__LOCAL_DEV_STEP_OUTPUTS": outputs,
        "output": None if instance.output is None else _or(None, describe(decode(instance.output))),
        "error": UNDEFINED if instance.error is None else json.loads(instance.error),
        **_rollback(instance),
    }


def output(kind: str, value: Any) -> Any:
    """A step's, as it is shown; of a `wait` the event's payload is."""
    if isinstance(value, StoredStream):
        return value.preview()
    return describe(value["payload"] if kind == "wait" else value)


def detail(instance: Instance, waiting: bool, stages: list[Stage], shown: Shown) -> dict[str, Any]:
    """Of REST's `GET /workflows/:name/instances/:id` what is known here; the form is that of wrangler's explorer."""
    steps = [step(stage, shown) for stage in stages]
    ended = instance.ended_ms is not None
    return {
        "status": _status(instance, waiting),
        "params": _or(None, describe(decode(instance.params))),
        "queued": date_to_iso(instance.created_ms),
        "start": _time(instance.started_ms),
        "end": _time(instance.ended_ms),
        "success": instance.status == "complete" if ended else None,
        "output": None if instance.output is None else _or(None, describe(decode(instance.output))),
        "error": None if instance.error is None else _error(instance.error),
        "steps": steps,
        "step_count": len(steps),
        **_rollback(instance),
        **({} if instance.schedule is None else {"schedule": json.loads(instance.schedule)}),
    }


def step(stage: Stage, shown: Shown) -> dict[str, Any]:
    times = {
        "name": label(stage),
        "start": date_to_iso(stage.started_ms),
        "end": _time(stage.ended_ms),
    }
    error = None if stage.error is None else _error(stage.error)
    if stage.kind == "sleep":
        return {**times, "finished": stage.ended_ms is not None, "type": "sleep", "error": error}
    if stage.kind == "wait":
        got = None if stage.result is None else _event(decode(stage.result))
        finished = stage.ended_ms is not None
        return {**times, "finished": finished, "type": "waitForEvent", "error": error, "output": got}
    config = retry.DEFAULTS if stage.config is None else decode(stage.config)
    return {
        **times,
        "success": {history.DONE: True, history.FAILED: False}.get(stage.state),
        "type": "step" if stage.kind == "do" else stage.kind,
        **_output(stage, shown),
        "config": _config(config),
        "attempts": attempts(stage),
    }


def label(stage: Stage) -> str:
    """A rollback goes by the label of its step."""
    return stage.name if stage.kind == "rollback" else f"{stage.name}-{stage.nth}"


def attempts(stage: Stage) -> list[dict[str, Any]]:
    """Those that failed, then the one that is under way or that succeeded."""
    made = [
        {
            "start": _time(failure["start_ms"]),
            "end": _time(failure["end_ms"]),
            "success": False,
            "error": {"name": failure["name"], "message": failure["message"]},
        }
        for failure in json.loads(stage.failures)
    ]
    if stage.state in (history.ATTEMPTING, history.INTERRUPTED, history.DONE):
        success = True if stage.state == history.DONE else None
        made.append({"start": _time(stage.attempt_ms), "end": _time(stage.ended_ms), "success": success, "error": None})
    return made


def _output(stage: Stage, shown: Shown) -> dict[str, Any]:
    """A step without an output has no such key, and neither has one whose output is null in JSON."""
    if stage.state != history.DONE:
        return {}
    value = output(stage.kind, shown(stage.seq, stage.result, stage.config))
    return {} if value is UNDEFINED or value is None else {"output": value}


def _config(config: dict[str, Any]) -> dict[str, Any]:
    delay = config["retries"]["delay"]
    return {**config, "retries": {**retry.shown(config)["retries"], "delay": delay}}


def _error(recorded: str) -> dict[str, str]:
    error = json.loads(recorded)
    return {key: error[key] for key in error if key in ("name", "message")}


def _event(result: dict[str, Any]) -> dict[str, Any]:
    """Of a wait; in the details no payload is an empty one (observed on wrangler 4.164)."""
    payload = _or(None, describe(result["payload"]))
    return {
        "type": result["type"],
        "payload": {} if payload is None else payload,
        "timestamp": describe(result["timestamp"]),
    }


def _time(ms: float | None) -> str | None:
    return None if ms is None else date_to_iso(ms)


def _status(instance: Instance, waiting: bool) -> str:
    if waiting:
        return WAITING
    return "rollingBack" if instance.rollback and instance.status == "queued" else instance.status


def _rollback(instance: Instance) -> dict[str, Any]:
    """What a rollback came to, once it is over."""
    order = json.loads(instance.rollback or "{}")
    return {"rollback": {"outcome": order["outcome"], "error": order.get("error")}} if "outcome" in order else {}


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
        return value + 0 if math.isfinite(value) else None  # JSON has no -0
    if isinstance(value, ArrayBuffer):
        return f"[ArrayBuffer({len(value)} bytes)]"
    if isinstance(value, View) and value.kind != "DataView":
        return f"[{value.kind}({value.byte_length} bytes)]"
    if isinstance(value, list):
        return [_or(None, _describe(item)) for item in value]
    if isinstance(value, Boxed):
        return _describe(value.value)
    if isinstance(value, SparseArray):
        return [_or(None, _describe(value.members.get(str(index), None))) for index in range(value.length)]
    if isinstance(value, dict | Error):
        members = order_keys(value) if isinstance(value, dict) else value.properties
        described = {key: _describe(member) for key, member in members.items()}
        return {key: member for key, member in described.items() if member is not UNDEFINED}
    return value if value is None or value is UNDEFINED or isinstance(value, str | int) else {}


def _or(default: Any, value: Any) -> Any:
    return default if value is UNDEFINED else value
