"""The text of a Worker's exception, without our own frames, as production prints it (it has none there)."""

from __future__ import annotations

import traceback
from pathlib import Path

from flarebed.emulator.runtime.http import Frame
from flarebed.emulator.runtime.python.traceback_lines import LaterStackSummary

_OURS = str(Path(__file__).resolve().parent.parent.parent)
_KEPT = {
    ("entrypoints.py", "wrapper_func"),
    *(("code.py", name) for name in ("eval_code", "eval_code_async", "run", "run_async")),
}
"""Production shows functions of its own with these names."""


def python_traceback(error: BaseException) -> str:
    """`Traceback (most recent call last): ...` with a line end, causes and contexts included."""
    described = traceback.TracebackException.from_exception(error)
    _strip(described, set())
    return "".join(described.format())


def worker_frames(error: BaseException) -> list[Frame]:
    """The frames outside of the emulator, outermost first."""
    return [
        Frame(frame.filename, frame.lineno or 0, frame.name, frame.line or "")
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(_OURS)
    ]


def _strip(described: traceback.TracebackException, seen: set[int]) -> None:
    if id(described) in seen:
        return
    seen.add(id(described))
    described.stack = LaterStackSummary(
        frame for frame in described.stack if not frame.filename.startswith(_OURS) or _is_kept(frame)
    )
    for other in (described.__cause__, described.__context__, *(described.exceptions or ())):
        if other is not None:
            _strip(other, seen)


def _is_kept(frame: traceback.FrameSummary) -> bool:
    return (Path(frame.filename).name, frame.name) in _KEPT
