"""What a step does in a run: answer what the journal has recorded, or make what is missing and record it first.

Arguments are valid here; `binding.py` has checked them. A step is known by its kind, its name, and the how many-th of
that name it is; a replay must come by in the same order.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable
from typing import Any, NoReturn

from flarebed.bindings.codec import decode, encode
from flarebed.bindings.errors import JsError
from flarebed.bindings.values import UNDEFINED, Error, Function
from flarebed.bindings.workflows import errors, history, retry
from flarebed.bindings.workflows.duration import to_ms
from flarebed.bindings.workflows.run import TIMED_OUT, Run

MAX_RESULT_BYTES = 1 << 20
DELAY_FUNCTION_BUDGET_MS = 5_000


async def sleep(run: Run, name: str, until: Callable[[float], float]) -> None:
    """A recorded sleep ends when it was to end, whatever `until(now_ms)` would say today: the name is its identity."""
    run.check()
    count = run.next_count("sleep", name)
    found = run.find("sleep", name, count)
    if found is not None and found.state == history.DONE:
        return
    seq, wake_ms = _open(run, "sleep", name, count, until) if found is None else (found.seq, found.wake_ms or 0)
    await run.idle_until(wake_ms)
    run.journal.finish(run.key, seq, run.next_seq(), None, run.now_ms())


async def wait_for_event(run: Run, name: str, event_type: str, timeout: Any) -> Any:
    """The first event of the type that no other wait has got, sent before or during the wait."""
    run.check()
    count = run.next_count("wait", name)
    found = run.find("wait", name, count)
    if found is not None and found.state != history.OPEN:
        return _outcome(found)
    timeout_ms = to_ms(timeout)
    if found is not None:
        seq, until_ms = found.seq, found.wake_ms or 0
    else:
        seq, until_ms = _open(run, "wait", name, count, lambda now_ms: now_ms + timeout_ms, event_type)
    result = await run.event(seq, event_type, until_ms)
    run.check()
    if result is TIMED_OUT:
        error = errors.crossed(errors.timed_out(timeout_ms))
        run.journal.fail(run.key, seq, error, run.now_ms())
        await run.commit()
        raise error
    await run.commit()
    return decode(result)


async def do(run: Run, name: str, given: dict[str, Any], callback: Function) -> Any:
    run.check()
    run.steps += 1
    if run.steps > run.host.step_limit:
        raise errors.step_limit(run.host.step_limit)
    count = run.next_count("do", name)
    found = run.find("do", name, count)
    if found is not None and found.state in (history.DONE, history.FAILED):
        return _outcome(found)
    return await _Do(run, name, count, given, callback).result(found)


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


def _outcome(step: history.Step) -> Any:
    """A recorded result, or the recorded error raised."""
    if step.error is not None:
        recorded = json.loads(step.error)
        raise JsError(recorded["message"], recorded["name"], remote=True)
    return decode(step.result or b"")


class _Do:
    """A `step.do` without an outcome yet. Of several configurations the one that was recorded first counts."""

    def __init__(self, run: Run, name: str, count: int, given: dict[str, Any], callback: Function) -> None:
        self._run = run
        self._name = name
        self._count = count
        self._label = f"{name}-{count}"
        self._callback = callback
        self._config = retry.resolve(given)
        given_retries = given.get("retries", UNDEFINED)
        self._delay = retry.DEFAULT_DELAY_MS if given_retries is UNDEFINED else given_retries["delay"]
        self._seq = 0
        self._is_recorded = False
        self._made = 0

    async def result(self, found: history.Step | None) -> Any:
        """The life of a step: attempts, each on disk before it is made, until there is an outcome that is on disk."""
        run = self._run
        if found is None:
            self._seq = run.next_seq()
        else:
            await self._take_up(found)
        while True:
            await self._begin()
            try:
                result = await self._attempt()
            except JsError as error:
                await run.idle_until(await self._failed(error))
            else:
                run.journal.finish(run.key, self._seq, run.next_seq(), result, run.now_ms())
                await run.commit()
                return decode(result)

    async def _take_up(self, found: history.Step) -> None:
        """Go on where another run of the instance ended."""
        self._seq, self._is_recorded, self._made = found.seq, True, found.attempts
        self._config = retry.DEFAULTS if found.config is None else decode(found.config)
        if self._config["retries"]["delay"] != retry.DYNAMIC_DELAY:
            self._delay = self._config["retries"]["delay"]
        if found.state == history.INTERRUPTED:
            error = errors.interrupted()
            if not self._may_retry():
                await self._fail(error)
            self._record_delay(error, self._run.now_ms())
        elif found.wake_ms is not None:
            await self._run.idle_until(found.wake_ms)

    async def _begin(self) -> None:
        """The attempt is on disk before it is made, so that one which ends the process counts."""
        while not self._started():
            await self._run.until_unpaused()
        self._made += 1
        await self._run.journal.durable()

    def _started(self) -> bool:
        run, now_ms = self._run, self._run.now_ms()
        if self._is_recorded:
            return run.journal.start_attempt(run.key, self._seq, now_ms)
        config = None if self._config is retry.DEFAULTS else encode(self._config)
        self._is_recorded = run.journal.start_step(run.key, self._seq, self._name, self._count, config, now_ms)
        return self._is_recorded

    async def _attempt(self) -> bytes:
        """The encoded result of one call."""
        timeout_ms = to_ms(self._config["timeout"])
        value = await self._run.call(self._callback, self._context(), timeout_ms)
        if value is TIMED_OUT:
            raise errors.timed_out(timeout_ms)
        try:
            result = encode(value, over_rpc=True)
        except JsError as error:
            raise self._end_unserialisable() from error
        if len(result) > MAX_RESULT_BYTES:
            raise errors.too_large(self._label)
        return result

    def _context(self) -> dict[str, Any]:
        step = {"name": self._name, "count": self._count}
        return {"step": step, "attempt": self._made, "config": retry.shown(self._config)}

    def _end_unserialisable(self) -> asyncio.CancelledError:
        """The instance ends on the spot, and run() can't catch it."""
        run, error = self._run, errors.not_serialisable(self._name)
        run.journal.fail(run.key, self._seq, JsError(error["message"], error["name"]), run.now_ms())
        run.journal.end_run(run.key, "errored", run.now_ms(), error=error)
        return run.give_up()

    async def _failed(self, error: JsError) -> float:
        """When the next attempt is due, which is on disk before anything waits for it; or the error that is final."""
        log = self._run.host.log
        log(
            "error", f'Uncaught {error}\n    in step "{self._label}" of instance "{self._run.id}", attempt {self._made}'
        )
        seen = errors.crossed(error)
        if errors.is_non_retryable(seen) or not self._may_retry():
            await self._fail(seen)
        if errors.is_subclass_of_non_retryable(error):
            log(
                "warn",
                f'Step "{self._label}" raised a subclass of NonRetryableError. Cloudflare compares the exact class, so '
                "the step is retried; raise NonRetryableError itself.",
            )
        try:
            delay = await self._resolved_delay(seen)
            wake_ms = self._run.now_ms() + retry.delay_ms(self._config, self._made, delay)
        except ValueError as reason:
            await self._fail(errors.bad_delay(self._label, str(reason)))
        self._record_delay(seen, wake_ms)
        await self._run.commit()
        return wake_ms

    async def _resolved_delay(self, error: JsError) -> Any:
        """The delay, asked of the Worker if it is a function; ValueError if that does not answer."""
        if not callable(self._delay):
            return self._delay
        # recorded before the function is asked, in case the process ends before it answers
        self._record_delay(error, self._run.now_ms() + retry.DEFAULT_DELAY_MS)
        question = {"ctx": self._context(), "error": Error(error.message, error.name)}
        try:
            answer = await self._run.call(self._delay, question, DELAY_FUNCTION_BUDGET_MS)
        except JsError as thrown:
            raise ValueError(f"threw an error: {errors.crossed(thrown).message}") from thrown
        if answer is TIMED_OUT:
            raise ValueError("did not return within 5 seconds")
        return answer

    def _may_retry(self) -> bool:
        return bool(self._made <= self._config["retries"]["limit"])

    def _record_delay(self, error: JsError, wake_ms: float) -> None:
        self._run.journal.delay(self._run.key, self._seq, error, wake_ms, self._run.now_ms())

    async def _fail(self, error: JsError) -> NoReturn:
        """The step's last word, now and in every replay."""
        final = errors.crossed(error)
        self._run.journal.fail(self._run.key, self._seq, final, self._run.now_ms())
        await self._run.commit()
        raise final
