"""Faults on request: `worker.faults`. A step fails, a binding's call fails, a batch comes twice.

A binding's faults are laid over its methods as attributes of the object: a Worker without faults runs the same code as
ever. Those of a JavaScript Worker's calls are laid around what workerd asks of us.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

from flarebed.bindings.errors import JsError, UserError
from flarebed.bindings.workflows.workflow import Workflow
from flarebed.emulator.runtime.workerd.host import Host
from flarebed.emulator.testing.observer import Observer, StepFault
from flarebed.emulator.testing.workerd_faults import CONNECTION_LOST, IN_HAND, lay_around


@dataclass
class _Planned:
    method: str | None
    error: Exception
    times: int
    after: bool

    def is_due(self, names: frozenset[str], *, after: bool) -> bool:
        return self.times > 0 and self.after == after and (self.method is None or self.method in names)


class Place(Protocol):
    """The Worker whose faults they are."""

    @property
    def observer(self) -> Observer: ...

    @property
    def host(self) -> Host | None: ...

    def bindings(self) -> Mapping[str, object]: ...

    def workflow(self, binding: str) -> Workflow: ...

    def consumed(self) -> Sequence[str]: ...

    def thrown_by(self, error: Exception) -> JsError: ...


class Faults:
    """Those of one Worker."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._host_with_faults: Host | None = None
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
        name = self._place.workflow(workflow).name
        self._place.observer.faults.append(StepFault(name, (step, index), _exception(error), times, after))

    def fail_binding(
        self, call: str, error: Exception | str = CONNECTION_LOST, times: int = 1, *, after: bool = False
    ) -> None:
        """Calls fail: "KV.put" only that method, "DB" all of the binding's, also those of prepared statements.

        With `after`, the call takes effect, and its answer is lost.
        """
        binding, _, method = call.partition(".")
        if binding not in self._place.bindings():
            raise UserError(
                f'There is no binding "{binding}".', hint=f"The config has {', '.join(sorted(self._place.bindings()))}."
            )
        known = _callable_in(type(self._place.bindings()[binding]))
        if method and method not in known:
            raise UserError(f'"{binding}" has no method "{method}".', hint=f"It has {', '.join(sorted(known))}.")
        self._planned.setdefault(binding, []).append(_Planned(method or None, _exception(error), times, after))
        self.lay(binding)

    def deliver_twice(self, queue: str, times: int = 1) -> None:
        """The next batch of the queue is delivered again, as if its acknowledgements had been lost."""
        if queue not in self._place.consumed():
            raise UserError(
                f'The Worker consumes no queue "{queue}".',
                hint=f"It consumes {', '.join(self._place.consumed()) or 'none'}.",
            )
        self._place.observer.twice[queue] += times

    def clear(self) -> None:
        """What was asked for and has not happened is called off."""
        self._planned.clear()
        self._place.observer.faults.clear()
        self._place.observer.twice.clear()

    def lay_all(self) -> None:
        """For a session that was just opened."""
        for binding in self._planned:
            self.lay(binding)

    def lay(self, binding: str) -> None:
        self._lay_over(self._place.bindings()[binding], binding)
        host = self._place.host
        if host is not None and host is not self._host_with_faults:
            self._host_with_faults = host
            lay_around(host, self._due)

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
        error = None if IN_HAND.get() else self._due(binding, frozenset((name,)), after)
        if error is not None:
            raise error

    def _due(self, binding: str, names: frozenset[str], after: bool) -> JsError | None:
        for planned in self._planned.get(binding, ()):
            if planned.is_due(names, after=after):
                planned.times -= 1
                return self._place.thrown_by(planned.error)
        return None


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
