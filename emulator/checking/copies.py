"""Copies of local state for trials, and what of it a trial changed.

D1 databases and KV namespaces are copied with SQLite's own backup, so one in use may be copied too. Messages and
workflow instances are not: nothing but the checked instance shall run in a trial.
"""

from __future__ import annotations

from pathlib import Path

import apsw

_COPIED = ("v3/d1", "flarebed/kv")


def copy_state(source: Path, target: Path) -> None:
    for part in _COPIED:
        for file in sorted((source / part).rglob("*.sqlite")):
            copy = target / file.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy_database(file, copy)


def copy_database(source: Path, target: Path) -> None:
    reading, writing = apsw.Connection(str(source), flags=apsw.SQLITE_OPEN_READWRITE), apsw.Connection(str(target))
    try:
        with writing.backup("main", reading, "main") as backup:
            while not backup.done:
                backup.step()
    finally:
        reading.close()
        writing.close()
