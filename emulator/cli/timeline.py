"""An instance's timeline: a bar for each step, from when the instance was queued to now, or to what is still ahead.

Pure. The same characters with and without colour, so that it reads the same in a file.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from rich.text import Text

from flarebed.bindings.workflows import history
from flarebed.bindings.workflows.history import Stage
from flarebed.bindings.workflows.view import label
from flarebed.emulator.cli.times import distance, local_text

_WIDEST_NAME: Final = 24
_WIDEST_BAR: Final = 50
_NARROWEST_BAR: Final = 16
_REST: Final = 44
"""What a line needs beside its name and its bar."""


@dataclass(frozen=True)
class Ink:
    """What a stretch of time is drawn with; of two in one place the one of higher `rank` is seen."""

    cell: str
    style: str
    meaning: str
    rank: int


AHEAD: Final = Ink("┄", "dim", "ahead", 0)
BETWEEN: Final = Ink("·", "dim", "between attempts", 1)
IDLE: Final = Ink("░", "blue", "sleep or wait", 2)
FAILED: Final = Ink("▒", "red", "failed attempt", 3)
WORK: Final = Ink("█", "green", "attempt", 4)
_INKS: Final = (WORK, FAILED, BETWEEN, IDLE, AHEAD)

Span = tuple[float, float, Ink]


def timeline(
    stages: list[Stage],
    buffered: list[tuple[str, float]],
    begin_ms: float,
    now_ms: float,
    end_ms: float | None,
    width: int,
) -> list[Text]:
    """`buffered` are type and time of the events that no step has got; `end_ms` is the instance's, if it has ended."""
    rows = [Text(), Text("Timeline:")]
    until_ms = now_ms if end_ms is None else end_ms
    spans = [_spans(stage, until_ms, ended=end_ms is not None) for stage in stages]
    begin_ms = min([begin_ms, *(stage.started_ms for stage in stages)])  # an edge: its clock was another before
    last_ms = max([until_ms, *(span[1] for one in spans for span in one)])
    name_width = min(_WIDEST_NAME, max((len(label(stage)) for stage in stages), default=0))
    bar = _bar_width(name_width, width)
    if stages:
        rows.append(Text(f"  {'':{name_width}}   {_ends(begin_ms, last_ms, bar)}", "dim"))
    for stage, drawn in zip(stages, spans, strict=True):
        sign, style = _sign(stage)
        row = Text("  ").append(sign, style).append(f" {_fit(label(stage), name_width)} │")
        rows.append(row.append_text(_draw(drawn, begin_ms, last_ms, bar)).append("│ ").append(_said(stage, until_ms)))
    used = {span[2] for one in spans for span in one}
    if used:
        rows.append(Text("  " + "   ".join(f"{ink.cell} {ink.meaning}" for ink in _INKS if ink in used), "dim"))
    rows += [Text(f'  Event "{kind}" of {local_text(sent_ms)}: no step has got it yet.') for kind, sent_ms in buffered]
    return rows if len(rows) > 2 else []


def _spans(stage: Stage, until_ms: float, *, ended: bool) -> list[Span]:
    """What a step did when; nothing is ahead of an instance that has ended."""
    end_ms = until_ms if stage.ended_ms is None else stage.ended_ms
    spans: list[Span] = []
    if stage.kind in ("sleep", "wait"):
        spans.append((stage.started_ms, end_ms, IDLE))
    else:
        at_ms = stage.started_ms
        for failure in json.loads(stage.failures):
            spans += [(at_ms, failure["start_ms"], BETWEEN), (failure["start_ms"], failure["end_ms"], FAILED)]
            at_ms = failure["end_ms"]
        attempted = stage.state in (history.ATTEMPTING, history.INTERRUPTED, history.DONE)
        if attempted and stage.attempt_ms is not None:
            spans += [(at_ms, stage.attempt_ms, BETWEEN), (stage.attempt_ms, end_ms, WORK)]
        elif stage.state == history.DELAYED:
            spans.append((at_ms, until_ms, BETWEEN))
    if stage.wake_ms is not None and stage.wake_ms > until_ms and not ended:
        spans.append((until_ms, stage.wake_ms, AHEAD))
    return [span for span in spans if span[1] > span[0] or span[2] is not BETWEEN]


def _draw(spans: list[Span], begin_ms: float, last_ms: float, width: int) -> Text:
    """Whatever happened takes one cell at least."""
    cells: list[Ink | None] = [None] * width
    scale = width / max(last_ms - begin_ms, 1)
    for start_ms, end_ms, ink in spans:
        first = min(width - 1, math.floor((start_ms - begin_ms) * scale))
        for at in range(max(0, first), max(first + 1, min(width, math.ceil((end_ms - begin_ms) * scale)))):
            there = cells[at]
            if there is None or there.rank < ink.rank:
                cells[at] = ink
    drawn = Text()
    for cell, run in groupby(cells):
        length = len(list(run))
        drawn.append(" " * length if cell is None else cell.cell * length, None if cell is None else cell.style)
    return drawn


def _sign(stage: Stage) -> tuple[str, str]:
    if stage.state == history.DONE:
        return "✔", "green"
    if stage.state == history.FAILED:
        return "✘", "red"
    return ("▶", "green") if stage.state == history.ATTEMPTING else ("…", "blue")


def _said(stage: Stage, until_ms: float) -> str:
    end_ms = until_ms if stage.ended_ms is None else stage.ended_ms
    took = _short(end_ms - stage.started_ms)
    waits = f'"{stage.event_type}", ' if stage.kind == "wait" else ""
    if stage.state == history.OPEN:
        return f"{waits}until {local_text(stage.wake_ms or 0)}"
    if stage.kind in ("sleep", "wait"):
        return f"{waits}{took}" + (", timed out" if stage.state == history.FAILED else "")
    failures = json.loads(stage.failures)
    made = len(failures) + (stage.state != history.FAILED and stage.state != history.DELAYED)
    counted = f", {made} attempts" if made > 1 else ""
    if stage.state == history.DELAYED:
        return f"next attempt {local_text(stage.wake_ms or 0)}{counted}"
    return took + counted + ("" if stage.error is None else f", {_error(stage.error)}")


def _error(recorded: str) -> str:
    """In one line: of a Python traceback the last."""
    error = json.loads(recorded)
    lines = error["message"].strip().split("\n")
    return lines[-1] if "Traceback (most recent call last)" in lines[0] else f"{error['name']}: {lines[0]}"


def _short(ms: float) -> str:
    if ms < 1_000:
        return f"{ms:.0f} ms"
    return f"{ms / 1_000:.1f} s" if ms < 60_000 else distance(ms)


def _ends(begin_ms: float, last_ms: float, width: int) -> str:
    """The times of the first and the last cell."""
    begin, last = local_text(begin_ms), local_text(last_ms)
    return begin + last.rjust(width - len(begin)) if len(begin) + len(last) < width else f"{begin} - {last}"


def _bar_width(name_width: int, width: int) -> int:
    return max(_NARROWEST_BAR, min(_WIDEST_BAR, width - name_width - _REST))


def _fit(name: str, width: int) -> str:
    return name.ljust(width) if len(name) <= width else name[: width - 1] + "…"
