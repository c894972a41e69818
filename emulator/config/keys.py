"""Every key that wrangler 4.164 knows: where it may stand, what it must look like, and whether flarebed acts on it.

https://developers.cloudflare.com/workers/wrangler/configuration/
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from flarebed.bindings.kind import Kind, Section
from flarebed.bindings.registry import KINDS
from flarebed.emulator.config import elsewhere, lifecycle, routes, sections
from flarebed.emulator.config.checks import (
    Check,
    anything,
    boolean,
    date,
    mapping_to_strings,
    object_,
    one_of,
    string,
    string_array,
    strings,
    worker_name,
)
from flarebed.emulator.config.diagnostics import Diagnostics


class Scope(Enum):
    """Where a key may stand, and what an environment without it gets."""

    TOP = "the top level only"
    INHERITED = "an environment inherits it"
    OWN = "each environment needs its own"


class Effect(Enum):
    """What a key does to a Worker that runs on this machine."""

    HONOURED = "flarebed acts on it"
    BUNDLED = (
        "flarebed acts on it when it bundles JavaScript; to a Python Worker it is nothing, in wrangler dev neither"
    )
    DEPLOYED = "nothing, in wrangler dev neither: it is about deployments"
    MISSING = "something in wrangler dev, but flarebed does not act on it: named in a warning"
    BINDING = "a binding that flarebed does not have: named in a warning and in the table"


@dataclass(frozen=True)
class Key:
    scope: Scope
    check: Check
    effect: Effect = Effect.HONOURED
    is_list: bool = False
    """Whether it is an array of bindings, which an environment is asked to repeat one by one."""


def _table(scope: Scope, effect: Effect, checks: Mapping[str, Check]) -> dict[str, Key]:
    return {name: Key(scope, check, effect) for name, check in checks.items()}


def _kind(kind: Kind) -> Check:
    """The kind's own parser; what it returns is asked for again once the environment is known."""

    def check(diagnostics: Diagnostics, field: str, value: Any) -> None:
        kind.parse(Section(diagnostics.prefix + field, value, diagnostics))

    return check


KEYS: dict[str, Key] = {
    **_table(
        Scope.TOP,
        Effect.HONOURED,
        {
            "$schema": string,
            "env": object_,
            "dev": sections.dev,
            "wasm_modules": mapping_to_strings,
            "text_blobs": mapping_to_strings,
            "data_blobs": mapping_to_strings,
        },
    ),
    **_table(
        Scope.TOP,
        Effect.DEPLOYED,
        {
            "keep_vars": boolean,
            "send_metrics": boolean,
            "dependencies_instrumentation": object_,
            "addresses": strings,
        },
    ),
    **_table(Scope.TOP, Effect.MISSING, {"site": object_, "pages_build_output_dir": string}),
    **_table(Scope.TOP, Effect.BUNDLED, {"alias": sections.alias}),
    **_table(
        Scope.INHERITED,
        Effect.HONOURED,
        {
            "name": worker_name,
            "main": string,
            "compatibility_date": date,
            "compatibility_flags": string_array,
            "base_dir": string,
            "rules": sections.rules,
            "route": routes.route,
            "routes": routes.routes,
            "triggers": sections.triggers,
            "python_modules": sections.python_modules,
            "build": sections.build,
        },
    ),
    **_table(
        Scope.INHERITED,
        Effect.DEPLOYED,
        {
            "account_id": string,
            "workers_dev": boolean,
            "preview_urls": boolean,
            "limits": anything,
            "placement": anything,
            "observability": anything,
            "logpush": boolean,
            "upload_source_maps": boolean,
            "first_party_worker": boolean,
            "compliance_region": one_of("public", "fedramp_high"),
            "previews": anything,
            "cache": anything,
            "migrations": lifecycle.migrations,
        },
    ),
    **_table(
        Scope.INHERITED,
        Effect.BUNDLED,
        {
            "find_additional_modules": boolean,
            "preserve_file_names": boolean,
            "no_bundle": boolean,
            "minify": boolean,
            "keep_names": boolean,
            "tsconfig": string,
            "jsx_factory": string,
            "jsx_fragment": string,
        },
    ),
    **_table(
        Scope.INHERITED,
        Effect.MISSING,
        {
            "assets": sections.assets,
            "exports": lifecycle.exports,
            "access": anything,
        },
    ),
    **_table(Scope.OWN, Effect.HONOURED, {"vars": sections.variables, "secrets": sections.secrets}),
    **_table(Scope.OWN, Effect.BUNDLED, {"define": sections.define}),
    **_table(
        Scope.OWN,
        Effect.MISSING,
        {
            "tail_consumers": anything,
            "streaming_tail_consumers": anything,
            "containers": anything,
            "cloudchamber": anything,
            "connect": anything,
        },
    ),
    **{key: Key(Scope.OWN, elsewhere.check_list, Effect.BINDING, is_list=True) for key in elsewhere.LISTS},
    **_table(Scope.OWN, Effect.BINDING, dict.fromkeys(elsewhere.SINGLES, elsewhere.check_single)),
    **_table(Scope.OWN, Effect.BINDING, dict.fromkeys(elsewhere.NAMED, elsewhere.check_named)),
    "logfwdr": Key(Scope.INHERITED, elsewhere.check_named, Effect.BINDING),
    **{kind.key: Key(Scope.OWN, _kind(kind), is_list=kind.key != "queues") for kind in KINDS},
}

COMPUTED = ("configPath", "userConfigPath", "topLevelName", "definedEnvironments", "targetEnvironment")
"""What a build tool may write into the config that it redirects to."""
