"""workerd's config: the modules and bindings of each Worker, our own Worker beside them, their sockets.

https://github.com/cloudflare/workerd/blob/main/src/workerd/server/workerd.capnp
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from flarebed.emulator.config.model import Config
from flarebed.emulator.runtime.workerd import assets, capnp, native, objects
from flarebed.emulator.runtime.workerd.bundled import Bundled
from flarebed.emulator.runtime.workerd.front import ANSWERED, CF
from flarebed.emulator.runtime.workerd.own_modules import own_modules
from flarebed.emulator.runtime.workerd.peering import Peering
from flarebed.emulator.runtime.workerd.wiring import CONTROL, Struct, Wiring, service_of

CONTROL_SOCKET: Final = "control.sock"
_CONTROL_MODULES: Final = ("control.js", "conversation.js", "d1.js", "queues.js", "tail.js", "wire.js", "workflows.js")
_CONTROL_FLAGS: Final = ["experimental", "service_binding_extra_handlers", "enhanced_error_serialization"]
_CONTROL_DATE: Final = "2026-03-01"


@dataclass(frozen=True)
class Member:
    """A Worker in the config: `fields` are what it has beside modules and bindings, `workflows` the classes that our
    own Worker has to reach, `socket` the name of the one that the Worker's requests come from."""

    config: Config
    bundled: Bundled
    bindings: Sequence[Struct]
    fields: Struct
    workflows: Collection[str]
    wiring: Wiring
    socket: str


def written(members: Sequence[Member], folder: Path, peering: Peering, state: Path) -> str:
    """The config's text, to stand in `folder`. Durable Objects are below the folder `state`."""
    workers = [_user(member) for member in members]
    wired = {service["name"]: service for member in members for service in member.wiring.services}
    assets_of = [service for member in members for service in assets.services(member.config)]
    own = [_control(members), *objects.disk((member.config for member in members), state), _INTERNET]
    called = peering.sockets([(member.config.name, service_of(member.config.name)) for member in members])
    config = {
        "services": [*workers, *peering.services(), *wired.values(), *assets_of, *own],
        "sockets": [*_sockets(members, folder), *called],
        "extensions": native.extensions(),
        "structuredLogging": True,
    }
    return f'using Workerd = import "/workerd/workerd.capnp";\nconst config :Workerd.Config = {capnp.text(config)};\n'


def _user(member: Member) -> Struct:
    config = member.config
    worker = {
        **_code(member.bundled, member.wiring),
        "compatibilityDate": config.compatibility_date,
        "compatibilityFlags": list(config.compatibility_flags),
        "bindings": [*member.bindings, *_global_values(member.bundled, member.wiring)],
        **member.fields,
        **member.wiring.worker,
    }
    return {"name": service_of(config.name), "worker": worker}


def _code(bundled: Bundled, wiring: Wiring) -> Struct:
    if bundled.format == "service-worker":
        return {"serviceWorkerScript": wiring.file(bundled.modules[0].content)}
    return {"modules": [{"name": each.name, each.kind: wiring.file(each.content)} for each in bundled.modules]}


def _global_values(bundled: Bundled, wiring: Wiring) -> list[Struct]:
    """What a script of the service-worker format imported: its bindings are global names."""
    members = {"wasm": "wasmModule", "text": "text", "data": "data"}
    return [{"name": each.name, members[each.kind]: wiring.file(each.content)} for each in bundled.globals]


def _control(members: Sequence[Member]) -> Struct:
    worker = {
        "modules": own_modules(_CONTROL_MODULES),
        "compatibilityDate": _CONTROL_DATE,
        "compatibilityFlags": _CONTROL_FLAGS,
        "bindings": [binding for member in members for binding in _reached(member)],
    }
    return {"name": CONTROL, "worker": worker}


def _reached(member: Member) -> list[Struct]:
    """What our own Worker has of a Worker: itself, its entrypoints, what it is bound to."""
    name = member.config.name
    entrypoints = [
        {"name": f"entrypoint:{name}:{each}", "service": {"name": service_of(name), "entrypoint": each}}
        for each in member.workflows
    ]
    return [{"name": f"worker:{name}", "service": service_of(name)}, *entrypoints, *member.wiring.control]


def _sockets(members: Sequence[Member], folder: Path) -> list[Struct]:
    proxied = {
        "style": capnp.Symbol("proxy"),
        "cfBlobHeader": CF,
        "injectResponseHeaders": [{"name": ANSWERED, "value": "1"}],
    }
    return [
        *(
            {
                "name": member.socket,
                "address": f"unix:{folder / member.socket}",
                "http": proxied,
                "service": assets.front(member.config),
            }
            for member in members
        ),
        {"name": CONTROL_SOCKET, "address": f"unix:{folder / CONTROL_SOCKET}", "http": {}, "service": CONTROL},
    ]


_INTERNET: Final[dict[str, Any]] = {
    "name": "internet",
    "network": {"allow": ["public", "private"], "tlsOptions": {"trustBrowserCas": True}},
}
"""As wrangler dev: also what is on this machine and its networks."""
