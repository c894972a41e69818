"""What a recorded instance was given: its params, and the events that it got or that wait for it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import apsw

from flarebed.bindings.codec import decode
from flarebed.bindings.errors import UserError
from flarebed.bindings.store import Store
from flarebed.bindings.workflows.spec import WorkflowSpec

_GOT = "SELECT event_type, result FROM steps WHERE instance = ? AND kind = 'wait' AND result IS NOT NULL ORDER BY seq"
_WAITING = "SELECT type, payload FROM events WHERE instance = ? ORDER BY seq"


def of_instance(state: Path, spec: WorkflowSpec, instance_id: str) -> tuple[Any, list[tuple[str, Any]]]:
    """Params and events of an instance in a state folder, also while another process works on it."""
    file = _journal(state, spec.name)
    if not file.exists():
        raise _missing(spec, instance_id, state)
    connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        found = list(connection.execute("SELECT key, params FROM instances WHERE id = ?", (instance_id,)))
        if not found:
            raise _missing(spec, instance_id, state)
        key, params = found[0]
        got = [(event_type, decode(result)["payload"]) for event_type, result in connection.execute(_GOT, (key,))]
        waiting = [(event_type, decode(payload)) for event_type, payload in connection.execute(_WAITING, (key,))]
    finally:
        connection.close()
    return decode(params), [*got, *waiting]


def _journal(state: Path, name: str) -> Path:
    loop = asyncio.new_event_loop()
    try:
        return Store(state, loop).path("workflows", name)
    finally:
        loop.close()


def _missing(spec: WorkflowSpec, instance_id: str, state: Path) -> UserError:
    return UserError(
        f'The workflow "{spec.name}" has no instance "{instance_id}" in {state}.',
        hint="Name one of this state folder, or give --params.",
    )
