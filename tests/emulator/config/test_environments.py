"""Named environments: what they inherit, what they lack, how they are chosen."""

from __future__ import annotations

from typing import Any

import pytest

from flarebed.bindings.kv.spec import KvNamespaceSpec
from tests.emulator.config.project import DATE, Project

HEAD = "Processing wrangler.jsonc configuration:\n"
PROD = '  - "env.prod" environment configuration\n'


def _without_places(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("at wrangler.jsonc:"))


@pytest.mark.parametrize(
    ("env", "environ", "name", "env_name"),
    [
        (None, {}, "w", None),
        ("", {"CLOUDFLARE_ENV": "prod"}, "w", None),
        ("prod", {}, "w-prod", "prod"),
        (None, {"CLOUDFLARE_ENV": "prod"}, "w-prod", "prod"),
        (None, {"CLOUDFLARE_ENV": ""}, "w", None),
        ("own", {"CLOUDFLARE_ENV": "prod"}, "other", "own"),
    ],
)
def test_choosing(project: Project, env: str | None, environ: dict[str, str], name: str, env_name: str | None) -> None:
    config = project.with_config({"name": "w", "env": {"prod": {}, "own": {"name": "other"}}}, env=env, environ=environ)
    assert (config.name, config.env_name) == (name, env_name)


def test_inheritance(project: Project) -> None:
    top = {"main": "a.js", "triggers": {"crons": ["1 * * * *"]}, "dev": {"port": 1}, "compatibility_flags": ["no_rpc"]}
    config = project.with_config({**top, "env": {"prod": {"main": "b.js", "compatibility_flags": []}}}, env="prod")
    assert config.main == project.root / "b.js"
    assert config.crons == ("1 * * * *",)
    assert config.dev.port == 1
    assert "rpc" in config.flags
    assert "rpc" not in project.with_config({**top, "env": {"prod": {}}}, env="prod").flags


@pytest.mark.parametrize(
    ("top", "own", "warning"),
    [
        (
            {"kv_namespaces": [{"binding": "KV"}]},
            {},
            '    - "kv_namespaces" exists at the top level, but not on "env.prod".\n'
            '      This is not what you probably want, since "kv_namespaces" is not inherited by environments.\n'
            '      Please add "kv_namespaces" to "env.prod".',
        ),
        (
            {"vars": {"A": 1, "B": 2, "C": 3}},
            {"vars": {"B": 2}},
            '    - The following vars exist at the top level, but not on "env.prod.vars".\n'
            '      This is probably not what you want, since "vars" configuration is not inherited by environments.\n'
            '      Please add these vars to "env.prod.vars":\n      - A\n      - C',
        ),
        (
            {"kv_namespaces": [{"binding": "KV"}, {"binding": "B"}]},
            {"kv_namespaces": [{"binding": "B"}]},
            '    - There is a kv_namespaces binding with name "KV" at the top level, but not on "env.prod".\n'
            '      This is not what you probably want, since "kv_namespaces" configuration is not inherited by '
            "environments.\n"
            '      Please add a binding for "KV" to "env.prod.kv_namespaces.bindings".',
        ),
        ({}, {"dev": {}, "foo": 1}, '    - Unexpected fields found in env.prod field: "dev","foo"'),
    ],
)
def test_warnings(project: Project, top: dict[str, Any], own: dict[str, Any], warning: str) -> None:
    config = project.with_config({**top, "env": {"prod": own}}, env="prod")
    assert [_without_places(text) for text in config.warnings] == [HEAD + PROD + warning]


def test_what_is_not_inherited_is_absent(project: Project) -> None:
    top = {"vars": {"A": 1}, "kv_namespaces": [{"binding": "KV", "id": "i"}]}
    config = project.with_config({**top, "env": {"test": {}}}, env="test")
    assert (config.vars, config.specs["kv"]) == ({}, ())
    assert project.load().specs["kv"] == (KvNamespaceSpec("KV", "i"),)


def test_an_unknown_environment(project: Project) -> None:
    assert project.errors({"env": {"prod": {}, "stage": {}}}, env="nope") == (
        'No environment found in configuration with name "nope".\n'
        "Before using `--env=nope` there should be an equivalent environment section in the configuration.\n"
        'The available configured environment names are: ["prod","stage"]\n\n'
        "Consider adding an environment configuration section to the wrangler.jsonc file:\n"
        "```\n[env.nope]\n```\n",
    )


def test_an_unknown_environment_where_there_is_none(project: Project) -> None:
    """Only a warning; the top level's bindings stay."""
    config = project.with_config({"name": "w", "vars": {"A": 1}}, env="nope")
    assert (config.name, config.vars) == ("w-nope", {"A": 1})
    assert config.warnings == (
        f'{HEAD}  - No environment found in configuration with name "nope".\n'
        "    Before using `--env=nope` there should be an equivalent environment section in the configuration.\n\n"
        "    Consider adding an environment configuration section to the wrangler.jsonc file:\n"
        "    ```\n    [env.nope]\n    ```\n",
    )


def test_other_environments_are_not_looked_at(project: Project) -> None:
    project.write("wrangler.jsonc", {"compatibility_date": DATE, "env": {"bad": {"main": 5}, "good": {}}})
    assert project.load(env="good").warnings == ()


def test_an_environment_that_is_no_object(project: Project) -> None:
    assert project.errors({"env": {"prod": 5}}, env="prod") == ('The field "env.prod" should be an object but got 5.',)
