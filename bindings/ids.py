"""The name-to-file hash that wrangler's KV, D1 and Durable Objects share, so that files are found by both.

Source: workers-sdk miniflare `durableObjectNamespaceIdFromName`, seen on wrangler 4.164: `ns1` of KV gives adb56458...
"""

from __future__ import annotations

import hashlib
import hmac


def id_from_name(unique_key: str, name: str) -> str:
    """64 hex digits for `name` in the namespace `unique_key` (e.g. "miniflare-D1DatabaseObject")."""
    key = hashlib.sha256(unique_key.encode()).digest()
    name_mac = hmac.digest(key, name.encode(), "sha256")[:16]
    return (name_mac + hmac.digest(key, name_mac, "sha256")[:16]).hex()
