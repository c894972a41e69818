"""What a Worker sees of Workflows: `env.FLOW`, the instances it gives, and the `step` of a run.

The classes have the names that workerd's and wrangler's have: the SDK looks at them. Arguments are checked here as
Cloudflare's engine does it (workers-sdk packages/workflows-shared/src/{binding,context}.ts, lib/validators.ts).
"""

from __future__ import annotations

import math
import re
import uuid
from collections.abc import Callable
from typing import Any

from flarebed.bindings.ecma import to_number, to_string
from flarebed.bindings.values import UNDEFINED, Date
from flarebed.bindings.workflows import errors, retry, rollback, step
from flarebed.bindings.workflows.duration import to_ms
from flarebed.bindings.workflows.journal import RestartPoint, Retention
from flarebed.bindings.workflows.run import Run
from flarebed.bindings.workflows.subscription import WorkflowSubscription
from flarebed.bindings.workflows.workflow import Workflow

MAX_STEP_NAME = 256
MAX_BATCH = 100
_ID = re.compile(r"[a-zA-Z0-9_][a-zA-Z0-9_-]{0,99}")
_ADDRESSABLE_ID = re.compile(r"[a-zA-Z0-9, */#_-]{1,271}")
"""Also that of an instance which a schedule created."""
_RESERVED_ID = re.compile(r"batch|terminate|terminateAll|cf_[0-9a-f]{64}")
_CONTROL = re.compile(r"[\x00-\x1f]")
_RESTART_KINDS = {"do": "do", "sleep": "sleep", "waitForEvent": "wait"}


_TAG = "Object"
"""Classes that workerd has in JavaScript (src/cloudflare/internal/workflows-api.ts): String() is [object Object]."""


class WorkflowImpl:
    """https://developers.cloudflare.com/workflows/build/workers-api/#workflow"""

    js_tag = _TAG

    def __init__(self, workflow: Workflow) -> None:
        self._workflow = workflow

    def own_properties(self) -> dict[str, Any]:
        return {"binding": {}}

    async def create(self, options: Any = UNDEFINED) -> InstanceImpl:
        instance_id, params, kept = _wanted(options)
        if not _is_id(instance_id):
            raise errors.invalid_id()
        if not (await self._workflow.create([(instance_id, params, kept)]))[0]:
            raise errors.already_exists(instance_id)
        return InstanceImpl(instance_id, self._workflow)

    async def createBatch(self, batch: Any = UNDEFINED) -> Any:
        """An array gives the instances that are new; an object `{created, errors}`."""
        if isinstance(batch, dict):
            return await self._create_batch_object(batch)
        if not isinstance(batch, list):
            raise errors.workflow_error("(body) Provided argument is invalid")
        if not batch:
            raise errors.workflow_error("batchCreate should have at least 1 instance")
        if len(batch) > MAX_BATCH:
            raise errors.workflow_error("batchCreate only supports 100 instances at a time")
        wanted = [_wanted(options) for options in batch]
        if not all(_is_id(instance_id) for instance_id, *_ in wanted):
            raise errors.invalid_id()
        created = await self._workflow.create(wanted)
        return [self._handle(want) for want, new in zip(wanted, created, strict=True) if new]

    async def get(self, id: Any = UNDEFINED) -> InstanceImpl:
        return InstanceImpl(self._workflow.instance(to_string(id)).id, self._workflow)

    async def deleteBatch(self, ids: Any = UNDEFINED) -> dict[str, Any]:
        if not isinstance(ids, list):
            raise errors.workflow_error("(body) Provided argument is invalid")
        if len(ids) > MAX_BATCH:
            raise errors.workflow_error("(body) batchDeleteInstances only supports 100 instances at a time")
        if not ids:
            raise errors.workflow_error("(body) batchDeleteInstances should have at least 1 instance")
        if not all(_is_addressable(instance_id) for instance_id in ids):
            raise errors.reserved_id()
        gone = {instance_id: await self._workflow.delete(instance_id) for instance_id in dict.fromkeys(ids)}
        return {
            "deleted": [{"id": instance_id} for instance_id in ids if gone[instance_id]],
            "errors": [_batch_error(errors.NOT_FOUND, id=instance_id) for instance_id in ids if not gone[instance_id]],
        }

    async def _create_batch_object(self, batch: dict[str, Any]) -> dict[str, Any]:
        wanted = _wanted_batch(batch)
        if not all(_is_id(instance_id) and not _RESERVED_ID.fullmatch(instance_id) for instance_id, *_ in wanted):
            raise errors.reserved_id()
        first_of = {instance_id: index for index, (instance_id, *_) in reversed(list(enumerate(wanted)))}
        created = await self._workflow.create(wanted)
        refused = [
            _batch_error(
                errors.ALREADY_EXISTS if first_of[instance_id] == index else errors.DUPLICATE_IN_BATCH,
                index=index,
                id=instance_id,
            )
            for index, (instance_id, *_) in enumerate(wanted)
            if not created[index]
        ]
        handles = [self._handle(want) for want, new in zip(wanted, created, strict=True) if new]
        return {"created": handles, "errors": refused}

    def _handle(self, wanted: tuple[str, Any, Retention]) -> InstanceImpl:
        return InstanceImpl(wanted[0], self._workflow)


