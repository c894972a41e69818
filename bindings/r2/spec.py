"""`r2_buckets` of the wrangler config.

https://developers.cloudflare.com/workers/wrangler/configuration/#r2-buckets
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from flarebed.bindings.entry import Entry, as_json, entries
from flarebed.bindings.kind import Section

_BUCKET = re.compile(r"[a-z0-9][a-z0-9-]{1,61}[a-z0-9]")


@dataclass(frozen=True)
class R2BucketSpec:
    """A bucket under the name `binding`."""

    binding: str
    bucket_name: str | None = None

    @property
    def bucket(self) -> str:
        """Which bucket it is on this machine: wrangler dev does without a name."""
        return self.bucket_name or self.binding

    def rows(self) -> Sequence[tuple[str, str]]:
        return [(f"{self.binding} ({self.bucket})", "R2 Bucket")]


def parse(section: Section) -> tuple[R2BucketSpec, ...]:
    return tuple(_bucket(entry) for entry in entries(section, "r2_buckets"))


def _bucket(entry: Entry) -> R2BucketSpec:
    binding = entry.required("binding")
    name = entry.optional("bucket_name")
    for field in ("preview_bucket_name", "jurisdiction"):
        entry.optional(field)
    entry.optional("remote", "boolean", owner="")
    entry.only("binding", "bucket_name", "preview_bucket_name", "jurisdiction", "remote", "local_dev")
    if binding and isinstance(name, str) and not _BUCKET.fullmatch(name):
        entry.error(
            f"{entry.path}.bucket_name={as_json(name)} is invalid. Bucket names must begin and end with an "
            "alphanumeric character, only contain lowercase letters, numbers, and hyphens, and be between 3 and 63 "
            "characters long."
        )
    return R2BucketSpec(binding, name)
