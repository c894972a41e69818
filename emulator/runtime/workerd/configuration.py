"""workerd's config for a Worker: its modules and bindings, our own Worker beside it, their sockets.

https://github.com/cloudflare/workerd/blob/main/src/workerd/server/workerd.capnp
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from flarebed.emulator.config.model import Config
from flarebed.emulator.runtime.workerd import capnp
from flarebed.emulator.runtime.workerd.bundled import Bundled
from flarebed.emulator.runtime.workerd.wiring import CONTROL, Struct, Wiring

MAIN_SOCKET: Final = "main.sock"
CONTROL_SOCKET: Final = "control.sock"
_CONTROL_MODULES: Final = ("control.js", "conversation.js", "wire.js")
_CONTROL_DATE: Final = "2026-03-01"
_CF_BLOB: Final = "CF-Blob"


@dataclass(frozen=True)
class Member:
    """A Worker in the config: `workflows` are the classes that our own Worker has to reach."""

    config: Config
    bundled: Bundled
    bindings: Sequence[Struct]
    workflows: Collection[str]


def written(member: Member, wiring: Wiring, folder: Path) -> str:
    """The config's text, to stand in `folder`."""
    services = [_user(member, wiring), _control(member, wiring), *wiring.services, _INTERNET]
    config = {"services": services, "sockets": _sockets(member.config.name, folder), "structuredLogging": True}
    return f'using Workerd = import "/workerd/workerd.capnp";\nconst config :Workerd.Config = {capnp.text(config)};\n'


def _user(member: Member, wiring: Wiring) -> Struct:
    config = member.config
    worker = {
        "modules": [{"name": each.name, each.kind: wiring.file(each.content)} for each in member.bundled.modules],
        "compatibilityDate": config.compatibility_date,
        "compatibilityFlags": list(config.compatibility_flags),
        "bindings": list(member.bindings),
    }
    return {"name": _service(config.name), "worker": worker}


def _control(member: Member, wiring: Wiring) -> Struct:
    user = _service(member.config.name)
    entrypoints = [
        {"name": f"entrypoint:{name}", "service": {"name": user, "entrypoint": name}} for name in member.workflows
    ]
    source = Path(__file__).parent / "js"
    worker = {
        "modules": [{"name": name, "esModule": (source / name).read_text("utf-8")} for name in _CONTROL_MODULES],
        "compatibilityDate": _CONTROL_DATE,
        "compatibilityFlags": ["experimental"],
        "bindings": [{"name": "worker", "service": user}, *entrypoints, *wiring.control],
    }
    return {"name": CONTROL, "worker": worker}


def _sockets(name: str, folder: Path) -> list[Struct]:
    proxied = {"style": capnp.Symbol("proxy"), "cfBlobHeader": _CF_BLOB}
    return [
        {"name": MAIN_SOCKET, "address": f"unix:{folder / MAIN_SOCKET}", "http": proxied, "service": _service(name)},
        {"name": CONTROL_SOCKET, "address": f"unix:{folder / CONTROL_SOCKET}", "http": {}, "service": CONTROL},
    ]


def _service(name: str) -> str:
    return f"worker:{name}"


_INTERNET: Final[dict[str, Any]] = {
    "name": "internet",
    "network": {"allow": ["public", "private"], "tlsOptions": {"trustBrowserCas": True}},
}
"""As wrangler dev: also what is on this machine and its networks."""
