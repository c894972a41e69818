"""One workflow: what is done to its instances, from any process, and their runs, in the process that owns the folder.

There is one way to start: an instance is queued in the journal, and the owner takes it from there. Creating, resuming
and restarting queue it; so does a new owner with what the last one left unfinished.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any

import apsw

from flarebed.bindings.clock import Timer
from flarebed.bindings.codec import decode, encode
from flarebed.bindings.dispatch import WorkerLostError, WorkflowStep
from flarebed.bindings.errors import JsError
from flarebed.bindings.kind import Surroundings
from flarebed.bindings.values import Date
from flarebed.bindings.workflows import errors, retention, rollback, timeline, view
from flarebed.bindings.workflows.hibernation import Hibernation
from flarebed.bindings.workflows.journal import SCHEMA, Instance, Journal, Recorded, RestartPoint, Retention
from flarebed.bindings.workflows.outcome import shown_output
from flarebed.bindings.workflows.payload import encoded_payload
from flarebed.bindings.workflows.run import ROLLING_BACK, Host, Run
from flarebed.bindings.workflows.schedule import Schedules
from flarebed.bindings.workflows.spec import WorkflowSpec

DEFAULT_STEP_LIMIT = 10_000
DEFAULT_CONCURRENCY = 1_000
"""Runs at a time, those that only sleep or wait not counted; further instances stay queued, where they cost nothing."""

_STARTED_AT_ONCE = 100
_LOSS_PAUSE_MS = 1_000
_POLL_MS = 250
_PATIENCE_MS = 2_000
"""For a Worker that does not end when it is cancelled."""

PRESERVE_NON_RETRYABLE = "workflows_preserve_non_retryable_error_message"


class Workflow:
    """`step_of(run)` makes the object that a Worker's run() gets as `step`."""

    def __init__(self, spec: WorkflowSpec, around: Surroundings, step_of: Callable[[Run], WorkflowStep]) -> None:
        self.name = spec.name
        self._class_name = spec.class_name
        self._around = around
        self._clock = around.clock
        self._step_of = step_of
        self._journal = Journal(
            around.store.database("workflows", spec.name, SCHEMA),
            spec.success_retention_ms or retention.DEFAULT_MS,
            spec.error_retention_ms or retention.DEFAULT_MS,
        )
        self._journal.on_loss(self._lost)
        self._host = Host(
            self._journal, around.clock, around.log, spec.limits_steps or DEFAULT_STEP_LIMIT, self._occupied
        )
        self._hibernation = Hibernation(self._journal, around.clock, self._start_soon)
        self._expiry = retention.Expiry(self._journal, around.clock, self._start_soon)
        self._schedules = Schedules(spec.schedules, self._journal, around.clock, self._start_soon)
        self._concurrency = spec.concurrency_limit or DEFAULT_CONCURRENCY
        self._owned = False
        self._recovery: Timer | None = None
        self._runs: dict[str, Run] = {}
        self._busy = 0
        self._starting = False

    @property
    def journal(self) -> Journal:
        return self._journal

    # What is done to instances. Each returns when it is on disk.

    async def create(self, wanted: Sequence[tuple[str, Any, Retention]]) -> list[bool]:
        """Instances by id and params; for each whether it was created, which it is not if the id is taken."""
        what = "The payload of a Workflow instance"
        rows = [(instance_id, encoded_payload(params, what), kept) for instance_id, params, kept in wanted]
        now_ms = self._clock.now_ms()
        keys = [self._journal.create(instance_id, params, now_ms, kept) for instance_id, params, kept in rows]
        await self._written()
        return [key is not None for key in keys]

    async def status(self, instance_id: str) -> dict[str, Any]:
        shown = self.status_now(instance_id)
        await self._journal.durable()  # what a user has seen can't be undone by a crash
        return shown

    def status_now(self, instance_id: str) -> dict[str, Any]:
        """Also of what is not on disk yet."""
        instance = self.instance(instance_id)
        waiting = instance.status == "running" and self._journal.is_waiting(instance.key)
        return view.status(instance, waiting, self._outputs(instance.key))

    def _outputs(self, key: int) -> list[Any]:
        """What steps returned, and the payloads of events, in the order in which they came."""
        return [
            view.output(kind, shown_output(self._journal, key, seq, result, config))
            for seq, kind, result, config in self._journal.outputs(key)
        ]

    def instance(self, instance_id: str) -> Instance:
        instance = self._journal.instance(instance_id)
        if instance is None:
            raise errors.not_found()
        return instance

    def events(self, instance_id: str, key: int, cursor: int) -> tuple[list[timeline.Event], bool]:
        """What has happened after event `cursor`, and whether that was all."""
        life = self._journal.life(key)
        if life is None:
            raise errors.aborted("delete" if self._journal.key(instance_id) is None else "restart")
        stages = self._journal.stages(key, max(0, cursor) // timeline.PLACE)
        told = timeline.events(life, stages, self._journal.marks(key), partial(shown_output, self._journal, key))
        return [event for event in told if event["eventId"] > cursor], life.ended_ms is not None

    async def something_happens(self) -> None:
        """Wait for the next write to instances of this workflow. Those of other processes reach only the owner."""
        commit = self._journal.next_commit()
        timer = None if self._owned else self._clock.call_later(_POLL_MS, self._journal.notify)
        await commit
        if timer is not None:
            timer.cancel()

    async def pause(self, instance_id: str) -> None:
        self._journal.pause(self._key(instance_id), self._clock.now_ms())
        await self._changed(instance_id)

    async def resume(self, instance_id: str) -> None:
        self._journal.resume(self._key(instance_id), self._clock.now_ms())
        await self._changed(instance_id)

    async def terminate(self, instance_id: str, *, roll_back: bool = False) -> None:
        if roll_back and await self._roll_back_first(instance_id, self._key(instance_id)):
            return
        if not self._journal.terminate(self._key(instance_id), self._clock.now_ms()):
            raise errors.cannot_terminate()
        await self._changed(instance_id)

    async def _roll_back_first(self, instance_id: str, key: int) -> bool:
        """False if nothing is to be rolled back. Returns when it is over, if it happens in this process."""
        if self._journal.order_rollback(key, errors.terminated()):
            await self._changed(instance_id)
            while self._owned and self._journal.is_rolling_back(key):
                await self._journal.next_commit()
            await self._journal.durable()
            return True
        return self._journal.is_rolling_back(key)

    async def restart(self, instance_id: str, since: RestartPoint | None) -> None:
        if not self._journal.restart(self._key(instance_id), since):
            raise errors.cannot_restart(since.name if since else "")
        await self._changed(instance_id)

    async def delete(self, instance_id: str) -> bool:
        """False if there is no such instance."""
        key = self._journal.key(instance_id)
        if key is None:
            return False
        self._journal.delete(key)
        await self._changed(instance_id)
        return True

    async def send_event(self, instance_id: str, event_type: str, payload: Any) -> None:
        """The event goes to the first wait for its type, now or later."""
        encoded, key = encoded_payload(payload, "The payload of an event"), self._key(instance_id)
        self._journal.add_event(key, event_type, encoded, self._clock.now_ms())
        self._journal.wake_for(key, event_type)
        if self._owned and instance_id in self._runs:
            self._runs[instance_id].deliver()
        await self._written()

    def _key(self, instance_id: str) -> int:
        key = self._journal.key(instance_id)
        if key is None:
            raise errors.not_found()
        return key

    async def _changed(self, instance_id: str) -> None:
        if instance_id in self._runs:
            run = self._runs[instance_id]
            self._obey(run, self._journal.status(run.key))
        await self._written()

    async def _written(self) -> None:
        await self._journal.durable()
        if self._owned:
            self._start_soon()
        else:
            self._around.store.announce("workflows", self.name)

    # Runs, in the process that owns them

    def own(self) -> None:
        self._owned = True
        self._take_over()

    def _take_over(self) -> None:
        """Go on from what is on disk."""
        self._recovery = None
        try:
            self._journal.requeue(self._clock.now_ms())
            self._hibernation.wake()
            self._schedules.start()
        except apsw.Error as error:
            if self._recovery is None:  # not even begun: another process writes
                self._lost(error)
        self._start_soon()

    def _lost(self, error: Exception) -> None:
        """What was written is rolled back, and runs know more than the disk. As after a crash, they are made anew."""
        if not self._owned:
            return
        self._tell_of_loss(error)
        self._stop_clockwork()
        for run in list(self._runs.values()):
            if run.live:
                run.stop()
        if self._recovery is None:
            self._recovery = self._clock.call_later(_LOSS_PAUSE_MS, self._take_over)

    def _tell_of_loss(self, error: Exception) -> None:
        text = f'The state of workflow "{self.name}" can\'t be written: {error}. Its instances go on from what is.'
        self._around.log("error", text)

    def _stop_clockwork(self) -> None:
        for clockwork in (self._hibernation, self._schedules, self._expiry):
            clockwork.stop()

    async def disown(self) -> None:
        """Runs end without a trace: also the attempts in progress, which are the next owner's to make."""
        self._owned = False
        self._journal.notify()
        self._stop_clockwork()
        if self._recovery is not None:
            self._recovery.cancel()
            self._recovery = None
        runs = list(self._runs.values())
        for run in runs:
            if run.live:
                run.stop()
                self._journal.take_back_attempts(run.key)
        try:
            await self._journal.durable()
        except apsw.Error as error:
            self._tell_of_loss(error)
        await self._end(runs)

    def ring(self) -> None:
        """Another process wrote: there may be instances to start or to stop, and events."""
        self._journal.notify()
        if not self._owned:
            return
        for run in list(self._runs.values()):
            self._obey(run, self._journal.status(run.key))
            if run.live:
                run.deliver()
        self._start_soon()

    def _obey(self, run: Run, status: str | None) -> None:
        if not run.live:
            return
        if status == "running":
            run.unpause()
        elif status == "waitingForPause":
            run.pause()
        elif status != "rollingBack":
            run.stop()

    def _occupied(self, run: Run, change: int) -> None:
        self._busy += change
        if change < 0:
            self._hibernation.rest(run)
            self._start_soon()
        else:
            self._hibernation.rise(run)

    def _start_soon(self) -> None:
        if not self._starting and self._owned:
            self._starting = True
            self._clock.loop.call_soon(self._start_queued)

    def _start_queued(self) -> None:
        self._starting = False
        if not self._owned or self._recovery is not None:
            return
        self._expiry.look()
        room = min(self._concurrency - self._busy, _STARTED_AT_ONCE)
        if room <= 0:
            return
        queued = self._journal.queued(room)
        startable = [(instance_id, again) for instance_id, again in queued if instance_id not in self._runs]
        for instance_id, again in startable:
            self._start(instance_id, again)
        if startable and len(queued) == room:
            self._start_soon()

    def _start(self, instance_id: str, again: bool) -> None:
        instance = self._journal.begin_run(instance_id, self._clock.now_ms())
        if instance is None:
            return
        recorded = self._journal.take_up(instance.key) if again else Recorded({}, 0, 0)
        run = Run(self._host, instance.key, instance_id, recorded)
        self._runs[instance_id] = run
        run.main = self._clock.spawn(self._drive(run, instance), f"workflow {self.name} {instance_id}")
        run.main.add_done_callback(lambda task: self._ended(instance_id, task))

    async def _drive(self, run: Run, instance: Instance) -> None:
        try:
            with run.unless_lost():
                await self._driven(run, instance)
        except WorkerLostError:
            self._runs[run.id].stop()
            self._clock.call_later(_LOSS_PAUSE_MS, self._again, run.key)

    def _again(self, key: int) -> None:
        """Go on from what is on disk: the attempts in progress were interrupted."""
        if self._owned and self._recovery is None:
            self._journal.requeue(self._clock.now_ms(), key)
            self._start_soon()

    async def _driven(self, run: Run, instance: Instance) -> None:
        if instance.rollback is not None:
            replay = await rollback.replay(run, self._work(run, instance))
            if run.release is None:
                replay.cancel()  # its functions outlive it
            try:
                if run.live:
                    await self._roll_back(run)
            finally:
                replay.cancel()
            return
        try:
            output = encode(await self._work(run, instance), over_rpc=True)
        except JsError as thrown:
            if run.live and self._failed(run, thrown):
                await self._roll_back(run)
        else:
            if run.live:
                self._journal.end_run(run.key, "complete", self._clock.now_ms(), output=output)

    def _work(self, run: Run, instance: Instance) -> Coroutine[Any, Any, Any]:
        event = {
            "timestamp": Date(instance.created_ms // 1),
            "payload": decode(instance.params),
            "instanceId": instance.id,
            "workflowName": self.name,
        }
        if instance.schedule is not None:
            event["schedule"] = json.loads(instance.schedule)
        return self._around.dispatch.run_workflow(self._class_name, event, self._step_of(run))

    def _failed(self, run: Run, thrown: JsError) -> bool:
        """True if there is something to roll back; otherwise the instance is at its end."""
        self._around.log("error", f'Uncaught {thrown}\n    in instance "{run.id}" of workflow "{self.name}"')
        preserve = PRESERVE_NON_RETRYABLE in self._around.flags
        error = errors.ended_by(thrown, preserve_non_retryable=preserve)
        if self._journal.begin_rollback(run.key, errors.crossed(thrown), error, self._clock.now_ms()):
            return True
        self._journal.end_run(run.key, "errored", self._clock.now_ms(), error=error)
        return False

    async def _roll_back(self, failed: Run) -> None:
        """A run of its own, with what the failed one (or its replay) told of rollbacks."""
        main, failed.main = failed.main, None
        failed.phase = ROLLING_BACK
        failed.stop()
        run = Run(self._host, failed.key, failed.id, self._journal.take_up(failed.key))
        run.phase, run.undos, run.main, run.release = ROLLING_BACK, failed.undos, main, failed.release
        self._runs[run.id] = run
        await rollback.roll_back(run)

    def _ended(self, instance_id: str, task: asyncio.Task[None]) -> None:
        run = self._runs.pop(instance_id)
        defect = None if task.cancelled() else task.exception()
        if run.live and defect is not None:
            self._around.log("error", f'Workflow instance "{run.id}" failed: {defect!r}')
            error = {"message": str(defect), "name": "WorkflowInternalError"}
            self._journal.end_run(run.key, "errored", self._clock.now_ms(), error=error)
        run.stop()  # also what run() did not wait for
        if run.release is not None:
            run.release()
        self._hibernation.rise(run)
        self._start_soon()

    async def _end(self, runs: list[Run]) -> None:
        """Wait until nothing of stopped runs is left."""
        patience = self._clock.spawn(self._clock.sleep(_PATIENCE_MS), "patience")
        while left := [task for run in runs for task in run.tasks()]:
            await asyncio.wait([patience, *left], return_when=asyncio.FIRST_COMPLETED)
            if patience.done():
                break
        patience.cancel()
        for run in runs:
            if run.tasks():
                self._around.log("warn", f'Workflow instance "{run.id}" goes on although it was cancelled.')
