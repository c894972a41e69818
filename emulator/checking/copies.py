"""Copies of local state for trials, and what of it a trial changed.

D1 databases and KV namespaces are copied with SQLite's own backup, so one in use may be copied too. Messages and
workflow instances are not: nothing but the checked instance shall run in a trial.
"""

from __future__ import annotations

from pathlib import Path

from flarebed.emulator.state.capture import copy_database

_COPIED = ("v3/d1", "flarebed/kv")


def copy_state(source: Path, target: Path) -> None:
    for part in _COPIED:
        for file in sorted((source / part).rglob("*.sqlite")):
            copy_database(file, target / file.relative_to(source))
