"""The package `pyodide.http`: `pyfetch`, the response it gives, and its errors.

Its classes call themselves by the modules that Pyodide has them in. Source: Pyodide's documentation of `pyodide.http`.
"""

from __future__ import annotations

import builtins
import functools
import json
import shutil
import tempfile
from asyncio import CancelledError
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import ModuleType
from typing import IO, Any, ParamSpec, TypeVar

from flarebed.emulator.runtime.python.js.abort import AbortController, any_of
from flarebed.emulator.runtime.python.js.fetch import fetch
from flarebed.emulator.runtime.python.js.request import Request
from flarebed.emulator.runtime.python.proxy import JsException, to_python
from flarebed.emulator.runtime.python.pyproxy import ToJs, dict_to_object

P = ParamSpec("P")
T = TypeVar("T")


class HttpStatusError(OSError):
    """A response with a status of 400 or more, raised by `raise_for_status`."""

    def __init__(self, status: int, status_text: str, url: str) -> None:
        self.status = status
        self.status_text = status_text
        self.url = url
        kind = {4: "Client Error", 5: "Server Error"}.get(status // 100, "Invalid error code not between 400 and 599")
        super().__init__(f"{status} {kind}: {status_text} for url: {url}")

    def __reduce__(self) -> Any:
        return type(self), (self.status, self.status_text, self.url), self.__dict__


class BodyUsedError(OSError):
    """The body of the response was read before."""

    def __init__(self, *_arguments: Any) -> None:
        super().__init__("Response body is already used")


class AbortError(OSError):
    """The request was aborted, or failed."""

    def __init__(self, reason: JsException) -> None:
        super().__init__(reason.message)


def _reason(text: Any) -> JsException | None:
    return None if text is None else JsException("AbortError", text)


def _abort_reason(cancelled: CancelledError) -> JsException | None:
    return _reason("\n".join(map(str, cancelled.args)) if cancelled.args else None)


def _aborting(method: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """A method whose JavaScript errors are AbortErrors, and whose cancellation aborts the request."""

    @functools.wraps(method)
    async def wrapper(*args: P.args, **kwargs: P.kwargs) -> T:
        response: Any = args[0]
        try:
            return await method(*args, **kwargs)
        except JsException as error:
            signal = response.abort_signal
            raise AbortError(signal.reason if signal and signal.aborted else error) from None
        except CancelledError as cancelled:
            if response.abort_controller:
                response.abort_controller.abort(_abort_reason(cancelled))
            raise

    return wrapper


class FetchResponse:
    """A Response of JavaScript, with Python results."""

    def __init__(self, request: Any, js_response: Any, abort_controller: Any = None, abort_signal: Any = None) -> None:
        """`request` is a Request or a URL; an empty URL is that of a response that was not fetched."""
        self.js_request = Request(request) if isinstance(request, str) and request else request or None
        self._url = request if self.js_request is None else self.js_request.url
        self.js_response = js_response
        self.abort_controller = abort_controller
        self.abort_signal = abort_signal

    @property
    def body_used(self) -> bool:
        return bool(self.js_response.bodyUsed)

    @property
    def headers(self) -> dict[str, str]:
        return dict(tuple(pair) for pair in self.js_response.headers)

    @property
    def ok(self) -> bool:
        return bool(self.js_response.ok)

    @property
    def redirected(self) -> bool:
        return bool(self.js_response.redirected)

    @property
    def status(self) -> int:
        return int(self.js_response.status)

    @property
    def status_text(self) -> str:
        return str(self.js_response.statusText)

    @property
    def type(self) -> str:
        return str(self.js_response.type)

    @property
    def url(self) -> str:
        """The URL after redirects."""
        return str(self.js_response.url)

    def _raise_if_failed(self) -> None:
        if self.abort_signal and self.abort_signal.aborted:
            raise AbortError(self.abort_signal.reason)
        if self.js_response.bodyUsed:
            raise BodyUsedError

    def raise_for_status(self) -> None:
        if 400 <= self.status < 600:
            raise HttpStatusError(self.status, self.status_text, self.url)

    def clone(self) -> FetchResponse:
        if self.js_response.bodyUsed:
            raise BodyUsedError
        return FetchResponse(
            self.js_request or self._url, self.js_response.clone(), self.abort_controller, self.abort_signal
        )

    @_aborting
    async def buffer(self) -> Any:
        """The body as an ArrayBuffer."""
        self._raise_if_failed()
        return await self.js_response.arrayBuffer()

    @_aborting
    async def text(self) -> str:
        self._raise_if_failed()
        text: str = await self.js_response.text()
        return text

    @_aborting
    async def string(self) -> str:
        """The older name of `text`."""
        return await self.text()

    @_aborting
    async def json(self, **kwargs: Any) -> Any:
        """The body through `json.loads`, which takes the keyword arguments."""
        self._raise_if_failed()
        return json.loads(await self.string(), **kwargs)

    @_aborting
    async def memoryview(self) -> builtins.memoryview:
        self._raise_if_failed()
        view: builtins.memoryview = (await self.buffer()).to_memoryview()
        return view

    @_aborting
    async def bytes(self) -> builtins.bytes:
        self._raise_if_failed()
        data: builtins.bytes = (await self.buffer()).to_bytes()
        return data

    @_aborting
    async def _into_file(self, file: IO[builtins.bytes]) -> None:
        (await self.buffer()).to_file(file)

    @_aborting
    async def _create_file(self, path: str) -> None:
        _write_new(path, await self.bytes())

    @_aborting
    async def unpack_archive(self, *, extract_dir: str | None = None, format: str | None = None) -> None:
        """Unpack the body, an archive that `shutil.unpack_archive` knows, into a folder."""
        name = self._url.rsplit("/", 1)[-1] or "archive"
        _unpack((await self.buffer()).to_bytes(), name, extract_dir, format)

    def abort(self, reason: Any = None) -> None:
        if self.abort_controller is None:
            raise ValueError("abort_controller is not set")
        self.abort_controller.abort(_reason(reason))


def _write_new(path: str, data: bytes) -> None:
    with open(path, "xb") as file:
        file.write(data)


def _unpack(data: bytes, name: str, extract_dir: str | None, format: str | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder, name)
        archive.write_bytes(data)
        shutil.unpack_archive(archive, extract_dir, format)


async def pyfetch(request: Any, /, *, signal: Any = None, fetcher: Any = None, **kwargs: Any) -> FetchResponse:
    """Fetch a URL or a Request. Keyword arguments are the options of `fetch`; `fetcher` may replace it."""
    controller = AbortController()
    signal = any_of([signal, controller.signal]) if signal else controller.signal
    options = to_python(ToJs(dict_to_object, None, True).convert({**kwargs, "signal": signal}, -1))
    if isinstance(request, str):
        request = Request(request, options)
    try:
        return FetchResponse(request, await (fetcher or fetch)(request, options), controller, signal)
    except CancelledError as cancelled:
        controller.abort(_abort_reason(cancelled))
        raise
    except JsException as error:
        raise AbortError(error) from None


def _no_xml_http_request(*_arguments: Any, **_options: Any) -> Any:
    """Workers have no XMLHttpRequest, on which Pyodide's synchronous functions are built."""
    raise NameError("name 'XMLHttpRequest' is not defined")


def modules() -> dict[str, ModuleType]:
    """The package and its modules, by name."""
    verbs = dict.fromkeys(("delete", "get", "head", "options", "patch", "post", "put"), _no_xml_http_request)
    pyxhr = _module("pyodide.http.pyxhr", verbs)
    errors = {each.__name__: each for each in (HttpStatusError, BodyUsedError, AbortError)}
    fetching = {"pyfetch": pyfetch, "FetchResponse": FetchResponse}
    package = _module("pyodide.http", {**errors, **fetching, "pyxhr": pyxhr, "open_url": _no_xml_http_request})
    package.__path__ = []
    exceptions = _module("pyodide.http._exceptions", errors)
    return {
        module.__name__: module for module in (package, exceptions, _module("pyodide.http._pyfetch", fetching), pyxhr)
    }


def _module(name: str, members: dict[str, Any]) -> ModuleType:
    module = ModuleType(name)
    module.__dict__.update(members)
    return module


for _class in (HttpStatusError, BodyUsedError, AbortError):
    _class.__module__ = "pyodide.http._exceptions"
for _name in (FetchResponse, pyfetch):
    _name.__module__ = "pyodide.http._pyfetch"
