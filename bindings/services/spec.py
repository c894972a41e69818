"""`services` of the wrangler config: bindings to entrypoints of other Workers, or of this one.

https://developers.cloudflare.com/workers/runtime-apis/bindings/service-bindings/
The texts are those of wrangler 4.164.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flarebed.bindings.entry import Entry, as_json, entries
from flarebed.bindings.kind import Section


@dataclass(frozen=True)
class ServiceSpec:
    """The Worker called `service` under the name `binding`: its default export, or the one called `entrypoint`.

    `props` is what the called Worker finds as `ctx.props`; None without.
    """

    binding: str
    service: str
    entrypoint: str | None = None
    props: Mapping[str, Any] | None = None
    environment: str | None = None

    @property
    def worker(self) -> str:
        """The name that the Worker is deployed under: that of an environment has its name at the end."""
        return f"{self.service}-{self.environment}" if self.environment else self.service

    def rows(self) -> Sequence[tuple[str, str]]:
        entrypoint = f"#{self.entrypoint}" if self.entrypoint else ""
        return [(f"{self.binding} ({self.worker}{entrypoint})", "Worker")]


def parse(section: Section) -> tuple[ServiceSpec, ...]:
    return tuple(_service(entry) for entry in entries(section, "services"))


def _service(entry: Entry) -> ServiceSpec:
    binding = entry.required("binding")
    service = entry.required("service")
    environment, entrypoint = (_optional(entry, name) for name in ("environment", "entrypoint"))
    _check_dev(entry)
    entry.optional("remote", "boolean", owner="")
    props = entry.fields.get("props")
    return ServiceSpec(binding, service, entrypoint, props if isinstance(props, dict) else None, environment)


def _optional(entry: Entry, name: str) -> str | None:
    """Wrangler's words for an optional field, which here are those for one that has to be there."""
    if name not in entry.fields:
        return None
    return entry.required(name) or None


def _check_dev(entry: Entry) -> None:
    """`dev` names a plugin of miniflare, which is not run here."""
    if "dev" not in entry.fields:
        return
    dev = entry.fields["dev"]
    if not isinstance(dev, dict):
        entry.error(f'"{entry.path}" bindings should have an object "dev" field but got {as_json(entry.value)}.')
        return
    plugin = dev.get("plugin")
    if not isinstance(plugin, dict):
        entry.error(f'"{entry.path}.dev" should have an object "plugin" field but got {as_json(plugin)}.')
    else:
        for name in ("package", "name"):
            if not isinstance(plugin.get(name), str):
                entry.error(f'"{entry.path}.dev.plugin" should have a string "{name}" field but got {as_json(plugin)}.')
    if not isinstance(dev.get("options", {}), dict):
        entry.error(f'"{entry.path}.dev.options" should be an object but got {as_json(dev["options"])}.')
    if entry.fields.get("remote") is True:
        entry.complaints.warn(
            f'"{entry.path}" binding has both "dev" and "remote" set; "remote" is ignored when "dev" is present and '
            "the binding is routed through the local Miniflare plugin."
        )
