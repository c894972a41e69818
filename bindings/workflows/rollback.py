"""Rollbacks: what undoes a step when its instance fails, or is terminated with `{rollback: true}`.

They run one after another, the step that began last first, and go through attempts like a step. Their functions are
closures of the Worker's run(), in memory only; the order to roll back is in the journal, and so is what each came to.
A process that finds such an order runs run() again as far as it is recorded, just to learn the functions.

https://developers.cloudflare.com/changelog/post/2026-06-05-saga-rollbacks/ and workers-sdk
packages/workflows-shared/src/lib/rollback.ts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from flarebed.bindings.dispatch import WorkerLostError
from flarebed.bindings.errors import JsError
from flarebed.bindings.values import UNDEFINED, Error
from flarebed.bindings.workflows import errors, history, retry
from flarebed.bindings.workflows.attempts import Attempts
from flarebed.bindings.workflows.outcome import outcome
from flarebed.bindings.workflows.run import REPLAYING, Run, Undo

REPLAY_PATIENCE_MS = 10_000
"""For a run() that does not come by all of its steps again, because it was edited."""


def parse(step_name: str, options: Any) -> Undo:
    """The trailing argument of `step.do`: `{rollback, rollbackConfig}`."""
    if not isinstance(options, dict):
        raise errors.rollback_no_object(step_name)
    function, config = options.get("rollback"), options.get("rollbackConfig", UNDEFINED)
    if not callable(function):
        raise errors.rollback_no_function(step_name)
    if config is UNDEFINED:
        config = {}
    elif not retry.is_valid(config):
        raise errors.invalid_rollback_config(step_name)
    return Undo(function, config)


async def replay(run: Run, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
    """Do the Worker's `work` until it has told the rollbacks of all steps that have one; it is to be cancelled when
    they are not needed any more."""
    wanted = {f"{name}-{count}" for _, name, count in run.journal.undoable(run.key)}
    enough: asyncio.Future[None] = run.host.clock.loop.create_future()

    def registered() -> None:
        if wanted <= run.undos.keys() and not enough.done():
            enough.set_result(None)

    run.phase, run.on_registered = REPLAYING, registered
    task = run.host.clock.spawn(work, f"replay of {run.id}")
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    patience = run.host.clock.call_later(REPLAY_PATIENCE_MS, enough.cancel)
    try:
        await asyncio.wait([task, enough], return_when=asyncio.FIRST_COMPLETED)
    except BaseException:
        task.cancel()
        raise
    finally:
        patience.cancel()
    if task.done() and not task.cancelled() and isinstance(lost := task.exception(), WorkerLostError):
        raise lost
    return task


async def roll_back(run: Run) -> None:
    """Undo, until one that can't be undone stops it; then the instance is at its end."""
    failure = None
    cause = run.journal.cause(run.key)
    for seq, name, count in run.journal.undoable(run.key):
        try:
            await _undo(run, run.journal.step(run.key, seq), name, count, cause)
        except JsError as error:
            failure = error
            break
    run.journal.end_rollback(run.key, failure, run.now_ms())
    await run.journal.durable()


async def _undo(run: Run, step: history.Step, name: str, count: int, cause: Error) -> None:
    label = f"{name}-{count}"
    found = run.find("rollback", label, 1)
    if found is not None and found.state in (history.DONE, history.FAILED):
        outcome(run.journal, run.key, found)
    elif label in run.undos:
        await _Rollback(run, step, name, count, run.undos[label], cause).result(found)
    else:
        missing = errors.rollback_missing()
        run.journal.miss(run.key, run.next_seq(), label, missing, run.now_ms())
        raise missing


class _Rollback(Attempts):
    """`{ctx, error, output, stepName}` of `step` go to its rollback, whose result is of no interest."""

    kind = "rollback"

    def __init__(self, run: Run, step: history.Step, name: str, count: int, undo: Undo, cause: Error) -> None:
        label = f"{name}-{count}"
        super().__init__(run, label, 1, undo.config, undo.function)
        self._label = label
        self._step = step
        self._of = (name, count)
        self._cause = cause

    def _place(self) -> str:
        return f'the rollback of step "{self._label}"'

    def _argument(self) -> dict[str, Any]:
        step = self._step
        return {
            "ctx": retry.context(*self._of, step.attempts, retry.recorded(step.config)),
            "error": self._cause,
            "output": outcome(self._run.journal, self._run.key, step) if step.state == history.DONE else UNDEFINED,
            "stepName": self._label,
        }

    def _encoded(self, value: Any) -> None:
        """Nothing of it is recorded."""
