"""Bindings, seeds, snapshots, faults, randomness and the world outside, from a test."""

from __future__ import annotations

import random
from collections.abc import Callable

import httpx
import pytest

from flarebed.bindings.errors import UserError
from flarebed.emulator.testing import SyncWorker
from flarebed.emulator.testing.mocks import IntrospectionError
from tests.emulator.testing.languages import in_both


@in_both
def test_bindings_give_what_a_worker_gets(flarebed_sync: SyncWorker) -> None:
    env = flarebed_sync.env
    assert flarebed_sync.apply_d1_migrations() == ["0001_rows.sql"]
    assert flarebed_sync.apply_d1_migrations("DB") == []
    insert = env.DB.prepare("INSERT INTO rows (text) VALUES (?) RETURNING id")
    assert [answer.results[0].id for answer in env.DB.batch([insert.bind("a"), insert.bind("b")])] == [1, 2]
    assert env.DB.prepare("SELECT text FROM rows WHERE id = ?").bind(2).first("text") == "b"
    env.KV.put("key", "value", metadata={"a": 1})
    assert env.KV.getWithMetadata("key").metadata == {"a": 1}
    assert env.KV.get("nothing") is None
    with pytest.raises(Exception, match="no such table: nowhere"):
        env.DB.prepare("SELECT * FROM nowhere").all()
    with pytest.raises(AttributeError, match="NOTHING"):
        _ = env.NOTHING


@in_both
def test_seeds(flarebed_sync: SyncWorker, language: str) -> None:
    flarebed_sync.apply_d1_migrations()
    flarebed_sync.seed(DB="seed.sql", KV="seed.json", JOBS=["ack", {"n": 1}])
    flarebed_sync.seed(DB="INSERT INTO rows (text) VALUES ('three')", KV=[{"key": "k", "value": "v", "metadata": 1}])
    assert flarebed_sync.env.DB.prepare("SELECT count(*) AS n FROM rows").first("n") == 3
    assert [flarebed_sync.env.KV.get(key) for key in ("plain", "data", "k")] == ["text", '{"n": 1}', "v"]
    flarebed_sync.drain()
    body = {"python": "{'n': 1}", "typescript": '{"n":1}'}[language]
    assert flarebed_sync.env.KV.get("seen") == f"ack1 {body}1 "
    with pytest.raises(UserError, match="no such table: nowhere"):
        flarebed_sync.seed(DB="INSERT INTO nowhere VALUES (1)")


@in_both
def test_a_snapshot_goes_on_where_it_was(flarebed_sync: SyncWorker) -> None:
    flarebed_sync.env.FLOW.create(id="i")
    flarebed_sync.env.JOBS.send("job")
    flarebed_sync.clock.advance("2 hours")
    flarebed_sync.env.KV.delete("seen")
    flarebed_sync.env.JOBS.send("late")
    before = flarebed_sync.snapshot()
    for _ in range(2):
        flarebed_sync.clock.advance("3 days")
        assert flarebed_sync.env.FLOW.get("i").status()["status"] == "complete"
        assert flarebed_sync.env.KV.get("seen") == "late1 "
        flarebed_sync.restore(before)
        assert flarebed_sync.clock.now_ms() == before.now_ms
        assert flarebed_sync.env.FLOW.get("i").status()["status"] in ("queued", "running", "waiting")
        assert flarebed_sync.env.KV.get("seen") is None


@in_both
def test_a_failing_step_is_tried_again(flarebed_sync: SyncWorker, language: str) -> None:
    flarebed_sync.faults.fail_step("FLOW", "work", RuntimeError("no"), after=True)
    with flarebed_sync.introspect_workflow_instance("FLOW", "i") as instance:
        flarebed_sync.env.FLOW.create(id="i")
        assert instance.wait_for_step_result("work") == {"made": True}
        assert flarebed_sync.env.KV.get("worked") == "yes"
        thrown = {"python": "PythonError: RuntimeError: no", "typescript": "Error: no"}[language]
        assert f"Uncaught {thrown}\n" in flarebed_sync.logs[0][1]


def test_a_binding_fails_as_often_as_asked(flarebed_sync: SyncWorker) -> None:
    flarebed_sync.faults.fail_binding("KV.put", times=1)
    flarebed_sync.faults.fail_binding("DB", "D1_ERROR: overloaded")
    with pytest.raises(Exception, match=r"Network connection lost\."):
        flarebed_sync.env.KV.put("a", "1")
    flarebed_sync.env.KV.put("a", "2")
    with pytest.raises(Exception, match="D1_ERROR: overloaded"):
        flarebed_sync.env.DB.prepare("SELECT ?").bind(1).first()
    assert flarebed_sync.env.DB.prepare("SELECT ? AS n").bind(1).first("n") == 1
    flarebed_sync.faults.fail_binding("KV.put", after=True)
    with pytest.raises(Exception, match=r"Network connection lost\."):
        flarebed_sync.env.KV.put("a", "3")
    assert flarebed_sync.env.KV.get("a") == "3"
    with pytest.raises(UserError, match='There is no binding "NO"'):
        flarebed_sync.faults.fail_binding("NO.put")


@in_both
def test_a_batch_comes_twice(flarebed_sync: SyncWorker) -> None:
    flarebed_sync.faults.deliver_twice("jobs")
    flarebed_sync.env.JOBS.send("ack")
    flarebed_sync.env.JOBS.send("ack")
    flarebed_sync.drain()
    assert flarebed_sync.env.KV.get("seen") == "ack1 ack1 ack2 ack2 "


