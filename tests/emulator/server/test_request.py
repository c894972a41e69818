"""What a Worker sees of a request."""

from __future__ import annotations

from flarebed.emulator.runtime.http import IncomingRequest, OutgoingResponse
from tests.emulator.server.asking import FakeWorker, Headers, ask
from tests.support import run


def seen(path: str, method: str = "GET", headers: Headers | None = None, host: str | None = None) -> IncomingRequest:
    requests: list[IncomingRequest] = []

    async def answer(request: IncomingRequest) -> OutgoingResponse:
        requests.append(request)
        return OutgoingResponse(204)

    sent = [(b"host", b"127.0.0.1:8810"), *(headers or [])]
    run(ask(FakeWorker(answer), path, method=method, headers=sent, host=host))
    return requests[0]


def test_the_url_is_the_one_that_was_sent() -> None:
    assert seen("/f/a%20b%2Fc?x=1&x=%C3%A9").url == "http://127.0.0.1:8810/f/a%20b%2Fc?x=1&x=%C3%A9"


def test_headers_are_those_of_local_development() -> None:
    # Observed on wrangler 4.164 with these headers sent.
    sent: Headers = [
        (b"accept-encoding", b"identity"),
        (b"content-length", b"29"),
        (b"content-type", b"text/plain"),
        (b"user-agent", b"Python-urllib/3.11"),
        (b"connection", b"close"),
    ]
    assert sorted(seen("/", "POST", sent).headers) == [
        ("accept-encoding", "br, gzip"),
        ("cf-connecting-ip", "127.0.0.1"),
        ("content-length", "29"),
        ("content-type", "text/plain"),
        ("host", "127.0.0.1:8810"),
        ("user-agent", "Python-urllib/3.11"),
    ]


def test_header_values_are_utf8() -> None:
    headers = seen("/", headers=[(b"x-a", "snow☃".encode()), (b"x-b", b"\xff")]).headers
    assert ("x-a", "snow☃") in headers
    assert ("x-b", "�") in headers


def test_a_client_may_name_its_address() -> None:
    headers = seen("/", headers=[(b"cf-connecting-ip", b"10.1.2.3")]).headers
    assert [value for name, value in headers if name == "cf-connecting-ip"] == ["10.1.2.3"]


def test_a_request_has_a_body_when_its_headers_say_so() -> None:
    assert seen("/").body is None
    assert seen("/", "POST").body is None
    assert seen("/", "POST", [(b"content-length", b"0")]).body is not None
    assert seen("/", "PUT", [(b"transfer-encoding", b"chunked")]).body is not None


def test_a_route_gives_the_host() -> None:
    request = seen("/p", host="example.com")
    assert request.url == "http://example.com/p"
    assert ("host", "example.com") in request.headers


def test_cf_is_plausible_and_the_workers_own() -> None:
    first, second = seen("/", headers=[(b"accept-encoding", b"gzip")]).cf, seen("/").cf
    assert (first["colo"], first["country"], first["clientAcceptEncoding"]) == ("DFW", "US", "gzip")
    first["colo"] = "XXX"
    assert second["colo"] == "DFW"
    assert second["clientAcceptEncoding"] == ""


def test_a_body_is_read_chunk_by_chunk() -> None:
    chunks: list[bytes] = []

    async def answer(request: IncomingRequest) -> OutgoingResponse:
        assert request.body is not None
        async for chunk in request.body:
            chunks.append(chunk)
        return OutgoingResponse(200)

    work = ask(FakeWorker(answer), method="POST", headers=[(b"content-length", b"6")], chunks=(b"abc", b"", b"def"))
    run(work)
    assert chunks == [b"abc", b"def"]
