"""What a Worker among several prints, told apart: each line begins with its name.

In JavaScript the console does that (`runtime/workerd/voices.py`); here it is the streams of the Worker's process.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from typing import cast


class NamedOutput(io.TextIOWrapper):
    """Writes where `stream` writes."""

    def __init__(self, stream: io.TextIOWrapper, workers: Sequence[str]) -> None:
        super().__init__(stream.buffer, stream.encoding, stream.errors, line_buffering=True)
        self._stream = stream  # it closes what both write to when it goes
        self._workers = workers
        self._begins = True

    def write(self, text: str) -> int:
        lines = text.splitlines(keepends=True)
        for line in lines:
            super().write(named(self._workers, line) if self._begins else line)
            self._begins = line.endswith("\n")
        return len(text)


def named(workers: Sequence[str], text: str) -> str:
    """As a line of these Workers, who are told apart from others if they have names here."""
    return f"[{', '.join(workers)}] {text}" if workers else text


def name_output(workers: Sequence[str]) -> io.TextIOWrapper:
    """From now on this process prints for these Workers, if it is told their names. Returns its own standard output."""
    own = cast("io.TextIOWrapper", sys.stdout)
    if workers:
        errors = cast("io.TextIOWrapper", sys.stderr)
        sys.stdout, sys.stderr = NamedOutput(own, workers), NamedOutput(errors, workers)
    return own
