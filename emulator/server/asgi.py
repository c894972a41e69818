"""The ASGI application: a socket's request goes to the Worker, the Worker's answer goes back.

Raw ASGI, because every microsecond here is paid by every request; our own routes are in `control.py`.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable
from time import perf_counter

from flarebed.emulator.runtime.http import AnswerCut, IncomingRequest, OutgoingResponse, WorkerApp, WorkerError
from flarebed.emulator.server import control, websocket
from flarebed.emulator.server.errors_page import CONNECTION_LOST, error_response
from flarebed.emulator.server.log import Log
from flarebed.emulator.server.request import Receive, Scope, Send, incoming
from flarebed.emulator.server.response import send_response, text


class Application:
    """`host` is what request URLs name, if not what the client asked for. `on_exit(code)` is called when the Worker
    raised SystemExit, which in production ends its process.
    """

    def __init__(
        self,
        app: WorkerApp,
        log: Log,
        routes: control.Control,
        *,
        host: str | None = None,
        on_exit: Callable[[object], None] | None = None,
    ) -> None:
        self._app = app
        self._log = log
        self._routes = routes
        self._host = host
        self._on_exit = on_exit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        kind = scope["type"]
        if kind == "http":
            await self._http(scope, receive, send)
        elif kind == "websocket":
            await self._websocket(scope, receive, send)
        else:
            await _lifespan(receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = perf_counter()
        response = None
        if scope["raw_path"].startswith(control.PREFIX):
            response = await self._routes.answer(scope)
        if response is None:
            request = incoming(scope, receive, self._host)
            try:
                response = await self._app.fetch(request)
            except asyncio.CancelledError:
                return  # the client is gone
            except BaseException as error:
                response = self._failure(error, request)
        method = scope["method"]
        try:
            await send_response(response, method, send)
        except asyncio.CancelledError:
            return
        except Exception as error:
            if not isinstance(error, AnswerCut):
                self._log("error", f"Uncaught {_text_of(error)}")
            raise  # headers are out: the server cuts the connection
        duration_ms = (perf_counter() - started) * 1000
        self._log.request(method, _path(scope), response.status, response.status_text, duration_ms)

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = perf_counter()

        async def fetch(request: IncomingRequest) -> OutgoingResponse:
            try:
                response = await self._app.fetch(request)
            except asyncio.CancelledError:
                raise
            except BaseException as error:
                response = self._failure(error, request)
            duration_ms = (perf_counter() - started) * 1000
            self._log.request("GET", _path(scope), response.status, response.status_text, duration_ms)
            return response

        await websocket.serve(incoming(scope, receive, self._host), receive, send, fetch)

    def _failure(self, error: BaseException, request: IncomingRequest) -> OutgoingResponse:
        if isinstance(error, WorkerError):
            return error_response(error, request)
        if isinstance(error, SystemExit):
            if self._on_exit is not None:
                self._on_exit(error.code)
            return text(500, CONNECTION_LOST)
        if not isinstance(error, Exception):
            raise error
        self._log("error", "A defect of flarebed, please report it:\n" + "".join(traceback.format_exception(error)))
        return text(500, f"flarebed failed to run the Worker: {type(error).__name__}: {error}")


def _path(scope: Scope) -> str:
    """As sent: what is percent-encoded can't play with the terminal."""
    path: bytes = scope["raw_path"]
    return path.decode("latin-1")


def _text_of(error: Exception) -> str:
    return error.text if isinstance(error, WorkerError) else f"{type(error).__name__}: {error}"


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": message["type"] + ".complete"})
        if message["type"] == "lifespan.shutdown":
            return
