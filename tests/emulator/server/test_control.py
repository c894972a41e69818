"""Our own routes below /cdn-cgi/. Answers observed on wrangler 4.164."""

from __future__ import annotations

import pytest

from flarebed.emulator.runtime.http import ScheduledOutcome
from tests.emulator.server.asking import BROWSER, Exchange, FakeWorker, Headers, ask
from tests.support import run

START_MS = 1_767_225_600_000.0


def get(worker: FakeWorker, path: str, headers: Headers = BROWSER, host: str | None = None) -> Exchange:
    return run(ask(worker, path, headers=headers, host=host))


@pytest.mark.parametrize("path", ["/cdn-cgi/local/scheduled", "/cdn-cgi/handler/scheduled", "/cdn-cgi/mf/scheduled"])
def test_scheduled_runs_with_defaults(path: str) -> None:
    worker = FakeWorker()
    exchange = get(worker, path)
    assert (exchange.status, exchange.body) == (200, b"ok")
    assert (b"content-type", b"text/plain;charset=UTF-8") in exchange.headers
    assert worker.scheduled_calls == [("", START_MS)]


def test_scheduled_takes_cron_and_time() -> None:
    worker = FakeWorker()
    get(worker, "/cdn-cgi/local/scheduled?cron=*/5+*+*+*+*&time=1700000000000")
    assert worker.scheduled_calls == [("*/5 * * * *", 1_700_000_000_000.0)]


def test_a_failed_handler_is_a_500() -> None:
    exchange = get(FakeWorker(outcome=ScheduledOutcome("exception")), "/cdn-cgi/local/scheduled")
    assert (exchange.status, exchange.body) == (500, b"exception")


def test_scheduled_answers_in_json() -> None:
    exchange = get(FakeWorker(outcome=ScheduledOutcome("ok", True)), "/cdn-cgi/local/scheduled?format=json")
    assert (exchange.status, exchange.body) == (200, b'{"outcome":"ok","noRetry":true}')
    assert (b"content-type", b"application/json") in exchange.headers


@pytest.mark.parametrize("path", ["/__scheduled?cron=*", "/cdn-cgi/other"])
def test_other_paths_reach_the_worker(path: str) -> None:
    assert get(FakeWorker(), path).body == b"hello"


@pytest.mark.parametrize(
    ("headers", "answer"),
    [
        ([(b"host", b"localhost:1")], (200, b"ok")),
        ([(b"host", b"127.0.0.1:1")], (200, b"ok")),
        ([(b"host", b"[::1]:1")], (200, b"ok")),
        ([(b"host", b"route.example")], (200, b"ok")),
        ([(b"host", b"evil.example")], (403, b"Invalid Host header")),
        ([(b"host", b"[")], (403, b"Invalid Host header")),
        ([(b"host", b"localhost"), (b"origin", b"http://localhost:3000")], (200, b"ok")),
        ([(b"host", b"localhost"), (b"origin", b"https://evil.example")], (403, b"Invalid Origin header")),
        ([(b"host", b"localhost"), (b"origin", b"null")], (403, b"Invalid Origin header")),
    ],
)
def test_only_local_pages_may_ask(headers: Headers, answer: tuple[int, bytes]) -> None:
    worker = FakeWorker()
    exchange = get(worker, "/cdn-cgi/local/scheduled", headers, host="route.example")
    assert (exchange.status, exchange.body) == answer
    assert len(worker.scheduled_calls) == (answer[0] == 200)


def test_a_foreign_host_may_ask_the_worker_itself() -> None:
    assert get(FakeWorker(), "/", [(b"host", b"evil.example")]).body == b"hello"
