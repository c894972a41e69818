"""Durable Objects on workerd's own storage, at wrangler's place and in its layout: wrangler dev and flarebed can take
turns on the same objects.

Only one process may have an object open, and workerd does not wait for another to let go. So a process holds a lock
for all objects of a Worker, which its workerd inherits: it is free again when both are gone, however they end.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from flarebed.bindings.errors import UserError
from flarebed.emulator.config.model import Config
from flarebed.emulator.runtime.workerd.wiring import Struct, Wiring, service_of

IN_USE: Final = (
    "The Durable Objects of this Worker are open in another process on this state folder. Requests wait until that one "
    "ends. To have objects of your own beside it, use --persist-to."
)
_DISK: Final = "durable-objects"
_FOLDER: Final = Path("v3", "do")


def fields(config: Config) -> Struct:
    """The Worker's classes, and that their objects are on disk."""
    classes = config.native.own_classes()
    if not classes:
        return {}
    namespaces = [
        {"className": name, "uniqueKey": f"{config.name}-{name}", "enableSql": sqlite}
        for name, sqlite in classes.items()
    ]
    return {"durableObjectNamespaces": namespaces, "durableObjectStorage": {"localDisk": _DISK}}


def disk(configs: Iterable[Config], state: Path) -> list[Struct]:
    """The service for the objects' files below the state folder, if there can be any."""
    if not any(config.native.own_classes() for config in configs):
        return []
    folder = state / _FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    return [{"name": _DISK, "disk": {"path": str(folder), "writable": True}}]


def bindings(config: Config, wiring: Wiring) -> Iterator[Struct]:
    """Those of other Workers are workerd's own if it runs them too."""
    for each in config.native.durable_objects:
        script = each.script or config.name
        if script in wiring.peers:
            namespace = {"className": each.class_name, "serviceName": service_of(script)}
        else:
            namespace = wiring.peering.namespace(script, each.class_name)
        yield {"name": each.binding, "durableObjectNamespace": namespace}


def check_exports(config: Config, exports: tuple[str, ...]) -> None:
    """Raises UserError if a class that the Worker is bound to is not among the `exports` of its entry point."""
    bound = (each.class_name for each in config.native.durable_objects if each.script is None)
    missing = [name for name in bound if name not in exports]
    if missing:
        raise UserError(
            "Your Worker depends on the following Durable Objects, which are not exported in your entrypoint file: "
            f"{', '.join(missing)}.\n"
            f"You should export these objects from your entrypoint, {os.path.relpath(config.entry_point())}."
        )
