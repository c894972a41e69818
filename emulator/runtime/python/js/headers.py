"""Headers: names compared without case, kept as given; iteration sorted, values joined except those of Set-Cookie.

Source: https://developers.cloudflare.com/workers/runtime-apis/headers/ and workerd src/workerd/api/headers.c++.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

from flarebed.emulator.runtime.python.data import JsArray
from flarebed.emulator.runtime.python.js import idl
from flarebed.emulator.runtime.python.js.idl import Keyed, string
from flarebed.emulator.runtime.python.js.iterators import EntryIterator, KeyIterator, ValueIterator
from flarebed.emulator.runtime.python.proxy import jsnull, throw, to_python
from flarebed.emulator.runtime.web_values import WebHeaders

_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]*").fullmatch
_BAD_VALUE = re.compile(r"[\0\r\n]").search
_WHITESPACE = " \t\r\n"


class Headers(Keyed):
    """`_fields` maps a lower-case name to the name as it was given, followed by its values."""

    __slots__ = ("__weakref__", "_fields", "_immutable")

    def __init__(self, init: Any = None, **options: Any) -> None:
        self._fields: dict[str, list[str]] = {}
        self._immutable = False
        if init is None and not options:
            return
        if type(init) is Headers:
            self._fields = {key: field.copy() for key, field in init._fields.items()}
            return
        given = idl.pairs(init) if not options else options.items()
        if given is None:
            raise idl.not_of_type("constructor", "Headers", 1, "Headers or Sequence or object")
        try:
            for name, value in given:
                self.append(name, value)
        except idl.BadPair:
            raise throw(
                "To initialize a Headers object from a sequence, each inner sequence must have exactly two elements.",
                "TypeError",
            ) from None

    def to_rpc(self) -> WebHeaders:
        return WebHeaders(self.raw())

    @classmethod
    def of_raw(cls, raw: Iterable[tuple[str, str]], *, immutable: bool = True) -> Headers:
        """The headers of a message that came in; their names and values are what they are."""
        headers = cls()
        fields = headers._fields
        for name, value in raw:
            key = name.lower()
            field = fields.get(key)
            if field is None:
                fields[key] = [name, value]
            else:
                field.append(value)
        headers._immutable = immutable
        return headers

    def raw(self) -> list[tuple[str, str]]:
        """Every value with its name as given: what goes out."""
        return [(field[0], value) for field in self._fields.values() for value in field[1:]]

    def copy(self, *, immutable: bool = False) -> Headers:
        made = Headers(self)
        made._immutable = immutable
        return made

    def append(self, name: Any, value: Any) -> None:
        self._check_guard()
        name, key, text = _checked(name, value)
        self._fields.setdefault(key, [name]).append(text)

    def set(self, name: Any, value: Any) -> None:
        self._check_guard()
        name, key, text = _checked(name, value)
        field = self._fields.get(key)
        self._fields[key] = [name if field is None else field[0], text]

    def get(self, name: Any) -> Any:
        field = self._fields.get(_key(name))
        return jsnull if field is None else ", ".join(field[1:])

    def has(self, name: Any) -> bool:
        return _key(name) in self._fields

    def delete(self, name: Any) -> None:
        self._check_guard()
        self._fields.pop(_key(name), None)

    def getSetCookie(self) -> Any:
        return to_python(self._fields.get("set-cookie", [""])[1:])

    def getAll(self, name: Any) -> Any:
        """workerd's own; it knows no other name than this one."""
        if string(name).lower() != "set-cookie":
            raise throw('getAll() can only be used with the header name "Set-Cookie".', "TypeError")
        return self.getSetCookie()

    def displayed(self) -> list[tuple[str, str]]:
        """The pairs that iteration shows."""
        shown: list[tuple[str, str]] = []
        for key, field in sorted(self._fields.items()):
            if key == "set-cookie":
                shown.extend((key, value) for value in field[1:])
            else:
                shown.append((key, field[1] if len(field) == 2 else ", ".join(field[1:])))
        return shown

    def entries(self) -> EntryIterator:
        return EntryIterator([JsArray([name, value]) for name, value in self.displayed()])

    def keys(self) -> KeyIterator:
        return KeyIterator(name for name, _ in self.displayed())

    def values(self) -> ValueIterator:
        return ValueIterator(value for _, value in self.displayed())

    def forEach(self, callback: Callable[..., Any], this: Any = None) -> None:
        for name, value in self.displayed():
            callback(value, name, self)

    def __iter__(self) -> Iterator[Any]:
        return iter([JsArray([name, value]) for name, value in self.displayed()])

    def _check_guard(self) -> None:
        if self._immutable:
            raise throw("Can't modify immutable headers.", "TypeError")


def _key(name: Any) -> str:
    return _key_of(name if type(name) is str else string(name))


@lru_cache(256)
def _key_of(name: str) -> str:
    text = string(name)
    if not _NAME(text):
        raise throw("Invalid header name.", "TypeError")
    return text.lower()


def _checked(name: Any, value: Any) -> tuple[str, str, str]:
    """The name, its key, and the value without the white space around it."""
    text = name if type(name) is str else string(name)
    content = string(value).strip(_WHITESPACE)
    if _BAD_VALUE(content):
        raise throw("Invalid header value.", "TypeError")
    return text, _key(text), content
