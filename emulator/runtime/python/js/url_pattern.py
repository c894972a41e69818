"""`js.URLPattern`, over the library that Deno's runtime uses.

Source: https://urlpattern.spec.whatwg.org/ and https://developers.cloudflare.com/workers/runtime-apis/web-standards/
"""

from __future__ import annotations

from typing import Any

import urlpattern

from flarebed.bindings.values import UNDEFINED
from flarebed.emulator.runtime.python.proxy import JsProxy, from_python, jsnull, throw, to_python

_PARTS = ("protocol", "username", "password", "hostname", "port", "pathname", "search", "hash")


class URLPattern(JsProxy):
    """A pattern of URLs: `test(input, baseURL?)` and `exec(input, baseURL?)`.

    The constructor takes a string or an object of parts, and a base URL for a string.
    """

    def __init__(self, pattern: Any = None, *rest: Any, **options: Any) -> None:
        given = [_plain(argument) for argument in rest]
        options |= given.pop() if given and isinstance(given[-1], dict) else {}
        if pattern is None:
            pattern, options = options, {}
        if options.get("ignoreCase"):  # the library heeds it in some patterns only: better to say so
            raise throw("flarebed's URLPattern does not know ignoreCase", "NotSupportedError")
        try:
            self._pattern: Any = urlpattern.URLPattern(_plain(pattern), *given)
        except (TypeError, ValueError) as error:
            raise throw(f"Invalid URL pattern: {error}", "TypeError") from None

    def test(self, address: Any = None, base: str | None = None, **parts: Any) -> bool:
        return self._match(address, base, parts) is not None

    def exec(self, address: Any = None, base: str | None = None, **parts: Any) -> Any:
        """The parts and their groups, or null."""
        found = self._match(address, base, parts)
        return jsnull if found is None else to_python(_absent_as_undefined(found))

    def __getattr__(self, name: str) -> Any:
        if name in _PARTS or name == "hasRegExpGroups":
            return getattr(self._pattern, name)
        raise AttributeError(name)

    def _match(self, address: Any, base: str | None, parts: dict[str, Any]) -> Any:
        given = parts if address is None else _plain(address)
        try:
            return self._pattern.exec(given) if base is None else self._pattern.exec(given, base)
        except (TypeError, ValueError):
            return None  # what is no URL matches nothing


def _plain(argument: Any) -> Any:
    """A string, or the object's parts as strings."""
    value = argument if isinstance(argument, dict) else from_python(argument)
    if isinstance(value, dict):
        return {name: part if isinstance(part, bool) else str(part) for name, part in value.items()}
    return str(value)


def _absent_as_undefined(found: Any) -> Any:
    if isinstance(found, dict):
        return {name: _absent_as_undefined(item) for name, item in found.items()}
    return UNDEFINED if found is None else found
