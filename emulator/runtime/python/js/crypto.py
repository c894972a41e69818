"""`crypto`: random values, UUIDs, and `crypto.subtle`.

Source: https://developers.cloudflare.com/workers/runtime-apis/web-crypto/ and workerd src/workerd/api/crypto.
"""

from __future__ import annotations

import secrets
import uuid
from typing import Any

from flarebed.bindings.values import View
from flarebed.emulator.runtime.python.js.subtle import SubtleCrypto
from flarebed.emulator.runtime.python.promise import io_context
from flarebed.emulator.runtime.python.proxy import JsProxy, throw

_MOST_RANDOM = 65_536


class Crypto(JsProxy):
    """`crypto`."""

    __slots__ = ("subtle",)

    def __init__(self) -> None:
        self.subtle = SubtleCrypto()

    def randomUUID(self) -> str:
        io_context()
        return str(uuid.UUID(bytes=secrets.token_bytes(16), version=4))

    def getRandomValues(self, array: Any) -> Any:
        """Fill a typed array; it is also the result."""
        io_context()
        view = array.js_value() if isinstance(array, JsProxy) else None
        if not isinstance(view, View) or view.kind.startswith("Float") or view.kind == "DataView":
            text = "ArrayBufferView argument to getRandomValues() must be an integer-typed view."
            raise throw(text, "TypeMismatchError")
        if view.byte_length > _MOST_RANDOM:
            raise throw(
                f"getRandomValues() only accepts buffers of size <= 64K but provided {view.byte_length} bytes.",
                "QuotaExceededError",
            )
        array.assign(secrets.token_bytes(view.byte_length))
        return array
