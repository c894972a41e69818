"""A workflow from outside of a Worker: what the command line, or any other tool, sees of it and does to its instances.

Any process may do so: it writes to the journal, and rings for the one that runs the instances. Names, forms and texts
are those of wrangler's local API (miniflare's workers/local-explorer/resources/workflows.ts, wrangler 4.164).
"""

from __future__ import annotations

from functools import partial
from typing import Any

from flarebed.bindings.ecma_date import date_to_iso
from flarebed.bindings.errors import JsError
from flarebed.bindings.kind import Surroundings
from flarebed.bindings.values import UNDEFINED
from flarebed.bindings.workflows import errors, view
from flarebed.bindings.workflows.binding import InstanceImpl, JsRpcStub, WorkflowImpl
from flarebed.bindings.workflows.history import Stage
from flarebed.bindings.workflows.journal import SCHEMA, Instance
from flarebed.bindings.workflows.listing import Listing, Wanted
from flarebed.bindings.workflows.outcome import shown_output
from flarebed.bindings.workflows.spec import WorkflowSpec
from flarebed.bindings.workflows.workflow import Workflow

STATUSES = ("complete", "errored", "paused", "queued", "running", "terminated", "waiting", "waitingForPause")


class WorkflowApi:
    """Raises JsError, as the binding does."""

    def __init__(self, spec: WorkflowSpec, around: Surroundings) -> None:
        self.spec = spec
        self._around = around
        workflow = Workflow(spec, around, JsRpcStub)
        self._journal = workflow.journal
        self._listing = Listing(around.store.database("workflows", spec.name, SCHEMA))
        self._binding = WorkflowImpl(workflow)

    # What there is

    def summary(self) -> dict[str, Any]:
        """The workflow itself; `script_name` is the Worker that has its class."""
        return {
            "name": self.spec.name,
            "class_name": self.spec.class_name,
            "script_name": self.spec.script_name or self._around.worker,
        }

    def status_counts(self) -> dict[str, int]:
        return dict.fromkeys(STATUSES, 0) | self._listing.status_counts()

    def instances(self, wanted: Wanted, *, page: int, per_page: int) -> list[dict[str, Any]]:
        """The newest first."""
        rows = self._listing.listed(wanted, per_page, (page - 1) * per_page)
        return [{"id": row.id, "status": row.status, "created_on": date_to_iso(row.created_ms)} for row in rows]

    def latest(self) -> str | None:
        newest = self._listing.listed(Wanted(), 1, 0)
        return newest[0].id if newest else None

    def detail(self, instance_id: str) -> dict[str, Any]:
        instance = self._instance(instance_id)
        shown = partial(shown_output, self._journal, instance.key)
        return view.detail(instance, self._is_waiting(instance), self._journal.stages(instance.key, 0), shown)

    def stages(self, instance_id: str) -> list[Stage]:
        return self._journal.stages(self._instance(instance_id).key, 0)

    def buffered(self, instance_id: str) -> list[tuple[str, float]]:
        """Type and time of the events that were sent and that no step has got yet."""
        return self._listing.buffered(self._instance(instance_id).key)

    def _instance(self, instance_id: str) -> Instance:
        instance = self._journal.instance(instance_id)
        if instance is None:
            raise errors.not_found()
        return instance

    def _is_waiting(self, instance: Instance) -> bool:
        return instance.status == "running" and self._journal.is_waiting(instance.key)

    # What is done

    async def create(self, instance_id: Any = UNDEFINED, params: Any = UNDEFINED) -> str:
        return (await self._binding.create({"id": instance_id, "params": params})).id

    async def change(self, instance_id: str, to: str, options: Any = UNDEFINED) -> dict[str, str]:
        """`to` is pause, resume, restart or terminate; `options` those of the binding's method."""
        handle: InstanceImpl = await self._binding.get(instance_id)
        method = getattr(handle, to)
        await (method() if options is UNDEFINED else method(options))
        status = (await handle.status())["status"]
        return {"status": status, "timestamp": date_to_iso(self._around.clock.now_ms())}

    async def send_event(self, instance_id: str, event_type: str, payload: Any) -> dict[str, bool]:
        await (await self._binding.get(instance_id)).sendEvent({"type": event_type, "payload": payload})
        return {"success": True}

    async def delete(self, ids: list[str]) -> dict[str, Any]:
        return await self._binding.deleteBatch(ids)

    async def delete_all(self) -> dict[str, Any]:
        self._journal.clear()
        await self._journal.durable()
        self._around.store.announce("workflows", self.spec.name)
        return {"status": "ok", "success": True}


def is_not_found(error: JsError) -> bool:
    return error.message == errors.not_found().message
