"""`kv_namespaces` of the wrangler config.

https://developers.cloudflare.com/workers/wrangler/configuration/#kv-namespaces
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flarebed.bindings.entry import Entry, as_json, entries
from flarebed.bindings.kind import Section


@dataclass(frozen=True)
class KvNamespaceSpec:
    """A KV namespace under the name `binding`."""

    binding: str
    id: str | None = None
    preview_id: str | None = None

    @property
    def namespace_id(self) -> str:
        """Which namespace it is on this machine: wrangler dev prefers the preview's, and does without any."""
        return self.preview_id or self.id or self.binding

    def rows(self) -> Sequence[tuple[str, str]]:
        return [(f"{self.binding} ({self.namespace_id})", "KV Namespace")]


def parse(section: Section) -> tuple[KvNamespaceSpec, ...]:
    return tuple(_namespace(entry) for entry in entries(section, "kv_namespaces"))


def _namespace(entry: Entry) -> KvNamespaceSpec:
    binding = entry.required("binding")
    identifier = entry.fields.get("id")
    if "id" in entry.fields and not (isinstance(identifier, str) and identifier):
        entry.error(f'"{entry.path}" bindings should have a string "id" field but got {as_json(entry.value)}.')
    preview_id = entry.optional("preview_id")
    entry.optional("remote", "boolean", owner="")
    entry.only("binding", "id", "preview_id", "remote")
    return KvNamespaceSpec(binding, identifier, preview_id)