class InstanceImpl:
    """https://developers.cloudflare.com/workflows/build/workers-api/#workflowinstance"""

    js_tag = _TAG

    def __init__(self, id: str, workflow: Workflow) -> None:
        self.id = id
        self._workflow = workflow

    def own_properties(self) -> dict[str, Any]:
        return {"id": self.id, "binding": {}}

    async def status(self) -> dict[str, Any]:
        return await self._workflow.status(self.id)

    async def pause(self) -> Any:
        """At once, or when the attempts in progress are over; of no effect on an instance at its end."""
        await self._workflow.pause(self.id)
        return UNDEFINED

    async def resume(self) -> Any:
        """What was ahead when the instance was paused is as far ahead again."""
        await self._workflow.resume(self.id)
        return UNDEFINED

    async def terminate(self, options: Any = UNDEFINED) -> Any:
        """`{rollback: true}` rolls back first, and returns after that."""
        roll_back = isinstance(options, dict) and options.get("rollback") is True
        await self._workflow.terminate(self.id, roll_back=roll_back)
        return UNDEFINED

    async def restart(self, options: Any = UNDEFINED) -> Any:
        """From the beginning, or `{from: {name, count, type}}`: with what was recorded before that step."""
        since = options.get("from") if isinstance(options, dict) else None
        await self._workflow.restart(self.id, _restart_point(since) if _truthy(since) else None)
        return UNDEFINED

    async def sendEvent(self, event: Any = UNDEFINED) -> Any:
        self._workflow.instance(self.id)
        if event is UNDEFINED or event is None:
            raise errors.unreadable(event, "payload")
        fields = event if isinstance(event, dict) else {}
        event_type = _event_type(fields)
        await self._workflow.send_event(self.id, event_type, fields.get("payload", UNDEFINED))
        return UNDEFINED

    async def subscribe(self, options: Any = UNDEFINED) -> WorkflowSubscription:
        """`{cursor, filter}`: what has happened after the event `cursor`, and what happens from now on."""
        return WorkflowSubscription(self.id, self._workflow, options)

    async def delete(self) -> Any:
        if not _is_addressable(self.id):
            raise errors.reserved_id()
        if not await self._workflow.delete(self.id):
            raise errors.nothing_to_delete()
        return UNDEFINED


class JsRpcStub:
    """The `step` of a run: https://developers.cloudflare.com/workflows/build/workers-api/#workflowstep

    The class has workerd's name for what stands for an object of another service (api/worker-rpc.h).
    """

    def __init__(self, run: Run) -> None:
        self._run = run

    async def do(
        self, name: Any = UNDEFINED, config: Any = UNDEFINED, callback: Any = UNDEFINED, options: Any = UNDEFINED
    ) -> Any:
        """`do(name, [config], callback, [{rollback, rollbackConfig}])`: what the callback returned, now or earlier."""
        if callable(config):
            config, callback, options = {}, config, callback
        elif not callable(callback):
            raise errors.no_callback(to_string(name))
        undo = None if options is UNDEFINED else rollback.parse(to_string(name), options)
        step.admit(self._run)
        text = _step_name(name)
        if config is UNDEFINED or config is None:
            config = {}
        if not retry.is_valid(config):
            raise errors.invalid_step_config(text)
        with self._run.unless_lost():
            return await step.do(self._run, text, config, callback, undo)

    async def sleep(self, name: Any = UNDEFINED, duration: Any = UNDEFINED) -> Any:
        """A number is milliseconds, a text such as "10 minutes" a duration."""
        if duration is UNDEFINED or duration is None:
            raise errors.unreadable(duration, "toString")
        with self._run.unless_lost():
            await step.sleep(self._run, to_string(name), lambda now_ms: now_ms + to_ms(duration))
        return UNDEFINED

    async def sleepUntil(self, name: Any = UNDEFINED, timestamp: Any = UNDEFINED) -> Any:
        """A Date, or milliseconds since the epoch."""
        with self._run.unless_lost():
            await step.sleep(self._run, to_string(name), lambda now_ms: _in_the_future(timestamp, now_ms))
        return UNDEFINED

    async def waitForEvent(self, name: Any = UNDEFINED, options: Any = UNDEFINED) -> Any:
        """`{type, timeout = "24 hours"}` gives `{payload, type, timestamp}`."""
        if options is UNDEFINED or options is None:
            raise errors.unreadable(options, "timeout")
        fields = options if isinstance(options, dict) else {}
        event_type = _event_type(fields)
        with self._run.unless_lost():
            return await step.wait_for_event(self._run, to_string(name), event_type, _timeout(fields))

    @property
    def outstanding(self) -> Callable[[], int] | None:
        """See `dispatch.WorkflowStep`."""
        return self._run.outstanding

    @outstanding.setter
    def outstanding(self, count: Callable[[], int] | None) -> None:
        self._run.outstanding = count

    @property
    def release(self) -> Callable[[], object] | None:
        return self._run.release

    @release.setter
    def release(self, release: Callable[[], object] | None) -> None:
        self._run.release = release


