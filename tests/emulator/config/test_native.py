"""What workerd serves by itself, from the config; a Python Worker goes without."""

from __future__ import annotations

from typing import Any

import pytest

from flarebed.emulator.config.native import Assets, DurableObject, Hyperdrive, Native, RateLimit, SendEmail
from tests.emulator.config.project import Project

JAVASCRIPT = {"name": "x", "main": "src/index.js"}
ALL: dict[str, Any] = {
    "assets": {"directory": "public", "binding": "ASSETS", "not_found_handling": "404-page"},
    "durable_objects": {"bindings": [{"name": "DO", "class_name": "A", "script_name": "other"}]},
    "version_metadata": {"binding": "V"},
    "ratelimits": [{"name": "RL", "namespace_id": "1", "simple": {"limit": 2, "period": 60}}],
    "unsafe": {"bindings": [{"name": "OLD", "type": "ratelimit", "simple": {"limit": 1, "period": 10}}]},
    "analytics_engine_datasets": [{"binding": "AE"}],
    "hyperdrive": [{"binding": "HD", "id": "h", "localConnectionString": "postgres://u:p@localhost/db"}],
    "send_email": [{"name": "MAIL", "destination_address": "a@b.c", "allowed_sender_addresses": ["d@e.f"]}],
    "pipelines": [{"binding": "P", "stream": "s"}],
    "worker_loaders": [{"binding": "LOADER"}],
}


def test_all_of_it(project: Project) -> None:
    config = project.with_config({**JAVASCRIPT, **ALL})
    assert config.native == Native(
        durable_objects=(DurableObject("DO", "A", "other"),),
        assets=Assets(project.root / "public", "ASSETS", {"not_found_handling": "404-page"}),
        version_metadata="V",
        rate_limits=(RateLimit("RL", "1", 2, 60), RateLimit("OLD", "OLD", 1, 10)),
        datasets=("AE",),
        hyperdrives=(Hyperdrive("HD", "postgres://u:p@localhost/db"),),
        emails=(SendEmail("MAIL", "a@b.c", None, ("d@e.f",)),),
        pipelines=("P",),
        loaders=("LOADER",),
        rows=(
            ("ASSETS", "Assets"),
            ("DO (A)", "Durable Object"),
            ("V", "Worker Version Metadata"),
            ("RL (2 requests/60s)", "Rate Limit"),
            ("AE (AE)", "Analytics Engine Dataset"),
            ("HD (h)", "Hyperdrive Config"),
            ("MAIL (a@b.c)", "Send Email"),
            ("P (s)", "Pipeline"),
            ("LOADER", "Worker Loader"),
            ("OLD (1 requests/10s)", "Rate Limit"),
        ),
    )
    assert config.unemulated == ()
    assert config.warnings == (
        "Processing wrangler.jsonc configuration:\n"
        '  - "unsafe" fields are experimental and may change or break at any time.\n'
        "    at wrangler.jsonc:1:388",
    )


def test_a_python_worker_goes_without(project: Project) -> None:
    python = {"name": "x", "main": "src/entry.py", "compatibility_flags": ["python_workers"]}
    config = project.with_config({**python, "version_metadata": {"binding": "V"}, "assets": {"directory": "a"}})
    assert config.native == Native()
    assert config.unemulated == (("V", "Worker Version Metadata"),)
    assert '"assets" has no effect here: flarebed does not support it yet.' in config.warnings[0]
    assert '"version_metadata" is not supported by flarebed yet; the Worker goes without env.V.' in config.warnings[0]


def test_other_unsafe_bindings_are_not_known(project: Project) -> None:
    config = project.with_config({**JAVASCRIPT, "unsafe": {"bindings": [{"name": "X", "type": "thing"}]}})
    assert config.unemulated == (("X", "Unsafe Metadata"),)


@pytest.mark.parametrize(
    ("config", "error"),
    [
        (
            {"assets": {}},
            "The `assets` property in your configuration is missing the required `directory` property.",
        ),
        ({"assets": {"directory": ""}}, "`The assets directory cannot be an empty string."),
        (
            {"assets": {"directory": "a", "binding": "A"}},
            "Cannot use assets with a binding in an assets-only Worker.\nPlease remove the asset binding from your "
            "configuration file, or provide a Worker script in your configuration file (`main`).",
        ),
        (
            {"assets": {"directory": "a", "run_worker_first": ["/x"]}},
            "Cannot set run_worker_first without a Worker script.\nPlease remove run_worker_first from your "
            "configuration file, or provide a Worker script in your configuration file (`main`).",
        ),
        (
            {**JAVASCRIPT, "hyperdrive": [{"binding": "HD", "id": "h"}]},
            "When developing locally, you should use a local Postgres connection string to emulate Hyperdrive "
            "functionality. Please setup Postgres locally and set the value of the "
            '\'CLOUDFLARE_HYPERDRIVE_LOCAL_CONNECTION_STRING_HD\' variable or "HD"\'s "localConnectionString" to the '
            "Postgres connection string.",
        ),
        (
            {**JAVASCRIPT, "ratelimits": [{"name": "RL", "namespace_id": "1"}]},
            '"ratelimits[0]" bindings must have a "simple" configuration object but got '
            '{"name":"RL","namespace_id":"1"}.',
        ),
        (
            {**JAVASCRIPT, "ratelimits": [{"name": "RL", "namespace_id": "1", "simple": {"limit": 1, "period": 5}}]},
            '"ratelimits[0]" bindings "simple.period" must be either 10 or 60 but got 5.',
        ),
    ],
)
def test_what_can_not_be(project: Project, config: dict[str, Any], error: str) -> None:
    assert project.errors(config) == (error,)


def test_a_worker_that_can_not_reach_its_assets(project: Project) -> None:
    first = {"directory": "a", "run_worker_first": True}
    assert project.with_config({**JAVASCRIPT, "assets": first}).warnings == (
        "run_worker_first=true set without an assets binding\n"
        "Setting run_worker_first to true will always invoke your Worker script.\n"
        "To fetch your assets from your Worker, please set the [assets.binding] key in your configuration file.\n\n"
        "Read more: https://developers.cloudflare.com/workers/static-assets/binding/#binding",
    )
    assert project.with_config({**JAVASCRIPT, "assets": {**first, "binding": "ASSETS"}}).warnings == ()


def test_a_database_from_the_environment(project: Project) -> None:
    config = {**JAVASCRIPT, "hyperdrive": [{"binding": "HD", "id": "h", "localConnectionString": "postgres://in/file"}]}
    environ = {"CLOUDFLARE_HYPERDRIVE_LOCAL_CONNECTION_STRING_HD": "postgres://in/environment"}
    loaded = project.with_config(config, environ=environ)
    assert loaded.native.hyperdrives == (Hyperdrive("HD", "postgres://in/environment"),)
