"""Which lines of the Worker's files ran, in which frame, and in which step: to find where two runs part."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from flarebed.emulator.checking.places import Site, Sources
from flarebed.emulator.checking.witness import IN_RUN, INSIDE


@dataclass(frozen=True)
class Line:
    """`frame` numbers the frames of one run in the order in which they began."""

    frame: int
    site: Site


@dataclass
class Trace:
    """`outside` are the lines that ran outside of steps, in order; `inside` those in steps, by step."""

    sources: Sources
    outside: list[Line] = field(default_factory=list)
    inside: dict[tuple[str, str, int], dict[Site, None]] = field(default_factory=dict)
    callers: list[int | None] = field(default_factory=list)
    _frames: dict[FrameType, int] = field(default_factory=dict)

    @contextmanager
    def on(self) -> Iterator[None]:
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            yield
        finally:
            sys.settrace(before)

    def _enter(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        return self._line if self.sources.own(frame.f_code.co_filename) else None

    def _line(self, frame: FrameType, event: str, _argument: Any) -> Any:
        if event == "line":
            site = (frame.f_code.co_filename, frame.f_lineno)
            attempt = INSIDE.get()
            if attempt is None and IN_RUN.get():
                self.outside.append(Line(self._number(frame), site))
            elif attempt is not None:
                self.inside.setdefault(attempt.step, {})[site] = None
        return self._line

    def _number(self, frame: FrameType) -> int:
        if frame not in self._frames:
            caller = frame.f_back
            while caller is not None and not self.sources.own(caller.f_code.co_filename):
                caller = caller.f_back
            above = None if caller is None else self._number(caller)
            self._frames[frame] = len(self.callers)
            self.callers.append(above)
        return self._frames[frame]


def parting(one: Trace, other: Trace) -> Site | None:
    """The last line that both ran before they went different ways, in the function that decided which."""
    pairs = zip(one.outside, other.outside, strict=False)
    at = next((index for index, (line, else_line) in enumerate(pairs) if line != else_line), None)
    if at is None:
        at = min(len(one.outside), len(other.outside))
        if len(one.outside) == len(other.outside):
            return None
    shared = one.outside[:at]
    seen = {line.frame for line in shared}
    deciding = [_known(trace, trace.outside[at].frame, seen) for trace in (one, other) if at < len(trace.outside)]
    frame = min((number for number in deciding if number is not None), default=None)
    return next((line.site for line in reversed(shared) if line.frame == frame), None)


def _known(trace: Trace, frame: int | None, seen: set[int]) -> int | None:
    """The frame, or the nearest of its callers that had begun before."""
    while frame is not None and frame not in seen:
        frame = trace.callers[frame]
    return frame
