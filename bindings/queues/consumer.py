"""Delivers one queue to the Worker, while this process owns the state folder.

One turn decides: a batch goes when it is full, or when `max_batch_timeout` has passed since its first message waited.
One timer wakes the turn for whatever comes next. A batch is leased, delivered, and settled in one transaction, in which
the next one is leased. Once that is on disk the log tells of it, and what it acknowledges never comes again.

Batches go one at a time unless the config sets `max_concurrency`; Cloudflare would add consumers as the backlog grows.
https://developers.cloudflare.com/queues/configuration/batching-retries/
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple

from flarebed.bindings.clock import Timer
from flarebed.bindings.errors import JsError
from flarebed.bindings.kind import Surroundings
from flarebed.bindings.queues.backlog import Backlog, Lease, Message
from flarebed.bindings.queues.binding import QueueController
from flarebed.bindings.queues.disorder import Disorder
from flarebed.bindings.queues.spec import QueueConsumerSpec
from flarebed.bindings.queues.verdict import Verdict

MAX_CONCURRENCY: Final = 250
MAX_WALL_MS: Final = 15 * 60_000
"""How long a consumer may take for a batch: https://developers.cloudflare.com/queues/platform/limits/."""
DRAIN_MS: Final = 30_000
"""How long a batch may go on when the process stops owning; then it is cancelled, which is a failed attempt."""
FAILURE_PAUSE_MS: Final = 1_000
"""How long a consumer rests when the store fails, so that it neither spins nor floods the log."""


class Ending(NamedTuple):
    """How a delivery ends: which messages come again after so many seconds, which are still to be taken over by the
    dead letter queue; and what the log says once that is on disk."""

    lease: Lease
    again: list[tuple[Message, float]]
    dead: list[Message]
    told: list[tuple[str, str]]


