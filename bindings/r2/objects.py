"""What a bucket knows of an object, and the pure rules about it: conditions, ranges, what a list shows.

https://developers.cloudflare.com/r2/api/workers/workers-api-reference/
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from flarebed.bindings.r2 import errors

ALGORITHMS: Final = {"md5": "MD5", "sha1": "SHA-1", "sha256": "SHA-256", "sha384": "SHA-384", "sha512": "SHA-512"}
"""Names of hashlib, and those in texts."""

_RANGES: Final = re.compile(r"\s*bytes\s*=\s*(.*)", re.IGNORECASE)
_RANGE: Final = re.compile(r"\s*(\d*)\s*-\s*(\d*)\s*")


@dataclass(frozen=True)
class StoredObject:
    """`http` has members as `httpMetadata` has them, cacheExpiry in ms; `checksums` hex texts beside the MD5, which is
    the etag of what was not uploaded in parts. `blob` None: it was.
    """

    key: str
    version: str
    size: int
    etag: str
    uploaded_ms: int
    checksums: Mapping[str, str]
    http: Mapping[str, Any]
    custom: Mapping[str, str]
    blob: str | None

    def all_checksums(self) -> dict[str, str]:
        return dict(self.checksums) if "-" in self.etag else {"md5": self.etag, **self.checksums}


class Etag(NamedTuple):
    """`kind`: strong, weak or wildcard."""

    kind: str
    value: str = ""


@dataclass(frozen=True)
class Condition:
    """`onlyIf`: https://www.rfc-editor.org/rfc/rfc9110#name-precedence-of-preconditions"""

    matches: Sequence[Etag] | None = None
    does_not_match: Sequence[Etag] | None = None
    before_ms: float | None = None
    after_ms: float | None = None
    whole_seconds: bool = False

    def holds(self, found: StoredObject | None) -> bool:
        if found is None:
            return self.matches is None and self.after_ms is None
        matches = self.matches is None or _is_among(found.etag, self.matches, weak=False)
        differs = self.does_not_match is None or not _is_among(found.etag, self.does_not_match, weak=True)
        uploaded_ms = self._rounded(found.uploaded_ms)
        is_after = self.after_ms is None or self._rounded(self.after_ms) < uploaded_ms
        is_before = self.before_ms is None or uploaded_ms < self._rounded(self.before_ms)
        return (
            matches
            and differs
            and (is_after or (self.does_not_match is not None and differs))
            and (is_before or (self.matches is not None and matches))
        )

    def _rounded(self, when_ms: float) -> float:
        return when_ms // 1000 * 1000 if self.whole_seconds else when_ms


def _is_among(etag: str, wanted: Sequence[Etag], *, weak: bool) -> bool:
    return any(each.kind == "wildcard" or (each.value == etag and (weak or each.kind == "strong")) for each in wanted)


class Span(NamedTuple):
    """The bytes from `start` on."""

    start: int
    length: int


@dataclass(frozen=True)
class Range:
    """`{offset, length}`, `{suffix}`, or the header `Range`."""

    offset: int | None = None
    length: int | None = None
    suffix: int | None = None
    header: str | None = None

    def of(self, size: int) -> Span:
        """What it means of an object of `size` bytes. A header that can't be met, or asks for several, means all."""
        if self.header is not None:
            return _of_header(self.header, size) or Span(0, size)
        if self.suffix is not None:
            if self.suffix <= 0:
                raise errors.invalid_range()
            length = min(self.suffix, size)
            return Span(size - length, length)
        if self.offset is None and self.length is None:
            return Span(0, size)
        offset = self.offset or 0
        length = size - offset if self.length is None else self.length
        if not 0 <= offset <= size or length <= 0:
            raise errors.invalid_range()
        return Span(offset, min(length, size - offset))


def _of_header(header: str, size: int) -> Span | None:
    found = _RANGES.fullmatch(header)
    one = _RANGE.fullmatch(found[1]) if found is not None else None
    if one is None or (not one[1] and not one[2]):
        return None
    if not one[1]:
        length = int(one[2])
        return Span(size - length, length) if 0 < length < size else None
    start = int(one[1])
    end = min(int(one[2]), size - 1) if one[2] else size - 1
    return Span(start, end - start + 1) if start <= end and start < size else None
