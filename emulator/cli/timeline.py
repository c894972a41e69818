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
from flarebed.bindings.workflows.listing import Record
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
    records: list[Record],
    buffered: list[tuple[str, float]],
    begin_ms: float,
    now_ms: float,
    end_ms: float | None,
    width: int,
) -> list[Text]:
    """`buffered` are type and time of the events that no step has got; `end_ms` is the instance's, if it has ended."""
    rows = [Text(), Text("Timeline:")]
    until_ms = now_ms if end_ms is None else end_ms
    spans = [_spans(record, until_ms, ended=end_ms is not None) for record in records]
    begin_ms = min([begin_ms, *(record.started_ms for record in records)])  # an edge: its clock was another before
    last_ms = max([until_ms, *(span[1] for one in spans for span in one)])
    name_width = min(_WIDEST_NAME, max((len(label(record)) for record in records), default=0))
    bar = _bar_width(name_width, width)
    if records:
        rows.append(Text(f"  {'':{name_width}}   {_ends(begin_ms, last_ms, bar)}", "dim"))
    for record, drawn in zip(records, spans, strict=True):
        sign, style = _sign(record)
        row = Text("  ").append(sign, style).append(f" {_fit(label(record), name_width)} │")
        rows.append(row.append_text(_draw(drawn, begin_ms, last_ms, bar)).append("│ ").append(_said(record, until_ms)))
    used = {span[2] for one in spans for span in one}
    if used:
        rows.append(Text("  " + "   ".join(f"{ink.cell} {ink.meaning}" for ink in _INKS if ink in used), "dim"))
    rows += [Text(f'  Event "{kind}" of {local_text(sent_ms)}: no step has got it yet.') for kind, sent_ms in buffered]
    return rows if len(rows) > 2 else []


def _spans(record: Record, until_ms: float, *, ended: bool) -> list[Span]:
    """What a step did when; nothing is ahead of an instance that has ended."""
    end_ms = until_ms if record.ended_ms is None else record.ended_ms
    spans: list[Span] = []
    if record.kind in ("sleep", "wait"):
        spans.append((record.started_ms, end_ms, IDLE))
    else:
        at_ms = record.started_ms
        for failure in json.loads(record.failures):
            spans += [(at_ms, failure["start_ms"], BETWEEN), (failure["start_ms"], failure["end_ms"], FAILED)]
            at_ms = failure["end_ms"]
        attempted = record.state in (history.ATTEMPTING, history.INTERRUPTED, history.DONE)
        if attempted and record.attempt_ms is not None:
            spans += [(at_ms, record.attempt_ms, BETWEEN), (record.attempt_ms, end_ms, WORK)]
        elif record.state == history.DELAYED:
            spans.append((at_ms, until_ms, BETWEEN))
    if record.wake_ms is not None and record.wake_ms > until_ms and not ended:
        spans.append((until_ms, record.wake_ms, AHEAD))
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


def _sign(record: Record) -> tuple[str, str]:
    if record.state == history.DONE:
        return "✔", "green"
    if record.state == history.FAILED:
        return "✘", "red"
    return ("▶", "green") if record.state == history.ATTEMPTING else ("…", "blue")


def _said(record: Record, until_ms: float) -> str:
    end_ms = until_ms if record.ended_ms is None else record.ended_ms
    took = _short(end_ms - record.started_ms)
    waits = f'"{record.event_type}", ' if record.kind == "wait" else ""
    if record.state == history.OPEN:
        return f"{waits}until {local_text(record.wake_ms or 0)}"
    if record.kind in ("sleep", "wait"):
        return f"{waits}{took}" + (", timed out" if record.state == history.FAILED else "")
    failures = json.loads(record.failures)
    made = len(failures) + (record.state != history.FAILED and record.state != history.DELAYED)
    counted = f", {made} attempts" if made > 1 else ""
    if record.state == history.DELAYED:
        return f"next attempt {local_text(record.wake_ms or 0)}{counted}"
    return took + counted + ("" if record.error is None else f", {_error(record.error)}")


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
