"""What an instance is given: its params, and the payloads of its events."""

from __future__ import annotations

from typing import Any, Final

from flarebed.bindings.codec import encode
from flarebed.bindings.workflows import errors

MAX_PAYLOAD_BYTES: Final = 1 << 20
"""https://developers.cloudflare.com/workflows/reference/limits/"""


def encoded_payload(value: Any, what: str) -> bytes:
    """Encoded, if it is not more than production takes."""
    encoded = encode(value, over_rpc=True)
    if len(encoded) > MAX_PAYLOAD_BYTES:
        raise errors.payload_too_large(what)
    return encoded
