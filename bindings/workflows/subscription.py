"""What `instance.subscribe()` gives: the events of an instance one after another, those of the past first."""

from __future__ import annotations

import asyncio
from typing import Any

from flarebed.bindings.values import UNDEFINED
from flarebed.bindings.workflows import errors, timeline
from flarebed.bindings.workflows.timeline import Event
from flarebed.bindings.workflows.workflow import Workflow

_DONE = {"done": True, "value": UNDEFINED}


class WorkflowSubscription:
    """https://developers.cloudflare.com/workflows/build/subscribe-to-instance-events/"""

    js_tag = "Object"

    def __init__(self, instance_id: str, workflow: Workflow, options: Any) -> None:
        self._workflow = workflow
        self._instance_id = instance_id
        self._key = workflow.instance(instance_id).key
        self._cursor, self._filter = _parsed(options)
        self._ahead: list[Event] = []
        self._last: Event | None = None
        self._closed = False
        self._turn = asyncio.Lock()

    def own_properties(self) -> dict[str, Any]:
        return {}

    async def next(self) -> Any:
        """`{done, value}`. Several calls at a time get one event each, in their order."""
        async with self._turn:
            while not self._closed:
                event = await self._following()
                self._closed = event is None or event["type"] in timeline.ENDS
                if event is not None and (self._filter is None or event["type"] in self._filter):
                    return {"done": False, "value": {"instanceId": self._instance_id, **event}}
        return _DONE

    async def _following(self) -> Event | None:
        """None after the last."""
        while not self._ahead:
            ahead, is_over = self._workflow.events(self._instance_id, self._key, self._cursor)
            await self._workflow.journal.durable()  # what is told can't be undone by a crash
            self._ahead = ahead
            if not self._ahead:
                if is_over:
                    return None
                await self._workflow.something_happens()
        event, last = self._ahead[0], self._last
        if last is not None and last["type"] == "workflow_waiting" and (again := timeline.resumed(last, event)):
            event = again
        else:
            self._ahead.pop(0)
        self._last, self._cursor = event, event["eventId"]
        return event


def _parsed(options: Any) -> tuple[int, frozenset[str] | None]:
    """The cursor, -1 if there is none, and the types that are asked for."""
    if options is UNDEFINED:
        return -1, None
    if not isinstance(options, dict) or options.keys() - {"cursor", "filter"}:
        raise errors.invalid_subscription()
    cursor, wanted = options.get("cursor", UNDEFINED), options.get("filter", UNDEFINED)
    if cursor is not UNDEFINED and not _is_cursor(cursor):
        raise errors.invalid_subscription()
    if wanted is UNDEFINED:
        return -1 if cursor is UNDEFINED else int(cursor), None
    if not isinstance(wanted, list) or not all(isinstance(type, str) and type in timeline.TYPES for type in wanted):
        raise errors.invalid_subscription()
    return -1 if cursor is UNDEFINED else int(cursor), frozenset(wanted)


def _is_cursor(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 and value % 1 == 0
