"""The notes that a Worker and its client leave outside of the state: lines that are only ever appended.

A line is a JSON object: `is` what was noted, by which `life`, and `now_ms` on its clock.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Final

Note = dict[str, Any]

BY_THE_WORKER: Final = ("runs", "begins", "returns", "saw", "got", "says")


def read(path: Path, offset: int = 0) -> list[Note]:
    """The notes from a place in the file on; a torn last line is none."""
    if not path.exists():
        return []
    with path.open("rb") as file:
        file.seek(offset)
        return [json.loads(line) for line in file.read().split(b"\n")[:-1]]


class Notebook:
    """For the client's part."""

    def __init__(self, path: Path, life: int) -> None:
        self.path = path
        self.life = life
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    def note(self, what: str, now_ms: float, **fields: Any) -> None:
        line: Note = {"is": what, "life": self.life, "now_ms": now_ms, **fields}
        os.write(self._file, json.dumps(line).encode() + b"\n")
        os.fsync(self._file)
