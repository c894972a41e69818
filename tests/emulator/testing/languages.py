"""Tests that read the same whatever language the Worker is in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import pytest

Test = TypeVar("Test", bound=Callable[..., Any])
MARKS = [
    pytest.mark.usefixtures("language"),
    pytest.mark.parametrize("language", ["python", "typescript"], indirect=True),
]


def in_both(test: Test) -> Test:
    for mark in MARKS:
        test = mark(test)
    return test
