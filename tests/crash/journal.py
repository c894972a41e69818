"""What stands in a workflow's journal: read by the judge after each death, and by a client that was cut off.

Only the columns that carry the promises; of what else the journal has, the judge knows nothing.
"""

from __future__ import annotations

import hashlib
import json
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from flarebed.bindings.codec import decode, encode

JOURNAL = Path("flarebed") / "workflows" / "flow.sqlite"
ENDED = ("complete", "errored", "terminated")
OUTCOMES = ("done", "failed")
_IN_CHUNKS = b"\x00"

_INSTANCES = "SELECT id, key, status, output, error, rollback FROM instances"
_STEPS = (
    "SELECT instance, kind, name, count, state, attempts, wake_ms, result, error, has_rollback, seq FROM steps"
    " ORDER BY seq"
)
_CHUNKS = "SELECT chunk FROM chunks WHERE instance = ? AND step = ? AND attempt = ? ORDER BY number"
_EVENTS = "SELECT instance, type, payload FROM events ORDER BY seq"

Place = tuple[int, str, str, int]
"""An instance's key, and a step's kind, name and count."""


class InstanceRow(NamedTuple):
    key: int
    status: str
    output: Any
    error: str | None
    rollback: str | None = None

    @property
    def rolled_back(self) -> str | None:
        """How the rollback ended, if there was one."""
        return None if self.rollback is None else json.loads(self.rollback).get("outcome")


class StepRow(NamedTuple):
    state: str
    attempts: int
    wake_ms: float | None
    result: bytes | None
    error: str | None
    has_rollback: int = 0

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

    def rollbacks(self, key: int) -> tuple[list[str], list[str]]:
        """The steps that have one, by label, and the rollbacks that have begun; both in order."""
        steps = [(kind, name, count, row) for (of, kind, name, count), row in self.steps.items() if of == key]
        undoable = [f"{name}-{count}" for kind, name, count, row in steps if kind == "do" and row.has_rollback]
        return undoable, [name for kind, name, *_ in steps if kind == "rollback"]

    def buffered(self, key: int) -> list[Any]:
        return [event.payload for event in self.events if event.key == key]


def _whole(connection: apsw.Connection, key: int, seq: int, name: str, place: bytes) -> bytes:
    """A stream's result, as what the Worker tells of it."""
    _, attempt, count, size = struct.unpack(">cIIQ", place)
    chunks = [chunk for (chunk,) in connection.execute(_CHUNKS, (key, seq, attempt))]
    data = b"".join(chunks)
    assert (len(chunks), len(data)) == (count, size), f"chunks of {name} are missing"
    return encode({"step": name, "nonce": hashlib.sha256(data).hexdigest()})


def read(state: Path) -> Snapshot:
    """Of the state folder, at one moment, for it may be in use: an event leaves its table as a wait's step gets it.

    Empty if the process was killed before it made the tables.
    """
    path = state / JOURNAL
    found = Snapshot()
    if not path.exists():
        return found
    connection = apsw.Connection(str(path))
    try:
        connection.execute("BEGIN")
        for name, key, status, output, *row in connection.execute(_INSTANCES):
            found.instances[name] = InstanceRow(key, status, None if output is None else decode(output), *row)
        for key, kind, name, count, *row, seq in list(connection.execute(_STEPS)):
            step = StepRow(*row)
            if step.result is not None and step.result[:1] == _IN_CHUNKS:
                step = step._replace(result=_whole(connection, key, seq, name, step.result))
            found.steps[key, kind, name, count] = step
        for key, kind, payload in connection.execute(_EVENTS):
            found.events.append(EventRow(key, kind, decode(payload)))
    except apsw.SQLError as error:
        if "no such table" not in str(error):
            raise
    finally:
        connection.close()
    return found
