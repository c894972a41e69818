"""Wrangler's R2 buckets. Nothing here reads them yet: they are kept at wrangler's place, and move with the state.

A bucket is a SQLite file with the hashed name and a folder of blobs with the name itself (seen on wrangler 4.164).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from flarebed.bindings.ids import id_from_name
from flarebed.bindings.kind import StateFiles

_NAMESPACE: Final = "miniflare-R2BucketObject"
_FOLDER: Final = "v3/r2"
BLOBS: Final = f"{_FOLDER}/*/blobs/*"


def named(buckets: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    for bucket in buckets:
        yield f"{id_from_name(_NAMESPACE, bucket)}.sqlite", (bucket,)


def buckets(root: Path) -> list[str]:
    """Those that hold something."""
    return sorted(path.parent.name for path in (root / _FOLDER).glob("*/blobs"))


FILES: Final = StateFiles(
    f"{_FOLDER}/{_NAMESPACE}", "object", "SELECT count(*) FROM _mf_objects", named, "[0-9a-f]" * 64 + ".sqlite"
)
