"""Workers in tests: held in the test's own process, on time that stands still until it is moved.

The names that tests use are imported when they are first asked for: pytest loads the plugin in every run.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flarebed.emulator.runtime.workerd.uncaught import UncaughtError
    from flarebed.emulator.testing.mocks import IntrospectionError
    from flarebed.emulator.testing.queue import Message
    from flarebed.emulator.testing.session import FrozenError, StuckError
    from flarebed.emulator.testing.worker import SyncWorker, Worker

__all__ = ["FrozenError", "IntrospectionError", "Message", "StuckError", "SyncWorker", "UncaughtError", "Worker"]

_PLACES = {
    "FrozenError": "session",
    "IntrospectionError": "mocks",
    "Message": "queue",
    "StuckError": "session",
    "SyncWorker": "worker",
    "UncaughtError": "uncaught",
    "Worker": "worker",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
