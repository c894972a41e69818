"""Which classes of a Worker are Durable Objects, and whether they have SQLite: what `migrations` come to, or `exports`.

Locally only the net result counts. Texts and oddities are those of wrangler 4.164 (workers-utils `validation.ts`,
wrangler `class-names-sqlite.ts`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from flarebed.bindings.entry import as_json, complain_of_unknown, fields_of, type_of
from flarebed.bindings.errors import UserError
from flarebed.emulator.config.checks import string_array
from flarebed.emulator.config.diagnostics import Diagnostics

_STORAGES = ("sqlite", "legacy-kv")
_LIVE = ("created", "expecting-transfer")
_PROPERTIES = {
    "created": ("type", "state", "storage", "container"),
    "deleted": ("type", "state"),
    "renamed": ("type", "state", "renamed_to"),
    "transferred": ("type", "state", "transferred_to"),
    "expecting-transfer": ("type", "state", "storage", "transfer_from", "container"),
}
_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


def classes(settings: Mapping[str, Any]) -> dict[str, bool]:
    """Each class that is a Durable Object, and whether it has SQLite. Raises UserError for an impossible migration."""
    found: dict[str, bool] = {}
    for migration in settings.get("migrations") or ():
        _apply(migration, found)
    for name, entry in (settings.get("exports") or {}).items():
        if _is_live(entry):
            found[name] = entry["storage"] == "sqlite"
    return found


def _apply(migration: Mapping[str, Any], found: dict[str, bool]) -> None:
    for name in migration.get("deleted_classes") or ():
        if found.pop(name, None) is None:
            raise UserError(f"Cannot apply deleted_classes migration to non-existent class {name}")
    for renamed in migration.get("renamed_classes") or ():
        if renamed["from"] not in found:
            raise UserError(f"Cannot apply renamed_classes migration to non-existent class {renamed['from']}")
        found[renamed["to"]] = found.pop(renamed["from"])
    for key in ("new_classes", "new_sqlite_classes"):
        for name in migration.get(key) or ():
            if name in found:
                raise UserError(f"Cannot apply {key} migration to existing class {name}")
            found[name] = key == "new_sqlite_classes"


def _is_live(entry: Any) -> bool:
    return isinstance(entry, dict) and entry.get("type") == "durable-object" and entry.get("state", "created") in _LIVE


# Checks.


def migrations(diagnostics: Diagnostics, field: str, value: Any) -> None:
    if value is None:
        return
    if not isinstance(value, list):
        diagnostics.error(f'The optional "{field}" field should be an array, but got {as_json(value)}')
        return
    for index, migration in enumerate(value):
        _migration(diagnostics, f"migrations[{index}]", fields_of(migration) or {})


def _migration(diagnostics: Diagnostics, path: str, migration: Mapping[str, Any]) -> None:
    lists = ("new_classes", "new_sqlite_classes", "deleted_classes")
    moves = {"renamed_classes": ("from", "to"), "transferred_classes": ("from", "from_script", "to")}
    complain_of_unknown(diagnostics, "migrations", migration, ("tag", *lists, *moves))
    if "tag" not in migration:
        diagnostics.error(f'"{path}.tag" is a required field.')
    elif not isinstance(migration["tag"], str):
        diagnostics.error(f'Expected "{path}.tag" to be of type string but got {as_json(migration["tag"])}.')
    for name in lists:
        if name in migration:
            string_array(diagnostics, f"{path}.{name}", migration[name])
    for name, members in moves.items():
        if name in migration and not _all_have(migration[name], members):
            shape = ", ".join(f"{member}: string" for member in members)
            diagnostics.error(
                f'Expected "{path}.{name}" to be an array of "{{{shape}}}" objects but got {as_json(migration[name])}.'
            )


def _all_have(value: Any, members: tuple[str, ...]) -> bool:
    return isinstance(value, list) and all(
        isinstance((fields_of(item) or {}).get(member), str) for item in value for member in members
    )


def exports(diagnostics: Diagnostics, field: str, value: Any) -> None:
    if value is None:
        return
    if not isinstance(value, dict):
        diagnostics.error(
            f'The optional "{field}" field should be an object keyed by class name, but got {as_json(value)}'
        )
        return
    for name, entry in value.items():
        path = f"exports.{name}"
        members = fields_of(entry)
        if members is None:
            diagnostics.error(f'"{path}" should be an object but got {as_json(entry)}.')
        elif members.get("type") == "durable-object":
            _durable_object(diagnostics, path, name, members)
        elif members.get("type") == "worker":
            _worker(diagnostics, path, members)
        else:
            diagnostics.error(f'"{path}.type" must be "durable-object" or "worker", but got {_shown(members, "type")}.')


def _durable_object(diagnostics: Diagnostics, path: str, name: str, entry: Mapping[str, Any]) -> None:
    if not name:
        diagnostics.error('"export" keys cannot be the empty string.')
    state = entry.get("state", "created")
    if state not in _PROPERTIES:
        diagnostics.error(
            f'"{path}.state" must be one of "created", "deleted", "renamed", "transferred", or "expecting-transfer" '
            f"but got {as_json(state)}."
        )
        return
    if state in _LIVE and entry.get("storage") not in _STORAGES:
        diagnostics.error(
            f'"{path}.storage" is required for state "{state}" and must be one of sqlite and legacy-kv, '
            f"but got {_shown(entry, 'storage')}"
        )
    wanted = {"renamed": "renamed_to", "transferred": "transferred_to", "expecting-transfer": "transfer_from"}
    if (member := wanted.get(state)) is not None and not (isinstance(entry.get(member), str) and entry[member]):
        diagnostics.error(f'"{path}.{member}" is required for state "{state}" and must be a non-empty string.')
    elif state == "renamed":
        _renamed(diagnostics, path, name, entry["renamed_to"])
    forbidden = [key for key in entry if key not in _PROPERTIES[state]]
    for key in forbidden:
        diagnostics.error(f'"{path}.{key}" is forbidden on state "{state}".')
    if forbidden:
        *first, last = _PROPERTIES[state]
        listed = f"{first[0]} and {last}" if len(first) == 1 else f"{', '.join(first)}, and {last}"
        diagnostics.error(f"Allowed properties are: {listed}.")


def _renamed(diagnostics: Diagnostics, path: str, name: str, target: str) -> None:
    if not _IDENTIFIER.fullmatch(target):
        diagnostics.error(f'"{path}.renamed_to" must be a valid JavaScript identifier (got "{target}").')
    if target == name:
        diagnostics.error(f'"{path}.renamed_to" cannot equal the source class name "{name}".')


def _worker(diagnostics: Diagnostics, path: str, entry: Mapping[str, Any]) -> None:
    complain_of_unknown(diagnostics, path, entry, ("type", "cache"))
    if "cache" not in entry:
        return
    cache = entry["cache"]
    if not isinstance(cache, dict):
        diagnostics.error(f'"{path}.cache" should be an object but got {as_json(cache)}.')
        return
    if "enabled" not in cache:
        diagnostics.error(f'"{path}.cache.enabled" is a required field.')
    elif type_of(cache["enabled"]) != "boolean":
        diagnostics.error(f'Expected "{path}.cache.enabled" to be of type boolean but got {as_json(cache["enabled"])}.')
    complain_of_unknown(diagnostics, f"{path}.cache", cache, ("enabled",))


def _shown(entry: Mapping[str, Any], name: str) -> str:
    return as_json(entry[name]) if name in entry else "undefined"


def check_together(settings: Mapping[str, Any], diagnostics: Diagnostics) -> None:
    """What `durable_objects`, `migrations` and `exports` say of each other."""
    listed, live = settings.get("migrations") or [], settings.get("exports") or {}
    if not isinstance(listed, list) or not isinstance(live, dict):
        return  # complained about already
    if listed and any(isinstance(entry, dict) and entry.get("type") == "durable-object" for entry in live.values()):
        diagnostics.error(
            "`migrations` and `exports` are mutually exclusive. Choose one or the other to declare your Durable Object "
            "lifecycle, but not both."
        )
    held = settings.get("durable_objects")
    bound = held.get("bindings") if isinstance(held, dict) else None
    own = [item for item in bound or () if isinstance(item, dict) and not item.get("script_name")]
    uncovered = [item.get("class_name") for item in own if not _is_live(live.get(str(item.get("class_name"))))]
    if uncovered and not listed and all(isinstance(name, str) for name in uncovered):
        _warn_of_uncovered(diagnostics, [str(name) for name in uncovered])


def _warn_of_uncovered(diagnostics: Diagnostics, names: list[str]) -> None:
    path = diagnostics.document.path
    wanted = {name: {"type": "durable-object", "storage": "sqlite"} for name in names}
    if path.suffix == ".toml":
        snippet = "\n".join(
            f'[exports.{name}]\ntype = "durable-object"\nstorage = "sqlite"\n' for name in wanted
        ).rstrip()
    else:
        snippet = as_json({"exports": wanted}, 2)
    diagnostics.warn(
        f"In your {path.name} file, you have configured `durable_objects` exported by this Worker "
        f"({', '.join(names)}), but no live `exports` entry for them. This may not work as expected until you add a "
        "live `durable-object` entry to `exports` for each. Add the following configuration:\n\n"
        f"```\n{snippet}\n```",
        "durable_objects",
    )