def _wanted(options: Any) -> tuple[Any, Any, Retention]:
    """The id (not checked yet), params and retention of an instance to be created."""
    if options is None:
        raise errors.unreadable(options, "id")
    fields = options if isinstance(options, dict) else {}
    instance_id, params = fields.get("id", UNDEFINED), fields.get("params", UNDEFINED)
    return (
        str(uuid.uuid4()) if instance_id is UNDEFINED else instance_id,
        {} if params is UNDEFINED else params,
        _retention(fields.get("retention", UNDEFINED)),
    )


def _retention(given: Any) -> Retention:
    """`{successRetention, errorRetention}`, each milliseconds or a text such as "3 days"."""
    if given is UNDEFINED or given is None:
        return Retention()
    if not isinstance(given, dict):
        raise errors.workflow_error("(body) Provided argument is invalid")
    return Retention(*(_kept_ms(given.get(key, UNDEFINED)) for key in ("successRetention", "errorRetention")))


def _kept_ms(duration: Any) -> float | None:
    if duration is UNDEFINED or duration is None:
        return None
    kept_ms = to_ms(duration) if isinstance(duration, str | int | float) and not isinstance(duration, bool) else 0
    if not 0 < kept_ms < math.inf:
        raise errors.invalid_duration()
    return kept_ms


def _wanted_batch(batch: dict[str, Any]) -> list[tuple[Any, Any, Retention]]:
    instances, count = batch.get("instances", UNDEFINED), batch.get("count", UNDEFINED)
    if isinstance(instances, list) and count is UNDEFINED:
        if not 0 < len(instances) <= MAX_BATCH:
            raise errors.workflow_error("(body) Batch size exceeds maximum allowed")
        for options in instances:
            if not isinstance(options, dict):
                raise errors.not_an_object(options)
        return [_wanted(options) for options in instances]
    if count is UNDEFINED:
        raise errors.workflow_error("(body) Provided argument is invalid")
    if not isinstance(count, int | float) or isinstance(count, bool) or not count > 0 or count % 1:
        raise errors.workflow_error("(body) count must be a positive integer")
    if count > MAX_BATCH:
        raise errors.workflow_error("(body) batchCreate only supports 100 instances at a time")
    every = {key: value for key, value in batch.items() if key in ("params", "retention")}
    return [_wanted(every) for _ in range(int(count))]


def _batch_error(kind: tuple[int, str], **where: Any) -> dict[str, Any]:
    code, message = kind
    return {**where, "code": code, "message": message}


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def _is_addressable(value: Any) -> bool:
    return isinstance(value, str) and _ADDRESSABLE_ID.fullmatch(value) is not None


def _restart_point(since: Any) -> RestartPoint:
    """What names no step is looked for all the same, and not found."""
    fields = since if isinstance(since, dict) else {}
    kind, count = (_given(fields, key, default) for key, default in (("type", "do"), ("count", 1)))
    is_whole = isinstance(count, int | float) and not isinstance(count, bool) and count % 1 == 0
    return RestartPoint(
        _RESTART_KINDS.get(to_string(kind), ""), to_string(fields.get("name", UNDEFINED)), int(count) if is_whole else 0
    )


def _given(fields: dict[str, Any], key: str, default: Any) -> Any:
    """fields[key] ?? default"""
    value = fields.get(key)
    return default if value is None or value is UNDEFINED else value


def _event_type(fields: dict[str, Any]) -> str:
    """It has the form of an id: https://developers.cloudflare.com/workflows/build/workers-api/"""
    event_type = fields.get("type", UNDEFINED)
    if not _is_id(event_type):
        raise errors.invalid_event_type(to_string(event_type))
    return str(event_type)


def _truthy(value: Any) -> bool:
    """Boolean(value)"""
    if isinstance(value, int | float | str):
        return bool(value) and value == value
    return value is not None and value is not UNDEFINED


def _timeout(fields: dict[str, Any]) -> Any:
    timeout = fields.get("timeout", UNDEFINED)
    return timeout if _truthy(timeout) else "24 hours"


def _step_name(name: Any) -> str:
    if name is UNDEFINED or name is None:
        raise errors.unreadable(name, "length")
    text = to_string(name)
    units = len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
    if units > MAX_STEP_NAME or _CONTROL.search(text):
        raise errors.invalid_step_name(text)
    return text


def _in_the_future(timestamp: Any, now_ms: float) -> float:
    when_ms = timestamp.ms if isinstance(timestamp, Date) else to_number(timestamp)
    if when_ms < now_ms:
        raise errors.time_traveler()
    return when_ms
