"""Faults on request: `worker.faults`. A step fails, a binding's call fails, a batch comes twice.

A binding's faults are laid over its methods as attributes of the object: a Worker without faults runs the same code as
ever.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from flarebed.bindings.errors import JsError, UserError
from flarebed.emulator.testing.crossing import as_thrown
from flarebed.emulator.testing.observer import Observer, StepFault

CONNECTION_LOST = "Network connection lost."
"""What production says when a binding's service could not be reached."""


@dataclass
class _Planned:
    method: str | None
    error: Exception
    times: int
    after: bool

    def is_due(self, method: str, *, after: bool) -> bool:
        return self.times > 0 and self.after == after and self.method in (None, method)


class Faults:
    """`bindings` are the engine's objects by name, `consumed` the queues that the Worker consumes; `name_of` gives the
    workflow's name for a binding's.
    """

    def __init__(
        self,
        observer: Observer,
        name_of: Callable[[str], str],
        bindings: Callable[[], Mapping[str, object]],
        consumed: Callable[[], Sequence[str]],
    ) -> None:
        self._observer = observer
        self._name_of = name_of
        self._bindings = bindings
        self._consumed = consumed
        self._planned: dict[str, list[_Planned]] = {}

    def fail_step(
        self,
        workflow: str,
        step: str,
        error: Exception | str = "step failed on request",
        times: int = 1,
        *,
        index: int = 1,
        after: bool = False,
    ) -> None:
        """Attempts of the step fail, whichever instance of binding `workflow` makes them.

        With `after`, the step's code has run: what it did stays, and it will be repeated.
        """
        self._observer.faults.append(StepFault(self._name_of(workflow), (step, index), _exception(error), times, after))

    def fail_binding(
        self, call: str, error: Exception | str = CONNECTION_LOST, times: int = 1, *, after: bool = False
    ) -> None:
        """Calls fail: "KV.put" only that method, "DB" all of the binding's, also those of prepared statements.

        With `after`, the call takes effect, and its answer is lost.
        """
        binding, _, method = call.partition(".")
        if binding not in self._bindings():
            raise UserError(
                f'There is no binding "{binding}".', hint=f"The config has {', '.join(sorted(self._bindings()))}."
            )
        known = _callable_in(type(self._bindings()[binding]))
        if method and method not in known:
            raise UserError(f'"{binding}" has no method "{method}".', hint=f"It has {', '.join(sorted(known))}.")
        self._planned.setdefault(binding, []).append(_Planned(method or None, _exception(error), times, after))
        self.lay(binding)

    def deliver_twice(self, queue: str, times: int = 1) -> None:
        """The next batch of the queue is delivered again, as if its acknowledgements had been lost."""
        if queue not in self._consumed():
            raise UserError(
                f'The Worker consumes no queue "{queue}".', hint=f"It consumes {', '.join(self._consumed()) or 'none'}."
            )
        self._observer.twice[queue] += times

    def clear(self) -> None:
        """What was asked for and has not happened is called off."""
        self._planned.clear()
        self._observer.faults.clear()
        self._observer.twice.clear()

    def lay_all(self) -> None:
        """For a session that was just opened."""
        for binding in self._planned:
            self.lay(binding)

    def lay(self, binding: str) -> None:
        self._lay_over(self._bindings()[binding], binding)

    def _lay_over(self, target: Any, binding: str) -> None:
        for name, function, is_promise in _methods(target.__class__):
            wrap = self._promise if is_promise else self._call
            setattr(target, name, wrap(binding, name, function.__get__(target)))

    def _promise(self, binding: str, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        async def call(*arguments: Any) -> Any:
            self._raise(binding, name, after=False)
            result = await method(*arguments)
            self._raise(binding, name, after=True)
            return result

        return call

    def _call(self, binding: str, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        """What a call without a promise gives (a prepared statement) is the binding's too."""

        def call(*arguments: Any) -> Any:
            made = method(*arguments)
            if hasattr(made, "__dict__"):
                self._lay_over(made, binding)
            return made

        return call

    def _raise(self, binding: str, name: str, *, after: bool) -> None:
        for planned in self._planned.get(binding, ()):
            if planned.is_due(name, after=after):
                planned.times -= 1
                raise as_thrown(planned.error)


@cache
def _methods(of: type) -> tuple[tuple[str, Callable[..., Any], bool], ...]:
    """What a Worker can call, and whether that gives a promise."""
    return tuple(
        (name, function, inspect.iscoroutinefunction(function))
        for name, function in inspect.getmembers(of, inspect.isfunction)
        if not name.startswith("_") and name != "own_properties"
    )


def _callable_in(of: type) -> set[str]:
    """The methods with promises of a binding's class and of those beside it, such as prepared statements."""
    beside = [each for each in vars(sys.modules[of.__module__]).values() if isinstance(each, type)]
    classes = [each for each in beside if each.__module__ == of.__module__]
    return {name for each in classes for name, _, is_promise in _methods(each) if is_promise}


def _exception(error: Exception | str) -> Exception:
    return JsError(error) if isinstance(error, str) else error
