"""The host's side of `fetch`: one exchange over httpx, redirects followed as workerd follows them.

Source: workerd src/workerd/api/http.c++ (handleHttpRedirectResponse) and what real Workers sent (wrangler 4.164).
"""

from __future__ import annotations

import asyncio
import secrets
import socket
import string
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx

from flarebed.bindings.errors import JsError, type_error
from flarebed.emulator.runtime.python.js.url import parse

LOST = "Network connection lost."
MAX_REDIRECTS = 20
REDIRECTS = (301, 302, 303, 307, 308)
ONE_TIME_BODY = (
    "A request with a one-time-use body (it was initialized from a stream, not a buffer) encountered a redirect "
    "requiring the body to be retransmitted. To avoid this error in the future, construct this request from a "
    "buffer-like body initializer."
)
_COMMON = frozenset(
    (
        "accept", "accept-charset", "accept-encoding", "accept-language", "authorization", "cache-control",
        "content-disposition", "content-encoding", "content-language", "content-length", "content-location",
        "content-range", "content-type", "cookie", "date", "expect", "expires", "from", "if-match", "if-modified-since",
        "if-none-match", "if-range", "if-unmodified-since", "last-modified", "link", "location", "origin", "pragma",
        "range", "referer", "upgrade", "user-agent", "vary", "via",
    )
)  # fmt: skip
"""These go out in their usual spelling, others as the Worker spelt them."""
_NOT_THE_WORKERS = frozenset(
    (
        "cf-worker", "connection", "content-length", "host", "keep-alive", "te", "trailer", "transfer-encoding",
        "upgrade",
    )
)  # fmt: skip
"""What workerd leaves out of a Worker's headers: the connection's own, and what it sets itself."""
_DISCONNECTED = (
    httpx.ConnectError, httpx.ReadError, httpx.WriteError, httpx.CloseError, httpx.RemoteProtocolError,
    httpx.TimeoutException,
)  # fmt: skip


@dataclass
class Exchange:
    """A request to send. `length` is that of a streamed body, if it is known."""

    method: str
    url: str
    headers: list[tuple[str, str]]
    body: bytes | AsyncIterator[bytes] | None
    length: int | None
    follow: bool
    worker: str
    aborted: BaseException | None = None
    urls: list[str] = field(default_factory=list)
    _task: asyncio.Task[Any] | None = None

    async def run(self, client: httpx.AsyncClient) -> httpx.Response:
        """The last response, its body not read yet; JsError for what `fetch` rejects with."""
        self._task = asyncio.current_task()
        self.urls.append(self.url)
        while True:
            response = await self._send(client)
            location = response.headers.get("location")
            if not self.follow or response.status_code not in REDIRECTS or location is None:
                self._task = None
                return response
            await response.aclose()
            self._redirect(response.status_code, location)

    def abort(self, error: BaseException) -> None:
        self.aborted = error
        if self._task is not None:
            self._task.cancel()

    async def _send(self, client: httpx.AsyncClient) -> httpx.Response:
        request = httpx.Request(self.method, self.url, headers=self._wire_headers(), content=self.body)
        request.extensions["timeout"] = dict.fromkeys(("connect", "read", "write", "pool"))
        try:
            return await client.send(request, stream=True, follow_redirects=False)
        except httpx.HTTPError as error:
            raise network_error(error) from error

    def _wire_headers(self) -> list[tuple[bytes, bytes]]:
        """In the order that workerd sends them."""
        url = httpx.URL(self.url)
        wire = []
        length = len(self.body) if isinstance(self.body, bytes) else self.length
        if length is not None and self.body is not None:
            wire.append(("Content-Length", str(length)))
        wire.append(("Host", url.netloc.decode("ascii").rpartition("@")[2]))
        for name, value in self.headers:
            lower = name.lower()
            if lower not in _NOT_THE_WORKERS:
                wire.append((lower.title() if lower in _COMMON else name, value))
        wire.append(("CF-Worker", f"{self.worker}.example.com"))
        return [(name.encode("ascii"), value.encode()) for name, value in wire]

    def _redirect(self, status: int, location: str) -> None:
        target = parse(location, self.url)
        if target is None:
            raise type_error("Invalid Location header; unable to follow redirect.")
        if len(self.urls) > MAX_REDIRECTS:
            raise type_error("Too many redirects.")
        current = parse(self.url)
        if current is None or current.origin != target.origin:
            self.headers = [pair for pair in self.headers if pair[0].lower() != "authorization"]
        if status != 303 and not isinstance(self.body, bytes | None):
            raise type_error(ONE_TIME_BODY)
        if (status in (301, 302) and self.method == "POST") or (status == 303 and self.method != "HEAD"):
            self.method, self.body, self.length = "GET", None, None
        self.url = str(target.href)
        self.urls.append(self.url)


class ReceivedBody:
    """The body of a response as it comes, still encoded. Closing it gives the connection back."""

    def __init__(self, exchange: Exchange, response: httpx.Response) -> None:
        self._exchange = exchange
        self._response = response
        self._chunks = _already_read(response) if response.is_stream_consumed else response.aiter_raw()
        encoded = not response.is_stream_consumed
        self.encoding = response.headers.get("content-encoding", "") if encoded else ""

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        try:
            chunk = await anext(self._chunks)
        except httpx.HTTPError as error:
            await self.aclose()
            raise self._exchange.aborted or network_error(error) from error
        if self._exchange.aborted is not None:
            await self.aclose()
            raise self._exchange.aborted
        return chunk

    async def aclose(self) -> None:
        await self._response.aclose()


async def _already_read(response: httpx.Response) -> AsyncIterator[bytes]:
    """The body of a response that a test's transport made of plain content."""
    yield response.content


def network_error(error: BaseException) -> JsError:
    """What production says, which is little: a name that does not resolve is an internal error of its own."""
    is_of_a_name = any(isinstance(cause, socket.gaierror) for cause in _causes(error))
    if not is_of_a_name and isinstance(error, _DISCONNECTED):
        return JsError(LOST)
    alphabet = string.ascii_lowercase + string.digits
    return JsError(f"internal error; reference = {''.join(secrets.choice(alphabet) for _ in range(24))}")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error, what it came from, and so on. Code that raises one exception again can make that a circle."""
    cause: BaseException | None = error
    seen: set[int] = set()
    while cause is not None and id(cause) not in seen:
        yield cause
        seen.add(id(cause))
        cause = cause.__cause__ or cause.__context__
