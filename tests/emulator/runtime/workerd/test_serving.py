"""Requests to a JavaScript Worker and its answers, through the real workerd."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from tests.emulator.runtime.workerd.serving import Serving, serving, turns, whole

from flarebed.emulator.runtime.http import AnswerCut, WorkerError

WORKER = """
const routes = {
  async "/seen"(request) {
    const { url, method, cf } = request;
    const body = request.body && await request.text();
    return Response.json({ url, method, headers: [...request.headers], cf, body });
  },
  "/headers"() {
    const headers = new Headers({ "x-unicode": "h\\u00e9", "content-type": "text/x" });
    headers.append("set-cookie", "a=1");
    headers.append("set-cookie", "b=2");
    return new Response("x", { status: 299, statusText: "Custom Reason", headers });
  },
  "/own-500"() {
    return new Response("Internal Server Error", { status: 500 });
  },
  "/gzip"() {
    return new Response("hello ".repeat(1000), { headers: { "content-encoding": "gzip" } });
  },
  "/204"() {
    return new Response(null, { status: 204 });
  },
  "/304"() {
    return new Response(null, { status: 304, headers: { etag: '"x"' } });
  },
  async "/count"(request) {
    let bytes = 0;
    for await (const chunk of request.body) bytes += chunk.byteLength;
    return new Response(String(bytes));
  },
  "/back"(request) {
    return new Response(request.body);
  },
  "/chat"(request, ctx) {
    const { readable, writable } = new TransformStream();
    const writer = writable.getWriter();
    const encoder = new TextEncoder();
    ctx.waitUntil((async () => {
      await writer.write(encoder.encode("first"));
      await new Promise((resolve) => setTimeout(resolve, 20));
      await writer.write(encoder.encode("second"));
      await writer.close();
    })());
    return new Response(readable);
  },
  async "/wait"(request) {
    request.signal.addEventListener("abort", () => console.log(`aborted: ${request.signal.reason}`));
    console.log("waiting");
    await new Promise(() => setTimeout(() => {}, 60000));
  },
  "/pour"(request) {
    let chunks = 0;
    return new Response(new ReadableStream({
      pull(controller) {
        chunks += 1;
        controller.enqueue(new Uint8Array(65536));
      },
      cancel() {
        console.log(chunks < 100 ? "poured little" : `poured ${chunks}`);
      },
    }));
  },
  "/throw"(request) {
    throw new TypeError(`boom ${new URL(request.url).search}`);
  },
  "/throw-string"() {
    throw "just a string";
  },
  "/broken-stream"() {
    let chunks = 0;
    return new Response(new ReadableStream({
      async pull(controller) {
        if (chunks++) throw new Error("mid stream");
        controller.enqueue(new TextEncoder().encode("start"));
        await new Promise((resolve) => setTimeout(resolve, 20));
      },
    }));
  },
  "/nothing"() {},
  "/late"(request, ctx) {
    ctx.waitUntil((async () => { await 1; throw new Error("in waitUntil"); })());
    return new Response("ok");
  },
};

