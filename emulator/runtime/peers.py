"""Calls from a Worker to another one, in whatever process and language: what its service bindings do.

Each Worker that runs has a socket in the registry. A request goes there as HTTP, a call of a method as a conversation
(`workerd/conversation.py`); a header says whom in the Worker it is for. `js/peers.js` is the same for workerd.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol

from flarebed.bindings.clock import Clock
from flarebed.bindings.errors import JsError
from flarebed.emulator.runtime.http import IncomingRequest, OutgoingResponse, Target
from flarebed.emulator.runtime.registry import Registry
from flarebed.emulator.runtime.workerd import wire
from flarebed.emulator.runtime.workerd.conversation import Conversation, answering, over
from flarebed.emulator.runtime.workerd.http_client import LOST, HttpClient

TARGET: Final = "flarebed-target"
"""The header with whom a request or a conversation is for."""
THROWN: Final = "flarebed-thrown"
"""The header of an answer that has, in place of all else, what the called Worker threw."""
CF: Final = "cf-blob"
"""The header by which workerd sends and takes `request.cf`."""


class Callee(Protocol):
    async def call(
        self, target: Target, path: Sequence[str], arguments: Sequence[Any], over: asyncio.Future[None]
    ) -> Any:
        """Raises JsError with what was thrown. The caller may use what it got until it is `over`."""
        ...


def not_found(service: str) -> str:
    """Miniflare's words (workers/core/dev-registry-proxy-shared.worker.ts)."""
    return f'Worker "{service}" not found. Make sure it is running locally.'


@dataclass
class _Line:
    """The connections to a process that runs a Worker; another process, another line."""

    generation: int
    client: HttpClient


class Peers:
    """The other Workers, by their names."""

    def __init__(self, registry: Registry, clock: Clock) -> None:
        self.registry = registry
        self._clock = clock
        self._lines: dict[str, _Line] = {}
        self._listening = asyncio.Event()
        self._listening.set()  # who does not listen is not there

    async def fetch(self, service: str, target: Target, request: IncomingRequest) -> OutgoingResponse:
        """Raises JsError with what the called Worker threw."""
        headers = [*request.headers, (TARGET, _header(target, url=request.url)), (CF, json.dumps(request.cf))]
        client = self._client(service)
        if client is None:
            return absent(service)
        try:
            answer = await client.send(request.method, request.url, headers, request.body)
        except ConnectionError as error:
            raise JsError(LOST) from error
        thrown = dict(answer.headers).get(THROWN)
        if thrown is not None:
            raise wire.thrown(wire.from_wire(json.loads(thrown), _no_function))
        return OutgoingResponse(answer.status, answer.reason, answer.headers, answer.body)

    async def call(self, service: str, target: Target, path: Sequence[str], arguments: Sequence[Any]) -> Call:
        """A call of the method at `path`, answered. Raises JsError with what it threw."""
        client = self._client(service)
        if client is None:
            raise JsError(not_found(service))
        headers = [("host", "rpc"), (TARGET, _header(target, rpc=True))]
        call = Call(Conversation(over(client, "http://rpc/", headers), self._clock.loop))
        await call.made(path, arguments)
        return call

    def socket(self, service: str) -> str | None:
        """Where to open a WebSocket; None if the Worker does not run."""
        return str(self.registry.socket(service)) if self.registry.is_running(service) else None

    def _client(self, service: str) -> HttpClient | None:
        """None if the Worker does not run."""
        generation = self.registry.generation(service)
        line = self._lines.get(service)
        if line is not None and line.generation == generation:
            return line.client
        if line is not None:
            del self._lines[service]
        if generation is None or not self.registry.is_running(service):
            return None
        client = HttpClient(str(self.registry.socket(service)), self._clock.loop, self._listening)
        self._lines[service] = _Line(generation, client)
        return client

    def close(self) -> None:
        for line in self._lines.values():
            line.client.close()
        self._lines.clear()


class Call:
    """One call and what comes of it: `value`, and the functions in it for as long as the call is not `ended`."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self.value: Any = None

    async def made(self, path: Sequence[str], arguments: Sequence[Any]) -> None:
        await self._conversation.__aenter__()
        try:
            self.value = await self._conversation.call(0, "call", list(path), list(arguments))
        except BaseException as error:
            await self._conversation.__aexit__(type(error), error, None)
            raise
        if not self.is_shared():
            await self.ended()

    def is_shared(self) -> bool:
        """Whether one side has a function of the other's."""
        return self._conversation.is_shared

    async def ended(self) -> None:
        await self._conversation.__aexit__(None, None, None)


def absent(service: str) -> OutgoingResponse:
    """What `fetch` gives if the Worker does not run."""
    return OutgoingResponse(503, "Service Unavailable", [], not_found(service).encode())


def upgrade_header(target: Target, url: str) -> tuple[str, str]:
    """What the request for a WebSocket needs in addition."""
    return TARGET, _header(target, url=url)


class _Called:
    """What a caller's conversation is about."""

    def __init__(
        self, worker: Callee, target: Target, watched: Callable[[], AbstractContextManager[None]],
        over: asyncio.Future[None],
    ) -> None:  # fmt: skip
        self.over = over
        self._worker = worker
        self._target = target
        self._watched = watched

    async def call(self, path: Sequence[str], arguments: Sequence[Any]) -> Any:
        with self._watched():
            return await self._worker.call(self._target, path, arguments, self.over)


async def called(worker: Callee, given: Given, chunks: AsyncIterator[bytes], clock: Clock) -> AsyncIterator[bytes]:
    """The other end of `Peers.call`: what a Worker answers."""
    root = _Called(worker, given.target, partial(watched, given, clock), clock.loop.create_future())
    try:
        async for line in answering(root, chunks, clock.loop):
            yield line
    finally:
        root.over.set_result(None)


def watched(given: Given, clock: Clock) -> AbstractContextManager[None]:
    """While a call is answered. A caller in this process waits for what this process does."""
    return clock.operation_inside() if given.process == os.getpid() else nullcontext()


@dataclass(frozen=True)
class Given:
    """What the header of a call says: whom it is for, whether it is a conversation, else the request's URL. `process`
    is the caller's.
    """

    target: Target
    url: str
    is_conversation: bool
    process: int

    @classmethod
    def read(cls, header: str) -> Given:
        given = json.loads(header)
        target = Target(given.get("entrypoint"), given.get("props"), given.get("object"))
        return cls(target, given.get("url", "http://localhost/"), "rpc" in given, given.get("from", 0))


def thrown_header(error: JsError) -> tuple[str, str]:
    return THROWN, json.dumps(wire.error_to_wire(error, _no_function))


def _header(target: Target, **rest: Any) -> str:
    return json.dumps(
        {
            "entrypoint": target.entrypoint,
            "props": target.props,
            "object": target.object_id,
            "from": os.getpid(),
            **rest,
        }
    )


def _no_function(_: Any) -> Any:
    raise JsError("An error that crosses Workers can't hold a function.", "DataCloneError")
