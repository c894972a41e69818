"""`services`, with wrangler's texts."""

from __future__ import annotations

from typing import Any

import pytest

from flarebed.bindings.services.spec import ServiceSpec, parse
from tests.bindings.specs import parsed


def test_services() -> None:
    value = [
        {"binding": "A", "service": "api"},
        {"binding": "B", "service": "api", "entrypoint": "Admin", "props": {"a": [1]}, "environment": "prod"},
        {"binding": "C", "service": "api", "remote": True, "dev": {"plugin": {"package": "p", "name": "n"}}, "x": 1},
    ]
    warnings = [
        '"services[2]" binding has both "dev" and "remote" set; "remote" is ignored when "dev" is present and the '
        "binding is routed through the local Miniflare plugin."
    ]
    assert parsed(parse, "services", value) == (
        (ServiceSpec("A", "api"), ServiceSpec("B", "api", "Admin", {"a": [1]}, "prod"), ServiceSpec("C", "api")),
        [],
        warnings,
    )


@pytest.mark.parametrize(
    ("spec", "worker", "rows"),
    [
        (ServiceSpec("A", "api"), "api", [("A (api)", "Worker")]),
        (ServiceSpec("A", "api", "Admin"), "api", [("A (api#Admin)", "Worker")]),
        (ServiceSpec("A", "api", environment="prod"), "api-prod", [("A (api-prod)", "Worker")]),
    ],
)
def test_the_worker_on_this_machine(spec: ServiceSpec, worker: str, rows: list[tuple[str, str]]) -> None:
    assert (spec.worker, spec.rows()) == (worker, rows)


@pytest.mark.parametrize(
    ("value", "errors"),
    [
        ({}, ['The field "services" should be an array but got {}.']),
        (["x"], ['"services" bindings should be objects, but got "x"']),
        (
            [{}],
            [
                '"services[0]" bindings should have a string "binding" field but got {}.',
                '"services[0]" bindings should have a string "service" field but got {}.',
            ],
        ),
        (
            [{"binding": "A", "service": "s", "environment": 5, "entrypoint": None, "remote": 1}],
            [
                f'"services[0]" {problem} field but got '
                '{"binding":"A","service":"s","environment":5,"entrypoint":null,"remote":1}.'
                for problem in (
                    'bindings should have a string "environment"',
                    'bindings should have a string "entrypoint"',
                    'should, optionally, have a boolean "remote"',
                )
            ],
        ),
        (
            [{"binding": "A", "service": "s", "dev": []}],
            [
                '"services[0]" bindings should have an object "dev" field but got '
                '{"binding":"A","service":"s","dev":[]}.'
            ],
        ),
        (
            [{"binding": "A", "service": "s", "dev": {"plugin": {"name": 5}, "options": 5}}],
            [
                '"services[0].dev.plugin" should have a string "package" field but got {"name":5}.',
                '"services[0].dev.plugin" should have a string "name" field but got {"name":5}.',
                '"services[0].dev.options" should be an object but got 5.',
            ],
        ),
        (
            [{"binding": "A", "service": "s", "dev": {"plugin": None}}],
            ['"services[0].dev" should have an object "plugin" field but got null.'],
        ),
    ],
)
def test_errors(value: Any, errors: list[str]) -> None:
    assert parsed(parse, "services", value)[1:] == (errors, [])
