"""Step configurations: which are valid (workers-sdk tests/validators.test.ts and its schema), and what they mean."""

from __future__ import annotations

import math
from typing import Any

import pytest

from flarebed.bindings.values import UNDEFINED, BigInt
from flarebed.bindings.workflows import retry


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"retries": UNDEFINED, "timeout": UNDEFINED, "sensitive": UNDEFINED},
        {"retries": {"limit": 0, "delay": 100_000, "backoff": "exponential"}, "timeout": "15 minutes"},
        {"retries": {"limit": 5, "delay": 0, "backoff": "constant"}, "timeout": "2 minutes"},
        {"retries": {"limit": 10_000, "delay": "1 day", "backoff": "linear"}},
        {"retries": {"limit": 1, "delay": "-5 seconds"}},
        {"retries": {"limit": 1.5, "delay": lambda question: 5}},
        {"timeout": "0 seconds"},
        {"timeout": 1, "sensitive": "output"},
    ],
)
def test_valid(config: Any) -> None:
    assert retry.is_valid(config)


@pytest.mark.parametrize(
    "config",
    [
        5,
        "x",
        [],
        {"bogus": 1},
        {"retries": None},
        {"retries": {"limit": 1}},
        {"retries": {"delay": 50}},
        {"retries": {"backoff": "exponential"}},
        {"retries": {"limit": 5, "delay": 5, "more": 1}},
        {"retries": {"limit": 3, "delay": "i like trains", "backoff": "constant"}},
        {"retries": {"limit": 3, "delay": 10, "backoff": "quadratic"}},
        {"retries": {"limit": 3, "delay": -1}},
        {"retries": {"limit": -1, "delay": 0}},
        {"retries": {"limit": "3", "delay": 0}},
        {"retries": {"limit": True, "delay": 0}},
        {"retries": {"limit": BigInt(3), "delay": 0}},
        {"retries": {"limit": math.nan, "delay": 0}},
        {"timeout": 0},
        {"timeout": "0"},
        {"timeout": ""},
        {"timeout": -1},
        {"timeout": "soon"},
        {"timeout": None},
        {"sensitive": "all"},
        {"sensitive": True},
    ],
)
def test_invalid(config: Any) -> None:
    assert not retry.is_valid(config)


def test_defaults() -> None:
    assert retry.resolve({}) == {
        "retries": {"limit": 5, "delay": 1_000, "backoff": "exponential"},
        "timeout": "10 minutes",
    }
    assert retry.resolve({"retries": {"limit": 2, "delay": "1 day"}, "sensitive": "output"}) == {
        "retries": {"limit": 2, "delay": "1 day", "backoff": "exponential"},
        "timeout": "10 minutes",
        "sensitive": "output",
    }


def test_the_callbacks_context_has_delay_last_and_no_function() -> None:
    assert [*retry.shown(retry.resolve({}))["retries"].items()] == [
        ("limit", 5),
        ("backoff", "exponential"),
        ("delay", 1_000),
    ]
    dynamic = retry.resolve({"retries": {"limit": 1, "delay": lambda question: 5}})
    assert dynamic["retries"]["delay"] == "[dynamic]"
    assert retry.shown(dynamic)["retries"] == {"limit": 1, "backoff": "exponential"}


@pytest.mark.parametrize(
    ("backoff", "delays"),
    [
        ("constant", [100, 100, 100, 100]),
        ("linear", [100, 200, 300, 400]),
        ("exponential", [100, 200, 400, 800]),
        (UNDEFINED, [100, 100, 100, 100]),
    ],
)
def test_backoff(backoff: Any, delays: list[float]) -> None:
    config = retry.resolve({"retries": {"limit": 9, "delay": 1, "backoff": backoff}})
    assert [retry.delay_ms(config, attempts, "100 ms") for attempts in (1, 2, 3, 4)] == delays


@pytest.mark.parametrize("delay", ["soon", -1, "-5 seconds", math.inf, math.nan, {}])
def test_no_delay(delay: Any) -> None:
    with pytest.raises(ValueError, match=r"^returned an invalid delay value"):
        retry.delay_ms(retry.resolve({}), 1, delay)
