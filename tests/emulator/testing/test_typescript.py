"""A Worker in TypeScript: what it throws, what it waits for in workerd, and what of it fails on request."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
import trio

from flarebed.bindings.errors import UserError
from flarebed.emulator.testing import StuckError, SyncWorker, UncaughtError, Worker
from flarebed.emulator.testing.settings import Wishes, settle
from flarebed.emulator.testing.stage import Stage

pytestmark = [
    pytest.mark.usefixtures("language"),
    pytest.mark.parametrize("language", ["typescript"], indirect=True),
]
LOST = "Error: Network connection lost."


@pytest.mark.parametrize(
    ("act", "name", "message", "function"),
    [
        (lambda worker: worker.fetch("/boom"), "RangeError", "boom", "fetch"),
        (lambda worker: worker.queue("jobs", ["raise"]), "TypeError", "bad message", "queue"),
        (lambda worker: worker.scheduled("bad"), "NonRetryableError", "bad cron", "scheduled"),
    ],
)
def test_an_uncaught_exception_says_where_in_the_source(
    flarebed_sync: SyncWorker, act: Callable[[SyncWorker], object], name: str, message: str, function: str
) -> None:
    with pytest.raises(UncaughtError) as caught:
        act(flarebed_sync)
    assert (caught.value.name, caught.value.message) == (name, message)
    head, frame = str(caught.value).split("\n")
    assert head == f"{name}: {message}"
    source = (flarebed_sync.config.root / "src" / "index.ts").read_text().splitlines()
    place = frame.rpartition("index.ts:")[2].rstrip(")").split(":")
    assert f"{name}(" in source[int(place[0]) - 1]
    assert frame.startswith(f"    at Object.{function} (file://")
    assert ("error", f"Uncaught {caught.value}") in flarebed_sync.logs
    assert caught.traceback[-1].path.name == "test_typescript.py" or caught.traceback[-1].frame.f_locals.get(
        "__tracebackhide__"
    )
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.name, again.message, str(again)) == (name, message, str(caught.value))


def test_or_what_a_client_gets(flarebed_sync: SyncWorker) -> None:
    response = flarebed_sync.fetch("/boom", raise_exceptions=False)
    assert (response.status, response.text.splitlines()[0]) == (500, "RangeError: boom")
    result = flarebed_sync.queue("jobs", ["ack", "raise"], raise_exceptions=False)
    assert (result.outcome, result.acked, result.retried) == ("exception", ["1"], ["2"])
    assert isinstance(result.error, UncaughtError)
    ended = flarebed_sync.scheduled("bad", raise_exceptions=False)
    assert (ended.outcome, str(ended.error).splitlines()[0]) == ("exception", "NonRetryableError: bad cron")


def test_what_is_no_error_can_be_thrown(flarebed_sync: SyncWorker) -> None:
    with pytest.raises(UncaughtError) as caught:
        flarebed_sync.fetch("/throw")
    assert (caught.value.name, caught.value.message) == ("Error", "no error at all")


def test_wait_until_is_work_in_progress(flarebed_sync: SyncWorker) -> None:
    """It goes on after the answer, in real time; the clock knows."""
    start_ms = flarebed_sync.clock.now_ms()
    assert flarebed_sync.fetch("/later?20").text == "answered"
    flarebed_sync.drain()
    assert (flarebed_sync.env.KV.get("later"), flarebed_sync.clock.now_ms()) == ("done", start_ms)


def test_a_body_that_comes_bit_by_bit(flarebed_sync: SyncWorker) -> None:
    flarebed_sync.env.JOBS.send("later", delaySeconds=60)
    start_ms = flarebed_sync.clock.now_ms()
    assert flarebed_sync.fetch("/stream").text == "one two three"
    assert flarebed_sync.clock.now_ms() == start_ms


STUCK = (
    "The answer to GET http://localhost:8787/poll?i did not come: the clock has stood still at "
    "2026-01-01T00:00:00.000Z for 0.1 s of real time, because this is in progress: GET http://localhost:8787/poll?i. "
    "What is next on the clock is due at 2026-01-02T00:00:00.000Z. What a JavaScript Worker waits for by itself "
    "(setTimeout, a loop that asks again) takes real time, and the clock moves when that is over. So let it have what "
    "it waits for (disable_sleeps(), mock_step_result(), drain() before the request), or more time: "
    "@pytest.mark.flarebed(patience_s=120)."
)


@pytest.mark.flarebed(patience_s=0.1)
async def test_a_worker_that_asks_again_and_again_is_stuck(flarebed: Worker) -> None:
    await flarebed.env.FLOW.create(id="i")
    await flarebed.drain()
    with pytest.raises(StuckError) as caught:
        await flarebed.fetch("/poll?i")
    assert str(caught.value) == STUCK
    await flarebed.drain()  # the request was given up


def test_and_is_not_when_it_has_what_it_waits_for(flarebed_sync: SyncWorker) -> None:
    with flarebed_sync.introspect_workflow_instance("FLOW", "i") as instance:
        instance.modify.disable_sleeps()
        instance.modify.mock_event("answer", 42)
        flarebed_sync.env.FLOW.create(id="i")
        assert flarebed_sync.fetch("/poll?i").text == "complete"


@pytest.mark.flarebed(outbound="refuse")
def test_requests_go_out_as_they_were_made(flarebed_sync: SyncWorker) -> None:
    outbound = flarebed_sync.outbound
    outbound.mock("a.example", httpx.Response(302, headers={"location": "http://b.example:8080/there?x=%20"}))
    outbound.mock("b.example:8080", lambda request: {"got": request.content.decode()})
    response = flarebed_sync.fetch("/out?https://a.example/here")
    assert (response.json(), response.headers["x-url"]) == ({"got": ""}, "http://b.example:8080/there?x=%20")
    assert flarebed_sync.fetch("/post?http://b.example:8080/", method="POST", body="text").json() == {"got": "text"}
    assert [(call.method, str(call.url), call.headers.get("x-one")) for call in outbound.calls] == [
        ("GET", "https://a.example/here", "1"),
        ("GET", "http://b.example:8080/there?x=%20", "1"),
        ("POST", "http://b.example:8080/", None),
    ]
    assert flarebed_sync.fetch("/socket?https://a.example/").text == LOST
    assert ("error", "Refused a WebSocket to https://a.example/: WebSockets don't go out of a test.") in (
        flarebed_sync.logs
    )


@pytest.mark.parametrize(
    ("call", "path", "error", "text"),
    [
        ("KV.put", "/put", "Network connection lost.", LOST),
        ("KV.put", "/put", "KV PUT failed: 429 Too Many Requests", "Error: KV PUT failed: 429 Too Many Requests"),
        ("KV.put", "/put", "out of order", "Error: KV PUT failed: 500 out of order"),
        ("KV.get", "/get", "Network connection lost.", LOST),
        ("KV", "/get", "KV GET failed: 503 Service Unavailable", "Error: KV GET failed: 503 Service Unavailable"),
        ("DB.first", "/row", "D1_ERROR: overloaded", "Error: D1_ERROR: overloaded"),
        ("DB", "/row", "Network connection lost.", LOST),
        ("JOBS.send", "/send", "Network connection lost.", LOST),
        ("JOBS", "/send", "Queue is overloaded (10250)", "Error: Queue is overloaded (10250)"),
        ("FILES.put", "/file", "put: Slow down (10058)", "Error: put: Slow down (10058)"),
        ("FILES.put", "/file", "Network connection lost.", LOST),
        ("FILES.get", "/file", "Network connection lost.", LOST),
        ("FLOW.create", "/create?i", "WorkflowError: (workflow.busy) no", "Error: WorkflowError: (workflow.busy) no"),
    ],
)
def test_a_binding_fails_with_productions_text(
    flarebed_sync: SyncWorker, call: str, path: str, error: str, text: str
) -> None:
    flarebed_sync.fetch("/put")
    flarebed_sync.faults.fail_binding(call, error)
    assert flarebed_sync.fetch(path).text == text
    assert not flarebed_sync.fetch(path).text.startswith("Error")  # once, unless asked for more


def test_a_call_whose_answer_is_lost_has_taken_effect(flarebed_sync: SyncWorker) -> None:
    flarebed_sync.faults.fail_binding("KV.put", after=True)
    assert flarebed_sync.fetch("/put").text == LOST
    assert flarebed_sync.env.KV.get("put") == "value"
    flarebed_sync.faults.fail_binding("KV.get", times=2)
    assert flarebed_sync.fetch("/get").text == LOST
    with pytest.raises(Exception, match=r"Network connection lost\."):
        flarebed_sync.env.KV.get("put")  # the test's own calls fail too


def test_under_trio(flarebed: Worker) -> None:
    async def both() -> list[int]:
        statuses: list[int] = []

        async def one(path: str) -> None:
            statuses.append((await flarebed.fetch(path)).status)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(one, "/")
            nursery.start_soon(one, "/echo")
        await flarebed.env.KV.put("key", json.dumps({"n": 1}))
        assert (await flarebed.env.KV.get("key", "json")) == {"n": 1}
        return statuses

    assert trio.run(both) == [200, 200]


def test_without_workerd_it_says_what_to_install(
    language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    (tmp_path / "index.ts").write_text("export default {}")
    (tmp_path / "wrangler.toml").write_text('name = "w"\nmain = "index.ts"\ncompatibility_date = "2026-11-01"')
    with pytest.raises(UserError) as refused:
        Stage(settle(Wishes(), tmp_path, tmp_path / "state"))
    assert refused.value.message.startswith('The program "workerd", which runs JavaScript Workers, was not found')
    assert "npm install --save-dev workerd" in refused.value.hint
