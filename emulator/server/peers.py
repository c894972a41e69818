"""Answers other Workers that call a Python Worker: at its socket in the registry, as `runtime/peers.py` asks.

(A Worker in JavaScript is called at a socket of workerd's, by `js/peers.js`.)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from flarebed.bindings.clock import Clock
from flarebed.bindings.errors import JsError
from flarebed.emulator.runtime import whole
from flarebed.emulator.runtime.http import IncomingRequest, OutgoingResponse, WorkerError
from flarebed.emulator.runtime.peers import CF, TARGET, Callee, Given, called, thrown_header, watched
from flarebed.emulator.runtime.registry import Registry
from flarebed.emulator.runtime.request_body import chunks_of
from flarebed.emulator.server import websocket
from flarebed.emulator.server.http import HttpServer
from flarebed.emulator.server.protocol import OpenGate
from flarebed.emulator.server.request import Receive, Scope, Send
from flarebed.emulator.server.response import send_response


class CalledWorker(Callee, Protocol):
    async def fetch(self, incoming: IncomingRequest) -> OutgoingResponse: ...


class PeerServer:
    """Takes calls for `worker` under its `name`, once it listens."""

    def __init__(self, name: str, worker: CalledWorker, registry: Registry, clock: Clock) -> None:
        self._name = name
        self._worker = worker
        self._registry = registry
        self._clock = clock
        self._server = HttpServer(self, clock.loop, OpenGate())
        self._socket: Path | None = None

    async def listen(self) -> None:
        self._socket = self._registry.draft(self._name)
        await self._server.listen_at(self._socket)
        self._registry.publish(self._name, self._socket)

    async def drained(self) -> None:
        """Take no more calls; returns when the last one is answered."""
        await self._server.stop()

    def close(self) -> None:
        if self._socket is not None:
            self._registry.withdraw(self._name, self._socket)
            self._socket.unlink(missing_ok=True)
        self._server.abort()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(name.decode("latin-1"), value.decode("utf-8", "replace")) for name, value in scope["headers"]]
        ours = dict(headers)
        given = Given.read(ours.get(TARGET, "{}"))
        if given.is_conversation:
            lines = called(self._worker, given, chunks_of(receive), self._clock)
            await _respond(OutgoingResponse(200, body=lines), "POST", send)
            return
        kept = [pair for pair in headers if pair[0] not in (TARGET, CF)]
        has_body = scope["type"] == "http" and not {"content-length", "transfer-encoding"}.isdisjoint(ours)
        request = IncomingRequest(
            scope.get("method", "GET"),
            given.url,
            [pair for pair in kept if pair[0] != "transfer-encoding"],
            chunks_of(receive) if has_body else None,
            _cf(ours),
            given.target,
        )
        fetch = partial(self._fetch, given)
        if scope["type"] == "websocket":
            await websocket.serve(request, receive, send, fetch)
            return
        await _respond(await fetch(request), request.method, send)

    async def _fetch(self, given: Given, request: IncomingRequest) -> OutgoingResponse:
        try:
            with watched(given, self._clock):
                return await self._worker.fetch(request)
        except WorkerError as error:
            return OutgoingResponse(500, headers=[thrown_header(_thrown(error))])


async def _respond(response: OutgoingResponse, method: str, send: Send) -> None:
    cycle = whole.cycle_of(send)
    if cycle is not None:
        cycle.keep_alive = False  # the next call is for whoever has the socket then
    await send_response(response, method, send)


def _thrown(error: WorkerError) -> JsError:
    cause = error.__cause__
    if isinstance(cause, JsError):
        return cause
    name, _, message = error.text.rstrip("\n").partition(": ")
    return JsError(message, name)


def _cf(headers: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(headers.get(CF, "{}"))
    return found
