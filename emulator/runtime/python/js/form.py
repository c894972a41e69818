"""FormData, and its two forms as a body: multipart/form-data and application/x-www-form-urlencoded.

Source: https://xhr.spec.whatwg.org/#interface-formdata, and for the parser and its complaints workerd
src/workerd/api/form-data.c++.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from ada_url import URLSearchParams as AdaParams

from flarebed.emulator.runtime.python.js import mime
from flarebed.emulator.runtime.python.js.blob import Blob, File
from flarebed.emulator.runtime.python.js.idl import Keyed, string, utf8
from flarebed.emulator.runtime.python.js.iterators import EntryIterator, KeyIterator, ValueIterator
from flarebed.emulator.runtime.python.proxy import from_python, jsnull, throw, to_python

_UTF8 = ("utf-8", "utf8", "unicode-1-1-utf-8")
_END_OF_HEADERS = re.compile(rb"\r?\n\r?\n")
_DISPOSITION = re.compile(r"\s*([\w-]+)\s*((?:;\s*[\w-]+\s*=\s*\"(?:[^\"\n\\]|\\[^\n])+\"\s*)*)", re.ASCII)
_PARAMETER = re.compile(r";\s*([\w-]+)\s*=\s*\"((?:[^\"\n\\]|\\[^\n])+)\"", re.ASCII)


class FormData(Keyed):
    """Names with values, in order; a value is a string or a File."""

    __slots__ = ("__weakref__", "_entries")

    def __init__(self, _form: Any = None) -> None:
        self._entries: list[tuple[str, Any]] = []

    def append(self, name: Any, value: Any, filename: Any = None) -> None:
        key = string(name)
        self._entries.append((key, _entry_value(key, value, filename)))

    def set(self, name: Any, value: Any, filename: Any = None) -> None:
        key = string(name)
        made = (key, _entry_value(key, value, filename))
        if not self.has(key):
            self._entries.append(made)
            return
        first = next(index for index, entry in enumerate(self._entries) if entry[0] == key)
        rest = [entry for entry in self._entries[first + 1 :] if entry[0] != key]
        self._entries[first:] = [made, *rest]

    def delete(self, name: Any) -> None:
        key = string(name)
        self._entries = [entry for entry in self._entries if entry[0] != key]

    def get(self, name: Any) -> Any:
        key = string(name)
        return next((value for known, value in self._entries if known == key), jsnull)

    def getAll(self, name: Any) -> Any:
        key = string(name)
        return to_python([value for known, value in self._entries if known == key])

    def has(self, name: Any) -> bool:
        key = string(name)
        return any(known == key for known, _ in self._entries)

    def entries(self) -> EntryIterator:
        return EntryIterator(to_python([name, from_python(value)]) for name, value in self._entries)

    def keys(self) -> KeyIterator:
        return KeyIterator(name for name, _ in self._entries)

    def values(self) -> ValueIterator:
        return ValueIterator(value for _, value in self._entries)

    def forEach(self, callback: Callable[..., Any], this: Any = None) -> None:
        for name, value in self._entries:
            callback(value, name, self)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.entries())

    def encode(self, boundary: str) -> bytes:
        """The multipart/form-data body."""
        parts = []
        for name, value in self._entries:
            head = f'--{boundary}\r\nContent-Disposition: form-data; name="{_escaped(name)}"'
            if isinstance(value, File):
                kind = value.type or "application/octet-stream"
                head += f'; filename="{_escaped(value.name)}"\r\nContent-Type: {kind}'
            parts += [utf8(head), b"\r\n\r\n", bytes(value) if isinstance(value, Blob) else utf8(value), b"\r\n"]
        return b"".join([*parts, f"--{boundary}--".encode()])


def _entry_value(name: str, value: Any, filename: Any) -> Any:
    if not isinstance(value, Blob):
        return string(value)
    if isinstance(value, File) and filename is None:
        return value
    return File.named(bytes(value), name if filename is None else string(filename), value.type)


def _escaped(text: str) -> str:
    if text.endswith("\\"):
        raise throw("Name or filename can't end with backslash", "TypeError")
    return text.replace("\\", "\\\\").replace('"', "%22").replace("\n", "%0A")


def decode(body: bytes, content_type: str) -> FormData:
    """The FormData in a body; TypeError for any that is none."""
    form = FormData()
    kind = mime.parse(content_type)
    if kind is not None and kind.essence == "multipart/form-data":
        boundary = kind.parameters.get("boundary")
        if boundary is None:
            raise _bad(
                "No boundary string in Content-Type header. The multipart/form-data MIME type requires a boundary "
                "parameter, e.g. 'Content-Type: multipart/form-data; boundary=\"abcd\"'. See RFC 7578, section 4."
            )
        form._entries = list(_parts(body, utf8(boundary)))
    elif kind is not None and kind.essence == "application/x-www-form-urlencoded":
        if kind.parameters.get("charset", "utf-8").lower() not in _UTF8:
            raise _bad("Non-utf-8 application/x-www-form-urlencoded body.")
        form._entries = list(AdaParams(body.decode(errors="replace")).items())
    else:
        raise _bad(
            "Unrecognized Content-Type header value. FormData can only parse the following MIME types: "
            "multipart/form-data, application/x-www-form-urlencoded"
        )
    return form


def _parts(body: bytes, boundary: bytes) -> Iterator[tuple[str, Any]]:
    _, found, rest = body.partition(b"--" + boundary)
    if not found or not rest:
        raise _bad("No initial boundary string (or you have a truncated message).")
    while not rest.startswith(b"--"):
        if not rest.startswith((b"\n", b"\r\n")):
            raise _bad("Boundary string was not succeeded by CRLF, LF, or '--'.")
        rest = rest[1 if rest[:1] == b"\n" else 2 :]
        end = _END_OF_HEADERS.search(rest)
        if end is None:
            raise _bad("No multipart message header termination found.")
        headers = _part_headers(rest[: end.start()].decode(errors="replace"))
        message, found, rest = rest[end.end() :].partition(b"\n--" + boundary)
        if not found or not rest:
            raise _bad("No subsequent boundary string after multipart message.")
        yield _part(headers, message.removesuffix(b"\r"))


def _part_headers(text: str) -> dict[str, str]:
    headers = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if not colon:
            raise _bad("FormData part had invalid headers.")
        headers[name.strip().lower()] = value.strip()
    return headers


def _part(headers: dict[str, str], data: bytes) -> tuple[str, Any]:
    if "content-disposition" not in headers:
        raise _bad("No valid Content-Disposition header found in FormData part.")
    disposition = _DISPOSITION.match(headers["content-disposition"])
    if disposition is None:
        raise _bad("Invalid Content-Disposition header found in FormData part.")
    if disposition[1] != "form-data":
        raise _bad(
            'Content-Disposition header for FormData part must have the value "form-data", possibly followed by '
            f'parameters. Got: "{disposition[1]}"'
        )
    parameters = {name: re.sub(r"\\(.)", r"\1", value) for name, value in _PARAMETER.findall(disposition[2])}
    if "name" not in parameters:
        raise _bad("Content-Disposition header in FormData part is missing a name.")
    if "filename" in parameters:
        return parameters["name"], File.named(data, parameters["filename"], headers.get("content-type", ""))
    return parameters["name"], data.decode(errors="replace")


def _bad(text: str) -> Exception:
    return throw(text, "TypeError")
