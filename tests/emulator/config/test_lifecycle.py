"""Which classes are Durable Objects: `migrations`, `exports`, and wrangler's texts for what can't be."""

from __future__ import annotations

from typing import Any

import pytest

from tests.emulator.config.project import Project

JAVASCRIPT = {"name": "x", "main": "src/index.js"}


@pytest.mark.parametrize(
    ("config", "classes"),
    [
        ({"migrations": [{"tag": "1", "new_classes": ["A"], "new_sqlite_classes": ["B"]}]}, {"A": False, "B": True}),
        (
            {
                "migrations": [
                    {"tag": "1", "new_sqlite_classes": ["A", "B"]},
                    {"tag": "2", "renamed_classes": [{"from": "A", "to": "C"}], "deleted_classes": ["B"]},
                ]
            },
            {"C": True},
        ),
        (
            {
                "exports": {
                    "A": {"type": "durable-object", "storage": "sqlite"},
                    "B": {"type": "durable-object", "storage": "legacy-kv", "state": "created"},
                    "C": {"type": "durable-object", "state": "deleted"},
                    "D": {"type": "worker", "cache": {"enabled": True}},
                    "E": {
                        "type": "durable-object", "storage": "sqlite", "state": "expecting-transfer",
                        "transfer_from": "y",
                    },
                }
            },
            {"A": True, "B": False, "E": True},
        ),
        ({"durable_objects": {"bindings": [{"name": "N", "class_name": "A"}]}}, {"A": False}),
        ({"durable_objects": {"bindings": [{"name": "N", "class_name": "A", "script_name": "y"}]}}, {}),
        ({"durable_objects": {"bindings": [{"name": "N", "class_name": "A", "script_name": "x"}]}}, {"A": False}),
    ],
)  # fmt: skip
def test_the_classes_of_a_worker(project: Project, config: dict[str, Any], classes: dict[str, bool]) -> None:
    assert project.with_config({**JAVASCRIPT, **config}).native.own_classes() == classes


def _migrations(*migrations: Any) -> dict[str, Any]:
    return {"migrations": list(migrations)}


def _export(**entry: Any) -> dict[str, Any]:
    return {"exports": {"A": {"type": "durable-object", **entry}}}


@pytest.mark.parametrize(
    ("config", "errors"),
    [
        ({"migrations": 5}, ['The optional "migrations" field should be an array, but got 5']),
        (_migrations({"new_classes": ["A"]}), ['"migrations[0].tag" is a required field.']),
        (_migrations({"tag": 1}), ['Expected "migrations[0].tag" to be of type string but got 1.']),
        (
            _migrations({"tag": "1", "new_classes": "A"}),
            ['Expected "migrations[0].new_classes" to be of type string array but got "A".'],
        ),
        (
            _migrations({"tag": "1", "renamed_classes": [{"from": "A"}]}),
            [
                'Expected "migrations[0].renamed_classes" to be an array of "{from: string, to: string}" objects but '
                'got [{"from":"A"}].'
            ],
        ),
        (
            _migrations({"tag": "1", "transferred_classes": {}}),
            [
                'Expected "migrations[0].transferred_classes" to be an array of "{from: string, from_script: string, '
                'to: string}" objects but got {}.'
            ],
        ),
        (
            _migrations({"tag": "1", "deleted_classes": ["A"]}),
            ["Cannot apply deleted_classes migration to non-existent class A"],
        ),
        (
            _migrations({"tag": "1", "renamed_classes": [{"from": "A", "to": "B"}]}),
            ["Cannot apply renamed_classes migration to non-existent class A"],
        ),
        (
            _migrations({"tag": "1", "new_classes": ["A"], "new_sqlite_classes": ["A"]}),
            ["Cannot apply new_sqlite_classes migration to existing class A"],
        ),
        (
            {"exports": []},
            ['The optional "exports" field should be an object keyed by class name, but got []'],
        ),
        ({"exports": {"A": 5}}, ['"exports.A" should be an object but got 5.']),
        ({"exports": {"A": {}}}, ['"exports.A.type" must be "durable-object" or "worker", but got undefined.']),
        (
            _export(),
            [
                '"exports.A.storage" is required for state "created" and must be one of sqlite and legacy-kv, but got '
                "undefined"
            ],
        ),
        (
            _export(state="gone"),
            [
                '"exports.A.state" must be one of "created", "deleted", "renamed", "transferred", or '
                '"expecting-transfer" but got "gone".'
            ],
        ),
        (
            _export(state="deleted", storage="sqlite"),
            ['"exports.A.storage" is forbidden on state "deleted".', "Allowed properties are: type and state."],
        ),
        (
            _export(state="renamed", renamed_to="a b"),
            ['"exports.A.renamed_to" must be a valid JavaScript identifier (got "a b").'],
        ),
        (
            _export(state="renamed", renamed_to="A"),
            ['"exports.A.renamed_to" cannot equal the source class name "A".'],
        ),
        (
            _export(state="transferred"),
            ['"exports.A.transferred_to" is required for state "transferred" and must be a non-empty string.'],
        ),
        (
            {**_export(storage="sqlite"), **_migrations({"tag": "1", "new_classes": ["A"]})},
            [
                "`migrations` and `exports` are mutually exclusive. Choose one or the other to declare your Durable "
                "Object lifecycle, but not both."
            ],
        ),
    ],
)
def test_what_can_not_be(project: Project, config: dict[str, Any], errors: list[str]) -> None:
    assert list(project.errors({**JAVASCRIPT, **config})) == errors


def test_a_bound_class_that_is_declared_nowhere(project: Project) -> None:
    bound = {"durable_objects": {"bindings": [{"name": "N", "class_name": "A"}, {"name": "M", "class_name": "B"}]}}
    declared = {"exports": {"B": {"type": "durable-object", "storage": "sqlite"}}}
    assert project.with_config({**JAVASCRIPT, **bound, **declared}).warnings == (
        "Processing wrangler.jsonc configuration:\n"
        "  - In your wrangler.jsonc file, you have configured `durable_objects` exported by this Worker (A), but no "
        "live `exports` entry for them. This may not work as expected until you add a live `durable-object` entry to "
        "`exports` for each. Add the following configuration:\n\n"
        "    ```\n"
        "    {\n"
        '      "exports": {\n'
        '        "A": {\n'
        '          "type": "durable-object",\n'
        '          "storage": "sqlite"\n'
        "        }\n"
        "      }\n"
        "    }\n"
        "    ```\n"
        "    at wrangler.jsonc:1:75",
    )
    migrated = {"migrations": [{"tag": "1", "new_classes": ["C"]}]}
    assert project.with_config({**JAVASCRIPT, **bound, **migrated}).warnings == ()
