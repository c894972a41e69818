"""`queues`, with wrangler's texts and production's defaults."""

from __future__ import annotations

from typing import Any

import pytest

from flarebed.bindings.queues.spec import QueueConsumerSpec, QueueProducerSpec, parse
from tests.bindings.specs import parsed


def test_producers_and_consumers() -> None:
    value = {
        "producers": [{"binding": "Q", "queue": "q"}, {"binding": "R"}],
        "consumers": [
            {"queue": "q"},
            {
                "queue": "r", "type": "worker", "max_batch_size": 5, "max_batch_timeout": 1, "max_retries": 0,
                "dead_letter_queue": "d", "max_concurrency": 2, "visibility_timeout_ms": 1, "retry_delay": 30,
            },
        ],
    }  # fmt: skip
    specs, errors, warnings = parsed(parse, "queues", value)
    assert specs == (
        QueueProducerSpec("Q", "q"),
        QueueProducerSpec("R", "R"),
        QueueConsumerSpec("q", None, None, None, None, None, 0),
        QueueConsumerSpec("r", 5, 1, 0, "d", 2, 30),
    )
    assert (errors, warnings) == ([], [])
    assert [spec.rows() for spec in specs] == [[("Q (q)", "Queue")], [("R (R)", "Queue")], [], []]


@pytest.mark.parametrize(
    ("value", "errors", "warnings"),
    [
        ([], ['The field "queues" should be an object but got [].'], []),
        ({"producers": 5}, ['The field "queues.producers" should be an array but got 5.'], []),
        ({"consumers": 5}, ['The field "queues.consumers" should be an array but got 5.'], []),
        ({"x": 5}, [], ['Unexpected fields found in queues field: "x"']),
        ({"producers": [5]}, ['"queue" bindings should be objects, but got 5'], []),
        ({"producers": [{}]}, ['"queues.producers[0]" bindings should have a string "binding" field but got {}.'], []),
        (
            {"producers": [{"binding": "Q", "queue": ""}]},
            [
                '"queues.producers[0]" bindings should optionally have a non-empty string "queue" field'
                ' but got {"binding":"Q","queue":""}.'
            ],
            [],
        ),
        # Wrangler looks no further once it has found an unknown field.
        ({"producers": [{"queue": 5, "x": 1}]}, [], ['Unexpected fields found in queues.producers[0] field: "x"']),
        (
            {"producers": [{"binding": "Q"}, {"binding": "R", "delivery_delay": 5}]},
            [],
            [
                'The "delivery_delay" field in "queues.producers[1]" is deprecated and has no effect. Queue-level '
                'settings should be configured using "wrangler queues update" instead. This setting will be removed in '
                "a future version."
            ],
        ),
        ({"consumers": [5]}, ['"queues.consumers[0]" should be a objects, but got 5'], []),
        ({"consumers": [{}]}, ['"queues.consumers[0]" should have a string "queue" field but got {}.'], []),
        (
            {"consumers": [{"queue": "q", "type": "http_pull"}]},
            [
                '"queues.consumers[0].type" has an invalid value "http_pull". Only "worker" consumers can be '
                "configured in your Wrangler configuration."
            ],
            [],
        ),
        (
            {"consumers": [{"queue": "q", "max_concurrency": None}]},
            [
                '"queues.consumers[0]" should, optionally, have a number "max_concurrency" field'
                ' but got {"queue":"q","max_concurrency":null}.'
            ],
            [],
        ),
    ],
)
def test_complaints(value: Any, errors: list[str], warnings: list[str]) -> None:
    assert parsed(parse, "queues", value)[1:] == (errors, warnings)


@pytest.mark.parametrize(
    ("field", "given", "shown", "used", "span"),
    [
        ("max_batch_size", 500, "500", 100, "1 to 100"),
        ("max_batch_size", 0, "0", 1, "1 to 100"),
        ("max_batch_timeout", 2.5, "2.5", 2, "0 to 60"),
        ("max_retries", float("inf"), "null", 100, "0 to 100"),
        ("max_concurrency", 300, "300", 250, "1 to 250"),
        ("retry_delay", -1, "-1", 0, "0 to 86400"),
    ],
)
def test_numbers_that_production_refuses(field: str, given: float, shown: str, used: int, span: str) -> None:
    specs, errors, warnings = parsed(parse, "queues", {"consumers": [{"queue": "q", field: given}]})
    assert getattr(specs[0], field) == used
    assert errors == []
    assert warnings == [
        f'"queues.consumers[0].{field}" is {shown}, but production takes whole numbers from {span}. '
        f"{used} is used here."
    ]