export default {
  async fetch(request, env, ctx) {
    return routes[decodeURI(new URL(request.url).pathname)](request, ctx);
  },
};
"""


@pytest.fixture(scope="module")
def served() -> Iterator[Serving]:
    flags = ["enable_request_signal"]
    with serving({"compatibility_flags": flags}, {"index.js": WORKER}) as serving_it:
        yield serving_it


async def chunks(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


@pytest.mark.parametrize(
    "url",
    [
        "http://dev.host:99/seen?a=%20b&&c=%2f",
        "https://example.com/seen",
        "http://worker.test/%73een?%zz=%C3%A9",
    ],
)
def test_the_url_as_it_was_sent(served: Serving, url: str) -> None:
    assert served.run(served.json(url))["url"] == url


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_methods(served: Serving, method: str) -> None:
    assert served.run(served.json("/seen", method))["method"] == method


def test_a_method_that_workerd_does_not_know(served: Serving) -> None:
    response = served.run(served.fetch("/seen", "FOO"))
    assert (response.status, response.body) == (501, b"ERROR: Unrecognized request method.")


def test_head(served: Serving) -> None:
    response = served.run(served.fetch("/seen", "HEAD"))
    assert (response.status, response.body) == (200, b"")
    assert served.run(served.text("/back", "POST", body=chunks(b"and on"))) == "and on"


def test_headers_that_a_worker_sees(served: Serving) -> None:
    sent = (("x-a", "1"), ("x-a", "2"), ("x-unicode", "h\u00e9"), ("connection", "x"), ("flarebed-cf", "{}"))
    seen = served.run(served.json("/seen", headers=(*sent, ("transfer-encoding", "chunked"), ("upgrade", "h2c"))))
    assert seen["headers"] == [["host", "worker.test"], ["x-a", "1, 2"], ["x-unicode", "h\u00e9"]]
    assert seen["body"] is None


def test_cf(served: Serving) -> None:
    cf = {"colo": "DFW", "tlsClientAuth": {"certPresented": "0"}, "asn": 1, "city": "K\u00f6ln"}
    assert served.run(served.json("/seen", cf=cf))["cf"] == cf


def test_headers_of_an_answer(served: Serving) -> None:
    response = served.run(served.fetch("/headers"))
    assert (response.status, response.status_text, response.body) == (299, "Custom Reason", b"x")
    assert sorted(response.headers) == [
        ("content-length", "1"), ("content-type", "text/x"), ("set-cookie", "a=1"), ("set-cookie", "b=2"),
        ("x-unicode", "h\u00e9"),
    ]  # fmt: skip


def test_an_answer_of_the_workers_is_no_failure(served: Serving) -> None:
    response = served.run(served.fetch("/own-500"))
    assert (response.status, response.body) == (500, b"Internal Server Error")


def test_workerd_compresses(served: Serving) -> None:
    response = served.run(served.fetch("/gzip", headers=(("accept-encoding", "br, gzip"),)))
    assert ("content-encoding", "gzip") in response.headers
    assert gzip.decompress(served.run(whole(response))) == b"hello " * 1000


@pytest.mark.parametrize("status", [204, 304])
def test_answers_without_a_body(served: Serving, status: int) -> None:
    response = served.run(served.fetch(f"/{status}"))
    assert (response.status, response.body) == (status, b"")


@pytest.mark.parametrize("length", [True, False])
def test_bodies(served: Serving, length: bool) -> None:
    parts = [bytes([number]) * 50_000 for number in range(20)]
    headers = (("content-length", "1000000"),) if length else ()
    sent = served.run(served.text("/count", "POST", headers, chunks(*parts)))
    assert sent == "1000000"
    response = served.run(served.fetch("/back", "POST", headers, chunks(*parts)))
    assert served.run(whole(response)) == b"".join(parts)


def test_an_answer_comes_chunk_by_chunk(served: Serving) -> None:
    async def read() -> list[bytes]:
        response = await served.fetch("/chat")
        body: Any = response.body
        first = await anext(body)
        assert first == b"first"
        return [first, *[chunk async for chunk in body]]

    assert served.run(read()) == [b"first", b"second"]


def test_a_client_that_goes_ends_the_request(served: Serving) -> None:
    async def go() -> None:
        asking = asyncio.ensure_future(served.fetch("/wait"))
        await served.until_logged("log", "waiting")
        asking.cancel()
        await served.until_logged("log", "aborted: AbortError: The client has disconnected")

    served.run(go())


def test_a_client_that_goes_ends_the_stream(served: Serving) -> None:
    async def go() -> None:
        response = await served.fetch("/pour")
        body: Any = response.body
        await anext(body)
        await turns(20)
        await body.aclose()
        await served.until_logged("log", "poured little")

    served.run(go())


def failure(served: Serving, path: str) -> WorkerError:
    with pytest.raises(WorkerError) as failed:
        served.run(served.fetch(path))
    return failed.value


def test_what_a_worker_throws(served: Serving) -> None:
    del served.logged[:]
    text = failure(served, "/throw?1").text
    assert text.splitlines()[0] == "TypeError: boom ?1"
    assert text.splitlines()[1].startswith("    at /throw (") or text.splitlines()[1].startswith("    at Object")
    assert served.logged == [("error", f"Uncaught {text}")]


def test_what_is_thrown_is_no_error(served: Serving) -> None:
    assert failure(served, "/throw-string").text == "Error: just a string"


def test_no_response(served: Serving) -> None:
    expected = "TypeError: Incorrect type for Promise: the Promise did not resolve to 'Response'."
    assert failure(served, "/nothing").text == expected


def test_each_failing_request_has_its_own_error(served: Serving) -> None:
    async def together() -> list[BaseException | Any]:
        paths = [f"/throw?{number}" for number in range(20)]
        return await asyncio.gather(*[served.fetch(path) for path in paths], return_exceptions=True)

    errors = served.run(together())
    assert [str(error).splitlines()[0] for error in errors] == [f"TypeError: boom ?{number}" for number in range(20)]


def test_a_stream_that_fails(served: Serving) -> None:
    async def read() -> bytes:
        response = await served.fetch("/broken-stream")
        body: Any = response.body
        first: bytes = await anext(body)
        with pytest.raises(AnswerCut):
            await anext(body)
        return first

    del served.logged[:]
    assert served.run(read()) == b"start"
    assert [text.splitlines()[0] for _, text in served.logged] == ["Uncaught Error: mid stream"]
    assert failure(served, "/throw?after").text.splitlines()[0] == "TypeError: boom ?after"


def test_what_fails_after_the_answer(served: Serving) -> None:
    async def late() -> None:
        assert await served.text("/late") == "ok"
        await served.until_logged("error", "Uncaught Error: in waitUntil\n")

    served.run(late())
