"""The attempts of a `step.do`, and of a rollback: each on disk before it is made, until there is an outcome on disk.

`step.py` begins a step that has no outcome yet, `rollback.py` a rollback; both end here. Sources: workers-sdk
packages/workflows-shared/src/context.ts and observations on wrangler 4.164.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, NoReturn

from flarebed.bindings.codec import UnclonableError, encode
from flarebed.bindings.errors import JsError
from flarebed.bindings.values import UNDEFINED, Error, Function, Stream
from flarebed.bindings.workflows import errors, history, retry
from flarebed.bindings.workflows.duration import to_ms
from flarebed.bindings.workflows.run import TIMED_OUT, Run
from flarebed.bindings.workflows.streams import InvalidStreamError, Storing, size_of, value_of

MAX_RESULT_BYTES = 1 << 20
DELAY_FUNCTION_BUDGET_MS = 5_000


class Attempts:
    """A step without an outcome yet. Of several configurations the one that was recorded first counts."""

    kind = "do"

    def __init__(
        self,
        run: Run,
        name: str,
        count: int,
        given: dict[str, Any],
        callback: Function,
        *,
        has_rollback: bool = False,
    ) -> None:
        self._run = run
        self._name = name
        self._count = count
        self._label = f"{name}-{count}"
        self._callback = callback
        self._has_rollback = has_rollback
        self._config = retry.resolve(given)
        given_retries = given.get("retries", UNDEFINED)
        self._delay = retry.DEFAULT_DELAY_MS if given_retries is UNDEFINED else given_retries["delay"]
        self._seq = 0
        self._is_recorded = False
        self._made = 0

    async def result(self, found: history.Step | None) -> Any:
        """The life of a step."""
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
                return UNDEFINED if result is None else value_of(run.journal, run.key, self._seq, result)

    async def _take_up(self, found: history.Step) -> None:
        """Go on where another run of the instance ended."""
        self._seq, self._is_recorded, self._made = found.seq, True, found.attempts
        self._config = retry.recorded(found.config)
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
        await self._run.journal.committed()
        self._run.check()

    def _started(self) -> bool:
        run, now_ms = self._run, self._run.now_ms()
        if self._is_recorded:
            return run.journal.start_attempt(run.key, self._seq, self.kind, run.next_seq(), now_ms)
        config = None if self._config is retry.DEFAULTS else encode(self._config)
        self._is_recorded = run.journal.start_step(
            run.key, self._seq, self.kind, self._name, self._count, config, now_ms, self._has_rollback
        )
        return self._is_recorded

    async def _attempt(self) -> bytes | None:
        """What is recorded of one call."""
        run = self._run
        timeout_ms = to_ms(self._config["timeout"])
        until_ms = run.now_ms() + timeout_ms
        value = await run.call(self._callback, self._argument(), timeout_ms)
        if value is TIMED_OUT:
            raise errors.timed_out(timeout_ms)
        if not hasattr(value, "__aiter__"):
            return self._encoded(value)
        return await self._stored(value, timeout_ms, until_ms - run.now_ms())

    async def _stored(self, stream: Stream, timeout_ms: float, left_ms: float) -> bytes:
        """Where what the stream gives is, if it has given all in what is left of the timeout."""
        run = self._run
        storing = Storing(run.journal, run.key, self._seq, self._made)
        try:
            place = await run.call(lambda stream: storing.store(stream, run.room_bytes), stream, left_ms)
        except InvalidStreamError as error:
            raise self._end(errors.invalid_stream(self._name, str(error)), str(error)) from error
        if place is TIMED_OUT:
            storing.abandon()
            raise errors.timed_out(timeout_ms)
        run.room_bytes -= size_of(place)
        return bytes(place)

    def _encoded(self, value: Any) -> bytes | None:
        run = self._run
        try:
            result = encode(value, over_rpc=True)
        except UnclonableError as error:
            if not callable(error.value) and not hasattr(error.value, "__aiter__"):
                raise  # it does not leave the Worker, so the attempt fails as by any other error
            attempt = f'Value returned from step "{self._name}" is not serialisable'
            raise self._end(errors.not_serialisable(self._name), attempt) from error
        if len(result) > MAX_RESULT_BYTES:
            raise errors.too_large(self._label)
        run.room_bytes -= len(result)
        if run.room_bytes < 0:
            raise self._end(errors.invalid_stream(self._name, errors.STORAGE_LIMIT), errors.STORAGE_LIMIT)
        return result

    def _argument(self) -> dict[str, Any]:
        return self._context()

    def _context(self) -> dict[str, Any]:
        return retry.context(self._name, self._count, self._made, self._config)

    def _end(self, error: Mapping[str, str], attempt: str) -> asyncio.CancelledError:
        """The instance ends on the spot: run() can't catch it, nothing is rolled back. `attempt`: why that failed."""
        run, final = self._run, errors.fatal_error(attempt)
        run.journal.fail(run.key, self._seq, run.next_seq(), final, run.now_ms())
        run.journal.end_run(run.key, "errored", run.now_ms(), error=error)
        return run.give_up()

    async def _failed(self, error: JsError) -> float:
        """When the next attempt is due, which is on disk before anything waits for it; or the error that is final."""
        log = self._run.host.log
        log("error", f'Uncaught {error}\n    in {self._place()} of instance "{self._run.id}", attempt {self._made}')
        seen = errors.crossed(error)
        if errors.is_non_retryable(seen) or not self._may_retry():
            await self._fail(seen, errors.as_recorded(error))
        if errors.is_subclass_of_non_retryable(error):
            log(
                "warn",
                f'Step "{self._label}" raised a subclass of NonRetryableError. Cloudflare compares the exact class, so '
                "the step is retried; raise NonRetryableError itself.",
            )
        try:
            delay = await self._resolved_delay(error)
            wake_ms = self._run.now_ms() + retry.delay_ms(self._config, self._made, delay)
        except ValueError as reason:
            await self._fail(errors.bad_delay(self._label, str(reason)))
        self._record_delay(errors.as_recorded(error), wake_ms)
        await self._run.commit()
        return wake_ms

    def _place(self) -> str:
        return f'step "{self._label}"'

    async def _resolved_delay(self, error: JsError) -> Any:
        """The delay, asked of the Worker if it is a function; ValueError if that does not answer."""
        if not callable(self._delay):
            return self._delay
        # recorded before the function is asked, in case the process ends before it answers
        self._record_delay(errors.as_recorded(error), self._run.now_ms() + retry.DEFAULT_DELAY_MS)
        seen = errors.crossed(error)
        question = {"ctx": self._context(), "error": Error(seen.message, seen.name)}
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
        run = self._run
        run.journal.delay(run.key, self._seq, run.next_seq(), error, wake_ms, run.now_ms())

    async def _fail(self, error: JsError, attempt: JsError | None = None) -> NoReturn:
        """The step's last word, now and in every replay. `attempt`: what is told of the last attempt."""
        run, final = self._run, errors.crossed(error)
        run.journal.fail(run.key, self._seq, run.next_seq(), final, run.now_ms(), attempt)
        await run.commit()
        raise final
