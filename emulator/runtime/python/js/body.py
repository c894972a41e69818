"""What Request and Response share: a body that can be read once, as text, JSON, bytes, a Blob or a form.

A body of known bytes stays bytes until somebody asks for the stream. Source: https://fetch.spec.whatwg.org/#body-mixin
and workerd src/workerd/api/http.c++.
"""

from __future__ import annotations

import builtins
import secrets
from collections.abc import Callable
from typing import Any

from flarebed.bindings import ecma
from flarebed.bindings.errors import JsError, type_error
from flarebed.bindings.values import ArrayBuffer, View
from flarebed.emulator.runtime.python.context import CURRENT, current
from flarebed.emulator.runtime.python.js import form, idl, mime
from flarebed.emulator.runtime.python.js.blob import Blob
from flarebed.emulator.runtime.python.js.headers import Headers
from flarebed.emulator.runtime.python.js.readable import ReadableStream
from flarebed.emulator.runtime.python.js.readers import LOCKED
from flarebed.emulator.runtime.python.js.url import URLSearchParams
from flarebed.emulator.runtime.python.promise import Promise, io_context, promise_of
from flarebed.emulator.runtime.python.proxy import JsProxy, from_js_error, jsnull, throw, to_python

USED = "Body has already been used. It can only be used once. Use tee() first if you need to read it twice."
DISTURBED = "This ReadableStream is disturbed (has already been read from), and cannot be used as a body."
TEXT = "text/plain;charset=UTF-8"
FORM = "application/x-www-form-urlencoded;charset=UTF-8"
CUSTOM_TYPE = (
    "A FormData body was provided with a custom Content-Type header when constructing a Request or Response object. "
    "This will prevent the recipient of the Request or Response from being able to parse the body. Consider omitting "
    "the custom Content-Type header."
)
NOT_TEXT = (
    'Called .text() on an HTTP body which does not appear to be text. The body\'s Content-Type is "{}". The result '
    "will probably be corrupted. Consider checking the Content-Type header before interpreting entities as text."
)
Source = bytes | ReadableStream | None


def extract(body: Any) -> tuple[Source, str]:
    """The bytes or stream that `body` stands for, and the content type that it brings."""
    if type(body) is str:
        return idl.utf8(body), TEXT
    if isinstance(body, JsProxy):
        data = idl.buffer(body)
        if data is not None:
            return data, ""
        if isinstance(body, ReadableStream):
            if body._disturbed:
                raise throw(DISTURBED, "TypeError")
            return body, ""
        if isinstance(body, Blob):
            return bytes(body), body.type
        if isinstance(body, form.FormData):
            boundary = secrets.token_hex(16)
            return body.encode(boundary), f"multipart/form-data; boundary={boundary}"
        if isinstance(body, URLSearchParams):
            return idl.utf8(body.toString()), FORM
    elif hasattr(body, "__aiter__"):
        return ReadableStream.of_iterable(body), ""
    return idl.utf8(idl.string(body)), TEXT


