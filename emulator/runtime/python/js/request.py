"""Request: what came in, or what Worker code makes for `fetch`.

Source: https://developers.cloudflare.com/workers/runtime-apis/request/ and workerd src/workerd/api/http.c++.
"""

from __future__ import annotations

from typing import Any

from flarebed.bindings.values import UNDEFINED
from flarebed.emulator.runtime.http import IncomingRequest
from flarebed.emulator.runtime.python.js import idl
from flarebed.emulator.runtime.python.js.abort import AbortSignal
from flarebed.emulator.runtime.python.js.body import Body
from flarebed.emulator.runtime.python.js.headers import Headers
from flarebed.emulator.runtime.python.js.readable import ReadableStream
from flarebed.emulator.runtime.python.js.url import parse
from flarebed.emulator.runtime.python.proxy import from_python, jsnull, throw, to_python
from flarebed.emulator.runtime.web_values import WebRequest

METHODS = frozenset(
    (
        "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "PURGE", "OPTIONS", "TRACE", "COPY", "LOCK",
        "MKCOL", "MOVE", "PROPFIND", "PROPPATCH", "SEARCH", "UNLOCK", "ACL", "REPORT", "MKACTIVITY", "CHECKOUT",
        "MERGE", "MSEARCH", "NOTIFY", "SUBSCRIBE", "UNSUBSCRIBE", "QUERY", "BAN",
    )
)  # fmt: skip
"""What KJ's HTTP library knows."""
NO_BODY = "Request with a GET or HEAD method cannot have a body."


class Request(Body):
    """A request. Its `cf` is a value; undefined where there is none."""

    method = "GET"
    url = ""
    redirect = "follow"
    _cf: Any = UNDEFINED
    _cache: str | None = None
    _fetcher: Any = jsnull
    _signal: AbortSignal | None = None
    _own_signal: AbortSignal | None = None

    def __init__(self, input: Any, init: Any = None, **options: Any) -> None:
        if isinstance(input, Request):
            self._take_over(input, steal_body=idl.is_nothing(idl.member(init, options, "body")))
        else:
            text = idl.string(input)
            url = parse(text)
            if url is None:
                raise throw(f"Invalid URL: {text}", "TypeError")
            self.url = str(url.href)
        if isinstance(init, Request):
            self._take_over(init, steal_body=False, keep_url=True)
            self._source, self._used = init._source, init._used
        elif options or init is not None:
            self._initialize(init, options)

    @classmethod
    def incoming(cls, incoming: IncomingRequest) -> Request:
        """The request that the server received; its headers can't be changed."""
        request = cls.__new__(cls)
        request.method = incoming.method
        request.url = incoming.url
        request._raw = incoming.headers
        request._cf = incoming.cf
        if incoming.body is not None:
            request._source = ReadableStream.of_host(incoming.body)
        return request

    def _take_over(self, other: Request, *, steal_body: bool, keep_url: bool = False) -> None:
        if not keep_url:
            self.url = other.url
        self.method, self.redirect, self._cf = other.method, other.redirect, other._cf
        self._cache, self._fetcher, self._signal = other._cache, other._fetcher, other._signal
        self._headers = Headers(other.headers)
        if steal_body:
            if other.bodyUsed:
                raise throw("Cannot reconstruct a Request with a used body.", "TypeError")
            self._source, self._type = other._source, other._type
            other._give_away()

    def _give_away(self) -> None:
        """Another request has the body now."""
        source = self._source
        if isinstance(source, ReadableStream):
            self._source = ReadableStream.bare()
            self._source._disturbed = True
        self._used = source is not None

    def _initialize(self, init: Any, options: dict[str, Any]) -> None:
        idl.check_options(init, "Request", 2, "RequestInitializerDict or Request")
        method = idl.member(init, options, "method")
        if method is not None:
            self.method = idl.string(method).upper()
            if self.method not in METHODS:
                raise throw(f"Invalid HTTP method string: {idl.string(method)}", "TypeError")
        headers = idl.member(init, options, "headers")
        if headers is not None:
            self._headers = Headers(headers)
        self._take_options(init, options)
        body = idl.member(init, options, "body")
        without = self.method in ("GET", "HEAD")
        if not idl.is_nothing(body):
            self._take_body(body)
            if without:
                raise throw(NO_BODY, "TypeError")
        if without and method is not None and self._source is not None:
            raise throw(NO_BODY, "TypeError")

    def _take_options(self, init: Any, options: dict[str, Any]) -> None:
        if idl.optional_string(idl.member(init, options, "integrity")):
            raise throw(
                "Subrequest integrity checking is not implemented. The integrity option must be either undefined or "
                "an empty string.",
                "TypeError",
            )
        signal = idl.member(init, options, "signal")
        if signal is not None:
            self._signal = None if signal is jsnull else signal
        cf = idl.member(init, options, "cf")
        if cf is not None:
            self._cf = from_python(cf)
        redirect = idl.member(init, options, "redirect")
        if redirect is not None:
            self.redirect = idl.string(redirect)
            if self.redirect not in ("follow", "manual"):
                raise throw(
                    'Invalid redirect value, must be one of "follow" or "manual" ("error" won\'t be implemented since '
                    'it does not make sense at the edge; use "manual" and check the response status code).',
                    "TypeError",
                )
        cache = idl.member(init, options, "cache")
        if cache is not None:
            self._cache = idl.string(cache)
            if self._cache not in ("no-store", "no-cache", "reload"):
                raise throw(f"Unsupported cache mode: {self._cache}", "TypeError")
        fetcher = idl.member(init, options, "fetcher")
        if fetcher is not None:
            self._fetcher = fetcher

    @property
    def cf(self) -> Any:
        return to_python(self._cf)

    @property
    def cache(self) -> str | None:
        return self._cache

    @property
    def fetcher(self) -> Any:
        return self._fetcher

    @property
    def integrity(self) -> str:
        return ""

    @property
    def keepalive(self) -> bool:
        return False

    @property
    def signal(self) -> AbortSignal:
        if self._signal is not None:
            return self._signal
        if self._own_signal is None:
            self._own_signal = AbortSignal()
        return self._own_signal

    def to_rpc(self) -> WebRequest:
        """What another Worker gets of it."""
        return WebRequest(self.method, self.url, self.headers.raw(), self._crossing_body(), self._cf)

    def clone(self) -> Request:
        made = Request.__new__(Request)
        source = self._branch()
        made._take_over(self, steal_body=False)
        made._source, made._type = source, self._type
        made.headers._immutable = self.headers._immutable
        return made
