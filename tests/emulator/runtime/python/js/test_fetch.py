"""`fetch` over a network that the test plays, and `pyodide.http` on top of it."""

from __future__ import annotations

import asyncio
import gzip
import socket
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from tests.emulator.runtime.python.harness import Harness
from tests.emulator.runtime.python.js.worker import in_worker, read_all, thrown, view

from flarebed.emulator.runtime.python import pyodide_http
from flarebed.emulator.runtime.python.ffi import to_js
from flarebed.emulator.runtime.python.js.globals import exports
from flarebed.emulator.runtime.python.proxy import jsnull

js = SimpleNamespace(**exports())
http = pyodide_http.modules()["pyodide.http"]


class Echo:
    """Answers with what it got; keeps it too."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, list[tuple[bytes, bytes]], bytes]] = []

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        body = await request.aread()
        self.requests.append((request.method, str(request.url), request.headers.raw, body))
        return httpx.Response(200, content=body, headers=[("x-m", "1"), ("x-m", "2"), ("set-cookie", "a=1")])


def sent(options: Any) -> tuple[str, str, list[tuple[bytes, bytes]], bytes]:
    """What goes out for these options of `fetch`."""
    echo = Echo()

    async def code() -> None:
        await js.fetch("http://host:81/path?q", **options())

    in_worker(code, answer=echo)
    return echo.requests[0]


WORKER = (b"CF-Worker", b"probe.example.com")
HOST = (b"Host", b"host:81")


@pytest.mark.parametrize(
    ("options", "method", "headers", "body"),
    [
        (dict, "GET", [HOST, WORKER], b""),
        (
            lambda: {"method": "POST", "body": "hé"},
            "POST",
            [(b"Content-Length", b"3"), HOST, (b"Content-Type", b"text/plain;charset=UTF-8"), WORKER],
            b"h\xc3\xa9",
        ),
        (
            lambda: {"method": "PUT", "body": view(b"\0"), "headers": to_js({"x-Own": "1", "content-type": "a/b"})},
            "PUT",
            [(b"Content-Length", b"1"), HOST, (b"x-Own", b"1"), (b"Content-Type", b"a/b"), WORKER],
            b"\0",
        ),
        (lambda: {"headers": to_js({"host": "other", "cf-worker": "me"})}, "GET", [HOST, WORKER], b""),
        (
            lambda: {"headers": to_js({"content-length": "9", "connection": "x", "te": "x", "keep-alive": "x"})},
            "GET",
            [HOST, WORKER],
            b"",
        ),
        (
            lambda: {"cache": "no-store"},
            "GET",
            [HOST, (b"Cache-Control", b"no-cache"), (b"Pragma", b"no-cache"), WORKER],
            b"",
        ),
    ],
)
def test_what_goes_out(options: Any, method: str, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
    assert sent(options) == (method, "http://host:81/path?q", headers, body)


def test_streams_go_out_as_they_come() -> None:
    async def pieces() -> Any:
        yield view(b"one ")
        yield view(b"two")

    def options() -> Any:
        return {"method": "POST", "body": getattr(js.ReadableStream, "from")(pieces())}

    method, _, headers, body = sent(options)
    assert (method, body) == ("POST", b"one two")
    assert (b"Transfer-Encoding", b"chunked") in headers


def test_what_comes_back() -> None:
    async def code() -> Any:
        response = await js.fetch(js.Request.new("http://host/#frag", method="POST", body="abc"))
        return (
            (response.status, response.statusText, response.ok, response.url, response.redirected, response.type),
            [tuple(pair) for pair in response.headers if pair[0] != "content-length"],
            await read_all(response.body),
        )

    assert in_worker(code, answer=Echo()) == (
        (200, "OK", True, "http://host/", False, "default"),
        [("set-cookie", "a=1"), ("x-m", "1, 2")],
        [b"abc"],
    )


def test_a_status_without_a_body() -> None:
    async def code() -> Any:
        response = await js.fetch("http://host/")
        return response.status, response.body

    assert in_worker(code, answer=lambda _request: httpx.Response(204)) == (204, jsnull)


def test_gzip_is_undone() -> None:
    async def code() -> Any:
        response = await js.fetch("http://host/")
        return await response.text(), response.headers.get("content-encoding")

    def answer(_request: httpx.Request) -> httpx.Response:
        return httpx.Response(
            200, stream=httpx.ByteStream(gzip.compress(b"plain")), headers={"Content-Encoding": "gzip"}
        )

    assert in_worker(code, answer=answer) == ("plain", "gzip")


class Redirects:
    """Answers with a redirect until the path has no more steps; then says what it got."""

    def __init__(self, status: int, location: str = "/end") -> None:
        self.status, self.location = status, location

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/end":
            body = (await request.aread()).decode()
            return httpx.Response(200, text=f"{request.method} {body} {request.headers.get('authorization', '')}")
        return httpx.Response(self.status, headers={"Location": self.location})


@pytest.mark.parametrize(
    ("status", "method", "result"),
    [
        (301, "POST", "GET  secret"),
        (302, "POST", "GET  secret"),
        (303, "PUT", "GET  secret"),
        (302, "PUT", "PUT body secret"),
        (307, "POST", "POST body secret"),
        (308, "POST", "POST body secret"),
    ],
)
def test_redirects_are_followed(status: int, method: str, result: str) -> None:
    async def code() -> Any:
        headers = to_js({"Authorization": "secret"})
        response = await js.fetch("http://host/", method=method, body="body", headers=headers)
        return await response.text(), response.url, response.redirected

    assert in_worker(code, answer=Redirects(status)) == (result, "http://host/end", True)


def test_another_origin_gets_no_authorization() -> None:
    async def code() -> Any:
        return await (await js.fetch("http://host/", headers=to_js({"authorization": "secret"}))).text()

    assert in_worker(code, answer=Redirects(302, "http://other/end")) == "GET  "


def test_redirects_are_left_alone_if_asked() -> None:
    async def code() -> Any:
        response = await js.fetch("http://host/", redirect="manual")
        return response.status, response.headers.get("location"), response.redirected

    assert in_worker(code, answer=Redirects(302)) == (302, "/end", False)


@pytest.mark.parametrize(
    ("options", "location", "complaint"),
    [
        (dict, "/again", "TypeError: Too many redirects."),
        (dict, "http://[", "TypeError: Invalid Location header; unable to follow redirect."),
        (
            lambda: {"method": "POST", "body": js.Blob.new(["x"]).stream()},
            "/end",
            "TypeError: A request with a one-time-use body (it was initialized from a stream, not a buffer) "
            "encountered a redirect requiring the body to be retransmitted. To avoid this error in the future, "
            "construct this request from a buffer-like body initializer.",
        ),
    ],
)
def test_redirects_that_cannot_be_followed(options: Any, location: str, complaint: str) -> None:
    async def code() -> str:
        return await thrown(js.fetch("http://host/", **options()))

    assert in_worker(code, answer=Redirects(307, location)) == complaint


def failing(error: Exception) -> Any:
    def answer(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("no", request=request) from error

    return answer


def test_what_goes_wrong() -> None:
    async def code() -> list[str]:
        return [
            await thrown(js.fetch("nope")),
            await thrown(js.fetch("ftp://host/")),
            await thrown(js.fetch("http://host/")),
        ]

    assert in_worker(code, answer=failing(ConnectionRefusedError())) == [
        "TypeError: Invalid URL: nope",
        "TypeError: Fetch API cannot load: ftp://host/",
        "Error: Network connection lost.",
    ]


def test_a_name_that_does_not_resolve() -> None:
    async def code() -> str:
        return await thrown(js.fetch("http://nonexistent.invalid/"))

    text = in_worker(code, answer=failing(socket.gaierror(-2, "Name or service not known")))
    assert text.startswith("Error: internal error; reference = ")
    assert len(text) == len("Error: internal error; reference = ") + 24


def test_a_circle_of_causes() -> None:
    """An exception that a mock raises each time anew becomes the cause of its own cause."""
    first, second = ConnectionRefusedError(), ValueError()
    first.__cause__, second.__context__ = second, first

    async def code() -> str:
        return await thrown(js.fetch("http://host/"))

    assert in_worker(code, answer=failing(first)) == "Error: Network connection lost."


def test_abort_signals() -> None:
    async def answer(_request: httpx.Request) -> httpx.Response:
        await asyncio.Event().wait()
        raise AssertionError

    async def code() -> list[str]:
        controller = js.AbortController.new()
        waiting = js.fetch("http://host/", signal=controller.signal)
        js.setTimeout(controller.abort, 100, js.Error.new("slow"))
        return [
            await thrown(waiting),
            await thrown(js.fetch("http://host/", signal=controller.signal)),
            await thrown(js.fetch("http://host/", signal=js.AbortSignal.timeout(50))),
        ]

    assert in_worker(code, answer=answer) == [
        "Error: slow",
        "Error: slow",
        "TimeoutError: The operation was aborted due to timeout",
    ]


@pytest.mark.parametrize(
    ("url", "content_type", "body"),
    [
        ("data:,a%20b", "text/plain;charset=US-ASCII", "a b"),
        ("data:text/html;charset=utf-8,<p>", "text/html;charset=utf-8", "<p>"),
        ("data:a/b;base64,aGk=", "a/b", "hi"),
    ],
)
def test_data_urls(url: str, content_type: str, body: str) -> None:
    async def code() -> Any:
        response = await js.fetch(url)
        return response.headers.get("content-type"), await response.text()

    assert in_worker(code) == (content_type, body)


# pyodide.http


def test_pyfetch() -> None:
    async def code() -> Any:
        response = await http.pyfetch("http://host/a", method="POST", body='{"a": null}', headers={"x": "y"})
        facts = (response.status, response.ok, response.url, response.headers["x-m"], response.body_used, response.type)
        copy = response.clone()
        return facts, await response.json(), await copy.bytes(), response.body_used

    echo = Echo()
    assert in_worker(code, answer=echo) == (
        (200, True, "http://host/a", "1, 2", False, "default"),
        {"a": None},
        b'{"a": null}',
        True,
    )
    assert (b"x", b"y") in echo.requests[0][2]


def test_the_errors_of_pyodide_http() -> None:
    async def code() -> list[str]:
        texts = []
        response = await http.pyfetch("http://host/")
        await response.text()
        for work in (response.text(), http.pyfetch("http://down/")):
            try:
                await work
            except OSError as error:
                texts.append(f"{type(error).__module__}.{type(error).__name__}: {error}")
        with pytest.raises(http.HttpStatusError) as failed:
            response.raise_for_status()
        return [*texts, str(failed.value)]

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.host == "down":
            raise httpx.ConnectError("refused", request=request)
        return httpx.Response(404)

    assert in_worker(code, answer=answer) == [
        "pyodide.http._exceptions.BodyUsedError: Response body is already used",
        "pyodide.http._exceptions.AbortError: Network connection lost.",
        "404 Client Error: Not Found for url: http://host/",
    ]


def test_pyfetch_can_be_aborted() -> None:
    async def code() -> str:
        response = await http.pyfetch("http://host/")
        response.abort("enough")
        with pytest.raises(http.AbortError) as caught:
            await response.text()
        return str(caught.value)

    assert in_worker(code, answer=Echo()) == "enough"


def test_there_is_no_xml_http_request() -> None:
    with pytest.raises(NameError, match="name 'XMLHttpRequest' is not defined"):
        http.open_url("http://host/")
    with pytest.raises(NameError, match="name 'XMLHttpRequest' is not defined"):
        http.pyxhr.get("http://host/")


def test_responses_that_nobody_reads_are_let_go() -> None:
    closed: list[bool] = []

    class Body(httpx.AsyncByteStream):
        async def __aiter__(self) -> Any:
            yield b"x"

        async def aclose(self) -> None:
            closed.append(True)

    async def code(worker: Harness) -> None:
        await js.fetch("http://host/")

    async def hosted() -> None:
        worker = Harness()
        worker.services.outbound = lambda: httpx.AsyncClient(
            transport=httpx.MockTransport(lambda _request: httpx.Response(200, stream=Body()))
        )
        io = worker.context()
        await worker.run(code(worker), io)
        assert closed == []
        io.answer()
        await worker.clock.settle()
        await worker.services.close()

    asyncio.run(hosted())
    assert closed == [True]
