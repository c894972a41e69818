"""What a test changes in a workflow instance: the `modify` of an introspector. Pure: `observer.py` asks it
in each step.

Names, conflicts and precedence are those of Cloudflare's integration with vitest (workers-sdk
packages/workflows-shared/src/modifier.ts and context.ts): a mocked error comes before a forced timeout, that before a
mocked result; errors and timeouts that are limited by `times` follow each other, attempt by attempt.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Step = tuple[str, int]
"""A step's name, and the how many-th of that name it is, from 1."""
Selector = str | Step


class IntrospectionError(Exception):
    """A test asks of an instance what cannot be."""


class TimedOut:
    """In place of an error: the attempt times out."""


class WorkflowInstanceModifier:
    """Changes what an instance's steps do, now and after a restart. `send` delivers an event."""

    def __init__(self, send: Callable[[str, Any], None] | None = None) -> None:
        self._send = send
        self._results: dict[Step, Any] = {}
        self._always: dict[Step, Exception | TimedOut] = {}
        self._attempts: dict[Step, list[Exception | TimedOut]] = {}
        self._no_sleeps: set[Step] | None = set()
        self._no_delays: set[Step] | None = set()
        self._no_events: set[Step] = set()
        self.events: list[tuple[str, Any]] = []

    def disable_sleeps(self, *steps: Selector) -> None:
        """Sleeps end at once: all, or those named ("pause" or ("pause", 2))."""
        self._no_sleeps = _with(self._no_sleeps, steps)

    def disable_retry_delays(self, *steps: Selector) -> None:
        """A failed attempt is repeated at once: in all steps, or in those named."""
        self._no_delays = _with(self._no_delays, steps)

    def mock_step_result(self, name: str, result: Any, *, index: int = 1) -> None:
        """The step returns `result`; its code does not run."""
        if (name, index) in self._results:
            raise IntrospectionError(f"[WorkflowIntrospector] Trying to mock step '{name}' multiple times!")
        self._results[name, index] = result

    def mock_step_error(self, name: str, error: Exception, times: int | None = None, *, index: int = 1) -> None:
        """Attempts fail with `error`: `times` of them, or all."""
        self._fail(name, index, error, times, "mock error")

    def force_step_timeout(self, name: str, times: int | None = None, *, index: int = 1) -> None:
        """Attempts time out at once: `times` of them, or all."""
        self._fail(name, index, TimedOut(), times, "force timeout")

    def mock_event(self, event_type: str, payload: Any = None) -> None:
        """Send an event; one that is sent before the instance exists waits for it."""
        if self._send is None:
            self.events.append((event_type, payload))
        else:
            self._send(event_type, payload)

    def force_event_timeout(self, name: str, *, index: int = 1) -> None:
        """The wait for an event times out at once, whatever has been sent."""
        self._no_events.add((name, index))

    def _fail(self, name: str, index: int, error: Exception | TimedOut, times: int | None, deed: str) -> None:
        step = name, index
        if step in self._results:
            raise IntrospectionError(
                f"[WorkflowIntrospector] Trying to {deed} on step '{name}' after mocking its result!"
            )
        if times is None:
            self._always[step] = error
        else:
            self._attempts.setdefault(step, []).extend([error] * times)

    # What steps ask

    def skips_sleep(self, step: Step) -> bool:
        return self._no_sleeps is None or step in self._no_sleeps

    def skips_delay(self, step: Step) -> bool:
        return self._no_delays is None or step in self._no_delays

    def times_out(self, step: Step) -> bool:
        return step in self._no_events

    def failure(self, step: Step, attempt: int) -> Exception | TimedOut | None:
        """How this attempt fails, if it does."""
        always, each = self._always.get(step), self._attempts.get(step, [])
        once = each[attempt - 1] if attempt <= len(each) else None
        return next((it for it in (always, once) if isinstance(it, Exception)), always or once)

    def has_result(self, step: Step) -> bool:
        return step in self._results

    def result(self, step: Step) -> Any:
        return self._results[step]

    def touches(self, step: Step) -> bool:
        return step in self._results or step in self._always or step in self._attempts

    def add(self, other: WorkflowInstanceModifier) -> None:
        """Change all that `other` changes too."""
        self._results |= other._results
        self._always |= other._always
        for step, errors in other._attempts.items():
            self._attempts.setdefault(step, []).extend(errors)
        self._no_sleeps = _with(self._no_sleeps, other._no_sleeps)
        self._no_delays = _with(self._no_delays, other._no_delays)
        self._no_events |= other._no_events
        self.events += other.events


def _with(steps: set[Step] | None, more: tuple[Selector, ...] | set[Step] | None) -> set[Step] | None:
    """None stands for all, and so do no names at all."""
    if steps is None or more is None or more == ():
        return None
    return steps | {(each, 1) if isinstance(each, str) else each for each in more}
