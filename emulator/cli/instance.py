"""`flarebed workflows instances describe`: an instance in wrangler's layout, then its timeline.

What wrangler does not say is added in its manner: when a sleep ends, for which event a step waits and until when, and
what a finished instance returned.
"""

from __future__ import annotations

from typing import Any, Final

from flarebed.bindings.ecma import json_stringify
from flarebed.bindings.workflows import history
from flarebed.bindings.workflows.history import Stage
from flarebed.emulator.cli.tables import console, labelled, show_table
from flarebed.emulator.cli.timeline import timeline
from flarebed.emulator.cli.times import distance, local_text, parse_time

LABELS: Final = {
    "complete": "✅ Completed", "errored": "❌ Errored", "paused": "⏸️ Paused", "queued": "⌛ Queued",
    "running": "▶ Running", "terminated": "🚫 Terminated", "waiting": "⏰ Waiting",
    "waitingForPause": "⏱️ Waiting for Pause", "rollingBack": "↩️ Rolling Back",
}  # fmt: skip
UNKNOWN: Final = "❓ Unknown"
_TYPES: Final = {
    "step": "🎯 Step", "sleep": "💤 Sleeping", "waitForEvent": "👀 Waiting for event", "rollback": "↩️ Rollback",
}  # fmt: skip
_SUCCESS: Final = {True: "✅ Yes", False: "❌ No", None: "▶ Running"}
_ATTEMPT: Final = {True: "✅ Success", False: "❌ Error", None: "🔄 Working"}


def show_instance(
    workflow: str,
    instance_id: str,
    detail: dict[str, Any],
    stages: list[Stage],
    buffered: list[tuple[str, float]],
    now_ms: float,
    output_limit: int | None,
) -> None:
    """`detail` is the API's; `stages` are its steps as they were recorded."""
    print("Describing latest instance:")
    print(labelled(_heading(workflow, instance_id, detail, now_ms, output_limit)))
    print("Steps:")
    for step, stage in zip(detail["steps"], stages, strict=True):
        print()
        print(labelled(_step(step, stage, now_ms, output_limit), indent=2))
        if "attempts" in step:
            _show_attempts(step["attempts"], now_ms)
    begin_ms = _ms(detail["queued"])
    end_ms = None if detail["end"] is None else _ms(detail["end"])
    for row in timeline(stages, buffered, begin_ms, now_ms, end_ms, console().width):
        console().print(row, no_wrap=True, overflow="ellipsis", crop=True)


def _heading(
    workflow: str, instance_id: str, detail: dict[str, Any], now_ms: float, output_limit: int | None
) -> dict[str, str]:
    heading = {
        "Workflow Name": workflow,
        "Instance Id": instance_id,
        "Status": LABELS.get(detail["status"], UNKNOWN),
        "Queued": local_text(_ms(detail["queued"])),
    }
    if detail["success"] is not None:
        heading["Success"] = _SUCCESS[detail["success"]]
    heading |= _times(detail, now_ms)
    if (name := _last_successful(detail["steps"])) is not None:
        heading["Last Successful Step"] = name
    if detail["error"] is not None:
        heading["Error"] = _error(detail["error"])
    if detail["success"] and output_limit is not None:
        heading["Output"] = _cut(detail["output"], output_limit)
    return heading


def _step(step: dict[str, Any], stage: Stage, now_ms: float, output_limit: int | None) -> dict[str, str]:
    shown = {"Name": step["name"], "Type": _TYPES.get(step["type"], UNKNOWN), **_times(step, now_ms)}
    if step["type"] == "waitForEvent":
        shown["Event Type"] = stage.event_type or ""
    if "success" in step:
        shown["Success"] = _SUCCESS[step["success"]]
    if stage.wake_ms is not None and stage.state in (history.OPEN, history.DELAYED):
        shown[_ahead(step["type"])] = _in_future(stage.wake_ms, now_ms)
    if step.get("error"):
        shown["Error"] = _error(step["error"])
    if "output" in step and output_limit is not None:
        shown["Output"] = _cut(step["output"], output_limit)
    return shown


def _ahead(kind: str) -> str:
    return {"sleep": "Wakes At", "waitForEvent": "Times Out At"}.get(kind, "Retries At")


def _in_future(when_ms: float, now_ms: float) -> str:
    left = f" (in {distance(when_ms - now_ms)} from now)" if when_ms > now_ms else ""
    return local_text(when_ms) + left


def _show_attempts(attempts: list[dict[str, Any]], now_ms: float) -> None:
    if not attempts:
        return
    headings = ["Start", "End", "Duration", "State", "Error"]
    rows = []
    for attempt in attempts:
        times = _times(attempt, now_ms)
        error = "" if attempt["error"] is None else _error(attempt["error"])
        rows.append([times["Start"], times.get("End", ""), times["Duration"], _ATTEMPT[attempt["success"]], error])
    columns = 5 if any(row[4] for row in rows) else 4
    show_table(headings[:columns], [row[:columns] for row in rows])


def _times(of: dict[str, Any], now_ms: float) -> dict[str, str]:
    if of["start"] is None:
        return {}
    start_ms = _ms(of["start"])
    if of["end"] is None:
        return {"Start": local_text(start_ms), "Duration": distance(now_ms - start_ms)}
    end_ms = _ms(of["end"])
    return {"Start": local_text(start_ms), "End": local_text(end_ms), "Duration": distance(end_ms - start_ms)}


def _last_successful(steps: list[dict[str, Any]]) -> str | None:
    names = [step["name"] for step in steps if step.get("success") or (step["type"] == "sleep" and step["end"])]
    return names[-1] if names else None


def _error(error: dict[str, str]) -> str:
    return f"{error['name']}: {error['message']}".rstrip()


def _cut(output: Any, limit: int) -> str:
    text = str(json_stringify(output))
    return text if len(text) <= limit else text[:limit] + "[...output truncated]"


def _ms(iso: str) -> float:
    return parse_time(iso, "an instance")
