"""Where Workers that run on this machine find each other: a folder that has a Unix socket for each, by its name.

The name is a link to the socket of a process, renamed into its place: a Worker that is loaded anew takes over without a
gap, and whoever started a Worker of that name last is the one that is called.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from flarebed.bindings.errors import UserError
from flarebed.emulator.runtime.workerd.folder import made

VARIABLE: Final = "FLAREBED_REGISTRY_PATH"
_PLAIN: Final = re.compile(r"[a-zA-Z0-9_-]{1,40}")
"""Names that stand in the folder as they are: a socket's path has room for 103 bytes (macOS), 107 (Linux)."""


def default_folder(environ: Mapping[str, str]) -> Path:
    """Only its owner may look into it."""
    if chosen := environ.get(VARIABLE):
        return Path(chosen)
    runtime = environ.get("XDG_RUNTIME_DIR")
    return Path(runtime, "flarebed") if runtime else Path(f"/tmp/flarebed-{os.getuid()}")


class Registry:
    """Raises UserError if the folder is not, and can't become, ours alone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._is_temporary = False
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            found = folder.stat()
        except OSError as error:
            raise UserError(
                f"The folder {folder}, in which Workers find each other, can't be used: {error.strerror}.",
                hint=f"Set {VARIABLE} to another one with a short path.",
            ) from error
        if found.st_uid != os.getuid():
            raise UserError(
                f"The folder {folder}, in which Workers find each other, belongs to somebody else.",
                hint=f"Set {VARIABLE} to another one with a short path.",
            )
        self._sweep()

    def _sweep(self) -> None:
        """Take away what processes that were killed have left."""
        for path in self.folder.iterdir():
            process = path.suffix[1:]
            if process.isdecimal() and not _is_alive(int(process)):
                path.unlink(missing_ok=True)

    @classmethod
    def temporary(cls) -> Registry:
        """For the Workers of one process, which nobody else calls."""
        registry = cls(made())
        registry._is_temporary = True
        return registry

    def close(self) -> None:
        if self._is_temporary:
            shutil.rmtree(self.folder, ignore_errors=True)

    def socket(self, worker: str) -> Path:
        """Where the Worker of this name is called, if it runs."""
        return self.folder / f"{_file_name(worker)}.sock"

    def draft(self, worker: str) -> Path:
        """A place for a socket that nobody else has."""
        path = self.folder / f"{_file_name(worker)}.{os.getpid()}"
        path.unlink(missing_ok=True)
        return path

    def publish(self, worker: str, listening: Path) -> None:
        """From now on calls come to the socket `listening`."""
        link = self.folder / f"{_file_name(worker)}.{os.getpid()}.link"
        link.unlink(missing_ok=True)
        link.symlink_to(listening)
        link.rename(self.socket(worker))

    def withdraw(self, worker: str, listening: Path) -> None:
        """Unless another process has taken over."""
        place = self.socket(worker)
        with contextlib.suppress(OSError):  # nobody is published, or something else stands there
            if place.readlink() == listening:
                place.unlink()

    def generation(self, worker: str) -> int | None:
        """A number for the process that is called now; None if the Worker does not run."""
        return _inode(self.socket(worker))

    def is_running(self, worker: str) -> bool:
        """Whether somebody answers: a process that was killed leaves its socket behind."""
        with socket.socket(socket.AF_UNIX) as trial:
            trial.setblocking(False)
            try:
                trial.connect(str(self.socket(worker)))
            except BlockingIOError:
                return True  # it has more to do than it takes
            except OSError:
                return False
        return True


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return None


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _file_name(worker: str) -> str:
    if _PLAIN.fullmatch(worker):
        return worker
    return f"{hashlib.sha256(worker.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}.named"
