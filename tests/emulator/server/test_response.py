"""How an answer goes out."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from flarebed.emulator.runtime.http import AnswerCut, IncomingRequest, OutgoingResponse
from flarebed.emulator.server.log import Log
from tests.emulator.server.asking import Exchange, FakeWorker, ask
from tests.support import run


def answered(response: OutgoingResponse, method: str = "GET") -> Exchange:
    async def answer(request: IncomingRequest) -> OutgoingResponse:
        return response

    return run(ask(FakeWorker(answer), method=method))


async def counting() -> AsyncIterator[bytes]:
    for chunk in (b"one", b"", b"two"):
        yield chunk


def test_bytes_go_out_with_their_length() -> None:
    exchange = answered(OutgoingResponse(201, headers=[("X-A", "é"), ("content-length", "99")], body=b"hello"))
    assert exchange.sent == [
        {
            "type": "http.response.start",
            "status": 201,
            "headers": [(b"x-a", "é".encode()), (b"content-length", b"5")],
        },
        {"type": "http.response.body", "body": b"hello"},
    ]


def test_cookies_stay_apart() -> None:
    cookies = [("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")]
    assert answered(OutgoingResponse(200, headers=cookies)).headers == [
        (b"set-cookie", b"a=1"),
        (b"set-cookie", b"b=2"),
        (b"content-length", b"0"),
    ]


def test_a_stream_goes_out_as_it_comes() -> None:
    exchange = answered(OutgoingResponse(200, body=counting()))
    assert exchange.headers == []
    assert [message.get("body") for message in exchange.sent[1:]] == [b"one", b"two", b""]
    assert [message.get("more_body", False) for message in exchange.sent[1:]] == [True, True, False]


@pytest.mark.parametrize("status", [204, 205, 304])
def test_some_statuses_have_no_body(status: int) -> None:
    exchange = answered(OutgoingResponse(status))
    assert (exchange.headers, exchange.body) == ([], b"")


def test_head_has_the_headers_of_get_and_no_body() -> None:
    exchange = answered(OutgoingResponse(200, body=b"hello"), "HEAD")
    assert (exchange.headers, exchange.body) == ([(b"content-length", b"5")], b"")


def test_head_keeps_a_length_that_the_worker_names() -> None:
    length = [("content-length", "99")]
    assert answered(OutgoingResponse(200, headers=length), "HEAD").headers == [(b"content-length", b"99")]
    assert answered(OutgoingResponse(200, headers=length, body=b"x"), "HEAD").headers == [(b"content-length", b"1")]


def test_head_lets_go_of_a_stream() -> None:
    closed = []

    async def endless() -> AsyncIterator[bytes]:
        try:
            while True:
                yield b"x"
        finally:
            closed.append(True)

    body = endless()

    async def begin_and_answer(request: IncomingRequest) -> OutgoingResponse:
        await anext(body)
        return OutgoingResponse(200, body=body)

    assert run(ask(FakeWorker(begin_and_answer), method="HEAD")).body == b""
    assert closed == [True]


def test_framing_is_the_servers() -> None:
    framing = [("Connection", "close"), ("Transfer-Encoding", "chunked"), ("Keep-Alive", "x"), ("X-B", "1")]
    assert answered(OutgoingResponse(200, headers=framing)).headers == [(b"x-b", b"1"), (b"content-length", b"0")]


@pytest.mark.parametrize(
    ("error", "said"), [(ValueError("half way"), ["Uncaught ValueError: half way"]), (AnswerCut(), [])]
)
def test_a_stream_that_fails_cuts_the_connection(
    error: Exception, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def failing() -> AsyncIterator[bytes]:
        yield b"one"
        raise error

    async def answer(request: IncomingRequest) -> OutgoingResponse:
        return OutgoingResponse(200, body=failing())

    logged: list[str] = []
    monkeypatch.setattr(Log, "__call__", lambda _, level, text: logged.append(text))
    with pytest.raises(type(error)):
        run(ask(FakeWorker(answer)))
    assert logged == said


def test_each_request_has_a_line_in_the_log() -> None:
    line = run(ask(FakeWorker(), "/p%1b?q")).log
    assert line.startswith("[wrangler:info] GET /p%1b 200 OK (")
    assert line.endswith("ms)\n")
    assert answered(OutgoingResponse(299, "Fine")).log.startswith("[wrangler:info] GET / 299 Fine (")


def test_log_levels_hide_requests() -> None:
    assert run(ask(FakeWorker(), log_level="warn")).log == ""
