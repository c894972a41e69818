"""The name-to-file hash that wrangler's KV, D1 and Durable Objects share, so that files are found by both.

Source: workers-sdk miniflare `durableObjectNamespaceIdFromName`, seen on wrangler 4.164: `ns1` of KV gives adb56458...
"""

from __future__ import annotations

import hashlib
import hmac


def id_from_name(unique_key: str, name: str) -> str:
    """64 hex digits for `name` in the namespace `unique_key` (e.g. "miniflare-D1DatabaseObject")."""
    return id_from_base(unique_key, hmac.digest(_key(unique_key), name.encode(), "sha256")[:16])


def id_from_base(unique_key: str, base: bytes) -> str:
    """The 64 hex digits that begin with the 16 bytes of `base`; the rest shows that they are of that namespace."""
    return (base + hmac.digest(_key(unique_key), base, "sha256")[:16]).hex()


def _key(unique_key: str) -> bytes:
    return hashlib.sha256(unique_key.encode()).digest()
