"""`kv_namespaces`, with wrangler's texts."""

from __future__ import annotations

from typing import Any

import pytest

from flarebed.bindings.kv.spec import KvNamespaceSpec, parse
from tests.bindings.specs import parsed


def test_namespaces() -> None:
    value = [
        {"binding": "A", "id": "i", "preview_id": "p", "remote": True},
        {"binding": "B", "id": "i"},
        {"binding": "C"},
    ]
    assert parsed(parse, "kv_namespaces", value) == (
        (KvNamespaceSpec("A", "i", "p"), KvNamespaceSpec("B", "i"), KvNamespaceSpec("C")),
        [],
        [],
    )


@pytest.mark.parametrize(
    ("spec", "used", "rows"),
    [
        (KvNamespaceSpec("A", "i", "p"), "p", [("A (p)", "KV Namespace")]),
        (KvNamespaceSpec("A", "i"), "i", [("A (i)", "KV Namespace")]),
        (KvNamespaceSpec("A"), "A", [("A (A)", "KV Namespace")]),
    ],
)
def test_the_namespace_on_this_machine(spec: KvNamespaceSpec, used: str, rows: list[tuple[str, str]]) -> None:
    assert (spec.namespace_id, spec.rows()) == (used, rows)


@pytest.mark.parametrize(
    ("value", "errors"),
    [
        ({}, ['The field "kv_namespaces" should be an array but got {}.']),
        (["x"], ['"kv_namespaces" bindings should be objects, but got "x"']),
        ([None], ['"kv_namespaces" bindings should be objects, but got null']),
        ([{"id": "q"}], ['"kv_namespaces[0]" bindings should have a string "binding" field but got {"id":"q"}.']),
        (
            [{"binding": "A"}, {"binding": "B", "id": ""}],
            ['"kv_namespaces[1]" bindings should have a string "id" field but got {"binding":"B","id":""}.'],
        ),
        (
            [{"binding": "A", "preview_id": 5, "remote": "yes"}],
            [
                '"kv_namespaces[0]" bindings should, optionally, have a string "preview_id" field'
                ' but got {"binding":"A","preview_id":5,"remote":"yes"}.',
                '"kv_namespaces[0]" should, optionally, have a boolean "remote" field'
                ' but got {"binding":"A","preview_id":5,"remote":"yes"}.',
            ],
        ),
    ],
)
def test_errors(value: Any, errors: list[str]) -> None:
    assert parsed(parse, "kv_namespaces", value)[1:] == (errors, [])


def test_unknown_fields() -> None:
    warnings = parsed(parse, "env.prod.kv_namespaces", [{"binding": "A", "x": 1, "y": 2}])[2]
    assert warnings == ['Unexpected fields found in env.prod.kv_namespaces[0] field: "x","y"']
