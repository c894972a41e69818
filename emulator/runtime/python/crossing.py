"""A value on its way to another Worker, made ready on the loop of the Worker that gives it: objects of the Fetch API
become values.
"""

from __future__ import annotations

from typing import Any, Final

from flarebed.bindings.errors import JsError
from flarebed.bindings.values import UNDEFINED, ArrayBuffer, BigInt, Boxed, Date, Error, Map, RegExp, Set, View
from flarebed.emulator.runtime.web_values import WebHeaders

_DATA = (str, bool, int, float, type(None), type(UNDEFINED), BigInt, Date, ArrayBuffer, View, Error, RegExp, Boxed)


MAX_BYTES: Final = 32 << 20
"""https://developers.cloudflare.com/workers/runtime-apis/rpc/#limitations"""


class Crossing:
    """`shares` says whether something in what was `ready` stays with its Worker: a function, or a stream."""

    def __init__(self) -> None:
        self.shares = False
        self._made: dict[int, Any] = {}
        self._bytes = 0

    def checked(self, value: Any) -> Any:
        """`ready`; raises JsError for a value that is too large (workerd src/workerd/api/worker-rpc.c++)."""
        made = self.ready(value)
        if self._bytes > MAX_BYTES:
            raise JsError(
                "Serialized RPC arguments or return values are limited to 32MiB, but the size of this value was: "
                f"{self._bytes} bytes."
            )
        return made

    def ready(self, value: Any) -> Any:
        if isinstance(value, _DATA):
            self._bytes += _bytes(value)
            return value
        if id(value) in self._made:
            return self._made[id(value)]
        if isinstance(value, dict):
            members = self._made[id(value)] = {}
            members.update({key: self.ready(item) for key, item in value.items()})
            return members
        if isinstance(value, list):
            items: list[Any] = []
            self._made[id(value)] = items
            items.extend(map(self.ready, value))
            return items
        if isinstance(value, Map):
            return Map((self.ready(key), self.ready(item)) for key, item in value.items())
        if isinstance(value, Set):
            return Set(map(self.ready, value))
        return self._host(value)

    def _host(self, value: Any) -> Any:
        made = value.to_rpc() if hasattr(value, "to_rpc") else value
        self.shares = self.shares or not isinstance(made, WebHeaders)
        return made


def _bytes(value: Any) -> int:
    """About what V8's serializer needs, which has one byte for a character of Latin-1 and two for any other."""
    if isinstance(value, str):
        return len(value) * (1 if value.isascii() or max(value) < "\u0100" else 2)
    return len(value) if isinstance(value, ArrayBuffer) else value.byte_length if isinstance(value, View) else 1
