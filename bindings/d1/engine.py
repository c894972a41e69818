"""D1: the databases that a Worker is bound to. Queries are in `database.py`.

Nothing runs by itself here, so owning the state folder changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from flarebed.bindings.d1.binding import D1Database
from flarebed.bindings.d1.database import Database
from flarebed.bindings.d1.spec import D1DatabaseSpec
from flarebed.bindings.ids import id_from_name
from flarebed.bindings.kind import Surroundings

_NAMESPACE: Final = "miniflare-D1DatabaseObject"


class D1Resources:
    """One database per id; two bindings may share it. `databases` has them by binding."""

    def __init__(self, specs: Sequence[D1DatabaseSpec], around: Surroundings) -> None:
        by_id: dict[str, Database] = {}
        for spec in specs:
            if spec.local_id not in by_id:
                by_id[spec.local_id] = database(spec, around)
        self.databases = {spec.binding: by_id[spec.local_id] for spec in specs}
        self._bindings = {
            binding: D1Database(opened, "d1_binding_jsrpc" in around.flags)
            for binding, opened in self.databases.items()
        }

    def bindings(self) -> Mapping[str, object]:
        return self._bindings

    def claims(self) -> Sequence[str]:
        return ()

    async def own(self) -> None:
        """A database does nothing of its own accord."""

    async def disown(self) -> None:
        """Writes are committed when their call returns."""

    def ring(self, resource: str) -> None:
        """Every query looks into the file anyway."""


def open(specs: Sequence[D1DatabaseSpec], around: Surroundings) -> D1Resources:
    return D1Resources(specs, around)


def database(spec: D1DatabaseSpec, around: Surroundings) -> Database:
    """The database of `spec`, by itself: for commands. It closes with the store."""
    opened = Database(path(around.store.root, spec), around)
    around.store.on_close(opened.close)
    return opened


def path(root: Path, spec: D1DatabaseSpec) -> Path:
    """Where wrangler dev keeps it below the state folder."""
    return root / "v3" / "d1" / _NAMESPACE / f"{id_from_name(_NAMESPACE, spec.local_id)}.sqlite"
