"""Values are shown to the user as JSON.stringify shows them."""

from __future__ import annotations

import datetime
import math
from typing import Any

import pytest

from flarebed.bindings.entry import as_json, fields_of, is_positive_integer, type_of

NOON = datetime.datetime(2026, 1, 2, 12, tzinfo=datetime.UTC)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"id": "q", "n": [1, 2.5, True, None]}, '{"id":"q","n":[1,2.5,true,null]}'),
        (2.0, "2"),
        (1e300, "1e+300"),
        (math.inf, "null"),
        (math.nan, "null"),
        ("é – \U0001f600", '"é – \U0001f600"'),
        ("\ud800", '"\\ud800"'),
        (datetime.date(2026, 1, 2), '"2026-01-02"'),
        (NOON, '"2026-01-02T12:00:00.000Z"'),
        (datetime.time(1, 2), '"01:02:00"'),
    ],
)
def test_as_json(value: Any, shown: str) -> None:
    assert as_json(value) == shown


def test_as_json_indented() -> None:
    assert as_json([{"a": 1}], indent=2) == '[\n  {\n    "a": 1\n  }\n]'


@pytest.mark.parametrize(
    ("value", "kind"),
    [(True, "boolean"), (1, "number"), (1.5, "number"), ("", "string"), ([], "object"), (None, "object")],
)
def test_type_of(value: Any, kind: str) -> None:
    assert type_of(value) == kind


@pytest.mark.parametrize(
    ("value", "fields"), [({"a": 1}, {"a": 1}), ([5], {"0": 5}), (NOON, {}), (None, None), ("x", None), (5, None)]
)
def test_fields_of(value: Any, fields: Any) -> None:
    assert fields_of(value) == fields


@pytest.mark.parametrize(
    ("value", "positive"),
    [(1, True), (2.0, True), (0, False), (1.5, False), (True, False), ("1", False), (math.inf, False)],
)
def test_is_positive_integer(value: Any, positive: bool) -> None:
    assert is_positive_integer(value) is positive