def ids(flarebed_sync: SyncWorker) -> list[object]:
    found: list[object] = [*flarebed_sync.fetch("/random").json(), flarebed_sync.env.FLOW.create().id]
    return found


@pytest.mark.flarebed(seed=7)
def test_a_seed_makes_randomness_repeatable(flarebed_sync: SyncWorker) -> None:
    before = random.getstate()
    start = flarebed_sync.snapshot()
    first = ids(flarebed_sync)
    assert len({str(each) for each in first}) == 5
    flarebed_sync.restore(start)
    assert ids(flarebed_sync) == first
    assert random.getstate() == before


def test_without_a_seed_it_is_random(flarebed_sync: SyncWorker) -> None:
    assert ids(flarebed_sync) != ids(flarebed_sync)


@pytest.mark.flarebed(kv_consistency="eventual")
def test_kv_is_eventually_consistent_on_request(flarebed_sync: SyncWorker) -> None:
    assert flarebed_sync.env.KV.get("key") is None
    flarebed_sync.env.KV.put("key", "value")
    before = flarebed_sync.snapshot()
    flarebed_sync.clock.advance("59 seconds")
    assert flarebed_sync.env.KV.get("key") is None
    flarebed_sync.clock.advance("1 second")
    assert flarebed_sync.env.KV.get("key") == "value"
    flarebed_sync.env.KV.delete("key")
    flarebed_sync.clock.advance("1 minute")
    assert flarebed_sync.env.KV.get("key") is None
    flarebed_sync.restore(before)
    assert flarebed_sync.env.KV.get("key") == "value"


@in_both
@pytest.mark.flarebed(outbound="refuse")
def test_the_world_outside(flarebed_sync: SyncWorker) -> None:
    outbound = flarebed_sync.outbound
    outbound.mock("api.example.com", lambda request: {"path": request.url.path})
    outbound.mock("https://api.example.com/teapot", 418)
    outbound.mock("slow.example.com", httpx.ReadTimeout("slow"))
    assert flarebed_sync.fetch("/out?https://api.example.com/a").json() == {"path": "/a"}
    assert flarebed_sync.fetch("/out?https://api.example.com/teapot").status == 418
    for url in ("https://slow.example.com/", "https://other.example.com/"):
        with pytest.raises(Exception, match=r"Network connection lost\."):
            flarebed_sync.fetch(f"/out?{url}")
    assert ("error", "Refused an outbound request that no mock answers: GET https://other.example.com/") in (
        flarebed_sync.logs
    )
    assert [str(call.url) for call in outbound.calls][:2] == [
        "https://api.example.com/a",
        "https://api.example.com/teapot",
    ]


@pytest.mark.flarebed(outbound="refuse")
def test_httpx_in_the_worker_goes_by_fetch(flarebed_sync: SyncWorker) -> None:
    outbound = flarebed_sync.outbound
    outbound.mock(
        "api.example.com",
        lambda request: {"path": request.url.path, "got": request.content.decode()},
    )
    before = flarebed_sync.clock.now()
    assert flarebed_sync.fetch("/httpx?https://api.example.com/a").json() == {"path": "/a", "got": '{"n":1}'}
    assert flarebed_sync.fetch("/httpx-now?https://api.example.com/b").json() == {"path": "/b", "got": ""}
    assert flarebed_sync.clock.now() == before
    with pytest.raises(httpx.ConnectError, match=r"Network connection lost\."):
        flarebed_sync.fetch("/httpx?https://other.example.com/")
    assert [call.method for call in outbound.calls] == ["POST", "GET", "POST"]


def test_names_that_mean_nothing_are_refused(flarebed_sync: SyncWorker) -> None:
    with pytest.raises(UserError, match=r'"KV" has no method "nope"'):
        flarebed_sync.faults.fail_binding("KV.nope")
    with pytest.raises(UserError, match="is no answer to a request"):
        flarebed_sync.outbound.mock("a.example.com", object())  # type: ignore[arg-type]
    with pytest.raises(IntrospectionError, match='"bogus" is no status of an instance'):
        flarebed_sync.introspect_workflow_instance("FLOW", "i").wait_for_status("bogus")


def test_an_origin_is_mocked_as_a_host_is(flarebed_sync: SyncWorker) -> None:
    flarebed_sync.outbound.mock("http://127.0.0.1:8960", {"mocked": True})
    assert flarebed_sync.fetch("/out?http://127.0.0.1:8960/a/b").json() == {"mocked": True}


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (lambda worker: worker.faults.deliver_twice("jobz"), 'The Worker consumes no queue "jobz".'),
        (lambda worker: worker.seed(NOPE=["a"]), 'There is no binding "NOPE".'),
        (lambda worker: worker.seed(KV=5), '"KV" can\'t be filled with 5.'),
        (lambda worker: worker.queue("jobs", "abc"), "The messages of a batch are a list, not 'abc'."),
    ],
)
def test_what_can_not_be_meant_is_refused(
    flarebed_sync: SyncWorker, asked: Callable[[SyncWorker], object], text: str
) -> None:
    with pytest.raises(UserError) as refused:
        asked(flarebed_sync)
    assert refused.value.message == text
