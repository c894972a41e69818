"""What tests of engines share: a loop, a virtual clock, a store in a temporary folder."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from flarebed.bindings.clock import VirtualClock
from flarebed.bindings.kind import Modes, Surroundings
from flarebed.bindings.store import Store

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


@dataclass
class Bench:
    """The surroundings of an engine under test; make it inside a running loop."""

    root: Path
    dispatch: Any = None
    flags: frozenset[str] = frozenset({"queues_json_messages", "queue_expose_error_codes"})
    logged: list[tuple[str, str]] = field(default_factory=list)
    start_ms: float = 1_767_225_600_000.0
    modes: Modes = field(default_factory=Modes)

    def __post_init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.clock = VirtualClock(loop, self.start_ms)
        self.store = Store(self.root, loop)
        self.around = Surroundings(
            self.clock,
            self.store,
            self.dispatch,
            "worker",
            self.flags,
            lambda level, text: self.logged.append((level, text)),
            self.modes,
            random.Random(0),
        )
