"""Answers of the npm package itty-time 2.0.2, asked with Node.js."""

from __future__ import annotations

import math
from typing import Any

import pytest

from flarebed.bindings.workflows.duration import to_ms


@pytest.mark.parametrize(
    ("duration", "expected"),
    [
        ("1 second", 1_000),
        ("90 seconds", 90_000),
        ("1.5 hours", 5_400_000),
        ("2 days", 172_800_000),
        ("1 week", 604_800_000),
        ("1 month", 2_592_000_000),
        ("1 year", 31_557_600_000),
        ("300 ms", 300),
        ("5  seconds", 5_000),
        (".5 seconds", 500),
        ("1e3 seconds", 1_000_000),
        ("-5 seconds", -5_000),
        ("1 bogus", 1),
        ("1 sec", 1),
        ("2 h", 2),
        ("5 SECONDS", 5),
        ("10", 10),
        ("", 0),
        ("Infinity", math.inf),
        (5, 5),
        (-5, -5),
        (0.5, 0.5),
        (True, 1),
        (None, 0),
    ],
)
def test_duration(duration: Any, expected: float) -> None:
    assert to_ms(duration) == expected


@pytest.mark.parametrize(
    "duration", ["soon", "1h", "1 second 2 minutes", "1,000 seconds", " 5 seconds", "1 week, 2 days", math.nan]
)
def test_no_duration(duration: Any) -> None:
    assert math.isnan(to_ms(duration))
