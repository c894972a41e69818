"""Whether the Worker's files still are what was read: asked before each request, and after each event of the watcher.

Both sides compare signatures, so that one save is never taken for two.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any, Final

Signature = tuple[int, int, int] | None
"""Time of change (ns), size, inode; None for a file that is not there."""

_LEAST_INTERVAL_S: Final = 0.00025
_LEAST_SHARE: Final = 10
"""A check may take at most one part in so many of the time, however many files there are."""


_NEVER: Final = frozenset(("node_modules", "__pycache__", "python_modules", "site-packages"))
_SOURCES: Final = (".py", ".toml", ".json", ".jsonc")
_SECRETS: Final = (".dev.vars", ".env")


def signature(path: str) -> Signature:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino)


def signatures(paths: Iterable[str]) -> dict[str, Signature]:
    return {path: signature(path) for path in paths}


def from_json(known: Mapping[str, Any]) -> dict[str, Signature]:
    """Signatures as they come out of a message."""
    return {path: tuple(value) if value else None for path, value in known.items()}


def source_folders(root: Path) -> Iterator[Path]:
    """`root` and what is below it, without installed packages, caches and hidden folders."""
    for folder, below, names in os.walk(root):
        if "pyvenv.cfg" in names:
            below.clear()
            continue
        below[:] = [name for name in below if name not in _NEVER and not name.startswith(".")]
        yield Path(folder)


def is_source(path: str) -> bool:
    """Whether a file that nothing is known of may matter to a Worker: a module, a config, a file of secrets."""
    name = os.path.basename(path)
    return name.endswith(_SOURCES) or name.startswith(_SECRETS)


def sources(root: Path) -> list[Path]:
    """All files below `root` that may matter."""
    return [
        Path(entry.path) for folder in source_folders(root) for entry in os.scandir(folder) if is_source(entry.path)
    ]


class Files:
    """The files that this process's code came from. `known` are signatures taken before they were read."""

    def __init__(
        self,
        watched: Callable[[], list[Path]],
        known: Mapping[str, Signature],
        on_more: Callable[[dict[str, Signature]], None],
    ) -> None:
        self._watched = watched
        self._known = dict(known)
        self._on_more = on_more
        self._modules = 0
        self._next_check_s = 0.0
        self.signatures: dict[str, Signature] = {}
        self._look_for_more()

    def changed(self) -> bool:
        """Whether a file differs from what was read. Looks at the disk at most every 0.25 ms."""
        now_s = perf_counter()
        if now_s < self._next_check_s:
            return False
        if len(sys.modules) != self._modules:
            self._look_for_more()
        differs = any(signature(path) != known for path, known in self.signatures.items())
        ended_s = perf_counter()
        self._next_check_s = ended_s + max(_LEAST_INTERVAL_S, _LEAST_SHARE * (ended_s - now_s))
        return differs

    def accept(self, known: Mapping[str, Signature]) -> None:
        """Take these signatures for ours: newer code exists but can't run."""
        self.signatures.update({path: known[path] for path in self.signatures if path in known})
        self._known.update(known)

    def _look_for_more(self) -> None:
        """Modules may be imported at any time, inside a request too."""
        self._modules = len(sys.modules)
        more = {str(path) for path in self._watched()} - self.signatures.keys()
        if more:
            found = {path: self._known[path] if path in self._known else signature(path) for path in sorted(more)}
            self.signatures.update(found)
            self._on_more(found)
