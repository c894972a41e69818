"""R2: the buckets that a Worker is bound to, at wrangler's place. Objects are in `bucket.py`.

Nothing runs by itself here, so owning the state folder changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flarebed.bindings.ids import id_from_name
from flarebed.bindings.kind import Surroundings
from flarebed.bindings.r2.binding import R2Bucket
from flarebed.bindings.r2.blobs import Blobs
from flarebed.bindings.r2.bucket import SCHEMA, Bucket
from flarebed.bindings.r2.spec import R2BucketSpec
from flarebed.bindings.r2.state import FOLDER, NAMESPACE


class R2Resources:
    """One bucket per name; two bindings may share it. `buckets` has them by binding."""

    def __init__(self, specs: Sequence[R2BucketSpec], around: Surroundings) -> None:
        by_name = {name: bucket(name, around) for name in {spec.bucket for spec in specs}}
        self.buckets = {spec.binding: by_name[spec.bucket] for spec in specs}
        self._bindings = {binding: R2Bucket(opened) for binding, opened in self.buckets.items()}

    def bindings(self) -> Mapping[str, object]:
        return self._bindings

    def claims(self) -> Sequence[str]:
        return ()

    async def own(self) -> None:
        """A bucket does nothing of its own accord."""

    async def disown(self) -> None:
        """Writes are in the store when their call returns."""

    def ring(self, resource: str) -> None:
        """Every read looks into the store anyway."""


def bucket(name: str, around: Surroundings) -> Bucket:
    root = around.store.root / FOLDER
    path = root / NAMESPACE / f"{id_from_name(NAMESPACE, name)}.sqlite"

    def warn(text: str) -> None:
        around.log("warn", f'R2 bucket "{name}": {text}')

    return Bucket(around.store.database_at(path, SCHEMA), Blobs(root / name / "blobs"), around.clock, warn)


def open(specs: Sequence[R2BucketSpec], around: Surroundings) -> R2Resources:
    return R2Resources(specs, around)
