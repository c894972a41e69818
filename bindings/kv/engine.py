"""Workers KV: the namespaces that a Worker is bound to. Keys and values are in `namespace.py`.

Nothing runs by itself here, so owning the state folder changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flarebed.bindings.kind import Surroundings
from flarebed.bindings.kv.binding import KvNamespace
from flarebed.bindings.kv.eventual import EventualNamespace
from flarebed.bindings.kv.namespace import Namespace, database
from flarebed.bindings.kv.service import Service
from flarebed.bindings.kv.spec import KvNamespaceSpec


class KvResources:
    """One namespace per id; two bindings may share it."""

    def __init__(self, specs: Sequence[KvNamespaceSpec], around: Surroundings) -> None:
        namespaces = {name: namespace(name, around) for name in {spec.namespace_id for spec in specs}}
        self._bindings = {spec.binding: namespaces[spec.namespace_id] for spec in specs}

    def bindings(self) -> Mapping[str, object]:
        return self._bindings

    def claims(self) -> Sequence[str]:
        return ()

    async def own(self) -> None:
        """Expiry needs no timer: a read looks at the clock."""

    async def disown(self) -> None:
        """Writes are in the store when their call returns."""

    def ring(self, resource: str) -> None:
        """Every read looks into the store anyway."""


def namespace(namespace_id: str, around: Surroundings) -> KvNamespace:
    """For a Worker, and for the command line."""

    def warn(text: str) -> None:
        around.log("warn", f'KV namespace "{namespace_id}": {text}')

    made = EventualNamespace if around.modes.kv_consistency == "eventual" else Namespace
    return KvNamespace(Service(made(database(around.store, namespace_id), around.clock), warn))


def open(specs: Sequence[KvNamespaceSpec], around: Surroundings) -> KvResources:
    return KvResources(specs, around)
