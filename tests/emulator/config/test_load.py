"""A whole config, and what it hands to the rooms above; and that nothing but ConfigErrors ever comes out."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.d1.spec import D1DatabaseSpec
from flarebed.bindings.errors import UserError
from flarebed.bindings.kv.spec import KvNamespaceSpec
from flarebed.bindings.queues.spec import QueueConsumerSpec, QueueProducerSpec
from flarebed.bindings.r2.spec import R2BucketSpec
from flarebed.bindings.registry import KINDS
from flarebed.bindings.services.spec import ServiceSpec
from flarebed.bindings.workflows.spec import WorkflowSpec
from flarebed.emulator.config import ConfigErrors, DevSettings, Rule, load
from flarebed.emulator.config.keys import KEYS, Effect
from flarebed.emulator.config.model import BuildCommand, Bundling
from tests.emulator.config.project import Project

ROOT = Path(__file__).parents[3]


def test_a_whole_config(project: Project) -> None:
    config = project.with_config(
        {
            "main": "src/entry.py", "base_dir": "src/", "compatibility_flags": ["python_workers"],
            "kv_namespaces": [{"binding": "KV", "id": "kvid"}],
            "d1_databases": [{"binding": "DB", "database_name": "d"}],
            "queues": {"producers": [{"binding": "Q", "queue": "q1"}], "consumers": [{"queue": "q1"}]},
            "workflows": [{"name": "wf", "binding": "WF", "class_name": "Flow"}],
            "services": [{"binding": "API", "service": "api"}],
            "triggers": {"crons": ["*/5 * * * *"]},
            "rules": [{"type": "Text", "globs": ["**/*.md"], "fallthrough": True}],
            "wasm_modules": {"W": "a/../b.wasm"}, "text_blobs": {"T": "t.txt"}, "data_blobs": {"D": "/d.bin"},
            "python_modules": {"exclude": ["x"]},
            "dev": {"ip": "0.0.0.0", "port": 1234, "local_protocol": "https", "inspector_port": 9},
            "r2_buckets": [{"binding": "R2", "bucket_name": "bkt"}], "ai": {"binding": "AI"},
            "assets": {"directory": "a", "binding": "ASSETS"}, "containers": [{"name": "c"}],
            "durable_objects": {"bindings": [{"name": "DO", "class_name": "Obj"}]},
        }
    )  # fmt: skip
    root = project.root
    assert (config.name, config.main, config.base_dir) == ("worker", root / "src/entry.py", root / "src")
    assert config.specs == {
        "kv": (KvNamespaceSpec("KV", "kvid"),),
        "d1": (D1DatabaseSpec("DB", "d"),),
        "r2": (R2BucketSpec("R2", "bkt"),),
        "queues": (QueueProducerSpec("Q", "q1"), QueueConsumerSpec("q1")),
        "workflows": (WorkflowSpec("WF", "wf", "Flow"),),
        "services": (ServiceSpec("API", "api"),),
    }
    assert config.unemulated == (
        ("ASSETS", "Assets"),
        ("AI", "AI"),
        ("DO (Obj)", "Durable Object"),
    )
    assert config.crons == ("*/5 * * * *",)
    assert config.rules == (Rule("Text", ("**/*.md",), True),)
    assert (config.wasm_modules, config.text_blobs) == ({"W": root / "b.wasm"}, {"T": root / "t.txt"})
    assert config.data_blobs == {"D": Path("/d.bin")}
    assert config.python_modules_exclude == ("x",)
    assert config.dev == DevSettings("0.0.0.0", 1234, "https", "https", inspector_port=9)


def test_an_empty_config(project: Project) -> None:
    config = project.with_config({})
    assert (config.name, config.main, config.host, config.routes) == ("worker", None, None, ())
    assert config.specs == {kind.name: () for kind in KINDS}
    assert config.dev == DevSettings("localhost", None, "http", "http", None, "127.0.0.1", None)
    assert (config.python_modules_exclude, config.rules, config.warnings) == (("**/*.pyc",), (), ())


def test_bundling(project: Project) -> None:
    root = project.root
    assert project.with_config({}).bundling == Bundling(BuildCommand("", root, (root / "src",)))
    given: dict[str, Any] = {
        "no_bundle": True, "find_additional_modules": False, "preserve_file_names": True, "minify": True,
        "keep_names": False, "jsx_factory": "h", "jsx_fragment": "F", "define": {"A": "1"}, "alias": {"a": "b"},
    }  # fmt: skip
    section = {"command": "make", "cwd": "tools", "watch_dir": ["a", "../b"]}
    config = project.with_config({**given, "tsconfig": "ts/a.json", "build": section}, cwd="below")
    build = BuildCommand("make", root / "below/tools", (root / "a", root.parent / "b"))
    assert config.bundling == Bundling(build, tsconfig=root / "ts/a.json", **given)


@pytest.mark.parametrize(
    ("config", "host"),
    [
        ({"route": "example.com/*"}, "example.com"),
        ({"routes": ["https://Sub.example.com:8443/p*", "b.com"]}, "sub.example.com:8443"),
        ({"routes": [{"pattern": "*.example.com/*", "zone_name": "zone.com"}]}, "example.com"),
        ({"routes": [{"pattern": "*/*", "zone_name": "zone.com"}]}, "zone.com"),
        ({"routes": [{"pattern": "shop.com", "custom_domain": True}]}, "shop.com"),
        ({"routes": ["*/*", "b.com"]}, None),
        ({"routes": ["http://[/"]}, None),
        ({"routes": [], "dev": {"host": "dev.com"}}, "dev.com"),
        ({"route": "example.com/*", "dev": {"host": "dev.com"}}, "dev.com"),
    ],
)
def test_host(project: Project, config: dict[str, Any], host: str | None) -> None:
    assert project.with_config(config).host == host


def test_entry_point(project: Project) -> None:
    with pytest.raises(UserError) as caught:
        project.with_config({}).entry_point()
    assert caught.value.message == "Missing entry-point to Worker script or to assets directory"
    config = project.with_config({"main": "src/worker.js"})
    with pytest.raises(UserError) as caught:
        config.entry_point()
    assert caught.value.message == (
        'The entry-point file at "src/worker.js" was not found.\n\n'
        "This might mean that your entry-point file needs to be generated (which is the general case when a framework "
        "is being used).\n"
        "If that's the case please run your project's build command and try again."
    )
    path = project.write("src/worker.js", "")
    assert config.entry_point() == path


@pytest.mark.parametrize("env", [None, "staging"])
def test_the_example(env: str | None) -> None:
    path = ROOT / "wrangler.jsonc.example"
    config = load(path, cwd=ROOT, env=env, var={"API_TOKEN": "x"}, environ={"API_TOKEN": "t"})
    assert (config.warnings, config.unemulated) == ((), ())
    honoured = {key for key, about in KEYS.items() if about.effect is Effect.HONOURED} - {"route"}
    assert [key for key in honoured if f'"{key}":' not in path.read_text()] == []


WRONG = (
    5, "x", "", True, None, [], {}, [5], ["x"], [None], [{}], [[]], {"a": 1}, {"binding": 5}, {"bindings": 5},
    {"bindings": [5, {}]}, [{"binding": "B"}], {"producers": 5, "consumers": [None]}, {"required": [5]}, 1e999,
    {"crons": [5], "events": None}, {"exclude": None}, [{"type": "Text", "globs": None}], {"port": 1e999},
    [{"pattern": 5}], [{"binding": "W", "name": "w", "class_name": "C", "limits": [], "default_retention": "x"}],
)  # fmt: skip


TRIED = [key for key, about in KEYS.items() if about.effect in (Effect.HONOURED, Effect.BINDING)]


def _try(project: Project, config: dict[str, Any], env: str | None) -> None:
    try:
        project.with_config(config, env=env)
    except ConfigErrors as errors:
        assert errors.errors  # noqa: PT017
        assert errors.render().startswith("Processing wrangler.jsonc configuration:\n")  # noqa: PT017


@pytest.mark.parametrize("key", TRIED)
def test_wrong_shapes_are_complained_about_and_nothing_else(project: Project, key: str) -> None:
    for value in WRONG:
        _try(project, {key: value}, None)


@pytest.mark.parametrize("env", [None, "prod"])
def test_everything_wrong_at_once(project: Project, env: str | None) -> None:
    keys = [*KEYS, "legacy_env", "node_compat", "nonsense"]
    for value, other in itertools.pairwise((*WRONG, *reversed(WRONG))):
        _try(project, {**dict.fromkeys(keys, value), "env": {"prod": dict.fromkeys(keys, other)}}, env)


def test_warnings_are_told_with_the_errors(project: Project) -> None:
    with pytest.raises(ConfigErrors) as caught:
        project.with_config({"name": 5, "colour": "red"})
    assert 'Unexpected fields found in top-level field: "colour"' in caught.value.warnings
