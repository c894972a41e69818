"""What workerd writes: the Worker's console, uncaught exceptions, and what workerd itself has to say.

One line, one JSON object (`structuredLogging`); with --verbose an uncaught exception is among them, with its stack.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Final

from flarebed.emulator.runtime.workerd.bundled import Bundled

_UNCAUGHT: Final = re.compile(r"uncaught exception; source = [^;]*; stack = (.*)", re.DOTALL)


class Output:
    """`bundled` maps stacks to the Worker's sources."""

    def __init__(self, log: Callable[[str, str], None]) -> None:
        self.bundled: Bundled | None = None
        self._log = log
        self._last = ""

    def line(self, text: str) -> None:
        try:
            entry: dict[str, Any] = json.loads(text)
        except ValueError:
            entry = {"level": "error", "message": text, "source": ""}
        level, message = entry["level"], entry["message"]
        if "source" not in entry:
            self._log(level, message)
            return
        if (uncaught := _UNCAUGHT.fullmatch(message)) is not None:
            self._last = uncaught[1]
            self._log("error", f"Uncaught {self._last}")
        elif level in ("error", "fatal", "warning"):
            self._log("debug", message)

    def last_uncaught(self) -> str:
        """The stack of the exception that was told of last."""
        return self._last
