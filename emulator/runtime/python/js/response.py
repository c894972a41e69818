"""Response: made by Worker code or by `fetch`, and handed to the server by `outgoing`.

Source: https://developers.cloudflare.com/workers/runtime-apis/response/ and workerd src/workerd/api/http.c++.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from flarebed.bindings import ecma
from flarebed.bindings.errors import JsError
from flarebed.emulator.runtime.http import OutgoingResponse
from flarebed.emulator.runtime.python.context import IoContext
from flarebed.emulator.runtime.python.js import gzip_body, idl
from flarebed.emulator.runtime.python.js.body import USED, Body, Source
from flarebed.emulator.runtime.python.js.headers import Headers
from flarebed.emulator.runtime.python.js.host_stream import WorkerChunks, host_iterator
from flarebed.emulator.runtime.python.js.readable import ReadableStream
from flarebed.emulator.runtime.python.js.url import parse
from flarebed.emulator.runtime.python.js.websocket import WebSocket
from flarebed.emulator.runtime.python.proxy import Constructor, from_js_error, from_python, jsnull, throw
from flarebed.emulator.runtime.web_values import WebResponse

NULL_BODY = (101, 204, 205, 304)
REDIRECTS = (301, 302, 303, 307, 308)


class Response(Body):
    """A response."""

    status = 200
    type = "default"
    redirected = False
    cf: Any = None
    webSocket: Any = jsnull
    _status_text = ""
    _url = ""
    _manual = False

    class Static(Constructor, js="Function"):
        __slots__ = ()

        def json(self, data: Any, init: Any = None, **options: Any) -> Response:
            try:
                text = ecma.json_stringify(from_python(data))
            except JsError as error:
                raise from_js_error(error) from None
            response = Response(None, init, **options)
            if not response.headers.has("content-type"):
                response.headers.set("content-type", "application/json")
            response._take_body(ecma.to_string(text))
            response._check_null_body()
            return response

        def redirect(self, url: Any, status: Any = 302) -> Response:
            code = idl.integer(status, 302)
            if code not in REDIRECTS:
                message = f"{code} is not a redirect status code. It must be one of: 301, 302, 303, 307, or 308."
                raise throw(message, "RangeError")
            parsed = parse(idl.string(url))
            if parsed is None:
                raise throw(f"Unable to parse URL: {idl.string(url)}", "TypeError")
            return Response.of(code, Headers.of_raw([("location", str(parsed.href))]))

        def error(self) -> Response:
            response = Response.of(0, Headers.of_raw(()))
            response.type = "error"
            return response

    def __init__(self, body: Any = None, init: Any = None, **options: Any) -> None:
        if options or init is not None:
            self._initialize(init, options)
        if body is not None and body is not jsnull:
            self._take_body(body)
            if self.status in NULL_BODY:
                self._check_null_body()

    @classmethod
    def of(
        cls, status: int, headers: Headers, source: Source = None, *, status_text: str = "", url: str = ""
    ) -> Response:
        """A response with these parts, unchecked."""
        response = cls()
        response.status, response._headers, response._source = status, headers, source
        response._status_text, response._url = status_text, url
        return response

    def _initialize(self, init: Any, options: dict[str, Any]) -> None:
        idl.check_options(init, "Response", 2, "InitializerDict or Response")
        status = idl.member(init, options, "status")
        if status is not None:
            self.status = status if type(status) is int else idl.integer(status)
        headers = idl.member(init, options, "headers")
        if headers is not None:
            self._headers = Headers(headers)
        text = idl.member(init, options, "statusText")
        if text is not None:
            self._status_text = idl.string(text)
        socket = idl.member(init, options, "webSocket")
        if not idl.is_nothing(socket):
            if not isinstance(socket, WebSocket):
                raise throw(
                    "Incorrect type for the 'webSocket' field on 'ResponseInit': the provided value is not of type "
                    "'WebSocket'.",
                    "TypeError",
                )
            self.webSocket = socket
        self.cf = idl.member(init, options, "cf")
        self._set_encoding(idl.member(init, options, "encodeBody"))
        self._check_status()

    def _set_encoding(self, encoding: Any) -> None:
        if encoding is None:
            return
        if idl.string(encoding) not in ("manual", "automatic"):
            raise throw(f"encodeBody: unexpected value: {idl.string(encoding)}", "TypeError")
        self._manual = idl.string(encoding) == "manual"

    def _check_status(self) -> None:
        if self.webSocket is not jsnull:
            if self.status != 101:
                raise throw("Responses with a WebSocket must have status code 101.", "RangeError")
        elif not 200 <= self.status <= 599:
            raise throw(
                "Responses may only be constructed with status codes in the range 200 to 599, inclusive.", "RangeError"
            )
        if any(character < " " for character in self._status_text):
            raise throw("Invalid statusText", "TypeError")

    def _check_null_body(self) -> None:
        if self.status not in NULL_BODY or self._source is None:
            return
        if self._source != b"":
            raise throw("Response with null body status (101, 204, 205, or 304) cannot have a body.", "TypeError")
        self._source = None

    @property
    def ok(self) -> bool:
        return 200 <= self.status <= 299

    @property
    def statusText(self) -> str:
        return self._status_text

    @property
    def url(self) -> str:
        return self._url

    @property
    def encodeBody(self) -> str:
        """Not visible in JavaScript, but `new Response(body, response)` takes it over."""
        return "manual" if self._manual else "automatic"

    def clone(self) -> Response:
        if self.webSocket is not jsnull:
            raise throw("Cannot clone a response to a WebSocket handshake.", "TypeError")
        source = self._branch()
        headers = self.headers.copy(immutable=self.headers._immutable)
        made = Response.of(self.status, headers, source, status_text=self._status_text, url=self._url)
        made.cf, made.redirected, made.type, made._manual = self.cf, self.redirected, self.type, self._manual
        return made

    def to_rpc(self) -> WebResponse:
        """What another Worker gets of it."""
        return WebResponse(self.status, self._status_text, self.headers.raw(), self._crossing_body())

    def outgoing(self, io: IoContext) -> OutgoingResponse:
        """What the server sends. The event is answered; its context lives on until a streamed body is sent."""
        if self.bodyUsed:
            raise throw(USED, "TypeError")
        if self.type == "error":
            text = "Return value from serve handler must not be an error response (like Response.error())"
            raise throw(text, "TypeError")
        source = self._source
        if self._headers is not None:
            headers = self._headers.raw()
        else:
            headers = [("content-type", self._type)] if self._type else []
        made = OutgoingResponse(self.status, self._status_text, headers)
        if source is not None:
            self._used = True
            made.body = source if type(source) is bytes else self._chunks(io, headers)
            if self._headers is not None:
                self._encode(made)
        if self.webSocket is not jsnull:
            made.websocket = self.webSocket.hand_over(io)
        io.answer()
        return made

    def _chunks(self, io: IoContext, headers: list[tuple[str, str]]) -> AsyncIterator[bytes]:
        stream = self._source
        assert isinstance(stream, ReadableStream)
        chunks = host_iterator(stream, io)
        if isinstance(chunks, WorkerChunks):
            io.wait_until(chunks.done)
        if stream._length is not None and not any(name.lower() == "content-length" for name, _ in headers):
            headers.append(("content-length", str(stream._length)))
        return chunks

    def _encode(self, made: OutgoingResponse) -> None:
        """A body with `content-encoding` is given plain, and encoded on its way out, unless it says "manual"."""
        encoding = self.headers.get("content-encoding")
        if encoding == "gzip" and not self._manual and made.body is not None:
            stream = self._source
            if isinstance(stream, ReadableStream) and stream._host is not None and stream._host.encoding == "gzip":
                made.body = stream._host.encoded()
            else:
                made.body = gzip_body.compress(made.body)
            made.headers = [pair for pair in made.headers if pair[0].lower() != "content-length"]
