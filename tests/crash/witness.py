"""What every judge looks at after a death: the notes that are new since the last one, and a copy of the state.

It is a copy, so that the next life finds the state exactly as the kill has left it.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import apsw

from tests.crash import notes
from tests.crash.notes import Note

Kind = Literal["lost", "duplicated", "differing", "broken"]
Find = Callable[[Kind, str], None]


@dataclass(frozen=True)
class Finding:
    kind: Kind
    text: str


class Witness:
    """`end`: what there is, once the last life is over; `counts` are figures for the report."""

    end: Any

    def __init__(self, state: Path, notes_path: Path, scratch: Path) -> None:
        self._state = state
        self._notes = notes_path
        self._scratch = scratch
        self._offset = 0
        self.findings: list[Finding] = []
        self.counts: Counter[str] = Counter()

    def look(self, *, in_good_order: bool) -> None:
        """Compare what there is now with all that was known. `in_good_order`: the life that is over was not killed."""
        raise NotImplementedError

    def compare_ends(self, oracle: Any, may_differ: frozenset[str]) -> None:
        """With what a life without kills has left."""
        raise NotImplementedError

    def _new_notes(self) -> list[Note]:
        new = notes.read(self._notes, self._offset)
        self._offset = self._notes.stat().st_size if self._notes.exists() else 0
        return new

    def _copied(self) -> Path:
        """Of the databases and their logs; each is whole."""
        shutil.rmtree(self._scratch, ignore_errors=True)
        for path in [*self._state.rglob("*.sqlite"), *self._state.rglob("*.sqlite-wal")]:
            target = self._scratch / path.relative_to(self._state)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        for path in sorted(self._scratch.rglob("*.sqlite")):
            connection = apsw.Connection(str(path))
            said = [text for (text,) in connection.execute("PRAGMA integrity_check")]
            connection.close()
            if said != ["ok"]:
                self._find("broken", f"{path.name}: {said}")
        return self._scratch

    def _find(self, kind: Kind, text: str) -> None:
        self.findings.append(Finding(kind, text))
