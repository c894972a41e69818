"""The binding: creating, finding and deleting instances, and what is shown of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.errors import JsError
from flarebed.bindings.values import UNDEFINED, ArrayBuffer, BigInt, Date, Map, Set, View
from tests.bindings.workflows.life import START_MS, Life, returning, run_one, thrown
from tests.support import run

INVALID = ("Error", "WorkflowError: Workflow instance has invalid id")
RESERVED = ("Error", "WorkflowError: (instance.invalid_id) Instance ID is invalid")
HEX64 = "0123456789abcdef" * 4


async def payload(event: Any, step: Any) -> Any:
    return event["payload"]


async def sleeping(event: Any, step: Any) -> None:
    await step.sleep("long", "1 hour")


def test_an_instance_runs_and_ends(tmp_path: Path) -> None:
    shown = run(run_one(tmp_path, payload, {"x": 1, "n": None, "l": [1, 2.5]}))
    assert list(shown.items()) == [
        ("status", "complete"),
        ("__LOCAL_DEV_STEP_OUTPUTS", []),
        ("output", {"x": 1, "n": None, "l": [1, 2.5]}),
        ("error", UNDEFINED),
    ]


def test_the_event(tmp_path: Path) -> None:
    async def keys(event: Any, step: Any) -> Any:
        return [*map(list, event.items())]

    shown = run(run_one(tmp_path, keys, "p", start_ms=START_MS + 7.9))
    assert shown["output"] == [
        ["timestamp", "2026-01-01T00:00:00.007Z"],
        ["payload", "p"],
        ["instanceId", "i"],
        ["workflowName", "flow"],
    ]


def test_create_without_arguments(tmp_path: Path) -> None:
    async def check() -> None:
        life = await Life.owning(tmp_path, payload)
        instance = await life.flow.create()
        assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", instance.id)
        await life.settle()
        assert await life.outcome(instance.id) == ("complete", {})
        assert life.worker.class_names == ["Flow"]
        await life.end()

    run(check())


def test_an_instance_is_there_when_create_returns_and_queued_without_an_owner(tmp_path: Path) -> None:
    async def check() -> None:
        life = Life(tmp_path, payload)
        rings: list[tuple[str, str]] = []
        life.bench.store.doorbell = lambda kind, resource: rings.append((kind, resource))
        await life.flow.create({"id": "i"})
        assert rings == [("workflows", "flow")]
        life.kill()
        later = await Life.owning(tmp_path, payload)
        assert await later.outcome() == ("queued", None)
        await later.settle()
        assert await later.outcome() == ("complete", {})
        await later.end()

    run(check())


@pytest.mark.parametrize("instance_id", ["bad id!", "", "-x", "a.b", "a b/c", "x" * 101, 5, None])
def test_invalid_ids(tmp_path: Path, instance_id: Any) -> None:
    async def check() -> None:
        life = Life(tmp_path, payload)
        assert await thrown(life.flow.create({"id": instance_id})) == INVALID
        assert await thrown(life.flow.createBatch([{"id": "fine"}, {"id": instance_id}])) == INVALID
        assert await thrown(life.flow.createBatch({"instances": [{"id": instance_id}]})) == RESERVED
        assert await thrown(life.flow.get("fine")) == ("Error", "instance.not_found")

    run(check())


def test_the_longest_id_is_valid(tmp_path: Path) -> None:
    async def check() -> None:
        assert (await Life(tmp_path, payload).flow.create({"id": "_" + "x-" * 49 + "9"})).id == "_" + "x-" * 49 + "9"

    run(check())


def test_a_taken_id(tmp_path: Path) -> None:
    async def check() -> None:
        life = await Life.owning(tmp_path, payload)
        await life.flow.create({"id": "a", "params": 1})
        message = 'WorkflowError: (instance.already_exists) Workflow instance with id "a" already exists'
        assert await thrown(life.flow.create({"id": "a", "params": 2})) == ("Error", message)
        batch = await life.flow.createBatch([{"id": "b"}, {"id": "b"}, {"id": "a"}])
        assert [instance.id for instance in batch] == ["b"]
        await life.settle()
        assert await life.outcome("a") == ("complete", 1)
        assert life.worker.class_names == ["Flow", "Flow"]
        await life.end()

    run(check())


def test_params_of_more_than_a_mebibyte_are_refused(tmp_path: Path) -> None:
    async def check() -> None:
        life = Life(tmp_path, payload)
        await life.flow.create({"id": "fits", "params": "x" * (2**20 - 100)})
        large = {"id": "i", "params": "x" * 2**20}
        message = "WorkflowError: The payload of a Workflow instance is too large. Maximum allowed size is 1MiB."
        error = ("Error", message)
        assert await thrown(life.flow.create(large)) == error
        assert await thrown(life.flow.createBatch([{"id": "a"}, large])) == error
        assert await thrown(life.flow.createBatch({"instances": [{"id": "a"}, large]})) == error
        assert await thrown(life.flow.get("a")) == ("Error", "instance.not_found")

    run(check())


def test_batch_as_an_object(tmp_path: Path) -> None:
    async def check() -> None:
        life = Life(tmp_path, payload)
        await life.flow.create({"id": "a"})
        result = await life.flow.createBatch({"instances": [{"id": "b"}, {"id": "a"}, {"id": "b"}, {"id": "c"}]})
        assert [instance.id for instance in result["created"]] == ["b", "c"]
        assert result["errors"] == [
            {"index": 1, "id": "a", "code": 10405, "message": "workflows.api.error.instance.already_exists"},
            {"index": 2, "id": "b", "code": 10415, "message": "workflows.api.error.instance.duplicate_in_batch"},
        ]
        counted = await life.flow.createBatch({"count": 3, "params": {"n": 1}})
        assert len({instance.id for instance in counted["created"]}) == 3
        assert counted["errors"] == []

    run(check())


@pytest.mark.parametrize(
    ("batch", "name", "message"),
    [
        ([], "Error", "WorkflowError: batchCreate should have at least 1 instance"),
        ([{}] * 101, "Error", "WorkflowError: batchCreate only supports 100 instances at a time"),
        ({"instances": []}, "Error", "WorkflowError: (body) Batch size exceeds maximum allowed"),
        ({"instances": [{}] * 101}, "Error", "WorkflowError: (body) Batch size exceeds maximum allowed"),
        ({"count": 0}, "Error", "WorkflowError: (body) count must be a positive integer"),
        ({"count": -1}, "Error", "WorkflowError: (body) count must be a positive integer"),
        ({"count": 1.5}, "Error", "WorkflowError: (body) count must be a positive integer"),
        ({"count": "3"}, "Error", "WorkflowError: (body) count must be a positive integer"),
        ({"count": 101}, "Error", "WorkflowError: (body) batchCreate only supports 100 instances at a time"),
        ({"instances": [{"id": "batch"}]}, *RESERVED),
        ({"instances": [{"id": "terminate"}]}, *RESERVED),
        ({"instances": [{"id": "terminateAll"}]}, *RESERVED),
        ({"instances": [{"id": f"cf_{HEX64}"}]}, *RESERVED),
        (UNDEFINED, "Error", "WorkflowError: (body) Provided argument is invalid"),
        (None, "Error", "WorkflowError: (body) Provided argument is invalid"),
        (5, "Error", "WorkflowError: (body) Provided argument is invalid"),
    ],
)
def test_bad_batches(tmp_path: Path, batch: Any, name: str, message: str) -> None:
    async def check() -> None:
        assert await thrown(Life(tmp_path, payload).flow.createBatch(batch)) == (name, message)

    run(check())


def test_reserved_ids_are_refused_in_the_object_form_only(tmp_path: Path) -> None:
    async def check() -> None:
        life = Life(tmp_path, payload)
        assert (await life.flow.create({"id": "batch"})).id == "batch"
        assert [instance.id for instance in await life.flow.createBatch([{"id": "terminate"}])] == ["terminate"]

    run(check())


def test_params_that_cannot_be_cloned_leave_nothing(tmp_path: Path) -> None:
    async def check() -> None:
        life = Life(tmp_path, payload)
        assert (await thrown(life.flow.create({"id": "i", "params": {"f": returning(1)}})))[0] == "DataCloneError"
        assert await thrown(life.flow.get("i")) == ("Error", "instance.not_found")

    run(check())


def test_params_are_cloned(tmp_path: Path) -> None:
    async def check() -> None:
        life = await Life.owning(tmp_path, payload)
        params = {"list": [1]}
        await life.flow.create({"id": "i", "params": params})
        params["list"].append(2)
        await life.settle()
        assert await life.outcome() == ("complete", {"list": [1]})
        await life.end()

    run(check())


@pytest.mark.parametrize("method", ["status", "pause", "resume", "terminate", "restart", "sendEvent"])
def test_methods_on_a_deleted_instance(tmp_path: Path, method: str) -> None:
    async def check() -> None:
        life = Life(tmp_path, payload)
        instance = await life.flow.create({"id": "i"})
        await instance.delete()
        with pytest.raises(JsError) as caught:
            await getattr(instance, method)()
        assert str(caught.value) == "Error: instance.not_found"
        assert caught.value.properties == {"remote": True}
        missing = ("Error", "WorkflowError: (instance.not_found) Instance does not exist")
        assert await thrown(instance.delete()) == missing

    run(check())


def test_delete_stops_the_run_and_frees_the_id(tmp_path: Path) -> None:
    async def check() -> None:
        life = await Life.owning(tmp_path, sleeping)
        instance = await life.flow.create({"id": "i"})
        await life.settle()
        await instance.delete()
        await life.settle()
        life.worker.body = payload
        await life.flow.create({"id": "i", "params": "new"})
        await life.settle()
        assert await life.outcome() == ("complete", "new")
        await life.end()

    run(check())


def test_delete_batch(tmp_path: Path) -> None:
    async def check() -> None:
        life = Life(tmp_path, payload)
        await life.flow.createBatch([{"id": "a"}, {"id": "b"}])
        gone = {"code": 10400, "message": "workflows.api.error.instance.not_found"}
        assert await life.flow.deleteBatch(["a", "zz", "a", "zz"]) == {
            "deleted": [{"id": "a"}, {"id": "a"}],
            "errors": [{"id": "zz", **gone}, {"id": "zz", **gone}],
        }
        assert (await life.flow.get("b")).id == "b"

    run(check())


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (UNDEFINED, "(body) Provided argument is invalid"),
        ([], "(body) batchDeleteInstances should have at least 1 instance"),
        (["a"] * 101, "(body) batchDeleteInstances only supports 100 instances at a time"),
        (["invalid!"], "(instance.invalid_id) Instance ID is invalid"),
        (["x" * 272], "(instance.invalid_id) Instance ID is invalid"),
    ],
)
def test_bad_delete_batches(tmp_path: Path, ids: Any, message: str) -> None:
    async def check() -> None:
        error = await thrown(Life(tmp_path, payload).flow.deleteBatch(ids))
        assert error == ("Error", f"WorkflowError: {message}")

    run(check())


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, None),
        (UNDEFINED, None),
        (2, 2),
        (True, True),
        (float("nan"), None),
        ("text", "text"),
        (BigInt(1152921504606846976), "[BigInt(1152921504606846976)]"),
        (View(ArrayBuffer(b"abc")), "[Uint8Array(3 bytes)]"),
        (View(ArrayBuffer(b"abcd"), "Int16Array"), "[Int16Array(4 bytes)]"),
        (View(ArrayBuffer(b"abcd"), "DataView"), {}),
        (ArrayBuffer(b"ab"), "[ArrayBuffer(2 bytes)]"),
        (Date(1_577_836_800_000), "2020-01-01T00:00:00.000Z"),
        (Date(float("nan")), None),
        (Map([(1, 2)]), {}),
        ({"a": Set([1, 2]), "b": UNDEFINED, "c": [UNDEFINED, BigInt(5)]}, {"a": {}, "c": [None, "[BigInt(5)]"]}),
    ],
)
def test_results_are_shown_as_json_describes_them(tmp_path: Path, value: Any, shown: Any) -> None:
    async def twice(event: Any, step: Any) -> Any:
        return await step.do("s", returning(value))

    status = run(run_one(tmp_path, twice))
    assert (status["status"], status["output"]) == ("complete", shown)
    assert status["__LOCAL_DEV_STEP_OUTPUTS"] == [UNDEFINED if value is UNDEFINED else shown]


def test_a_sensitive_output_is_not_shown(tmp_path: Path) -> None:
    async def secret(event: Any, step: Any) -> Any:
        return len(await step.do("s", {"sensitive": "output"}, returning("secret")))

    status = run(run_one(tmp_path, secret))
    assert (status["output"], status["__LOCAL_DEV_STEP_OUTPUTS"]) == (6, ["[REDACTED]"])


def test_a_class_that_the_worker_does_not_export_is_named_at_once(tmp_path: Path) -> None:
    async def check() -> None:
        life = Life(tmp_path, payload)
        life.worker.exported = frozenset({"Other"})
        await life.resources.own()
        assert life.bench.logged == [
            (
                "warn",
                "Your Worker depends on the following Workflows, which are not exported in your entrypoint file: Flow.",
            )
        ]
        await life.end()

    run(check())
