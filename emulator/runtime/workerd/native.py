"""What workerd serves to a Worker by itself: Durable Objects, static assets, the small bindings.

Some need a few lines of JavaScript in the Worker's isolate (`js/`), which workerd calls extensions.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit
from uuid import uuid4

from flarebed.bindings.clock import Clock
from flarebed.bindings.ecma_date import date_to_iso
from flarebed.bindings.errors import UserError
from flarebed.emulator.config.model import Config
from flarebed.emulator.config.native import Hyperdrive, Native
from flarebed.emulator.runtime.workerd import assets, cache, objects, ratelimit, wire
from flarebed.emulator.runtime.workerd.wiring import Struct, Wiring

_MODULES: Final = {
    "flarebed:ratelimit": "ratelimit.js",
    "flarebed:analytics-engine": "analytics_engine.js",
    "flarebed:pipeline": "pipeline.js",
    "flarebed:send-email": "send_email.js",
    "cloudflare-internal:email": "email.js",
}
_PORTS: Final = {"postgres": 5432, "postgresql": 5432, "mysql": 3306}


def extensions() -> list[Struct]:
    source = Path(__file__).parent / "js"
    modules = [
        {"name": name, "internal": True, "esModule": (source / file).read_text("utf-8")}
        for name, file in _MODULES.items()
    ]
    return [{"modules": modules}]


def fields(config: Config, wiring: Wiring, clock: Clock) -> Struct:
    """What the Worker's own part of workerd's config has from here, beside its bindings."""
    blob = {"cfBlobHeader": cache.CF_BLOB, "forwardedProtoHeader": cache.PROTOCOL}
    outbound = wiring.external("cache", "default", cache.adapter(clock), **blob)
    return {"cacheApiOutbound": outbound, **objects.fields(config)}


def bindings(config: Config, wiring: Wiring, clock: Clock) -> list[Struct]:
    native = config.native
    found = [*objects.bindings(config, wiring), *assets.bindings(config), *_values(native, clock)]
    found += [{"name": name, "workerLoader": {}} for name in native.loaders]
    found += [_extension(name, "analytics-engine") for name in native.datasets]
    found += [_extension(name, "pipeline") for name in native.pipelines]
    found += _rate_limits(native, wiring, clock)
    found += _emails(native)
    found += [_hyperdrive(each, config, wiring) for each in native.hyperdrives]
    return found


def _values(native: Native, clock: Clock) -> Iterator[Struct]:
    if native.version_metadata is not None:
        metadata = {"id": str(uuid4()), "tag": "", "timestamp": date_to_iso(clock.now_ms())}
        yield {"name": native.version_metadata, "json": wire.dumps(metadata)}


def _extension(name: str, module: str, *inner: Struct) -> Struct:
    return {"name": name, "wrapped": {"moduleName": f"flarebed:{module}", "innerBindings": list(inner)}}


def _settings(settings: dict[str, Any]) -> Struct:
    return {"name": "settings", "json": wire.dumps(settings)}


def _rate_limits(native: Native, wiring: Wiring, clock: Clock) -> Iterator[Struct]:
    if not native.rate_limits:
        return
    service = wiring.external("ratelimit", "all", ratelimit.adapter(clock))
    for each in native.rate_limits:
        settings = {"namespace": each.namespace, "limit": each.limit, "period": each.period_s}
        yield _extension(each.binding, "ratelimit", {"name": "fetcher", "service": service}, _settings(settings))


def _emails(native: Native) -> Iterator[Struct]:
    for each in native.emails:
        settings = {"destination": each.destination, "destinations": each.destinations, "senders": each.senders}
        given = {name: value for name, value in settings.items() if value is not None}
        yield _extension(each.binding, "send-email", _settings(given))


def _hyperdrive(hyperdrive: Hyperdrive, config: Config, wiring: Wiring) -> Struct:
    """workerd's own binding, straight to the database that stands in for the real one."""
    url = urlsplit(hyperdrive.connection)
    if url.scheme not in _PORTS or not (url.hostname and url.username and url.password and url.path.strip("/")):
        raise UserError(
            f'The connection string of Hyperdrive binding "{hyperdrive.binding}" does not name a database.',
            place=config.path.name,
            hint="It has to be like postgres://user:password@localhost:5432/database, or mysql://...",
        )
    service = f"hyperdrive:{config.name}:{hyperdrive.binding}"
    address = f"{url.hostname}:{url.port or _PORTS[url.scheme]}"
    wiring.services.append({"name": service, "external": {"address": address, "tcp": {}}})
    database = {
        "designator": service,
        "database": unquote(url.path[1:]),
        "user": unquote(url.username),
        "password": unquote(url.password),
        "scheme": url.scheme,
    }
    return {"name": hyperdrive.binding, "hyperdrive": database}