class Body(JsProxy):
    """`_source` is the body, `_used` that its bytes were read; `_type` is the Content-Type while there are no headers.

    `_raw` are the headers of a message that came in, until somebody looks at them. Most requests and responses differ
    from the defaults in little, hence no slots.
    """

    _headers: Headers | None = None
    _raw: list[tuple[str, str]] | None = None
    _source: Source = None
    _type = ""
    _used = False

    def _take_body(self, body: Any) -> None:
        """Make `body` the body; without a request to do it for there is no I/O."""
        io = io_context()
        self._source, content_type = extract(body)
        if not content_type:
            return
        if self._headers is None:
            self._type = content_type
        elif not self._headers.has("content-type"):
            self._headers.set("content-type", content_type)
        elif isinstance(body, form.FormData):
            io.services.log("warn", CUSTOM_TYPE)

    def _crossing_body(self) -> Any:
        """The body as a value for another Worker, which has it from now on."""
        if self.bodyUsed:
            raise type_error(USED)
        source, self._used = self._source, self._source is not None
        return View(ArrayBuffer(source)) if isinstance(source, bytes) else source and source.js_value()

    @property
    def headers(self) -> Headers:
        if self._headers is None:
            if self._raw is not None:
                self._headers = Headers.of_raw(self._raw)
            else:
                self._headers = Headers()
                if self._type:
                    self._headers.set("content-type", self._type)
        return self._headers

    @property
    def body(self) -> Any:
        if self._source is None:
            return jsnull
        if type(self._source) is bytes:
            used, self._source = self._used, ReadableStream.of_bytes(self._source)
            if used:
                self._source._disturbed = True
                self._source.end()
        return self._source

    @property
    def bodyUsed(self) -> bool:
        source = self._source
        return source._disturbed if isinstance(source, ReadableStream) else self._used

    # Reading.

    def text(self) -> Promise:
        content_type = self._content_type()
        if content_type and self._source is not None and not self.bodyUsed:
            kind = mime.parse(content_type)
            if kind is None or not kind.is_text:
                current().services.log("warn", NOT_TEXT.format(content_type))
        return self._read(_text)

    def json(self) -> Promise:
        return self._read(_json)

    def arrayBuffer(self) -> Promise:
        return self._read(ArrayBuffer)

    def bytes(self) -> Promise:
        return self._read(lambda data: View(ArrayBuffer(data)))

    def blob(self) -> Promise:
        kind = mime.parse(self._content_type())
        return self._read(lambda data: Blob.of(data, "" if kind is None else str(kind)))

    def formData(self) -> Promise:
        if self.bodyUsed:
            return Promise.rejected(throw(USED, "TypeError"))
        content_type = self._content_type()
        if not content_type:
            text = "Parsing a Body as FormData requires a Content-Type header."
            return Promise.rejected(throw(text, "TypeError"))
        return self._read(lambda data: form.decode(data, content_type))

    def _content_type(self) -> str:
        if self._headers is None and self._raw is None:
            return self._type
        value = self.headers.get("content-type")
        return value if isinstance(value, str) else ""

    def _read(self, convert: Callable[[builtins.bytes], Any]) -> Promise:
        source = self._source
        if source is None:
            return _converted(convert, b"")
        if type(source) is bytes:
            if self._used:
                return Promise.rejected(throw(USED, "TypeError"))
            self._used = True
            return _converted(convert, source)
        assert isinstance(source, ReadableStream)
        if source._disturbed or source.locked:
            return Promise.rejected(throw(USED if source._disturbed else LOCKED, "TypeError"))
        try:
            return _then(read_all(source), convert)
        except Exception as error:
            return Promise.rejected(error)

    def _branch(self) -> Source:
        """Another body with the same bytes, for a clone."""
        if self.bodyUsed or (isinstance(self._source, ReadableStream) and self._source.locked):
            raise throw("This ReadableStream is currently locked to a reader,", "TypeError")  # so it ends in workerd
        if not isinstance(self._source, ReadableStream):
            return self._source
        self._source, branch = self._source.branches()
        return branch


def read_all(stream: ReadableStream) -> Promise:
    """A promise of the ArrayBuffer of all that an untouched stream gives."""
    if stream._host is not None:
        stream._disturbed = True
        return stream._host.read_all()
    return promise_of(_collect(stream))


async def _collect(stream: ReadableStream) -> Any:
    parts: list[bytes] = []
    reader = stream.getReader()
    while True:
        result = reader.read()
        await result
        if result.value["done"]:
            return to_python(ArrayBuffer(b"".join(parts)))
        value = result.value["value"]
        if not isinstance(value, View | ArrayBuffer):
            raise throw("This ReadableStream did not return bytes.", "TypeError")
        parts.append(idl.value_bytes(value))


def _then(promise: Promise, convert: Callable[[bytes], Any]) -> Promise:
    """The promise of what `convert` makes of the bytes."""
    converted = Promise()

    def settle() -> None:
        if promise.state == "rejected":
            converted.reject(promise.value)
            return
        made = _converted(convert, idl.value_bytes(promise.value))
        converted._settle(made.state, made.value)

    promise.when_settled(settle)
    return converted


def _converted(convert: Callable[[bytes], Any], data: bytes) -> Promise:
    try:
        return Promise.fulfilled(convert(data))
    except JsError as error:
        return Promise.rejected(from_js_error(error))
    except Exception as error:
        return Promise.rejected(error)


def _text(data: bytes) -> str:
    text = data.decode(errors="replace")
    if text[:1] == "\ufeff" and "strip_bom_in_read_all_text" in CURRENT.get().services.flags:
        return text[1:]
    return text


def _json(data: bytes) -> Any:
    return ecma.json_parse(_text(data))
