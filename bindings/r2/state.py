"""Where R2 keeps its buckets below the state folder, which is where wrangler does: a SQLite file with the hashed name,
and a folder of blobs with the name itself (seen on wrangler 4.164).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from flarebed.bindings.ids import id_from_name
from flarebed.bindings.kind import StateFiles
from flarebed.bindings.r2.spec import R2BucketSpec

NAMESPACE: Final = "miniflare-R2BucketObject"
FOLDER: Final = "v3/r2"


def named(specs: Sequence[R2BucketSpec]) -> Iterator[tuple[str, Sequence[str]]]:
    for spec in specs:
        yield f"{id_from_name(NAMESPACE, spec.bucket)}.sqlite", (spec.binding, spec.bucket)


FILES: Final = StateFiles(
    f"{FOLDER}/{NAMESPACE}", "object", "SELECT count(*) FROM _mf_objects", named, "[0-9a-f]" * 64 + ".sqlite"
)
