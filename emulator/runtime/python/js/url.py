"""URL and URLSearchParams, over the WHATWG parser that workerd uses too (ada).

Source: https://url.spec.whatwg.org and workerd src/workerd/api/url-standard.c++.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

from ada_url import URL as AdaUrl
from ada_url import URLSearchParams as AdaParams

from flarebed.emulator.runtime.python.js import idl
from flarebed.emulator.runtime.python.js.collections import MappingMethods
from flarebed.emulator.runtime.python.js.idl import Keyed, string
from flarebed.emulator.runtime.python.js.iterators import EntryIterator
from flarebed.emulator.runtime.python.proxy import Constructor, JsProxy, jsnull, throw, to_python


def parse(url: str, base: str | None = None) -> AdaUrl | None:
    """The parsed URL, or None for what is none."""
    try:
        return AdaUrl(url) if base is None else AdaUrl(url, base)
    except ValueError:
        return None


def _component(name: str) -> property:
    """An attribute of a URL that can be read and written; what makes no sense when written is ignored."""

    def read(url: URL) -> str:
        return str(getattr(url._url, name))

    def write(url: URL, value: Any) -> None:
        try:
            setattr(url._url, name, string(value))
        except ValueError:
            return
        url._reset_params()

    return property(read, write)


class URL(JsProxy):
    """A URL; its `searchParams` write through to it."""

    __slots__ = ("__weakref__", "_params", "_url")

    class Static(Constructor, js="Function"):
        __slots__ = ()

        def canParse(self, url: Any, base: Any = None) -> bool:
            return parse(string(url), None if base is None else string(base)) is not None

        def parse(self, url: Any, base: Any = None) -> Any:
            return URL(url, base) if self.canParse(url, base) else jsnull

        def createObjectURL(self, _object: Any) -> None:
            raise throw("URL.createObjectURL() is not implemented")

        def revokeObjectURL(self, _url: Any) -> None:
            raise throw("URL.revokeObjectURL() is not implemented")

    def __init__(self, url: Any, base: Any = None) -> None:
        parsed = parse(string(url), None if base is None else string(base))
        if parsed is None:
            raise throw("Invalid URL string.", "TypeError")
        self._url = parsed
        self._params: URLSearchParams | None = None

    protocol = _component("protocol")
    username = _component("username")
    password = _component("password")
    host = _component("host")
    hostname = _component("hostname")
    port = _component("port")
    pathname = _component("pathname")
    search = _component("search")
    hash = _component("hash")

    @property
    def href(self) -> str:
        return str(self._url.href)

    @href.setter
    def href(self, value: Any) -> None:
        parsed = parse(string(value))
        if parsed is None:
            raise throw(
                "Failed to set the 'href' property on 'URL': the provided value is not of type 'valid URL string'.",
                "TypeError",
            )
        self._url = parsed
        self._reset_params()

    @property
    def origin(self) -> str:
        return str(self._url.origin)

    @property
    def searchParams(self) -> URLSearchParams:
        if self._params is None:
            self._params = URLSearchParams(self.search)
            self._params._url = self
        return self._params

    def toString(self) -> str:
        return self.href

    toJSON = toString

    def __repr__(self) -> str:
        return self.href

    __str__ = __repr__

    def _reset_params(self) -> None:
        if self._params is not None:
            self._params._params = AdaParams(self.search.removeprefix("?"))


class URLSearchParams(MappingMethods, Keyed):
    """The parameters of a query; those of a URL write themselves back to it.

    Having a size they are a mapping for Pyodide: Python iterates over the keys, `items()` has a key's first value.
    """

    __slots__ = ("__weakref__", "_params", "_url")

    def __init__(self, init: Any = None, **options: Any) -> None:
        self._url: URL | None = None
        self._params = AdaParams("")
        entries = iter(options.items()) if options else idl.pairs(init)
        if entries is None:
            self._params = AdaParams("" if init is None else string(init).removeprefix("?"))
            return
        try:
            for name, value in entries:
                self._params.append(string(name), string(value))
        except idl.BadPair:
            raise throw("Invalid URL search params sequence.", "TypeError") from None

    @property
    def size(self) -> int:
        return int(self._params.size)

    def append(self, name: Any, value: Any) -> None:
        self._params.append(string(name), string(value))
        self._write_back()

    def set(self, name: Any, value: Any) -> None:
        self._params.set(string(name), string(value))
        self._write_back()

    def delete(self, name: Any, value: Any = None) -> None:
        self._params.delete(string(name), None if value is None else string(value))
        self._write_back()

    def get(self, name: Any, default: Any = None) -> Any:
        """null for a name that is not there, never `default` (as in Pyodide)."""
        found = self._params.get_all(string(name))
        return found[0] if found else jsnull

    def __len__(self) -> int:
        return self.size

    def getAll(self, name: Any) -> Any:
        return to_python(self._params.get_all(string(name)))

    def has(self, name: Any, value: Any = None) -> bool:
        return bool(self._params.has(string(name), None if value is None else string(value)))

    def sort(self) -> None:
        self._params.sort()  # type: ignore[no-untyped-call]
        self._write_back()

    def entries(self) -> EntryIterator:
        return EntryIterator(to_python([name, value]) for name, value in list(self._params.items()))

    def forEach(self, callback: Callable[..., Any], this: Any = None) -> None:
        for name, value in list(self._params.items()):
            callback(value, name, self)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._params.keys()))

    def toString(self) -> str:
        return str(self._params)

    def __repr__(self) -> str:
        return self.toString()

    __str__ = __repr__

    def _write_back(self) -> None:
        if self._url is not None:
            self._url._url.search = self.toString()


MutableMapping.register(URLSearchParams)
