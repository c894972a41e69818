"""What waits in the queues of a state folder: read by the judge after each death, and by a client that was cut off.

Only the columns that carry the promises.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import apsw

QUEUES = Path("flarebed") / "queues"
_WAITING = "SELECT id, body, attempts FROM messages UNION ALL SELECT id, body, attempts FROM delayed"


class Waiting(NamedTuple):
    """A message that is ready, delayed or in delivery; `attempts` have failed."""

    body: str
    attempts: int


def read(state: Path) -> dict[str, dict[str, Waiting]]:
    """By queue and by the message's id; a queue whose tables are not made yet has none."""
    return {path.stem: _waiting(path) for path in sorted((state / QUEUES).glob("*.sqlite"))}


def _waiting(path: Path) -> dict[str, Waiting]:
    connection = apsw.Connection(str(path))
    try:
        return {name: Waiting(json.loads(body), attempts) for name, body, attempts in connection.execute(_WAITING)}
    except apsw.SQLError as error:
        if "no such table" not in str(error):
            raise
        return {}
    finally:
        connection.close()
