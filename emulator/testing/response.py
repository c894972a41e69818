"""What a Worker answers to a test's request, and how the two are made: the server's own code, without a socket."""

from __future__ import annotations

import json
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

from starlette.datastructures import Headers

from flarebed.emulator.app import App
from flarebed.emulator.runtime.http import WorkerError
from flarebed.emulator.runtime.workerd.uncaught import UncaughtError
from flarebed.emulator.server.errors_page import error_response
from flarebed.emulator.server.request import Scope, incoming
from flarebed.emulator.server.response import send_response
from flarebed.emulator.testing.uncaught import raise_as_thrown

ORIGIN = "http://localhost:8787"
_CLIENT = ("127.0.0.1", 50000)
_URL_SAFE = "/%:@!$&'()*+,;=-._~[]"


@dataclass(frozen=True)
class Response:
    """`headers` is a mapping in which case does not count; `headers.getlist("set-cookie")` has repeated ones."""

    status: int
    headers: Headers
    body: bytes
    url: str

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        return json.loads(self.body)

    def __repr__(self) -> str:
        return f"<Response {self.status} {self.url} {self.text[:200]!r}>"


@dataclass(frozen=True)
class Request:
    """What a test asks: `json` or `body`, not both."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None

    @classmethod
    def of(cls, url: str, method: str, headers: Mapping[str, str], body: str | bytes | None, data: Any) -> Request:
        named = {name.lower(): value for name, value in headers.items()}
        if data is not None:
            if body is not None:
                raise TypeError("a request has a body or json, not both")
            body = json.dumps(data)
            named.setdefault("content-type", "application/json")
        content = body.encode() if isinstance(body, str) else body
        whole = url if url.startswith(("http://", "https://")) else f"{ORIGIN}/{url.removeprefix('/')}"
        return cls(method.upper(), whole, named, content)

    def scope(self) -> Scope:
        parts = urlsplit(self.url)
        named = {"host": parts.netloc, **self.headers}
        if self.body is not None:
            named.setdefault("content-length", str(len(self.body)))
        return {
            "type": "http",
            "method": self.method,
            "raw_path": quote(parts.path or "/", safe=_URL_SAFE).encode("ascii"),
            "query_string": quote(parts.query, safe=f"{_URL_SAFE}?").encode("ascii"),
            "headers": [(name.encode("latin-1"), value.encode()) for name, value in named.items()],
            "client": _CLIENT,
        }


async def exchange(app: App, asked: Request, *, raise_exceptions: bool) -> Response:
    """What the server would send."""
    __tracebackhide__ = True

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": asked.body or b""}

    request = incoming(asked.scope(), receive, app.config.host if asked.url.startswith(ORIGIN) else None)
    request.url = f"{urlsplit(asked.url).scheme}{request.url.removeprefix('http')}"
    try:
        answer = await app.fetch(request)
    except WorkerError as error:
        if raise_exceptions:
            raise_as_thrown(error.exception or UncaughtError(error.text), app.config.code_folder())
        answer = error_response(error, request)
    sent: list[MutableMapping[str, Any]] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    await send_response(answer, asked.method, send)
    body = b"".join(message.get("body", b"") for message in sent)
    return Response(answer.status, Headers(raw=sent[0]["headers"]), body, request.url)
