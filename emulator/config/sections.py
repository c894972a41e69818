"""The checks of whole sections that are not bindings: variables, routes, triggers, rules, assets, dev.

Texts and their oddities are those of wrangler 4.164 (workers-utils `validation.ts`).
"""

from __future__ import annotations

import datetime
from typing import Any

from flarebed.bindings.entry import as_json, complain_of_unknown, fields_of, type_of
from flarebed.emulator.config.checks import boolean, holds, port, string, string_array, string_of, strings
from flarebed.emulator.config.diagnostics import Diagnostics

_RULE_TYPES = ("ESModule", "CommonJS", "CompiledWasm", "Text", "Data")

dev = holds(
    {
        "ip": string,
        "port": port,
        "inspector_port": port,
        "inspector_ip": string,
        "local_protocol": string_of("http", "https"),
        "upstream_protocol": string_of("http", "https"),
        "host": string,
        "enable_containers": boolean,
        "container_engine": string,
        "generate_types": boolean,
    }
)


def variables(diagnostics: Diagnostics, field: str, value: Any) -> None:
    path, members = diagnostics.prefix + field, fields_of(value)
    if members is None:
        diagnostics.error(f'The field "{path}" should be an object but got {as_json(value)}.\n')
        return
    for name, item in members.items():
        if isinstance(item, datetime.date | datetime.time):
            diagnostics.error(
                f'The field "{path}.{name}" is a TOML date, which is not supported. '
                f'Please use a string instead, e.g. {name} = "2025-12-19".'
            )


def define(diagnostics: Diagnostics, field: str, value: Any) -> None:
    path, members = diagnostics.prefix + field, fields_of(value)
    if members is None:
        diagnostics.error(f'The field "{path}" should be an object but got {as_json(value)}.\n')
        return
    for name, item in members.items():
        if not isinstance(item, str):
            diagnostics.error(f'The field "{path}.{name}" should be a string but got {as_json(item)}.')


def secrets(diagnostics: Diagnostics, field: str, value: Any) -> None:
    path = diagnostics.prefix + field
    if not isinstance(value, dict):
        diagnostics.error(f'The field "{path}" should be an object but got {as_json(value)}.')
        return
    complain_of_unknown(diagnostics, path, value, ("required",))
    if "required" in value:
        strings(diagnostics, f"{path}.required", value["required"])


def triggers(diagnostics: Diagnostics, field: str, value: Any) -> None:
    if value is None:
        return
    if not isinstance(value, dict):
        diagnostics.error(f'Expected "{field}" to be of type object but got {as_json(value)}.')
        return
    for name in ("crons", "events"):
        if name in value and not isinstance(value[name], list):
            diagnostics.error(f'Expected "{field}.{name}" to be of type array, but got {as_json(value)}.')
    complain_of_unknown(diagnostics, field, value, ("crons", "events"))
    if isinstance(value.get("crons"), list):  # wrangler leaves this to the API, which refuses the deployment
        string_array(diagnostics, f"{field}.crons", value["crons"])


def rules(diagnostics: Diagnostics, field: str, value: Any) -> None:
    path = diagnostics.prefix + field
    if not value and not isinstance(value, dict):
        return
    if not isinstance(value, list):
        diagnostics.error(f'The field "{path}" should be an array but got {as_json(value)}.')
        return
    for index, rule in enumerate(value):
        _rule(diagnostics, f"{path}[{index}]", rule)


def assets(diagnostics: Diagnostics, field: str, value: Any) -> None:
    members = fields_of(value)
    if members is None:
        diagnostics.error(f'"{field}" should be an object, but got value "{field}" of type {type_of(value)}')
        return
    _assets(diagnostics, field, value)


def build(diagnostics: Diagnostics, field: str, value: Any) -> None:
    members = fields_of(value) or {}
    complain_of_unknown(diagnostics, field, members, ("command", "cwd", "watch_dir"))
    for name in ("command", "cwd"):
        if name in members:
            string(diagnostics, f"{field}.{name}", members[name])
    folder = members.get("watch_dir", "")
    (strings if isinstance(folder, list) else string)(diagnostics, f"{field}.watch_dir", folder)


def python_modules(diagnostics: Diagnostics, field: str, value: Any) -> None:
    if not isinstance(value, dict):
        diagnostics.error(f'"{field}" should be an object but got {as_json(value)}.')
    elif "exclude" in value:
        string_array(diagnostics, f"{field}.exclude", value["exclude"])


def alias(diagnostics: Diagnostics, field: str, value: Any) -> None:
    members = fields_of(value)
    if members is None:
        diagnostics.error(f"Expected alias to be an object, but got {type_of(value)}", field)
        return
    for name, item in members.items():
        if not isinstance(item, str):
            diagnostics.error(f'Expected alias["{name}"] to be a string, but got {type_of(item)}', field)


def _run_worker_first(diagnostics: Diagnostics, field: str, value: Any) -> None:
    if isinstance(value, list):
        strings(diagnostics, field, value)
    elif not isinstance(value, bool):
        diagnostics.error(f'The field "{field}" should be an array of strings or a boolean, but got {as_json(value)}.')


_assets = holds(
    {
        "directory": string,
        "binding": string,
        "html_handling": string_of("auto-trailing-slash", "force-trailing-slash", "drop-trailing-slash", "none"),
        "not_found_handling": string_of("single-page-application", "404-page", "none"),
        "base_path": string,
        "run_worker_first": _run_worker_first,
    }
)


def _rule(diagnostics: Diagnostics, path: str, rule: Any) -> None:
    members = fields_of(rule)
    if members is None:
        diagnostics.error(f'"{path}" should be an object but got {as_json(rule)}.')
        return
    if members.get("type") not in _RULE_TYPES:
        diagnostics.error(
            'bindings should have a string "type" field, which contains one of "ESModule", "CommonJS", "CompiledWasm", '
            '"Text", or "Data".',
            path,
        )
    if "globs" in members:
        strings(diagnostics, f"{path}.globs", members["globs"])
    else:
        diagnostics.error(f'Expected "{path}.globs" to be an array of strings but got undefined', path)
    if type_of(members.get("fallthrough", False)) != "boolean":
        diagnostics.error('the field "fallthrough", when present, should be a boolean.', path)
