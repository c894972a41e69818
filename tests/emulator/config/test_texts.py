"""What the user reads about a key of the wrong shape: the texts of wrangler 4.164, word for word."""

from __future__ import annotations

from typing import Any

import pytest

from flarebed.emulator.config import ConfigErrors
from tests.emulator.config.project import Project

ROUTE_SHAPE = "{ pattern, custom_domain, zone_id | zone_name, enabled, previews_enabled }"
LEGACY_ENV = (
    'The "legacy_env" field is no longer supported, so please remove it from your configuration file.\n'
    "Service environments have been removed, and each environment is now deployed as its own Worker named "
    '"<name>-<environment>". This matches the behaviour of "legacy_env = true", which was the default, so removing the '
    "field will not change how your Worker is deployed.\n"
    "Refer to https://developers.cloudflare.com/workers/wrangler/environments/ for more information."
)
UNIQUE = (
    "Bindings must have unique names, so that they can all be referenced in the worker.\n"
    "Please change your bindings to have unique names."
)


@pytest.mark.parametrize(
    ("config", "errors"),
    [
        (
            {"name": "Bad Name"},
            [
                'Expected "name" to be of type string, alphanumeric and lowercase with dashes only but got "Bad Name".'
            ],
        ),
        ({"main": 5}, ['Expected "main" to be of type string but got 5.']),
        ({"main": None}, ['Expected "main" to be of type string but got null.']),
        ({"workers_dev": "yes"}, ['Expected "workers_dev" to be of type boolean but got "yes".']),
        (
            {"compatibility_flags": "rpc"},
            ['Expected "compatibility_flags" to be of type string array but got "rpc".'],
        ),
        (
            {"compatibility_flags": ["rpc", 5]},
            ['Expected "compatibility_flags" to be of type string array but got ["rpc",5].'],
        ),
        (
            {"compliance_region": "mars"},
            ['Expected "compliance_region" field to be one of ["public","fedramp_high"] but got "mars".'],
        ),
        ({"compatibility_date": 5}, ['Expected "compatibility_date" to be of type string but got 5.']),
        (
            {"compatibility_date": "2026-99-01"},
            ['"compatibility_date" field should be a valid ISO-8601 date (YYYY-MM-DD), but got "2026-99-01".'],
        ),
        (
            {"compatibility_date": "2026–01—02"},
            [
                '"compatibility_date" field should use ISO-8601 accepted hyphens (-) rather than en-dashes (–) or '
                "em-dashes (—)."
            ],
        ),
        ({"triggers": 5}, ['Expected "triggers" to be of type object but got 5.']),
        (
            {"triggers": {"crons": "* * * * *"}},
            ['Expected "triggers.crons" to be of type array, but got {"crons":"* * * * *"}.'],
        ),
        ({"triggers": {"crons": [5]}}, ['Expected "triggers.crons" to be of type string array but got [5].']),
        ({"triggers": {"events": 5}}, ['Expected "triggers.events" to be of type array, but got {"events":5}.']),
        ({"vars": 5}, ['The field "vars" should be an object but got 5.\n']),
        ({"secrets": []}, ['The field "secrets" should be an object but got [].']),
        ({"secrets": {"required": 5}}, ['Expected "secrets.required" to be an array of strings but got 5']),
        (
            {"secrets": {"required": ["A", 5]}},
            ['Expected "secrets.required.[1]" to be of type string but got 5.'],
        ),
        ({"rules": {}}, ['The field "rules" should be an array but got {}.']),
        ({"rules": [5]}, ['"rules[0]" should be an object but got 5.']),
        (
            {"rules": [{"type": "PythonModule", "globs": ["**/*.py"], "fallthrough": "no"}]},
            [
                'bindings should have a string "type" field, which contains one of "ESModule", "CommonJS", '
                '"CompiledWasm", "Text", or "Data".',
                'the field "fallthrough", when present, should be a boolean.',
            ],
        ),
        (
            {"rules": [{"type": "Text"}]},
            ['Expected "rules[0].globs" to be an array of strings but got undefined'],
        ),
        (
            {"route": {"pattern": "a"}},
            [
                f'Expected "route" to be either a string, or an object with shape {ROUTE_SHAPE}, '
                'but got {"pattern":"a"}.'
            ],
        ),
        ({"routes": "a"}, ['Expected "routes" to be an array but got "a".']),
        (
            {"routes": ["a", {"pattern": "a", "zone_id": "z", "zone_name": "y"}]},
            [
                f'Expected "routes" to be an array of either strings or objects with the shape {ROUTE_SHAPE}, '
                "but these weren't valid: [\n"
                '  {\n    "pattern": "a",\n    "zone_id": "z",\n    "zone_name": "y"\n  }\n].'
            ],
        ),
        ({"route": "a", "routes": ["b"]}, ['Expected exactly one of the following fields ["routes","route"].']),
        ({"dev": {"ip": 5}}, ['Expected "dev.ip" to be of type string but got 5.']),
        ({"dev": {"port": "8787"}}, ['Expected "dev.port" to be of type number but got "8787".']),
        ({"dev": {"port": 70000}}, ['Expected "dev.port" to be a port between 0 and 65535 but got 70000.']),
        (
            {"dev": {"local_protocol": "ftp"}},
            ['Expected "dev.local_protocol" field to be one of ["http","https"] but got "ftp".'],
        ),
        ({"python_modules": 5}, ['"python_modules" should be an object but got 5.']),
        (
            {"python_modules": {"exclude": "x"}},
            ['Expected "python_modules.exclude" to be of type string array but got "x".'],
        ),
        ({"wasm_modules": {"W": 5}}, ["Expected \"wasm_modules['W']\" to be of type string but got 5."]),
        ({"alias": 5}, ["Expected alias to be an object, but got number"]),
        ({"alias": {"a": 5}}, ['Expected alias["a"] to be a string, but got number']),
        ({"define": {"A": 5}}, ['The field "define.A" should be a string but got 5.']),
        ({"legacy_env": True}, [LEGACY_ENV]),
        ({"ai": 5}, ['The field "ai" should be an object but got 5.']),
        ({"ai": {}}, ['binding should have a string "binding" field.']),
        ({"durable_objects": []}, ['The field "durable_objects" should be an object but got [].']),
        (
            {"durable_objects": {"bindings": [{"name": 5}]}},
            ['binding should have a string "name" field.', 'binding should have a string "class_name" field.'],
        ),
        ({"services": [{"binding": "S"}]},
         ['"services[0]" bindings should have a string "service" field but got {"binding":"S"}.']),
        (
            {"r2_buckets": [{"binding": "B", "bucket_name": "AA"}]},
            [
                'r2_buckets[0].bucket_name="AA" is invalid. Bucket names must begin and end with an alphanumeric '
                "character, only contain lowercase letters, numbers, and hyphens, and be between 3 and 63 characters "
                "long."
            ],
        ),
        (
            {"assets": {"html_handling": "x"}},
            [
                'Expected "assets.html_handling" field to be one of ["auto-trailing-slash","force-trailing-slash",'
                '"drop-trailing-slash","none"] but got "x".'
            ],
        ),
        (
            {"assets": {"run_worker_first": 5}},
            ['The field "assets.run_worker_first" should be an array of strings or a boolean, but got 5.'],
        ),
        (
            {"vars": {"A": 1}, "d1_databases": [{"binding": "A"}]},
            ["A assigned to D1 Database and Environment Variable bindings.", UNIQUE],
        ),
        (
            {"vars": {"A": 1}, "d1_databases": [{"binding": "A"}], "secrets": {"required": ["A"]}},
            ["A assigned to D1 Database, Environment Variable, and Secret bindings.", UNIQUE],
        ),
        (
            {"kv_namespaces": [{"binding": "A"}, {"binding": "A"}]},
            ["A assigned to multiple KV Namespace bindings.", UNIQUE],
        ),
        ({"main": "a.py"}, ["The `python_workers` compatibility flag is required to use Python."]),
    ],
)  # fmt: skip
def test_errors(project: Project, config: dict[str, Any], errors: list[str]) -> None:
    assert project.errors(config) == tuple(errors)


