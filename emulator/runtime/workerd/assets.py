"""Static assets: workerd's own service, which serves a folder as production serves a Worker's assets.

It stands in front of the Worker and hands on what is the Worker's. Files are looked up at each request; `_headers`,
`_redirects` and `.assetsignore` are read when the Worker starts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from flarebed.bindings.errors import UserError
from flarebed.emulator.config.model import Config
from flarebed.emulator.config.native import Assets
from flarebed.emulator.runtime.workerd import wire
from flarebed.emulator.runtime.workerd.wiring import Struct, service_of

_RULES: Final = {"headers": "_headers", "redirects": "_redirects", "ignore": ".assetsignore"}
_FILES_ONLY: Final = "AssetWorker"
"""The entrypoint that does not ask the Worker."""


def front(config: Config) -> str:
    """The service that the Worker's requests go to first."""
    return service_of(config.name) if config.native.assets is None else _name(config)


def services(config: Config) -> list[Struct]:
    assets = config.native.assets
    if assets is None:
        return []
    _check(assets)
    settings = dict(assets.settings)
    for key, name in _RULES.items():
        path = assets.directory / name
        if path.is_file():
            settings[key] = path.read_text("utf-8", "replace")
    service: Struct = {"path": str(assets.directory), "config": wire.dumps(settings)}
    if config.main is None:
        service |= {
            "compatibilityDate": config.compatibility_date,
            "compatibilityFlags": list(config.compatibility_flags),
        }
    else:
        service |= {"userWorker": service_of(config.name)}
    return [{"name": _name(config), "assets": service}]


def bindings(config: Config) -> list[Struct]:
    assets = config.native.assets
    if assets is None or assets.binding is None:
        return []
    return [{"name": assets.binding, "service": {"name": _name(config), "entrypoint": _FILES_ONLY}}]


def files(config: Config) -> list[Path]:
    """Those that are read when the Worker starts."""
    assets = config.native.assets
    return [] if assets is None else [assets.directory / name for name in _RULES.values()]


def _name(config: Config) -> str:
    return f"assets:{config.name}"


def _check(assets: Assets) -> None:
    field = 'The directory specified by the "assets.directory" field in your configuration file'
    if not assets.directory.exists():
        raise UserError(f"{field} does not exist:\n{assets.directory}")
    if not assets.directory.is_dir():
        raise UserError(
            'The path specified by the "assets.directory" field in your configuration file doesn\'t point to a '
            f"directory:\n{assets.directory}"
        )
