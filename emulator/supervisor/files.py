"""Whether the Worker's files still are what was read: asked before each request, and after each event of the watcher.

Both sides compare signatures, so that one save is never taken for two.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from time import perf_counter, thread_time
from typing import Any, Final

Signature = tuple[int, int, int] | None
"""Time of change (ns), size, inode; None for a file that is not there."""

_LEAST_INTERVAL_S: Final = 0.00025
"""A client that edits a file between an answer and its next request takes longer."""

_NEVER: Final = frozenset(("node_modules", "__pycache__", "python_modules", "site-packages"))
_SOURCES: Final = (
    ".py", ".toml", ".json", ".jsonc", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".wasm",
)  # fmt: skip
_SECRETS: Final = (".dev.vars", ".env")


def signature(path: str) -> Signature:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino)


def is_younger(found: Signature, born_ns: int) -> bool:
    return found is not None and found[0] > born_ns


def signatures(paths: Iterable[str]) -> dict[str, Signature]:
    return {path: signature(path) for path in paths}


def differ(known: Mapping[str, Signature]) -> bool:
    """Whether a file is not any more what it was."""
    return any(signature(path) != before for path, before in known.items())


def as_read(paths: Iterable[str], known: Mapping[str, Signature], born_ns: int) -> dict[str, Signature]:
    """The signatures of files that a process born at `born_ns` has read. `known` are some from before.

    A file that was saved since, perhaps after it was read, counts as one that was not there.
    """
    found = {path: known[path] if path in known else signature(path) for path in paths}
    return {path: None if path not in known and is_younger(now, born_ns) else now for path, now in found.items()}


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


def sources(roots: Iterable[Path]) -> list[Path]:
    """All files below `roots` that may matter."""
    folders = [folder for root in roots for folder in source_folders(root)]
    return [Path(entry.path) for folder in folders for entry in os.scandir(folder) if is_source(entry.path)]


class Files:
    """The files that this process's code came from. `known` are signatures taken before they were read, which was at or
    after `born_ns` (on the clock of the files' own times).
    """

    def __init__(
        self,
        watched: Callable[[], list[Path]],
        known: Mapping[str, Signature],
        born_ns: int,
        on_more: Callable[[dict[str, Signature]], None],
    ) -> None:
        self._watched = watched
        self._known = dict(known)
        self._born_ns = born_ns
        self._on_more = on_more
        self._modules = 0
        self._searches = False
        self._next_check_s = 0.0
        self.signatures: dict[str, Signature] = {}
        self.beside: Mapping[str, Signature] = {}
        """Those of Workers in other processes, which may be asked on behalf of a request here."""
        self._look_for_more()

    def changed(self) -> bool:
        """Whether a file differs from what was read. Looks at the disk at most every 0.25 ms, and half of the time."""
        if perf_counter() < self._next_check_s:
            return False
        begun_s = thread_time()
        if self._searches or len(sys.modules) != self._modules:
            self._look_for_more()
        differs = differ(self.signatures) or differ(self.beside)
        self._next_check_s = perf_counter() + max(_LEAST_INTERVAL_S, thread_time() - begun_s)
        return differs

    def accept(self, known: Mapping[str, Signature]) -> None:
        """Take these signatures for ours: newer code exists but can't run."""
        self.signatures.update(known)

    def search(self, roots: Sequence[Path]) -> None:
        """From now on a file that appears below `roots` is a change too: what can't run may lack it."""
        self._watched = lambda: sources(roots)
        self._searches = True

    def _look_for_more(self) -> None:
        """Modules may be imported at any time, inside a request too."""
        self._modules = len(sys.modules)
        more = {str(path) for path in self._watched()} - self.signatures.keys()
        if more:
            found = as_read(sorted(more), self._known, self._born_ns)
            self.signatures.update(found)
            self._on_more(found)
