"""Who else has a database's file open. `database.py` asks when it opens the file, and when a lock is not given.

flarebed waits for the locks of others. workerd does not: what it asks while flarebed writes fails. Only Linux tells who
holds a lock, without a lock of ours being lost (https://sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_
a_separate_thread_doing_close_); elsewhere nothing is said.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
_WORKERD: Final = "workerd"


def warning(path: Path, proc: Path = _PROC) -> str | None:
    """What to tell the user if a `wrangler dev` has the file open."""
    pids = _workerds(path, proc)
    if not pids:
        return None
    return (
        f"wrangler dev (workerd, process {', '.join(pids)}) has the D1 database {path} open too. "
        "It does not wait while flarebed writes, so its queries may fail: stop one of the two, they can take turns."
    )


def _workerds(path: Path, proc: Path) -> list[str]:
    """SQLite holds a lock on a file in WAL mode for as long as it is open."""
    try:
        inode = str(path.stat().st_ino)
        locks = [line.split() for line in (proc / "locks").read_text().splitlines()]
        holders = {lock[4] for lock in locks if lock[1] == "POSIX" and lock[5].rpartition(":")[2] == inode}
    except (OSError, IndexError):
        return []
    return sorted(pid for pid in holders if _name(proc / pid) == _WORKERD)


def _name(process: Path) -> str:
    try:
        return (process / "comm").read_text().strip()
    except OSError:
        return ""
