"""TextEncoder, TextDecoder, atob and btoa.

Source: https://encoding.spec.whatwg.org and workerd src/workerd/api/encoding.c++ and global-scope.c++.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import re
from typing import Any

from flarebed.bindings.values import ArrayBuffer, View
from flarebed.emulator.runtime.python.js import idl
from flarebed.emulator.runtime.python.js.idl import string
from flarebed.emulator.runtime.python.proxy import JsProxy, throw, to_python

_LABELS = {
    "utf-8": ("utf-8", "utf-8"),
    "utf8": ("utf-8", "utf-8"),
    "unicode-1-1-utf-8": ("utf-8", "utf-8"),
    "utf-16le": ("utf-16le", "utf-16-le"),
    "utf-16": ("utf-16le", "utf-16-le"),
    "utf-16be": ("utf-16be", "utf-16-be"),
    **dict.fromkeys(("latin1", "iso-8859-1", "ascii", "us-ascii", "windows-1252"), ("windows-1252", "cp1252")),
    **dict.fromkeys(("shift_jis", "shift-jis", "sjis"), ("shift_jis", "cp932")),
    "euc-jp": ("euc-jp", "euc_jp"),
    "euc-kr": ("euc-kr", "cp949"),
    "gbk": ("gbk", "gbk"),
    "gb18030": ("gb18030", "gb18030"),
    "big5": ("big5", "big5hkscs"),
    "koi8-r": ("koi8-r", "koi8_r"),
    "windows-1251": ("windows-1251", "cp1251"),
}
"""Label -> the encoding's name and Python's codec; the ones that are met in practice."""
_BOM = "\ufeff"


class TextEncoder(JsProxy):
    """Strings to UTF-8."""

    __slots__ = ()
    encoding = "utf-8"

    def encode(self, text: Any = "") -> Any:
        return to_python(View(ArrayBuffer(bytearray(idl.utf8(string(text))))))

    def encodeInto(self, text: Any, target: Any) -> Any:
        """Fill a Uint8Array with as many whole characters as fit; `read` counts UTF-16 units."""
        view = target.js_value()
        read = written = 0
        memory = memoryview(view.buffer.data)[view.byte_offset : view.byte_offset + view.byte_length]
        for character in string(text):
            encoded = character.encode()
            if written + len(encoded) > view.byte_length:
                break
            memory[written : written + len(encoded)] = encoded
            written += len(encoded)
            read += 2 if ord(character) > 0xFFFF else 1
        return to_python({"read": read, "written": written})


class TextDecoder(JsProxy):
    """Bytes to strings; with `stream=True` a character may be split between calls."""

    __slots__ = ("_codec", "_decoder", "_seen_start", "encoding", "fatal", "ignoreBOM")

    def __init__(self, label: Any = "utf-8", init: Any = None, **options: Any) -> None:
        wanted = string(label).strip().lower()
        if wanted not in _LABELS:
            raise throw(f'"{wanted}" is not a valid encoding.', "RangeError")
        self.encoding, self._codec = _LABELS[wanted]
        self.fatal = idl.truthy(idl.member(init, options, "fatal"))
        self.ignoreBOM = idl.truthy(idl.member(init, options, "ignoreBOM"))
        self._decoder: codecs.IncrementalDecoder | None = None
        self._seen_start = False

    def decode(self, data: Any = None, init: Any = None, **options: Any) -> str:
        stream = idl.truthy(idl.member(init, options, "stream"))
        raw = b"" if data is None else idl.buffer(data)
        if raw is None:
            raise idl.not_of_type("decode", "TextDecoder", 1, "ArrayBuffer or ArrayBufferView")
        return self.decode_bytes(raw, final=not stream)

    def decode_bytes(self, data: bytes, *, final: bool) -> str:
        if self._decoder is None:
            self._decoder = codecs.getincrementaldecoder(self._codec)("strict" if self.fatal else "replace")
            self._seen_start = False
        try:
            text = self._decoder.decode(data, final)
        except UnicodeDecodeError:
            self._decoder = None
            raise throw("Failed to decode input.", "TypeError") from None
        if text and not self._seen_start:
            self._seen_start = True
            if not self.ignoreBOM and self.encoding.startswith("utf-"):
                text = text.removeprefix(_BOM)
        if final:
            self._decoder = None
        return text


def btoa(data: Any) -> str:
    text = string(data)
    try:
        return base64.b64encode(text.encode("latin-1")).decode()
    except UnicodeEncodeError:
        raise throw(
            "btoa() can only operate on characters in the Latin1 (ISO/IEC 8859-1) range.", "InvalidCharacterError"
        ) from None


def atob(data: Any) -> str:
    text = re.sub(r"[\t\n\f\r ]", "", string(data))
    if len(text) % 4 == 0:
        text = re.sub(r"={1,2}\Z", "", text)
    try:
        if len(text) % 4 == 1 or "=" in text:
            raise binascii.Error
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True).decode("latin-1")
    except (binascii.Error, ValueError):
        raise throw(
            "atob() called with invalid base64-encoded data. (Only whitespace, '+', '/', alphanumeric ASCII, and up "
            "to two terminal '=' signs when the input data length is divisible by 4 are allowed.)",
            "InvalidCharacterError",
        ) from None
