"""What happened in an instance, as `subscribe` tells it: read from what is recorded of its steps. Pure.

Nothing is written for it, but for pauses (`Mark`). One sequence numbers where steps and attempts begin and end; an
event's id is its place in that sequence, with room for more than one event at a place, so that ids only grow.

https://developers.cloudflare.com/workflows/build/subscribe-to-instance-events/ and workers-sdk
packages/workflows-shared/src/subscription.ts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final

from flarebed.bindings.codec import decode
from flarebed.bindings.values import UNDEFINED
from flarebed.bindings.workflows import history, retry
from flarebed.bindings.workflows.history import Mark, Stage
from flarebed.bindings.workflows.journal import Life

PLACE: Final = history.PLACE
_WAITING: Final = 2
_BEFORE: Final = 999

ENDS: Final = ("workflow_completed", "workflow_errored", "workflow_terminated")
_STATES: Final = (*ENDS, "workflow_running", "workflow_paused", "workflow_waiting_for_pause", "workflow_waiting")
TYPES: Final = frozenset({
    *_STATES, "workflow_queued", "workflow_started",
    *(f"{kind}_{what}" for kind in ("step", "attempt", "rollback_step", "rollback_attempt", "rollback")
      for what in ("started", "completed", "errored")),
    "sleep_started", "sleep_completed", "wait_started", "wait_completed", "wait_timed_out",
})  # fmt: skip


Event = dict[str, Any]


def events(life: Life, stages: list[Stage], marks: list[Mark], output: Callable[..., Any]) -> list[Event]:
    """In order. `stages` may lack steps that had ended before what is asked for.

    `output(seq, result, config)` is what is shown of a step's result.
    """
    told = [*_beginning(life), *(_event(mark.id, mark.at_ms, mark.type) for mark in marks)]
    for stage in stages:
        told += _sleep_or_wait(stage) if stage.kind in ("sleep", "wait") else _attempts(stage, output)
    rollback = next((stage for stage in stages if stage.kind == "rollback"), None)
    if rollback is not None:
        told.append(_event((rollback.seq - 1) * PLACE + _BEFORE, rollback.started_ms, "rollback_started"))
    told += _end(life)
    return [*_with_waiting(life, sorted(told, key=lambda event: event["eventId"]))]


def resumed(waiting: Event, event: Event) -> Event | None:
    """The instance runs on after it was `waiting`, of which `event` is the first sign."""
    if event["type"] in _STATES:
        return None
    return event_of(waiting["eventId"] + 1, event["timestamp"], "workflow_running")


def event_of(event_id: int, timestamp: int, type: str) -> Event:
    return {"eventId": event_id, "timestamp": timestamp, "type": type}


def _event(event_id: int, at_ms: float, type: str, **fields: Any) -> Event:
    return event_of(event_id, int(at_ms), type) | fields


def _beginning(life: Life) -> Iterator[Event]:
    yield _event(1, life.created_ms, "workflow_queued")
    if life.started_ms is not None:
        yield _event(2, life.started_ms, "workflow_started", params=decode(life.params))
        yield _event(3, life.started_ms, "workflow_running")


def _end(life: Life) -> Iterator[Event]:
    if life.ended_ms is None:
        return
    place = (life.last_seq + 1) * PLACE
    order = json.loads(life.rollback or "{}")
    if "outcome" in order:
        told = "rollback_completed" if order["outcome"] == "complete" else "rollback_errored"
        yield _event(place, life.ended_ms, told)
    place += 1
    if life.status == "complete":
        output = UNDEFINED if life.output is None else decode(life.output)
        yield _event(place, life.ended_ms, "workflow_completed", output=output)
    elif life.status == "errored":
        error = json.loads(life.error or "{}")
        named = {key: error[key] for key in error if key in ("name", "message")}
        yield _event(place, life.ended_ms, "workflow_errored", error=named)
    else:
        yield _event(place, life.ended_ms, "workflow_terminated")


def _sleep_or_wait(stage: Stage) -> Iterator[Event]:
    label = {"stepName": f"{stage.name}-{stage.nth}"}
    more = {"durationMs": stage.duration_ms} if stage.kind == "sleep" else {"eventType": stage.event_type}
    yield _event(stage.seq * PLACE, stage.started_ms, f"{stage.kind}_started", **label, **more)
    if stage.end_seq is not None and stage.ended_ms is not None:
        end = "wait_timed_out" if stage.state == "failed" else f"{stage.kind}_completed"
        yield _event(stage.end_seq * PLACE, stage.ended_ms, end, **label)


def _attempts(stage: Stage, output: Callable[..., Any]) -> Iterator[Event]:
    """Of a `do`, or of a rollback."""
    undoes = stage.kind == "rollback"
    prefix = "rollback_" if undoes else ""
    label = {"stepName": stage.name if undoes else f"{stage.name}-{stage.nth}"}
    failures = json.loads(stage.failures)
    if stage.attempts:
        config = retry.recorded(stage.config)
        yield _event(stage.seq * PLACE, stage.started_ms, f"{prefix}step_started", **label, config=config)
    begun = [(failure.get("start_seq"), failure["start_ms"]) for failure in failures]
    if stage.attempts > len(failures):
        begun.append((stage.attempt_seq, stage.attempt_ms))
    for attempt, (seq, start_ms) in enumerate(begun, 1):
        place = stage.seq * PLACE + 1 if attempt == 1 else (seq or stage.seq) * PLACE
        yield _event(place, start_ms, f"{prefix}attempt_started", **label, attempt=attempt)
    for attempt, failure in enumerate(failures, 1):
        place = (failure.get("end_seq") or stage.seq) * PLACE  # a state folder of an earlier version has none
        yield _failure(place, failure, f"{prefix}attempt_errored", **label, attempt=attempt)
    if stage.end_seq is None or stage.ended_ms is None:
        return
    place = stage.end_seq * PLACE
    if stage.state == "done":
        yield _event(place, stage.ended_ms, f"{prefix}attempt_completed", **label, attempt=stage.attempts)
        shown = UNDEFINED if undoes else output(stage.seq, stage.result, stage.config)
        given = {} if shown is UNDEFINED else {"output": shown}
        yield _event(place + 1, stage.ended_ms, f"{prefix}step_completed", **label, **given)
    else:
        why = {"error": json.loads(stage.error or "{}")} if undoes else {}
        yield _event(place + 1, stage.ended_ms, f"{prefix}step_errored", **label, **why)


def _failure(place: int, failure: dict[str, Any], type: str, **fields: Any) -> Event:
    fields["error"] = {"name": failure["name"], "message": failure["message"]}
    if failure.get("delay_ms") is not None:
        fields["retryDelayMs"] = failure["delay_ms"]
    return _event(place, failure["end_ms"], type, **fields)


def _with_waiting(life: Life, told: list[Event]) -> Iterator[Event]:
    """Where all that an instance did was to sleep or to wait, for longer than an instant, it was waiting."""
    opened = busy = 0
    waiting: Event | None = None
    for event, after in zip(told, [*told[1:], None], strict=True):
        if waiting is not None and (again := resumed(waiting, event)):
            yield again
        waiting = None
        yield event
        kind, _, what = event["type"].partition("_")
        if kind in ("sleep", "wait"):
            opened += 1 if what == "started" else -1
        elif kind == "attempt":
            busy += 1 if what == "started" else -1
        lasts = life.status == "running" if after is None else after["timestamp"] > event["timestamp"]
        if opened > 0 and not busy and lasts and event["type"] not in _STATES:
            waiting = event_of(event["eventId"] + _WAITING, event["timestamp"], "workflow_waiting")
            yield waiting
