"""Replaces files of a state folder all together, although its maker may be killed midway.

What is to come is laid out in full in a folder of its own, then that gets the name `coming`: from this one rename on
the new state counts. What is left to do then can be done again and again, and whoever opens the state next does it
(presence.py).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_COMING: Final = Path("flarebed", "coming")
_PLAN: Final = "plan.json"
_BESIDE: Final = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside a file, and would take for a part of one that replaces it."""


def commit(root: Path, laid_out: Path, come: Iterable[str], go: Iterable[str]) -> None:
    """Take the files `come` from below `laid_out`, on the same disk, and remove `go`; both are paths below `root`.

    Nobody may have the state open (`presence.emptied`).
    """
    (laid_out / _PLAN).write_text(json.dumps({"come": sorted(come), "go": sorted(go)}), "utf-8")
    laid_out.rename(root / _COMING)
    finish(root)


def is_unfinished(root: Path) -> bool:
    return (root / _COMING).exists()


def finish(root: Path) -> None:
    """Do what is left to do, if there is anything."""
    coming = root / _COMING
    if not coming.exists():
        return
    if (coming / _PLAN).exists():
        plan = json.loads((coming / _PLAN).read_text("utf-8"))
        for path in plan["go"]:
            _remove(root / path)
        for path in plan["come"]:
            if (coming / path).exists():
                _remove(root / path)
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.move(coming / path, root / path)  # a rename, unless it leads to another disk
        (coming / _PLAN).unlink()
    shutil.rmtree(coming)


def _remove(file: Path) -> None:
    for path in (*(Path(f"{file}{beside}") for beside in _BESIDE), file):
        path.unlink(missing_ok=True)
