"""What answers the requests of a workflow under check. Nothing leaves the machine unless `real` is asked for.

Also then each request is sent once: later trials hear what was answered in the first.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Literal

import httpx

Mode = Literal["stub", "refuse", "real"]
Handler = Callable[[httpx.Request], httpx.Response]


class Outbound:
    """`answers` are bodies by the beginning of the URL; `handler`, if there is one, answers everything."""

    def __init__(
        self, mode: Mode = "stub", answers: Mapping[str, Any] | None = None, handler: Handler | None = None
    ) -> None:
        self._mode = mode
        self._answers = dict(answers or {})
        self._handler = handler
        self._tape: dict[tuple[str, str], list[tuple[int, dict[str, str], bytes]]] = {}
        self._asked: Counter[tuple[str, str]] = Counter()
        self._trials = 0

    def rewind(self) -> None:
        """A new trial begins."""
        self._trials += 1
        self._asked.clear()

    def client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=httpx.MockTransport(self._answer), follow_redirects=False, timeout=None)

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        url = str(request.url)
        for start, body in self._answers.items():
            if url.startswith(start):
                return _json(body)
        if self._handler is not None:
            return self._handler(request)
        if self._mode == "refuse":
            raise httpx.ConnectError("refused by the check", request=request)
        return await self._once(request) if self._mode == "real" else _json({})

    async def _once(self, request: httpx.Request) -> httpx.Response:
        asked = (request.method, str(request.url))
        answers = self._tape.setdefault(asked, [])
        if self._trials == 1:
            answers.append(await _sent(request))
        if not answers:
            return _json({})
        status, headers, body = answers[min(self._asked[asked], len(answers) - 1)]
        self._asked[asked] += 1
        return httpx.Response(status, headers=headers, content=body)


async def _sent(request: httpx.Request) -> tuple[int, dict[str, str], bytes]:
    async with httpx.AsyncClient(follow_redirects=False, timeout=60) as client:
        received = await client.request(
            request.method, request.url, headers=request.headers, content=request.content or None
        )
    dropped = ("content-encoding", "content-length", "transfer-encoding")  # the body is decoded already
    headers = {name: value for name, value in received.headers.items() if name not in dropped}
    return received.status_code, headers, received.content


def _json(body: Any) -> httpx.Response:
    return httpx.Response(200, headers={"content-type": "application/json"}, content=json.dumps(body).encode())
