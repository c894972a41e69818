"""The Worker's `fetch` to the world, in a test's hands: `worker.outbound`. Mocked by host or URL, recorded, refused."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import httpx

from flarebed.bindings.errors import UserError

Answer = httpx.Response | Exception | dict[str, Any] | list[Any] | str | bytes | int
"""A response, an exception to raise, JSON data, a text, bytes, or a status alone."""
_ANSWERS = (httpx.Response, Exception, dict, list, str, bytes, int)
_OF_THE_WIRE = (b"content-encoding", b"content-length", b"transfer-encoding")
Handler = Callable[[httpx.Request], Answer | Awaitable[Answer]]


@dataclass(frozen=True)
class _Route:
    target: str
    method: str | None
    answer: Answer | Handler

    def matches(self, request: httpx.Request) -> bool:
        if self.method is not None and self.method != request.method:
            return False
        host = request.url.netloc.decode("ascii")
        if self.target in (request.url.host, host, f"{request.url.scheme}://{host}"):
            return True
        url = str(request.url)
        return url == self.target or url.split("?", 1)[0] == self.target


class Outbound:
    """`refuse`: what no mock answers fails, and the log says which request it was."""

    def __init__(self, log: Callable[[str, str], None], *, refuse: bool) -> None:
        self._log = log
        self._refuses = refuse
        self._routes: list[_Route] = []
        self.calls: list[httpx.Request] = []
        """All requests that the Worker made, in order, with their bodies read."""

    def mock(self, target: str, answer: Answer | Handler = 200, *, method: str | None = None) -> None:
        """Answer requests to a host ("api.example.com"), an origin, or a URL, with or without its query.

        The last mock counts. `answer` may be a function of the `httpx.Request`, also an async one.
        """
        if not callable(answer) and (isinstance(answer, bool) or not isinstance(answer, _ANSWERS)):
            raise _no_answer(answer)
        self._routes.insert(0, _Route(target, method and method.upper(), answer))

    def refuse(self) -> None:
        """What no mock answers fails from now on."""
        self._refuses = True

    def allow(self) -> None:
        """What no mock answers goes out from now on."""
        self._refuses = False

    def client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=_Transport(self), follow_redirects=False, timeout=None)

    def route(self, request: httpx.Request) -> _Route | None:
        self.calls.append(request)
        found = next((route for route in self._routes if route.matches(request)), None)
        if found is None and self._refuses:
            self._log("error", f"Refused an outbound request that no mock answers: {request.method} {request.url}")
            raise httpx.ConnectError(f"{request.method} {request.url} is refused", request=request)
        return found


class _Transport(httpx.AsyncBaseTransport):
    def __init__(self, outbound: Outbound) -> None:
        self._outbound = outbound
        self._network: httpx.AsyncHTTPTransport | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        route = self._outbound.route(request)
        if route is None:
            self._network = self._network or httpx.AsyncHTTPTransport()
            return await self._network.handle_async_request(request)
        answer: Any = route.answer
        if callable(answer) and not isinstance(answer, Exception):
            answer = answer(request)
            if inspect.isawaitable(answer):
                answer = await answer
        return _response(answer)

    async def aclose(self) -> None:
        if self._network is not None:
            await self._network.aclose()


def _response(answer: Any) -> httpx.Response:
    match answer:
        case Exception():
            # a new one each time: raised again, the same would become its own cause
            raise copy.copy(answer) if isinstance(answer, httpx.HTTPError) else httpx.ConnectError(str(answer))
        case httpx.Response():
            # a mock may answer twice, and a response is read once
            kept = [(name, value) for name, value in answer.headers.raw if name.lower() not in _OF_THE_WIRE]
            return httpx.Response(answer.status_code, headers=kept, content=answer.content)
        case bool():
            pass
        case int():
            return httpx.Response(answer)
        case str():
            return httpx.Response(200, text=answer)
        case bytes():
            return httpx.Response(200, content=answer)
        case dict() | list():
            return httpx.Response(200, json=answer)
    raise _no_answer(answer)


def _no_answer(answer: object) -> UserError:
    return UserError(f"{answer!r} is no answer to a request.", hint="Give an httpx.Response, JSON, text or a status.")
