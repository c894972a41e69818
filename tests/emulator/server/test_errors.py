"""What a client gets when the Worker fails."""

from __future__ import annotations

from pathlib import Path

from flarebed.emulator.runtime.http import Frame, IncomingRequest, OutgoingResponse, WorkerError
from tests.emulator.server.asking import BROWSER, Exchange, FakeWorker, Headers, ask
from tests.support import run

TEXT = 'PythonError: Traceback (most recent call last):\n  File "/w/entry.py", line 6\nValueError: <kaboom> ☃\n'
NAVIGATION: Headers = [*BROWSER, (b"sec-fetch-dest", b"document")]


def failing(error: BaseException, headers: Headers = BROWSER) -> Exchange:
    async def answer(request: IncomingRequest) -> OutgoingResponse:
        raise error

    return run(ask(FakeWorker(answer), headers=headers))


def test_an_uncaught_exception_is_plain_text_whatever_is_accepted() -> None:
    # Observed on wrangler 4.164 for Accept: text/html and application/json.
    exchange = failing(WorkerError(TEXT), [*BROWSER, (b"accept", b"text/html")])
    assert exchange.status == 500
    assert (b"content-type", b"text/plain;charset=UTF-8") in exchange.headers
    assert exchange.body.decode() == TEXT
    assert exchange.log.startswith("[wrangler:info] GET / 500 Internal Server Error (")


def test_a_person_at_a_browser_gets_a_page_with_the_source(tmp_path: Path) -> None:
    source = tmp_path / "entry.py"
    source.write_text("a = 1\nb = '<b>'\nraise ValueError('<kaboom>')\n")
    frames = [Frame(str(source), 3, "fetch", "raise ValueError('<kaboom>')")]
    exchange = failing(WorkerError(TEXT, ValueError("<kaboom> ☃"), frames), NAVIGATION)
    page = exchange.body.decode()
    assert exchange.status == 500
    assert (b"content-type", b"text/html;charset=UTF-8") in exchange.headers
    assert "<h1>ValueError</h1><p>&lt;kaboom&gt; ☃</p>" in page
    assert f"<h2>{source}:3 in fetch</h2>" in page
    assert "    2  b = &#x27;&lt;b&gt;&#x27;" in page
    assert "<b>    3  raise ValueError(&#x27;&lt;kaboom&gt;&#x27;)</b>" in page
    assert "<kaboom>" not in page


def test_a_page_without_frames_shows_the_whole_text() -> None:
    page = failing(WorkerError("Error: Handler does not export a fetch() function."), NAVIGATION).body.decode()
    assert "<h1>Error</h1><p>Handler does not export a fetch() function.</p>" in page
    assert "<details open>" in page


def test_system_exit_ends_the_process_after_the_answer() -> None:
    # Observed on wrangler 4.164: the runtime is restarted, and this is the body.
    exchange = failing(SystemExit(3))
    assert (exchange.status, exchange.body) == (500, b"Error: Network connection lost.")
    assert exchange.exits == [3]


def test_a_defect_of_ours_is_logged_whole() -> None:
    exchange = failing(KeyError("ours"))
    assert (exchange.status, exchange.body) == (500, b"flarebed failed to run the Worker: KeyError: 'ours'")
    assert exchange.log.startswith(
        "✘ [ERROR] A defect of flarebed, please report it:\nTraceback (most recent call last)"
    )
