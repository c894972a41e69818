"""A value on its way to another Worker, made ready on the loop of the Worker that gives it: objects of the Fetch API
become values.
"""

from __future__ import annotations

from typing import Any

from flarebed.bindings.values import UNDEFINED, ArrayBuffer, BigInt, Boxed, Date, Error, Map, RegExp, Set, View
from flarebed.emulator.runtime.web_values import WebHeaders

_DATA = (str, bool, int, float, type(None), type(UNDEFINED), BigInt, Date, ArrayBuffer, View, Error, RegExp, Boxed)


class Crossing:
    """`shares` says whether something in what was `ready` stays with its Worker: a function, or a stream."""

    def __init__(self) -> None:
        self.shares = False
        self._made: dict[int, Any] = {}

    def ready(self, value: Any) -> Any:
        if isinstance(value, _DATA):
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
