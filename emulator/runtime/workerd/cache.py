"""The Cache API (`caches`) behind workerd's `cacheApiOutbound`: GET finds, PUT stores the HTTP response that is its
body, PURGE deletes. In memory, for as long as the Worker runs.

Source: workerd src/workerd/api/cache.c++.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import formatdate
from typing import Final

from flarebed.bindings.clock import Clock
from flarebed.emulator.runtime import freshness
from flarebed.emulator.runtime.workerd.host import Adapter, Answered, Asked

CF_BLOB: Final = "cf-blob"
PROTOCOL: Final = "x-forwarded-proto"
_NAMESPACE: Final = "cf-cache-namespace"
_MISS: Final = Answered(504, headers=(("cf-cache-status", "MISS"),))
_NOT_KEPT: Final = Answered(413)
"""workerd takes it as "not stored" without an error for the Worker."""
_RANGE: Final = re.compile(r"bytes=(\d*)-(\d*)")
_NOT_COPIED: Final = ("content-length", "transfer-encoding", "connection")


@dataclass(frozen=True, slots=True)
class _Stored:
    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    stored_ms: float
    expires_ms: float

    def header(self, name: str) -> str | None:
        return _header(self.headers, name)


def adapter(clock: Clock) -> Adapter:
    entries: dict[tuple[str, str], _Stored] = {}

    async def answer(asked: Asked) -> Answered:
        key = _key(asked)
        match asked.method:
            case "PUT":
                stored = _parsed(await asked.body(), clock.now_ms())
                if stored is None:
                    return _NOT_KEPT
                entries[key] = stored
                return Answered(204)
            case "PURGE":
                return Answered(200 if entries.pop(key, None) is not None else 404)
        found = entries.get(key)
        if found is not None and found.expires_ms <= clock.now_ms():
            del entries[key]
            found = None
        return _MISS if found is None else _shown(found, asked.headers, clock.now_ms())

    return answer


def _key(asked: Asked) -> tuple[str, str]:
    """The name of the cache, and what the Worker says it is to be found by: `cf.cacheKey`, else the URL."""
    chosen = json.loads(asked.headers.get(CF_BLOB) or "{}").get("cacheKey")
    protocol, host = asked.headers.get(PROTOCOL, "http"), asked.headers.get("host", "")
    return asked.headers.get(_NAMESPACE, ""), str(chosen or f"{protocol}://{host}{asked.target}")


def _parsed(message: bytes, now_ms: float) -> _Stored | None:
    """None for a response that may not be kept."""
    head, _, body = message.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    _, status, reason = f"{first} ".split(" ", 2)
    headers = tuple((name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines))
    lifetime_ms = freshness.lifetime_ms(lambda name: _header(headers, name), now_ms)
    if lifetime_ms <= 0:
        return None
    kept = tuple((name, value) for name, value in headers if name not in (*_NOT_COPIED, "set-cookie"))
    return _Stored(int(status), reason.strip(), kept, body, now_ms, now_ms + lifetime_ms)


def _shown(stored: _Stored, asked: Mapping[str, str], now_ms: float) -> Answered:
    age_s = int((now_ms - stored.stored_ms) / 1000)
    made = () if stored.header("date") else (("date", formatdate(stored.stored_ms / 1000, usegmt=True)),)
    headers = (*stored.headers, *made, ("age", str(age_s)), ("cf-cache-status", "HIT"))
    if _unchanged(stored, asked):
        return Answered(304, headers=headers)
    wanted = _RANGE.fullmatch(asked.get("range", ""))
    size = len(stored.body)
    if wanted is None or not (wanted[1] or wanted[2]):
        return Answered(stored.status, stored.body, headers, stored.reason)
    start = int(wanted[1]) if wanted[1] else max(0, size - int(wanted[2]))
    end = min(int(wanted[2]), size - 1) if wanted[1] and wanted[2] else size - 1
    if start > end:
        return Answered(416, headers=(("content-range", f"bytes */{size}"), ("cf-cache-status", "HIT")))
    return Answered(206, stored.body[start : end + 1], (*headers, ("content-range", f"bytes {start}-{end}/{size}")))


def _unchanged(stored: _Stored, asked: Mapping[str, str]) -> bool:
    tag, tags = stored.header("etag"), asked.get("if-none-match")
    if tag is not None and tags is not None:
        given = [each.strip().removeprefix("W/") for each in tags.split(",")]
        return tags.strip() == "*" or tag.removeprefix("W/") in given
    modified_ms = freshness.date_ms(stored.header("last-modified"))
    since_ms = freshness.date_ms(asked.get("if-modified-since"))
    return modified_ms is not None and since_ms is not None and modified_ms <= since_ms


def _header(headers: tuple[tuple[str, str], ...], name: str) -> str | None:
    return next((value for other, value in headers if other == name), None)
