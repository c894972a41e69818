"""Requests, batches and crons by hand; what the Worker does not catch is raised."""

from __future__ import annotations

import asyncio
import json
import traceback
from pathlib import Path

import pytest
from anyio.lowlevel import checkpoint

from flarebed.emulator.testing import Message, StuckError, SyncWorker, Worker
from tests.emulator.testing.languages import in_both


@in_both
def test_a_response(flarebed_sync: SyncWorker) -> None:
    response = flarebed_sync.fetch("/echo?q=ü", method="put", json={"a": 1}, headers={"X-Thing": "1"})
    assert (response.status, response.ok, response.json()) == (200, True, {"a": 1})
    assert (response.headers["X-Method"], response.headers["x-type"]) == ("PUT", "application/json")
    assert response.url == "http://localhost:8787/echo?q=%C3%BC"


def test_a_whole_url_is_kept(flarebed_sync: SyncWorker) -> None:
    assert flarebed_sync.fetch("https://shop.example/echo", body=b"x", method="POST").url == "https://shop.example/echo"


def test_a_body_or_json(flarebed_sync: SyncWorker) -> None:
    with pytest.raises(TypeError, match="a request has a body or json, not both"):
        flarebed_sync.fetch("/echo", body="a", json="b")


def test_an_uncaught_exception_is_the_workers_own(flarebed_sync: SyncWorker) -> None:
    with pytest.raises(ValueError, match=r"\Aboom\Z") as caught:
        flarebed_sync.fetch("/boom")
    last = traceback.extract_tb(caught.tb)[-1]
    assert (Path(last.filename).name, last.line) == ("entry.py", 'raise ValueError("boom")')
    assert ("error", "Uncaught PythonError") in [(level, text[:20]) for level, text in flarebed_sync.logs]


def test_or_what_a_client_gets(flarebed_sync: SyncWorker) -> None:
    response = flarebed_sync.fetch("/boom", raise_exceptions=False)
    assert (response.status, response.text.rstrip().splitlines()[-1]) == (500, "ValueError: boom")


async def test_requests_overlap(flarebed: Worker) -> None:
    start_ms = flarebed.clock.now_ms()
    answers = await asyncio.gather(*(flarebed.fetch(f"/sleep?{seconds}") for seconds in (3, 1, 2)))
    assert [answer.text for answer in answers] == ["slept"] * 3
    assert flarebed.clock.now_ms() == start_ms + 3_000


async def test_a_cancelled_request_ends(flarebed: Worker) -> None:
    task = asyncio.create_task(flarebed.fetch("/sleep?60"))
    with flarebed.clock.freeze():
        await checkpoint()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    await flarebed.drain()


@in_both
def test_a_request_that_hangs_is_what_production_says(flarebed_sync: SyncWorker) -> None:
    response = flarebed_sync.fetch("/never", raise_exceptions=False)
    assert "your Worker's code had hung and would never generate a response" in response.text


@in_both
def test_a_batch(flarebed_sync: SyncWorker, language: str) -> None:
    result = flarebed_sync.queue("jobs", ["ack", "retry", Message({"n": 1}, id="x", attempts=3)])
    assert (result.outcome, result.ack_all, result.retry_batch.retry) == ("ok", False, False)
    assert (result.explicit_acks, result.acked, result.retried) == (["1"], ["1", "x"], ["2"])
    assert [(each.msg_id, each.delay_seconds) for each in result.retry_messages] == [("2", 5)]
    body = {"python": "{'n': 1}", "typescript": '{"n":1}'}[language]
    assert flarebed_sync.env.KV.get("seen") == f"ack1 retry1 {body}3 "


def test_a_batch_that_fails(flarebed_sync: SyncWorker) -> None:
    with pytest.raises(ValueError, match="bad message"):
        flarebed_sync.queue("jobs", ["raise"])
    result = flarebed_sync.queue("jobs", ["ack", "raise"], raise_exceptions=False)
    assert (result.outcome, result.acked, result.retried) == ("exception", ["1"], ["2"])
    assert isinstance(result.error, ValueError)


@in_both
def test_a_cron(flarebed_sync: SyncWorker) -> None:
    assert flarebed_sync.scheduled("0 * * * *", "2026-05-01T00:00:00Z").outcome == "ok"
    assert flarebed_sync.env.KV.get("cron") == "0 * * * * 1777593600000"
    with pytest.raises(Exception, match="bad cron"):
        flarebed_sync.scheduled("bad")
    assert flarebed_sync.scheduled("bad", raise_exceptions=False).outcome == "exception"


@in_both
def test_drain_runs_batches_and_retries(flarebed_sync: SyncWorker) -> None:
    start_ms = flarebed_sync.clock.now_ms()
    flarebed_sync.env.JOBS.send("raise")
    flarebed_sync.drain()
    assert flarebed_sync.clock.now_ms() == start_ms + (30 + 60 + 30 + 60 + 30) * 1000
    assert any(text.startswith("Dropped message") for _, text in flarebed_sync.logs)


@in_both
def test_drain_leaves_delayed_messages_alone(flarebed_sync: SyncWorker) -> None:
    start_ms = flarebed_sync.clock.now_ms()
    flarebed_sync.env.JOBS.send("later", delaySeconds=3600)
    flarebed_sync.drain()
    assert (flarebed_sync.clock.now_ms(), flarebed_sync.env.KV.get("seen")) == (start_ms, None)
    flarebed_sync.drain(sleeps=True)
    assert (flarebed_sync.clock.now_ms() - start_ms, flarebed_sync.env.KV.get("seen")) == (3_630_000, "later1 ")


@pytest.mark.flarebed(vars={"COLOUR": {"name": "blue"}, "MORE": "x"})
def test_variables_of_the_marker(flarebed_sync: SyncWorker) -> None:
    assert json.loads(json.dumps(flarebed_sync.env.COLOUR.to_py())) == {"name": "blue"}
    assert flarebed_sync.env.MORE == "x"


def test_what_goes_on_for_ever_says_so(flarebed_sync: SyncWorker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flarebed.emulator.testing.session._PATIENCE_MOVES", 1)
    with flarebed_sync.introspect_workflow_instance("FLOW", "i") as instance:
        flarebed_sync.env.FLOW.create(id="i")
        text = (
            r"Status 'complete' of instance \"i\" did not come: things go on without end, after 1 timers and until "
            r"2026-01-02T00:00:00\.000Z\."
        )
        with pytest.raises(StuckError, match=text):
            instance.wait_for_status("complete")


def test_what_can_never_come_says_so(flarebed_sync: SyncWorker) -> None:
    with (
        flarebed_sync.introspect_workflow_instance("FLOW", "nobody") as instance,
        pytest.raises(StuckError, match="Status 'complete' of instance \"nobody\" can never come: nothing is left"),
    ):
        instance.wait_for_status("complete")
