"""Blob and File.

Source: https://w3c.github.io/FileAPI and workerd src/workerd/api/blob.c++.
"""

from __future__ import annotations

import builtins
import math
from typing import Any

from flarebed.bindings.values import ArrayBuffer, View
from flarebed.emulator.runtime.python.context import current
from flarebed.emulator.runtime.python.js import idl
from flarebed.emulator.runtime.python.js.readable import ReadableStream
from flarebed.emulator.runtime.python.promise import Promise
from flarebed.emulator.runtime.python.proxy import JsProxy


class Blob(JsProxy):
    """Bytes with a type."""

    __slots__ = ("__weakref__", "_data", "type")

    def __init__(self, parts: Any = None, init: Any = None, **options: Any) -> None:
        interface = type(self).js_name
        idl.check_options(init, interface, 2 if interface == "Blob" else 3, "Options")
        self._data = _joined(parts, interface)
        self.type = _normalized(idl.member(init, options, "type"))

    @classmethod
    def of(cls, data: builtins.bytes, content_type: str = "") -> Blob:
        blob = Blob.__new__(Blob)
        blob._data, blob.type = data, content_type
        return blob

    @property
    def size(self) -> int:
        return len(self._data)

    def __len__(self) -> int:
        """Pyodide's view of anything with a size."""
        return self.size

    def __bool__(self) -> bool:
        return True

    def slice(self, start: Any = None, end: Any = None, content_type: Any = None) -> Blob:
        first = idl.integer(start)
        last = idl.integer(end, len(self._data))
        return Blob.of(self._data[slice(first, last)], _normalized(content_type))

    def text(self) -> Promise:
        return Promise.fulfilled(self._data.decode(errors="replace"))

    def arrayBuffer(self) -> Promise:
        return Promise.fulfilled(ArrayBuffer(self._data))

    def bytes(self) -> Promise:
        return Promise.fulfilled(View(ArrayBuffer(self._data)))

    def stream(self) -> ReadableStream:
        return ReadableStream.of_bytes(self._data)

    def __bytes__(self) -> builtins.bytes:
        return self._data


class File(Blob):
    """A Blob with a name and a time (`lastModified`, ms since the epoch)."""

    __slots__ = ("lastModified", "name")

    def __init__(self, parts: Any, name: Any, init: Any = None, **options: Any) -> None:
        super().__init__(parts, init, **options)
        self.name = idl.string(name)
        modified = idl.member(init, options, "lastModified")
        self.lastModified: int | float = _now_ms() if modified is None else idl.number(modified)
        if math.isnan(self.lastModified):
            self.lastModified = 0

    @classmethod
    def named(cls, data: builtins.bytes, name: str, content_type: str) -> File:
        file = File.__new__(File)
        file._data, file.name, file.type, file.lastModified = data, name, content_type, _now_ms()
        return file


def _now_ms() -> int:
    return int(current().services.clock.now_ms())


def _joined(parts: Any, interface: str) -> bytes:
    if parts is None:
        return b""
    if isinstance(parts, str) or not hasattr(parts, "__iter__"):
        raise idl.not_of_type("constructor", interface, 1, "Array")
    return b"".join(_part(part) for part in parts)


def _part(part: Any) -> bytes:
    if isinstance(part, Blob):
        return part._data
    data = idl.buffer(part)
    return idl.utf8(idl.string(part)) if data is None else data


def _normalized(content_type: Any) -> str:
    """Lower case; a type with anything but printable ASCII is none."""
    text = idl.optional_string(content_type)
    return text.lower() if text.isascii() and all(character >= " " for character in text) else ""
