"""Fetcher: a service binding in a Worker's hands. `fetch` sends a request; any other name is a method to call.

Source: workerd src/workerd/api/http.c++ and worker-rpc.c++ (JsRpcProperty, JsRpcStub).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from flarebed.bindings.errors import JsError
from flarebed.bindings.services import binding, objects
from flarebed.bindings.values import View
from flarebed.emulator.runtime.http import IncomingRequest, OutgoingResponse, Target
from flarebed.emulator.runtime.peers import Call, Peers, absent, upgrade_header
from flarebed.emulator.runtime.python.context import IoContext
from flarebed.emulator.runtime.python.crossing import Crossing
from flarebed.emulator.runtime.python.js.body import Source
from flarebed.emulator.runtime.python.js.fetch import upgrade
from flarebed.emulator.runtime.python.js.headers import Headers
from flarebed.emulator.runtime.python.js.host_stream import host_iterator
from flarebed.emulator.runtime.python.js.readable import ReadableStream
from flarebed.emulator.runtime.python.js.request import Request
from flarebed.emulator.runtime.python.js.response import NULL_BODY, Response
from flarebed.emulator.runtime.python.js.work import outside, when_dropped
from flarebed.emulator.runtime.python.promise import Promise, io_context
from flarebed.emulator.runtime.python.proxy import _WRAPPERS, JsProxy, from_js_error, from_python, to_python
from flarebed.emulator.runtime.stub import Stub
from flarebed.emulator.runtime.web_values import WebHeaders, WebRequest, WebResponse

Send = Callable[..., Promise]


class Fetcher(JsProxy, js="Fetcher", wraps=(binding.Fetcher,)):
    """The binding's proxy."""

    __slots__ = ("__weakref__", "_of", "_target")

    def __init__(self, of: Any) -> None:
        self._of = of
        self._target = self._target_of(of)

    @staticmethod
    def _target_of(of: binding.Fetcher) -> Target:
        return Target(of.entrypoint, of.props)

    def js_value(self) -> Any:
        return self._of

    def fetch(self, input: Any, init: Any = None, **options: Any) -> Promise:
        """A promise of the called Worker's Response."""
        io = io_context()
        try:
            request = Request(input, init, **options)
        except Exception as error:
            return Promise.rejected(error)
        if (request.headers.get("upgrade") or "").lower() == "websocket":
            return outside(_marked(_upgrade(_peers(io), self._of.service, self._target, request, io)))
        sent = _outgoing(request, self._target, io)
        return outside(_marked(_fetch(_peers(io), self._of.service, sent, io)))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return RpcProperty((name,), self._call)

    def _call(self, path: tuple[str, ...], arguments: list[Any]) -> Promise:
        io = io_context()
        return outside(_marked(_call(_peers(io), self._of.service, self._target, path, arguments, io)))


class DurableObject(Fetcher, js="DurableObject", wraps=(objects.DurableObject,)):
    """A stub of a Durable Object that another Worker hosts."""

    __slots__ = ()

    @staticmethod
    def _target_of(of: objects.DurableObject) -> Target:  # type: ignore[override]
        return Target(of.class_name, object_id=of.id.toString())

    @property
    def id(self) -> Any:
        return to_python(self._of.id)

    @property
    def name(self) -> str | None:
        return getattr(self._of.id, "name", None)


class RpcProperty(JsProxy, js="RpcProperty"):
    """What a Fetcher or a stub has under a name: to be called, or asked for more."""

    __slots__ = ("_path", "_send")

    def __init__(self, path: tuple[str, ...], send: Send) -> None:
        self._path = path
        self._send = send

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return RpcProperty((*self._path, name), self._send)

    def __call__(self, *arguments: Any, **options: Any) -> Promise:
        return _sent(self._send, self._path, arguments, options)


class RpcStub(JsProxy, js="RpcStub", wraps=(Stub,)):
    """A function of another Worker, or an object with methods."""

    __slots__ = ("__weakref__", "_of")

    def __init__(self, of: Stub) -> None:
        self._of = of

    def js_value(self) -> Stub:
        return self._of

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return RpcProperty((name,), self._call)

    def __call__(self, *arguments: Any, **options: Any) -> Promise:
        return _sent(self._call, (None,), arguments, options)

    def _call(self, path: tuple[str | None, ...], arguments: list[Any]) -> Promise:
        return outside(_marked(self._of.call(path[0], *arguments)))