@pytest.mark.parametrize(
    ("config", "warning"),
    [
        (
            {"nmae": "x", "kv_namespaces": [{"binding": "A"}, {"binding": "B", "extra": 1}]},
            'Unexpected fields found in kv_namespaces[1] field: "extra"\n    at wrangler.jsonc:1:104\n'
            '  - Unexpected fields found in top-level field: "nmae"\n    at wrangler.jsonc:1:38',
        ),
        ({"dev": {"foo": 1}}, 'Unexpected fields found in dev field: "foo"\n    at wrangler.jsonc:1:46'),
        (
            {"route": ""},
            'The "route" field in your configuration is an empty string and will be ignored.\n'
            '    Please remove the "route" field from your configuration.\n    at wrangler.jsonc:1:38',
        ),
        (
            {"unsafe": {"metadata": {}}},
            '"unsafe" fields are experimental and may change or break at any time.\n    at wrangler.jsonc:1:38',
        ),
        (
            {"access": {"aud": "a"}},
            '"access" has no effect here: flarebed does not support it yet.\n    at wrangler.jsonc:1:38',
        ),
        (
            {"vectorize": [{"binding": "B", "index_name": "b"}, {"binding": "C", "index_name": "c"}]},
            '"vectorize" is not supported by flarebed yet; the Worker goes without env.B, env.C.\n'
            "    at wrangler.jsonc:1:38",
        ),
    ],
)
def test_warnings(project: Project, config: dict[str, Any], warning: str) -> None:
    assert project.with_config(config).warnings == (f"Processing wrangler.jsonc configuration:\n  - {warning}",)


