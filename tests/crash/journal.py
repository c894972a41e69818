"""What stands in a workflow's journal: read by the judge after each death, and by a client that was cut off.

Only the columns that carry the promises; of what else the journal has, the judge knows nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from flarebed.bindings.codec import decode

JOURNAL = Path("flarebed") / "workflows" / "flow.sqlite"
ENDED = ("complete", "errored", "terminated")
OUTCOMES = ("done", "failed")

_INSTANCES = "SELECT id, key, status, output, error FROM instances"
_STEPS = "SELECT instance, kind, name, count, state, attempts, wake_ms, result, error FROM steps ORDER BY seq"
_EVENTS = "SELECT instance, type, payload FROM events ORDER BY seq"

Place = tuple[int, str, str, int]
"""An instance's key, and a step's kind, name and count."""


class InstanceRow(NamedTuple):
    key: int
    status: str
    output: Any
    error: str | None


class StepRow(NamedTuple):
    state: str
    attempts: int
    wake_ms: float | None
    result: bytes | None
    error: str | None

    @property
    def value(self) -> Any:
        return None if self.result is None else decode(self.result)


class EventRow(NamedTuple):
    key: int
    type: str
    payload: Any


@dataclass
class Snapshot:
    instances: dict[str, InstanceRow] = field(default_factory=dict)
    steps: dict[Place, StepRow] = field(default_factory=dict)
    events: list[EventRow] = field(default_factory=list)

    def key(self, instance_id: str) -> int | None:
        row = self.instances.get(instance_id)
        return row.key if row else None

    def delivered(self, key: int) -> list[tuple[str, str, Any]]:
        """(wait, type, payload) of the events that were delivered to an instance."""
        return [
            (name, row.value["type"], row.value["payload"])
            for (of, kind, name, _), row in self.steps.items()
            if of == key and kind == "wait" and row.state == "done"
        ]

    def buffered(self, key: int) -> list[Any]:
        return [event.payload for event in self.events if event.key == key]


def read(state: Path) -> Snapshot:
    """Of the state folder; empty if the process was killed before it made the tables."""
    path = state / JOURNAL
    found = Snapshot()
    if not path.exists():
        return found
    connection = apsw.Connection(str(path))
    try:
        for name, key, status, output, error in connection.execute(_INSTANCES):
            found.instances[name] = InstanceRow(key, status, None if output is None else decode(output), error)
        for key, kind, name, count, *row in connection.execute(_STEPS):
            found.steps[key, kind, name, count] = StepRow(*row)
        for key, kind, payload in connection.execute(_EVENTS):
            found.events.append(EventRow(key, kind, decode(payload)))
    except apsw.SQLError as error:
        if "no such table" not in str(error):
            raise
    finally:
        connection.close()
    return found