def _sent(send: Send, path: tuple[str | None, ...], arguments: tuple[Any, ...], options: dict[str, Any]) -> Promise:
    try:
        values = _values(arguments, options)
    except JsError as error:
        return Promise.rejected(from_js_error(error))
    return send(path, values)


def _values(arguments: tuple[Any, ...], options: dict[str, Any]) -> list[Any]:
    """Keyword arguments are one trailing object, as in every call from Python."""
    values = [from_python(argument) for argument in arguments]
    if options:
        values.append({name: from_python(value) for name, value in options.items()})
    ready: list[Any] = Crossing().checked(values)
    return ready


def _peers(io: IoContext) -> Peers:
    assert io.services.peers is not None, "a Worker with service bindings is given the way to others"
    return io.services.peers


def _outgoing(request: Request, target: Target, io: IoContext) -> IncomingRequest:
    cf = request._cf if isinstance(request._cf, dict) else {}
    sent = IncomingRequest(request.method, request.url, request.headers.raw(), None, cf, target)
    source = request._source
    if source is not None:
        length = source._length if isinstance(source, ReadableStream) else len(source)
        sent.body = host_iterator(source, io) if isinstance(source, ReadableStream) else _whole(source)
        if length is not None and not request.headers.has("content-length"):
            sent.headers.append(("content-length", str(length)))
    return sent


async def _whole(data: bytes) -> Any:
    yield data


async def _marked(work: Awaitable[Any]) -> Any:
    """What is thrown elsewhere is told from what is thrown here by `remote` (workerd src/workerd/jsg/util.c++)."""
    try:
        return await work
    except JsError as error:
        error.properties["remote"] = True
        raise


async def _fetch(peers: Peers, service: str, request: IncomingRequest, io: IoContext) -> Response:
    return _response(await peers.fetch(service, request.target, request), request.method, request.url, io)


async def _upgrade(peers: Peers, service: str, target: Target, request: Request, io: IoContext) -> Response:
    socket = peers.socket(service)
    if socket is None:
        return _response(absent(service), request.method, request.url, io)
    return await upgrade(request, io, socket, [upgrade_header(target, request.url)])


def _response(outgoing: OutgoingResponse, method: str, url: str, io: IoContext) -> Response:
    """Another Worker's answer in this Worker's hands."""
    body: Source = None
    if outgoing.body is not None and method != "HEAD" and outgoing.status not in NULL_BODY:
        if isinstance(outgoing.body, bytes):
            body = outgoing.body
        else:
            body = ReadableStream.of_host(outgoing.body, io)
            assert body._host is not None
            when_dropped(io, body._host.dropped)
    headers = Headers.of_raw(outgoing.headers)
    return Response.of(outgoing.status, headers, body, status_text=outgoing.status_text, url=url)


async def _call(
    peers: Peers, service: str, target: Target, path: tuple[str, ...], arguments: list[Any], io: IoContext
) -> Any:
    call = await peers.call(service, target, path, arguments)
    if call.is_shared():
        when_dropped(io, lambda: io.services.clock.spawn(_end(call), "the end of a call"))
    return call.value


async def _end(call: Call) -> None:
    await call.ended()


def _headers_of(value: WebHeaders) -> Headers:
    return Headers.of_raw(value.headers, immutable=False)


def _response_of(value: WebResponse) -> Response:
    headers = Headers.of_raw(value.headers, immutable=False)
    return Response.of(value.status, headers, _source_of(value.body), status_text=value.status_text)


def _request_of(value: WebRequest) -> Request:
    request = Request(value.url, method=value.method)
    request._headers = Headers.of_raw(value.headers, immutable=False)
    request._cf, request._source = value.cf, _source_of(value.body)
    return request


def _source_of(body: Any) -> Source:
    """A body that came from another Worker: bytes, or a stream."""
    if body is None:
        return None
    source: ReadableStream | bytes = bytes(body) if isinstance(body, View) else to_python(body)
    return source


_WRAPPERS.update({WebHeaders: _headers_of, WebResponse: _response_of, WebRequest: _request_of})
