"""Why workerd did not start, from what it wrote: the Worker's top level threw, an import or a setting is wrong.

All of these are told as errors of `service worker:<name>` (server.c++, ErrorReporter), places as in the bundle.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final

from flarebed.bindings.errors import InternalError, UserError
from flarebed.emulator.runtime.http import WorkerError
from flarebed.emulator.runtime.workerd.output import Mapper

_OF_WORKER: Final = re.compile(r"service worker:[^:]*: (.*)", re.DOTALL)
_UNCAUGHT: Final = "Uncaught "
_REFUSED: Final = re.compile(r'"worker:([^"]*)"')
"""How workerd names a Worker that can't be bound to what its config says."""


def failure(lines: Sequence[str], mapper: Mapper) -> Exception:
    """A WorkerError for what the Worker's code threw, a UserError for what its config asks."""
    complaints = [found[1] for line in lines if (found := _OF_WORKER.fullmatch(_error(line))) is not None]
    thrown = [text.removeprefix(_UNCAUGHT) for text in complaints if text.startswith(_UNCAUGHT)]
    if thrown:
        return WorkerError(mapper.mapped(thrown[0]), frames=mapper.frames(thrown[0]))
    if complaints:
        return UserError("\n".join(complaints))
    refused = [_REFUSED.sub(r'"\1"', text) for line in lines if _REFUSED.search(text := _error(line))]
    if refused:
        return UserError(refused[0])
    return InternalError("workerd did not start:\n" + "\n".join(_error(line) or line for line in lines))


def _error(line: str) -> str:
    """The message of a line that tells of an error, else nothing."""
    try:
        entry: dict[str, Any] = json.loads(line)
    except ValueError:
        return ""
    return str(entry["message"]) if entry["level"] == "error" and "source" in entry else ""
