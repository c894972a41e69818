"""What a step does in a run: answer what the journal has recorded, or make what is missing and record it first.

Arguments are valid here; `binding.py` has checked them. A step is known by its kind, its name, and the how many-th of
that name it is; a replay must come by in the same order. `attempts.py` has what a callback goes through.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from flarebed.bindings.codec import decode
from flarebed.bindings.values import Function
from flarebed.bindings.workflows import errors, history
from flarebed.bindings.workflows.attempts import Attempts
from flarebed.bindings.workflows.duration import to_ms
from flarebed.bindings.workflows.outcome import outcome
from flarebed.bindings.workflows.run import REPLAYING, ROLLING_BACK, TIMED_OUT, Run, Undo


async def sleep(run: Run, name: str, until: Callable[[float], float]) -> None:
    """A recorded sleep ends when it was to end, whatever `until(now_ms)` would say today: the name is its identity."""
    if run.phase == ROLLING_BACK:
        await run.host.clock.sleep_until(until(run.now_ms()))
        return
    run.check()
    count = run.next_count("sleep", name)
    found = run.find("sleep", name, count)
    if found is not None and found.state == history.DONE:
        return
    if run.phase == REPLAYING:
        await run.never()
    seq, wake_ms = _open(run, "sleep", name, count, until) if found is None else (found.seq, found.wake_ms or 0)
    await run.idle_until(wake_ms, durable=True)
    run.journal.finish(run.key, seq, run.next_seq(), None, run.now_ms())


async def wait_for_event(run: Run, name: str, event_type: str, timeout: Any) -> Any:
    """The first event of the type that no other wait has got, sent before or during the wait."""
    if run.phase == ROLLING_BACK:
        raise errors.rolling_back()
    run.check()
    count = run.next_count("wait", name)
    found = run.find("wait", name, count)
    if found is not None and found.state != history.OPEN:
        return outcome(run.journal, run.key, found)
    if run.phase == REPLAYING:
        await run.never()
    timeout_ms = to_ms(timeout)
    if found is not None:
        seq, until_ms = found.seq, found.wake_ms or 0
    else:
        seq, until_ms = _open(run, "wait", name, count, lambda now_ms: now_ms + timeout_ms, event_type)
    result = await run.event(seq, event_type, until_ms)
    run.check()
    if result is TIMED_OUT:
        error = errors.crossed(errors.timed_out(timeout_ms))
        run.journal.fail(run.key, seq, run.next_seq(), error, run.now_ms())
        await run.commit()
        raise error
    await run.commit()
    return decode(result)


def admit(run: Run) -> None:
    """For each `do` before all else: rollbacks can't make steps, and there is a limit to their number."""
    if run.phase == ROLLING_BACK:
        raise errors.rolling_back()
    run.steps += 1
    if run.steps > run.host.step_limit:
        raise errors.step_limit(run.host.step_limit)


async def do(run: Run, name: str, given: dict[str, Any], callback: Function, undo: Undo | None) -> Any:
    run.check()
    count = run.next_count("do", name)
    found = run.find("do", name, count)
    if undo is not None:
        run.register(f"{name}-{count}", undo)
    if found is not None and found.state in (history.DONE, history.FAILED):
        return outcome(run.journal, run.key, found)
    if run.phase == REPLAYING:
        await run.never()
    return await Attempts(run, name, count, given, callback, has_rollback=undo is not None).result(found)


def _open(
    run: Run, kind: str, name: str, count: int, until: Callable[[float], float], event_type: str | None = None
) -> tuple[int, float]:
    now_ms = run.now_ms()
    wake_ms = until(now_ms)
    if math.isnan(wake_ms):
        raise errors.no_wake_time()
    seq = run.next_seq()
    if not run.journal.open_wait(run.key, seq, kind, name, count, wake_ms, now_ms, event_type):
        raise run.give_up()
    return seq, wake_ms
