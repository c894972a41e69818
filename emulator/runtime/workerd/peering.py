"""The part of workerd's config by which its Workers call those elsewhere, and are called: our Worker `js/peers.js`, a
service for the socket of each Worker that is called, and a socket for each Worker of its own.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from flarebed.bindings.services.binding import Fetcher
from flarebed.emulator.runtime.peers import CF
from flarebed.emulator.runtime.registry import Registry
from flarebed.emulator.runtime.workerd import capnp, wire
from flarebed.emulator.runtime.workerd.host import BINDING, Answered, Asked, Host
from flarebed.emulator.runtime.workerd.own_modules import own_module, own_modules

Struct = dict[str, Any]

PEERS: Final = "peers"
"""The name of `js/peers.js` among workerd's services."""
_MAIN: Final = "main.js"
_MODULES: Final = ("peers.js", "conversation.js", "wire.js")
_DATE: Final = "2026-11-01"
_RUNNING: Final = "running"
_PROXIED: Final[Struct] = {"style": capnp.Symbol("proxy"), "cfBlobHeader": CF}


class Peering:
    """Of one workerd, whose sockets are in `folder`."""

    def __init__(self, registry: Registry, host: Host, folder: Path) -> None:
        self._registry = registry
        self._host = host
        self._folder = folder
        self._called: dict[str, None] = {}
        self._classes: dict[tuple[str, str], str] = {}
        self._published: list[tuple[str, Path]] = []
        host.adapters[_RUNNING] = self._is_running

    def designator(self, fetcher: Fetcher) -> Struct:
        """What a binding to a Worker elsewhere is in the config."""
        self._called[fetcher.service] = None
        props = {
            "service": fetcher.service, "entrypoint": fetcher.entrypoint, "props": fetcher.props, "from": os.getpid(),
        }  # fmt: skip
        return {"name": PEERS, "entrypoint": "Caller", "props": {"json": wire.dumps(props)}}

    def namespace(self, service: str, class_name: str) -> Struct:
        """What a binding to the Durable Objects of a Worker elsewhere is in the config."""
        self._called[service] = None
        name = self._classes.setdefault((service, class_name), f"Objects{len(self._classes)}")
        return {"className": name, "serviceName": PEERS}

    def services(self) -> list[Struct]:
        """To be asked for once all bindings have their designators."""
        called = [
            {
                "name": f"peer:{name}",
                "external": {"address": f"unix:{self._registry.socket(name)}", "http": _PROXIED},
            }
            for name in self._called
        ]
        ask = {"injectRequestHeaders": [{"name": BINDING, "value": _RUNNING}]}
        running = {"name": _RUNNING, "external": {"address": f"unix:{self._host.path}", "http": ask}}
        return [self._worker(), running, *called]

    def _worker(self) -> Struct:
        names = [_RUNNING, *(f"peer:{name}" for name in self._called)]
        worker: Struct = {
            "modules": [own_module(_MAIN, self._main()), *own_modules(_MODULES)],
            "compatibilityDate": _DATE,
            "compatibilityFlags": ["experimental"],
            "bindings": [
                {"name": "workerd", "workerdDebugPort": capnp.Symbol("void")},
                *({"name": name, "service": name} for name in names),
            ],
        }
        if self._classes:
            worker["durableObjectNamespaces"] = [
                {"className": name, "uniqueKey": f"{service}-{class_name}"}
                for (service, class_name), name in self._classes.items()
            ]
            worker["durableObjectStorage"] = {"inMemory": capnp.Symbol("void")}
        return {"name": PEERS, "worker": worker}

    def _main(self) -> str:
        """The module whose exports are the entrypoints and the classes."""
        classes = [
            f"export const {name} = objectsOf({wire.dumps(service)}, {wire.dumps(class_name)}, {os.getpid()});"
            for (service, class_name), name in self._classes.items()
        ]
        return "\n".join(
            ['import { objectsOf } from "./peers.js";', 'export { Called, Caller } from "./peers.js";', *classes, ""]
        )

    def sockets(self, services: Sequence[tuple[str, str]]) -> list[Struct]:
        """One for each Worker of this workerd, given with the name of its service."""
        self._published = []
        made = []
        for number, (worker, service) in enumerate(services):
            path = self._folder / f"peer-{number}.sock"
            self._published.append((worker, path))
            props = {"json": wire.dumps({"service": service})}
            made.append(
                {
                    "name": path.name,
                    "address": f"unix:{path}",
                    "http": _PROXIED,
                    "service": {"name": PEERS, "entrypoint": "Called", "props": props},
                }
            )
        return made

    def names(self) -> set[str]:
        """Of the sockets that were asked for."""
        return {path.name for _, path in self._published}

    def publish(self) -> None:
        """Once workerd listens."""
        for worker, path in self._published:
            self._registry.publish(worker, path)

    def withdraw(self) -> None:
        for worker, path in self._published:
            self._registry.withdraw(worker, path)

    async def _is_running(self, asked: Asked) -> Answered:
        return Answered(200 if self._registry.is_running(unquote(asked.path[1:])) else 404)
