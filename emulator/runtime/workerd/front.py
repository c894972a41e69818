"""The way of a request to a Worker in workerd and of its answer back: `WorkerApp.fetch` for JavaScript.

The request reaches the Worker as the client sent it, URL and header lines included; workerd takes what becomes
`request.cf` from a header of its config's.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from itertools import chain
from operator import is_
from typing import Any, Final

from uvicorn.importer import import_from_string

from flarebed.bindings.clock import Clock
from flarebed.emulator.runtime.http import AnswerCut, IncomingRequest, OutgoingResponse, WorkerError
from flarebed.emulator.runtime.workerd import wire
from flarebed.emulator.runtime.workerd.http_client import Answer, HttpClient, LostConnection
from flarebed.emulator.runtime.workerd.http_connection import Headers
from flarebed.emulator.runtime.workerd.output import Failures

CF: Final = "flarebed-cf"
"""The header that has `request.cf`."""
ANSWERED: Final = "flarebed-answered"
"""workerd puts this header into a Worker's answers, and not into those it gives itself."""

_FRAMING: Final = frozenset(("transfer-encoding", "upgrade", "connection", "keep-alive", "proxy-connection", CF))
_HANDSHAKE: Final = frozenset(("sec-websocket-key", "sec-websocket-version", "sec-websocket-extensions"))
_DISCONNECTED: Final = "Error: Network connection lost."
"""workerd hangs up without a word when a handler fails for a connection that it had lost (listener's error handler)."""
_WEBSOCKETS: Final = "flarebed.emulator.runtime.workerd.websocket"
"""Loaded when first needed: it takes 100 ms."""


class Front:
    """`failures` knows what a Worker threw."""

    def __init__(self, client: HttpClient, failures: Failures, clock: Clock) -> None:
        self._client = client
        self._failures = failures
        self._clock = clock
        self._cf: Mapping[str, Any] = {}
        self._cf_text = "{}"

    async def fetch(self, incoming: IncomingRequest) -> OutgoingResponse:
        """Raises WorkerError for an exception that the Worker did not catch."""
        upgrades = ("upgrade", "websocket") in incoming.headers and incoming.method == "GET"
        headers = _outward(incoming, self._text_of(incoming.cf), upgrades=upgrades)
        body = None if upgrades else incoming.body
        with self._clock.operation_outside():
            try:
                answer = await self._client.send(incoming.method, incoming.url, headers, body)
            except LostConnection:
                raise WorkerError(_DISCONNECTED) from None
            kept = [pair for pair in answer.headers if pair[0] != ANSWERED]
            if len(kept) == len(answer.headers) and answer.status == 500:
                raise await self._failures.next()
        return self._outgoing(answer, kept)

    def _text_of(self, cf: Mapping[str, Any]) -> str:
        """The server's hardly differ from one request to the next, and writing one takes longer than reading a key."""
        known = self._cf
        if len(cf) != len(known) or not all(map(is_, chain(cf, cf.values()), chain(known, known.values()))):
            self._cf, self._cf_text = cf, wire.dumps(cf)
        return self._cf_text

    def _outgoing(self, answer: Answer, headers: list[tuple[str, str]]) -> OutgoingResponse:
        response = OutgoingResponse(answer.status, answer.reason, headers, answer.body)
        if answer.upgraded is not None:
            response.body = None
            response.websocket = import_from_string(f"{_WEBSOCKETS}:Peer")()
            answer.upgraded(response.websocket)  # type: ignore[arg-type]
        elif not isinstance(answer.body, bytes):
            response.body = _Stream(answer.body, self._failures)
        return response


class _Stream(AsyncIterator[bytes]):
    """The rest of an answer; one that ends too early has its reason in the log."""

    def __init__(self, chunks: AsyncIterator[bytes], failures: Failures) -> None:
        self._chunks = chunks
        self._failures = failures

    async def __anext__(self) -> bytes:
        try:
            return await anext(self._chunks)
        except LostConnection:
            await self._failures.next()
            raise AnswerCut from None

    async def aclose(self) -> None:
        close: Callable[[], object] | None = getattr(self._chunks, "aclose", None)
        assert close is not None
        await close()  # type: ignore[misc]


def _outward(incoming: IncomingRequest, cf: str, *, upgrades: bool) -> Headers:
    hidden = _FRAMING | _HANDSHAKE if upgrades else _FRAMING
    headers = [pair for pair in incoming.headers if pair[0] not in hidden]
    headers.append((CF, cf))
    if upgrades:
        headers += import_from_string(f"{_WEBSOCKETS}:handshake")()
    return headers