@pytest.mark.parametrize(
    "config",
    [
        {"observability": {"enabled": True}, "account_id": "x", "minify": True, "limits": {"cpu_ms": 5}},
        {"r2_buckets": [], "tail_consumers": [], "triggers": None, "rules": None, "dev": None, "alias": {}},
        {"migrations": [{"tag": "v1"}], "keep_vars": True, "$schema": "x"},
    ],
)
def test_silence_about_what_a_local_run_does_not_need(project: Project, config: dict[str, Any]) -> None:
    assert project.with_config(config).warnings == ()


def test_everything_at_once_with_its_place(project: Project) -> None:
    project.write(
        "wrangler.jsonc",
        '{\n  "name": "x", "main": 5,\n  "nmae": 1,\n'
        '  "kv_namespaces": [\n    {"binding": "A"},\n    {"id": "q"}\n  ],\n'
        '  "env": {\n    "prod": {\n      "main": 7,\n      "kv_namespaces": [{}]\n    }\n  }\n}',
    )
    with pytest.raises(ConfigErrors) as caught:
        project.load(env="prod")
    assert caught.value.render() == (
        "Processing wrangler.jsonc configuration:\n"
        '  - Expected "main" to be of type string but got 5.\n'
        "    at wrangler.jsonc:2:16\n"
        '  - "kv_namespaces[1]" bindings should have a string "binding" field but got {"id":"q"}.\n'
        "    at wrangler.jsonc:6:5\n"
        '  - "env.prod" environment configuration\n'
        '    - Expected "main" to be of type string but got 7.\n'
        "      at wrangler.jsonc:10:7\n"
        '    - "env.prod.kv_namespaces[0]" bindings should have a string "binding" field but got {}.\n'
        "      at wrangler.jsonc:11:25"
    )


def test_no_date(project: Project) -> None:
    project.write("wrangler.jsonc", "{}")
    config = project.load()
    assert config.compatibility_date == "2026-11-17"
    assert config.warnings == (
        "No compatibility_date was specified. Using the default compatibility date: 2026-11-17.\n"
        '❯❯ Add one to your wrangler.jsonc file: "compatibility_date": "2026-11-17"\n\n'
        "See https://developers.cloudflare.com/workers/platform/compatibility-dates/ for more information.",
    )
