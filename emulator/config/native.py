"""What workerd serves to a JavaScript Worker by itself, or with a few lines of ours beside it: no kind of `bindings/`.

A Python Worker goes without, and is told so; it has the Durable Objects of other Workers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from flarebed.bindings.errors import UserError
from flarebed.emulator.config import elsewhere, lifecycle
from flarebed.emulator.config.names import LABELS

KEYS: Final = (
    "assets",
    "exports",
    "durable_objects",
    "version_metadata",
    "ratelimits",
    "analytics_engine_datasets",
    "hyperdrive",
    "send_email",
    "pipelines",
    "worker_loaders",
)
_CONNECTION: Final = ("CLOUDFLARE_HYPERDRIVE_LOCAL_CONNECTION_STRING_", "WRANGLER_HYPERDRIVE_LOCAL_CONNECTION_STRING_")
"""Environment variables; the second is deprecated."""
_NO_BINDING: Final = (
    "run_worker_first=true set without an assets binding\n"
    "Setting run_worker_first to true will always invoke your Worker script.\n"
    "To fetch your assets from your Worker, please set the [assets.binding] key in your configuration file.\n\n"
    "Read more: https://developers.cloudflare.com/workers/static-assets/binding/#binding"
)


@dataclass(frozen=True)
class DurableObject:
    """A namespace that `env` has as `binding`; its class is of the Worker `script`, None for this one's own."""

    binding: str
    class_name: str
    script: str | None = None


@dataclass(frozen=True)
class Assets:
    """`settings` are those of the section that the asset server takes as they are."""

    directory: Path
    binding: str | None
    settings: Mapping[str, Any]


@dataclass(frozen=True)
class RateLimit:
    """`limit` calls in `period_s` seconds, counted for all bindings of one `namespace` together."""

    binding: str
    namespace: str
    limit: float
    period_s: int


@dataclass(frozen=True)
class Hyperdrive:
    binding: str
    connection: str


@dataclass(frozen=True)
class SendEmail:
    """None stands for any address."""

    binding: str
    destination: str | None
    destinations: tuple[str, ...] | None
    senders: tuple[str, ...] | None


@dataclass(frozen=True)
class Native:
    """`classes` has the Worker's Durable Objects, whether bound or not, and whether each has SQLite. `rows` are
    (binding, resource) for the table shown at start."""

    durable_objects: tuple[DurableObject, ...] = ()
    classes: Mapping[str, bool] = field(default_factory=dict)
    assets: Assets | None = None
    version_metadata: str | None = None
    rate_limits: tuple[RateLimit, ...] = ()
    datasets: tuple[str, ...] = ()
    hyperdrives: tuple[Hyperdrive, ...] = ()
    emails: tuple[SendEmail, ...] = ()
    pipelines: tuple[str, ...] = ()
    loaders: tuple[str, ...] = ()
    rows: tuple[tuple[str, str], ...] = ()

    def own_classes(self) -> dict[str, bool]:
        """The classes that the Worker must export. One that is bound and not declared has no SQLite, as in wrangler."""
        bound = {each.class_name: False for each in self.durable_objects if each.script is None}
        return {**bound, **self.classes}

    def warnings(self) -> tuple[str, ...]:
        assets = self.assets
        hidden = assets is not None and assets.binding is None and assets.settings.get("run_worker_first") is True
        return (_NO_BINDING,) if hidden else ()


def runs_on_workerd(settings: Mapping[str, Any]) -> bool:
    """Whether the Worker is JavaScript, or has no code but assets."""
    main = settings.get("main")
    return not main.endswith(".py") if isinstance(main, str) else "assets" in settings


