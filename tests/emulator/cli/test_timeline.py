"""The bars of an instance's timeline, and what is said beside them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from flarebed.bindings.workflows.history import Stage
from flarebed.emulator.cli.timeline import timeline

START_MS = 1_767_225_600_000.0
SECOND_MS = 1_000.0


@pytest.fixture(autouse=True)
def _in_utc(project: Any) -> None:
    """Times are shown in local time."""


def stage(kind: str, state: str, start_s: float, **fields: Any) -> Stage:
    """With times in seconds since the start."""
    known: dict[str, Any] = {
        "seq": 1, "kind": kind, "name": "s", "nth": 1, "state": state, "attempts": 1, "wake_ms": None, "config": None,
        "event_type": "go" if kind == "wait" else None, "result": None, "error": None,
        "started_ms": START_MS + start_s * SECOND_MS, "attempt_ms": None, "attempt_seq": None, "ended_ms": None,
        "end_seq": None, "failures": "[]", "duration_ms": None,
    }  # fmt: skip
    for name, value in fields.items():
        known[name] = START_MS + value * SECOND_MS if name.endswith("_ms") else value
    return Stage(**known)


def failures(*spans_s: tuple[float, float]) -> str:
    return json.dumps([
        {"start_ms": START_MS + start * SECOND_MS, "end_ms": START_MS + end * SECOND_MS, "name": "E", "message": "m"}
        for start, end in spans_s
    ])  # fmt: skip


def error(message: str, name: str = "Error") -> str:
    return json.dumps({"name": name, "message": message})


def drawn(*stages: Stage, now_s: float = 16, ended: bool = False, width: int = 63) -> list[str]:
    """The rows of the steps, in bars of 16 cells: a second each, if nothing is ahead."""
    now_ms = START_MS + now_s * SECOND_MS
    rows = timeline(list(stages), [], START_MS, now_ms, now_ms if ended else None, width)
    return [row.plain for row in rows[3 : 3 + len(stages)]]


@pytest.mark.parametrize(
    ("one", "row"),
    [
        (stage("sleep", "done", 0, ended_ms=4), "  ✔ s-1 │░░░░            │ 4.0 s"),
        (stage("sleep", "done", 4, ended_ms=4), "  ✔ s-1 │    ░           │ 0 ms"),
        (stage("sleep", "done", 16, ended_ms=16), "  ✔ s-1 │               ░│ 0 ms"),
        (stage("sleep", "open", 8, wake_ms=16), "  … s-1 │        ░░░░░░░░│ until 1/1/2026, 12:00:16 AM"),
        (stage("wait", "done", 8, ended_ms=12), '  ✔ s-1 │        ░░░░    │ "go", 4.0 s'),
        (
            stage("wait", "failed", 8, ended_ms=12, error=error("late")),
            '  ✘ s-1 │        ░░░░    │ "go", 4.0 s, timed out',
        ),
        (stage("do", "attempting", 4, attempt_ms=4), "  ▶ s-1 │    ████████████│ 12.0 s"),
        (
            stage("do", "done", 2, attempt_ms=8, ended_ms=10, failures=failures((2, 4), (6, 7))),
            "  ✔ s-1 │  ▒▒··▒·██      │ 8.0 s, 3 attempts",
        ),
        (
            stage("do", "failed", 2, attempt_ms=6, ended_ms=7, failures=failures((2, 4), (6, 7)),
                   error=error("bad\nworse", "TypeError")),
            "  ✘ s-1 │  ▒▒··▒         │ 5.0 s, 2 attempts, TypeError: bad",
        ),
        (
            stage("do", "failed", 0, attempt_ms=0, ended_ms=1, failures=failures((0, 1)),
                   error=error("PythonError: Traceback (most recent call last):\n  File ...\nValueError: no\n")),
            "  ✘ s-1 │▒               │ 1.0 s, ValueError: no",
        ),
        (
            stage("do", "delayed", 0, wake_ms=16, failures=failures((0, 1))),
            "  … s-1 │▒···············│ next attempt 1/1/2026, 12:00:16 AM",
        ),
        (
            stage("rollback", "failed", 8, ended_ms=8, name="a-1", error=error("gone", "RollbackMissing")),
            "  ✘ a-1 │                │ 0 ms, RollbackMissing: gone",
        ),
    ],
)  # fmt: skip
def test_a_step(one: Stage, row: str) -> None:
    assert drawn(one) == [row]


def test_what_is_ahead_takes_its_place() -> None:
    asleep, delayed = stage("sleep", "open", 0, wake_ms=32), stage("do", "delayed", 8, wake_ms=24)
    assert [row[9:25] for row in drawn(asleep, delayed)] == ["░░░░░░░░┄┄┄┄┄┄┄┄", "    ····┄┄┄┄    "]


def test_nothing_is_ahead_of_an_instance_that_has_ended() -> None:
    assert drawn(stage("sleep", "open", 0, wake_ms=32), ended=True)[0][9:25] == "░" * 16


def test_an_attempt_is_seen_however_short_it_was() -> None:
    month_s = 30 * 86_400
    short = stage("do", "done", 0, attempt_ms=0, ended_ms=0.005)
    nap = stage("sleep", "done", 0.005, ended_ms=month_s)
    assert drawn(short, nap, now_s=month_s) == [
        "  ✔ s-1 │█               │ 5 ms",
        "  ✔ s-1 │░░░░░░░░░░░░░░░░│ 30 days",
    ]


def test_long_names_and_wide_terminals() -> None:
    name = "a step of which much can be said"
    assert drawn(stage("sleep", "done", 0, ended_ms=16, name=name), width=80) == [
        "  ✔ a step of which much ca… │░░░░░░░░░░░░░░░░│ 16.0 s"
    ]
    [wide] = drawn(stage("sleep", "done", 0, ended_ms=16), width=1000)
    assert wide == f"  ✔ s-1 │{'░' * 50}│ 16.0 s"


def test_where_the_clock_was_another_when_the_instance_was_queued() -> None:
    rows = timeline([stage("sleep", "done", 0, ended_ms=16)], [], START_MS + 1e12, START_MS + 16_000, None, 63)
    assert rows[3].plain == "  ✔ s-1 │░░░░░░░░░░░░░░░░│ 16.0 s"


def test_nothing_to_draw() -> None:
    assert timeline([], [], START_MS, START_MS, None, 80) == []
    [_, title, event] = timeline([], [("go", START_MS)], START_MS, START_MS, None, 80)
    assert (title.plain, event.plain) == (
        "Timeline:", '  Event "go" of 1/1/2026, 12:00:00 AM: no step has got it yet.',
    )  # fmt: skip
