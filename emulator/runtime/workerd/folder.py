"""The folder of one workerd: its config, its modules, its sockets. Short-lived, private, and at a short path.

A Unix socket's path has a limit that temporary folders (macOS's, those of CI) come close to.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from flarebed.bindings.errors import UserError

_LONGEST: Final = 103
"""Bytes of a socket's path without the zero at its end: macOS's limit, Linux has 107 (sys/un.h)."""
_LONGEST_NAME: Final = 40
"""What the names of sockets may take of it."""
_MADE: Final = len("/flarebed-12345678/")


def made(environ: Mapping[str, str] = os.environ) -> Path:
    """A new one. Raises UserError if there is no place for it."""
    tried: list[str] = []
    for place in filter(None, dict.fromkeys((_usual(), environ.get("XDG_RUNTIME_DIR"), "/tmp", "/var/tmp"))):
        if len(os.fsencode(place)) + _MADE + _LONGEST_NAME > _LONGEST:
            tried.append(f"{place} has too long a path")
            continue
        try:
            return Path(tempfile.mkdtemp(prefix="flarebed-", dir=place))
        except OSError as error:
            tried.append(f"{place}: {error.strerror}")
    raise UserError(
        "There is no temporary folder for the sockets between flarebed and workerd: " + "; ".join(tried) + ".",
        hint="Set TMPDIR to a folder that can be written to and whose path is short.",
    )


def _usual() -> str | None:
    """TMPDIR, or the system's."""
    try:
        return tempfile.gettempdir()
    except FileNotFoundError:
        return None


def removed(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