def served(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The keys whose bindings this Worker has from here; of `unsafe` only what once stood there is known."""
    if not runs_on_workerd(settings):
        return ("durable_objects",) if all(each.script for each in _objects(settings)) else ()
    unsafe = _unsafe(settings)
    return (*KEYS, "unsafe") if unsafe and all(each.get("type") == "ratelimit" for each in unsafe) else KEYS


def parse(settings: Mapping[str, Any], root: Path, environ: Mapping[str, str]) -> Native:
    """From settings that have been checked. Raises UserError for what wrangler finds later."""
    return Native(
        durable_objects=tuple(_objects(settings)),
        classes=lifecycle.classes(settings),
        assets=_assets(settings, root),
        version_metadata=(settings.get("version_metadata") or {}).get("binding"),
        rate_limits=tuple(_rate_limits(settings)),
        datasets=_names(settings, "analytics_engine_datasets"),
        hyperdrives=tuple(
            Hyperdrive(each["binding"], _connection(each, environ)) for each in settings.get("hyperdrive") or ()
        ),
        emails=tuple(map(_email, settings.get("send_email") or ())),
        pipelines=_names(settings, "pipelines"),
        loaders=_names(settings, "worker_loaders"),
        rows=tuple(row for key in served(settings) if key in settings for row in _rows(key, settings)),
    )


def of_others(settings: Mapping[str, Any]) -> Native:
    """What a Python Worker has: the Durable Objects that other Workers host."""
    objects = tuple(each for each in _objects(settings) if each.script is not None)
    rows = _rows("durable_objects", settings) if objects and "durable_objects" in served(settings) else ()
    return Native(durable_objects=objects, rows=tuple(rows))


def _objects(settings: Mapping[str, Any]) -> Iterator[DurableObject]:
    own = settings.get("name")
    for each in (settings.get("durable_objects") or {}).get("bindings", ()):
        script = each.get("script_name") or None
        yield DurableObject(each["name"], each["class_name"], None if script == own else script)


def _assets(settings: Mapping[str, Any], root: Path) -> Assets | None:
    section = settings.get("assets")
    if section is None:
        return None
    if "directory" not in section:
        raise UserError("The `assets` property in your configuration is missing the required `directory` property.")
    if not section["directory"]:
        raise UserError("`The assets directory cannot be an empty string.")
    if "main" not in settings and "binding" in section:
        raise UserError(
            "Cannot use assets with a binding in an assets-only Worker.\n"
            "Please remove the asset binding from your configuration file, or provide a Worker script in your "
            "configuration file (`main`)."
        )
    if "main" not in settings and section.get("run_worker_first"):
        raise UserError(
            "Cannot set run_worker_first without a Worker script.\n"
            "Please remove run_worker_first from your configuration file, or provide a Worker script in your "
            "configuration file (`main`)."
        )
    directory = Path(os.path.normpath(root / section["directory"]))
    kept = {key: value for key, value in section.items() if key not in ("directory", "binding")}
    return Assets(directory, section.get("binding"), kept)


def _rate_limits(settings: Mapping[str, Any]) -> Iterator[RateLimit]:
    """Also those that stand under `unsafe`, as they did at first."""
    unsafe = [each for each in _unsafe(settings) if each.get("type") == "ratelimit"]
    for each in (*(settings.get("ratelimits") or ()), *unsafe):
        simple = each["simple"]
        yield RateLimit(each["name"], each.get("namespace_id", each["name"]), simple["limit"], simple["period"])


def _unsafe(settings: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    bindings: list[Mapping[str, Any]] = (settings.get("unsafe") or {}).get("bindings") or []
    return bindings


def _connection(entry: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    binding = entry["binding"]
    given = next((environ[name] for prefix in _CONNECTION if environ.get(name := prefix + binding)), None)
    connection: str | None = given or entry.get("localConnectionString")
    if connection is None:
        raise UserError(
            "When developing locally, you should use a local Postgres connection string to emulate Hyperdrive "
            f"functionality. Please setup Postgres locally and set the value of the '{_CONNECTION[0]}{binding}' "
            f'variable or "{binding}"\'s "localConnectionString" to the Postgres connection string.'
        )
    return connection


def _email(entry: Mapping[str, Any]) -> SendEmail:
    destinations, senders = entry.get("allowed_destination_addresses"), entry.get("allowed_sender_addresses")
    return SendEmail(
        entry["name"],
        entry.get("destination_address"),
        None if destinations is None else tuple(destinations),
        None if senders is None else tuple(senders),
    )


def _names(settings: Mapping[str, Any], key: str) -> tuple[str, ...]:
    return tuple(each["binding"] for each in settings.get(key) or ())


def _rows(key: str, settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if key in LABELS:
        for binding, resource in elsewhere.rows(key, settings[key]):
            yield binding, "Rate Limit" if key == "unsafe" else resource
