"""`route` and `routes`: their shape, and the host that a request's URL gets from the first of them.

https://developers.cloudflare.com/workers/configuration/routing/routes/
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from flarebed.bindings.entry import as_json, type_of
from flarebed.emulator.config.diagnostics import Diagnostics

_ROUTE_FIELDS = {
    "zone_id": "string", "zone_name": "string", "custom_domain": "boolean", "enabled": "boolean",
    "previews_enabled": "boolean",
}  # fmt: skip
_ROUTE_SHAPE = "{ pattern, custom_domain, zone_id | zone_name, enabled, previews_enabled }"


def route(diagnostics: Diagnostics, field: str, value: Any) -> None:
    if not _is_route(value):
        diagnostics.error(
            f'Expected "{field}" to be either a string, or an object with shape {_ROUTE_SHAPE},'
            f" but got {as_json(value)}."
        )


def routes(diagnostics: Diagnostics, field: str, value: Any) -> None:
    if not isinstance(value, list):
        diagnostics.error(f'Expected "{field}" to be an array but got {as_json(value)}.')
        return
    wrong = [item for item in value if not _is_route(item)]
    if wrong:
        diagnostics.error(
            f'Expected "{field}" to be an array of either strings or objects with the shape {_ROUTE_SHAPE}, '
            f"but these weren't valid: {as_json(wrong, indent=2)}."
        )


def listed(settings: Mapping[str, Any]) -> list[Any]:
    """The routes of `route` or `routes`, whichever is set."""
    return [settings["route"]] if "route" in settings else list(settings.get("routes", ()))


def pattern(route: Any) -> str:
    return str(route if isinstance(route, str) else route["pattern"])


def host(settings: Mapping[str, Any]) -> str | None:
    """The host of the first route (or else of its zone); None if there is none or it stands for any."""
    routes = listed(settings)
    if not routes:
        return None
    zone = routes[0].get("zone_name") if isinstance(routes[0], dict) else None
    return _host(pattern(routes[0])) or (_host(zone) if zone else None)


def _host(pattern: str) -> str | None:
    bare = pattern.removeprefix("http://").removeprefix("https://")
    if bare.startswith("*/"):
        return None
    try:
        return urlsplit(f"http://{bare.replace('*.', '').replace('*', '')}").netloc.lower() or None
    except ValueError:
        return None


def _is_route(value: Any) -> bool:
    """A pattern, or an object that says whose zone it is in and holds nothing else."""
    if isinstance(value, str):
        return value != ""
    if not isinstance(value, dict) or not isinstance(value.get("pattern"), str):
        return False
    known = {name for name, kind in _ROUTE_FIELDS.items() if name in value and type_of(value[name]) == kind}
    in_zone = bool(known & {"zone_id", "zone_name", "custom_domain"})
    return in_zone and len(known) == len(value) - 1 and _is_coherent(known)


def _is_coherent(known: set[str]) -> bool:
    both_zones = {"zone_id", "zone_name"} <= known
    toggles_without_domain = bool(known & {"enabled", "previews_enabled"}) and "custom_domain" not in known
    return not both_zones and not toggles_without_domain
