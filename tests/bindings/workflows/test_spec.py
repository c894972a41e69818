"""`workflows`, with wrangler's texts."""

from __future__ import annotations

from typing import Any

import pytest

from flarebed.bindings.workflows.spec import WorkflowSpec, parse
from tests.bindings.specs import parsed

PLAIN = {"binding": "W", "name": "w", "class_name": "C"}
BAD_NAME = (
    '"workflows[0]" binding "name" field is invalid. Workflow names must be 1-64 characters long, start with a letter, '
    "number, or underscore, and may only contain letters, numbers, underscores, or hyphens."
)


def test_workflows() -> None:
    full = {
        "binding": "V", "name": "v", "class_name": "D", "script_name": "other", "limits": {"steps": 7},
        "schedules": ["0 6 * * *", "0 7 * * *"], "concurrency": {"limit": 3}, "jurisdiction": "eu",
        "default_retention": {"success_retention": "3 days", "error_retention": 5000},
    }  # fmt: skip
    specs, errors, warnings = parsed(
        parse, "workflows", [PLAIN, full, {**PLAIN, "name": "x", "schedules": "* * * * *"}]
    )
    assert specs == (
        WorkflowSpec("W", "w", "C"),
        WorkflowSpec("V", "v", "D", "other", 7, ("0 6 * * *", "0 7 * * *"), 3, 259_200_000, 5000),
        WorkflowSpec("W", "x", "C", schedules=("* * * * *",)),
    )
    assert (errors, warnings) == ([], [])
    assert [spec.rows() for spec in specs[:2]] == [[("W (C)", "Workflow")], [("V (D (defined in other))", "Workflow")]]


@pytest.mark.parametrize("name", ["", "-a", "a b", "a\n", "é", "a" * 65])
def test_bad_names(name: str) -> None:
    assert parsed(parse, "workflows", [{**PLAIN, "name": name}])[1] == [BAD_NAME]


@pytest.mark.parametrize("name", ["a", "_", "1", "A-b_9", "a" * 64])
def test_good_names(name: str) -> None:
    assert parsed(parse, "workflows", [{**PLAIN, "name": name}])[1] == []


OWNER = '"workflows[0]" bindings'


@pytest.mark.parametrize(
    ("more", "errors"),
    [
        ({"limits": {"steps": 0}}, [f'{OWNER} "limits.steps" field must be a positive integer but got 0.']),
        ({"limits": {"steps": 1.5}}, [f'{OWNER} "limits.steps" field must be a positive integer but got 1.5.']),
        (
            {"concurrency": {"limit": "x"}},
            [f'{OWNER} "concurrency.limit" field must be a positive integer but got "x".'],
        ),
        ({"schedules": ""}, [f'{OWNER} "schedules" field must not be an empty string.']),
        ({"schedules": []}, [f'{OWNER} "schedules" field must not be an empty array.']),
        ({"schedules": ["a", ""]}, [f'{OWNER} "schedules" field must not contain empty strings.']),
        (
            {"schedules": ["* * * * *", "0 0 * * 0"]},
            [
                f'{OWNER} "schedules" field has the invalid cron expression "0 0 * * 0": '
                '"0" is not a valid day of the week.'
            ],
        ),
        (
            {"default_retention": {"error_retention": 0}},
            [
                f'{OWNER} "default_retention.error_retention" field must be a positive integer of milliseconds or a '
                'duration string such as "3 days", but got 0.'
            ],
        ),
        (
            {"jurisdiction": "mars"},
            [f'{OWNER} "jurisdiction" field must be one of "eu", "fedramp", or "us", but got "mars".'],
        ),
        (
            {"limits": 5},
            [
                f'{OWNER} should, optionally, have an object "limits" field'
                ' but got {"binding":"W","name":"w","class_name":"C","limits":5}.'
            ],
        ),
        (
            {"schedules": [5]},
            [
                f'{OWNER} should, optionally, have a string or array of strings "schedules" field'
                ' but got {"binding":"W","name":"w","class_name":"C","schedules":[5]}.'
            ],
        ),
    ],
)
def test_errors(more: dict[str, Any], errors: list[str]) -> None:
    assert parsed(parse, "workflows", [{**PLAIN, **more}])[1:] == (errors, [])


@pytest.mark.parametrize(
    ("more", "warnings"),
    [
        (
            {"default_retention": {"success_retention": "soon"}},
            [
                '"workflows[0]" bindings "default_retention.success_retention" is "soon", which is no duration such as '
                '"3 days"; instances are kept for the default time.'
            ],
        ),
        (
            {"limits": {"steps": 25_001}},
            [
                '"workflows[0]" has a step limit of 25001, which exceeds the production maximum of 25,000. '
                "This configuration may not work when deployed."
            ],
        ),
        ({"limits": {"x": 1}}, ['Unexpected fields found in workflows[0].limits field: "x"']),
        ({"remote": True}, ['Unexpected fields found in workflows[0] field: "remote"']),
    ],
)
def test_warnings(more: dict[str, Any], warnings: list[str]) -> None:
    assert parsed(parse, "workflows", [{**PLAIN, **more}])[1:] == ([], warnings)


def test_required_fields() -> None:
    assert parsed(parse, "workflows", [{}])[1] == [
        f'{OWNER} should have a string "{field}" field but got {{}}.' for field in ("binding", "name", "class_name")
    ]


def test_names_are_unique() -> None:
    assert parsed(parse, "workflows", [PLAIN, {**PLAIN, "binding": "V"}])[1] == [
        '"workflows" bindings must have unique "name" values; duplicate(s) found: "w"'
    ]