class Consumer:
    """`dead_letters` and `buried` belong to the dead letter queue, if there is one."""

    def __init__(
        self,
        spec: QueueConsumerSpec,
        around: Surroundings,
        backlog: Backlog,
        dead_letters: Backlog | None,
        buried: Callable[[], None],
    ) -> None:
        self._spec = spec
        self._clock = around.clock
        self._dispatch = around.dispatch
        self._log = around.log
        self._backlog = backlog
        self._dead_letters = dead_letters
        self._buried = buried
        self._batching = spec.batching(around.modes.queue_defaults)
        self._disorder = Disorder(around)
        self._slots = min(int(spec.max_concurrency or 1), MAX_CONCURRENCY)
        self._tasks: set[asyncio.Task[None]] = set()
        self._running = 0
        self._due_ms: float | None = None
        self._timer: Timer | None = None
        self._turn_is_coming = False
        self._paused = False
        self.owned = False

    async def start(self) -> None:
        """What a process that died left in delivery has failed."""
        self.owned = True
        self._paused = False
        for lease in self._backlog.leases():
            ending = self._ending(lease, [(message, self._spec.retry_delay) for message in lease.messages])
            await self._end(ending._replace(dead=self._not_buried(ending.dead)))
        self._turn()

    async def stop(self) -> None:
        """Returns when no batch is in delivery any more."""
        self.owned = False
        self._wake_at(None)
        tasks = list(self._tasks)
        if tasks:
            end = self._clock.call_later(DRAIN_MS, _cancel, tasks)
            await asyncio.gather(*tasks, return_exceptions=True)
            end.cancel()
            await asyncio.wait([self._backlog.durable()])

    def poke(self) -> None:
        """There may be something to deliver. Cheap: what one tick of the loop sends is looked at once."""
        if self.owned and not self._turn_is_coming:
            self._turn_is_coming = True
            self._clock.loop.call_soon(self._poked)

    def _poked(self) -> None:
        self._turn_is_coming = False
        self._turn()

    def _not_buried(self, dead: list[Message]) -> list[Message]:
        """Without those that the process had moved, and died before they left this queue, or before it said so."""
        if not dead or self._dead_letters is None or self._dead_letters is self._backlog:
            return dead
        absent = self._dead_letters.absent(dead)
        if len(absent) < len(dead):
            self._buried()
        return absent

    def _turn(self) -> None:
        if not self.owned:
            return
        try:
            self._take_turn()
        except Exception as error:  # a full disk, say
            self._tell(error)
            self._wake_at(self._clock.now_ms() + FAILURE_PAUSE_MS)

    def _take_turn(self) -> None:
        now_ms = self._clock.now_ms()
        metrics, visible_ms, paused = self._backlog.look()
        if paused != self._paused:
            self._paused = paused
            self._tell_of_pause()
        if paused:
            self._due_ms = None
            self._wake_at(None)
            return
        waiting = metrics.messages
        while waiting and self._running < self._slots and self._is_due(waiting, now_ms):
            waiting -= self._start_batch()
        due_ms = self._next_due_ms(now_ms) if waiting else None
        self._due_ms = due_ms
        if visible_ms is not None and visible_ms <= now_ms:
            self.poke()  # more of the delayed are due than appear at once
            visible_ms = None
        wakes = [when_ms for when_ms in (visible_ms, due_ms if self._running < self._slots else None) if when_ms]
        only_delayed = visible_ms is not None and due_ms is None and not self._backlog.has_retries()
        self._wake_at(min(wakes, default=None), durable=only_delayed)

    def _tell_of_pause(self) -> None:
        queue = self._spec.queue
        if self._paused:
            self._log("warn", f'Queue "{queue}" is paused: `flarebed queues resume {queue}` lets it deliver.')
        else:
            self._log("info", f'Queue "{queue}" delivers again.')

    def _is_due(self, waiting: int, now_ms: float) -> bool:
        return waiting >= self._batching.size or now_ms >= self._next_due_ms(now_ms)

    def _next_due_ms(self, now_ms: float) -> float:
        """When what waits goes, full batch or not."""
        return self._due_ms if self._due_ms is not None else now_ms + self._batching.timeout_s * 1000

    def _start_batch(self) -> int:
        self._due_ms = None
        self._disorder.mix(self._backlog, self._batching.size)
        lease = self._backlog.lease(self._batching.size)
        self._running += 1
        leased = self._backlog.committed()  # asked for at once: when the task begins, the commit is over
        task = self._clock.spawn(self._deliver(lease, leased), f"queue {self._spec.queue}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return len(lease.messages)

    def _wake_at(self, when_ms: float | None, *, durable: bool = False) -> None:
        """An earlier wake-up is kept: the turn that it makes finds nothing due and sets the right one.

        It is `durable` if all that waits are messages which their sender delayed.
        """
        timer = self._timer
        if timer is not None and not timer.cancelled:
            if when_ms is not None and timer.when_ms <= when_ms and durable == timer.durable:
                return
            timer.cancel()
        self._timer = None if when_ms is None else self._clock.call_at(when_ms, self._turn, durable=durable)

    async def _deliver(self, lease: Lease, leased: asyncio.Future[None]) -> None:
        try:
            await leased
            await self._deliver_and_end(lease)
        except Exception as error:  # a full disk, say: what was not committed is still to be delivered
            self._tell(error)
            await self._clock.sleep(FAILURE_PAUSE_MS)
        finally:
            self._running -= 1
            self._turn()

    async def _deliver_and_end(self, lease: Lease) -> None:
        verdict = Verdict(lambda text: self._log("warn", text))
        started_ms = int(self._clock.now_ms())
        threw = await self._throws(lease, verdict)
        elapsed_ms = int(self._clock.now_ms()) - started_ms
        failed, done = [], []
        for message in lease.messages:
            delay_s = verdict.retry_delay_s(message.id, self._spec.retry_delay, threw=threw)
            if delay_s is None:
                done.append(message)
            else:
                failed.append((message, delay_s))
        summary = f"QUEUE {self._spec.queue} {len(done)}/{len(lease.messages)} ({elapsed_ms}ms)"
        await self._end(self._ending(lease, failed, done, ("info", summary)))

    async def _throws(self, lease: Lease, verdict: Verdict) -> bool:
        """Run the handler; whether it failed. Who runs it has reported what a Worker threw."""
        task = asyncio.current_task()
        assert task is not None
        limit = self._clock.call_later(MAX_WALL_MS, self._stop_handler, task)
        try:
            metrics = self._backlog.metrics()
            await self._dispatch.queue(QueueController(self._spec.queue, lease.messages, metrics, verdict))
        except (JsError, asyncio.CancelledError):
            return True
        except Exception as error:
            self._log("error", f"Queue {self._spec.queue}: {type(error).__name__}: {error}")
            return True
        finally:
            limit.cancel()
        return False

    def _stop_handler(self, task: asyncio.Task[None]) -> None:
        limit = f"{MAX_WALL_MS // 60_000} minutes"
        self._log("error", f'Queue "{self._spec.queue}": a batch took {limit}, the limit of a consumer; it has failed.')
        task.cancel()

    def _ending(
        self,
        lease: Lease,
        failed: list[tuple[Message, float]],
        done: Sequence[Message] = (),
        *told: tuple[str, str],
    ) -> Ending:
        retries = [(message, delay_s) for message, delay_s in failed if message.attempts < self._batching.retries]
        dead = [message for message, _ in failed if message.attempts >= self._batching.retries]
        again = [*retries, *self._disorder.repeats(done)]
        return Ending(lease, again, dead, [*(self._told_of_failure(message) for message, _ in failed), *told])

    async def _end(self, ending: Ending) -> None:
        """The delivery is over. Nothing waits for that to be on disk; if it can't be, it is said again.

        The dead reach their queue before they leave this one, so that a crash between loses none.
        """
        try:
            if ending.dead and self._dead_letters is not None:
                self._dead_letters.take_over(ending.dead)
                await self._dead_letters.durable()
                self._buried()
                ending = ending._replace(dead=[])
            self._backlog.settle(ending.lease, ending.again)
        except Exception as error:
            self._end_again(ending, error)
        else:
            self._backlog.durable().add_done_callback(partial(self._ended, ending))

    def _ended(self, ending: Ending, done: asyncio.Future[None]) -> None:
        error = done.exception()
        if error is not None:
            self._end_again(ending, error)
            return
        for level, text in ending.told:
            self._log(level, text)

    def _end_again(self, ending: Ending, error: BaseException) -> None:
        if self.owned:
            self._tell(error)
            name = f"end of queue {self._spec.queue}"
            self._clock.call_later(FAILURE_PAUSE_MS, lambda: self._clock.spawn(self._end(ending), name))

    def _tell(self, error: BaseException) -> None:
        self._log("error", f"Queue {self._spec.queue}: {error}")

    def _told_of_failure(self, message: Message) -> tuple[str, str]:
        name = f'message "{message.id}" on queue "{self._spec.queue}"'
        if message.attempts < self._batching.retries:
            return "debug", f"Retrying {name}..."
        attempts = self._batching.retries + 1
        after = f"after {attempts} failed attempt{'s' if attempts > 1 else ''}"
        if self._spec.dead_letter_queue is None:
            return "warn", f"Dropped {name} {after}!"
        return "warn", f'Moving {name} to dead letter queue "{self._spec.dead_letter_queue}" {after}...'


def _cancel(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
