"""The `step` that Worker code gets under check: it writes down what is asked of it, and knows who is in a step.

`WatchedStep` passes everything on to the engine's step; `ReplayedStep` answers from what another run wrote down.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from random import Random
from typing import Any

from flarebed.bindings.codec import encode
from flarebed.bindings.errors import JsError
from flarebed.bindings.values import Stream
from flarebed.emulator.checking.places import Site, Sources
from flarebed.emulator.checking.witness import INSIDE, Attempt, plain
from flarebed.emulator.runtime.python.promise import Promise
from flarebed.emulator.runtime.python.proxy import JsProxy, from_python

Key = tuple[str, str, int]
"""Kind (do, sleep, sleepUntil, waitForEvent), name, and the how many-th of that name it is."""


@dataclass(eq=False)
class Command:
    """A step as `run` asked for it. `site` is where its function is written, or where it is called.

    `is_within`: it was asked for in another step's function.
    """

    key: Key
    site: Site | None
    argument: str
    after_lines: int
    asked_ms: float
    is_within: bool
    outcome: tuple[str, Any] | None = None
    at_ms: float = 0.0
    attempts: list[Attempt] = field(default_factory=list)
    size: int = 0

    @property
    def name(self) -> str:
        return self.key[1]

    @property
    def is_over(self) -> bool:
        return self.outcome is not None

    @property
    def is_new(self) -> bool:
        """It was made in this life, or waited for: not answered from the journal."""
        return bool(self.attempts) or (self.is_over and self.at_ms > self.asked_ms)


class Conduct:
    """How a trial has the functions of steps called: here as the engine asks, each time with dice of its own."""

    async def attempt(self, command: Command, call: Callable[[Attempt], Coroutine[Any, Any, Any]]) -> Any:
        return await call(self.next_attempt(command))

    def over(self, command: Command) -> bool:
        """A step's outcome is recorded. False: Worker code does not come to hear of it."""
        return True

    def next_attempt(self, command: Command, again: str = "") -> Attempt:
        return Attempt(command.key, Random(f"{command.key} {len(command.attempts)}{again}"))


@dataclass
class Script:
    """What one run asked of its steps, in order."""

    sources: Sources
    now_ms: Callable[[], float]
    lines: Callable[[], int] = lambda: 0
    commands: list[Command] = field(default_factory=list)
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    def command(self, kind: str, name: Any, site: Site | None, argument: Any) -> Command:
        self.counts[kind, str(name)] += 1
        key = (kind, str(name), self.counts[kind, str(name)])
        command = Command(key, site, str(argument), self.lines(), self.now_ms(), INSIDE.get() is not None)
        self.commands.append(command)
        return command

    def find(self, key: Key) -> Command | None:
        return next((command for command in self.commands if command.key == key), None)


class Asked(JsProxy, js="JsRpcStub"):
    """The methods of a step, each of which becomes a command."""

    __slots__ = ("_script",)

    def __init__(self, script: Script) -> None:
        self._script = script

    def do(self, name: Any, *rest: Any) -> Promise:
        function = next((part for part in rest if inspect.isfunction(part)), None)
        site = None if function is None else _definition(function, self._script.sources)
        return self._ask(self._script.command("do", name, site, ""), "do", name, rest)

    def sleep(self, name: Any, *rest: Any) -> Promise:
        return self._ask(self._here("sleep", name, rest), "sleep", name, rest)

    def sleepUntil(self, name: Any, *rest: Any) -> Promise:
        return self._ask(self._here("sleepUntil", name, rest), "sleepUntil", name, rest)

    def waitForEvent(self, name: Any, *rest: Any) -> Promise:
        return self._ask(self._here("waitForEvent", name, rest), "waitForEvent", name, rest)

    def _here(self, kind: str, name: Any, rest: tuple[Any, ...]) -> Command:
        values = [plain(from_python(part)) for part in rest]
        return self._script.command(kind, name, self._script.sources.caller(), values)

    def _ask(self, command: Command, method: str, name: Any, rest: tuple[Any, ...]) -> Promise:
        raise NotImplementedError


class WatchedStep(Asked, js="JsRpcStub"):
    """Has the functions of steps called as `conduct` says."""

    __slots__ = ("_conduct", "_engine")

    def __init__(self, engine: Any, script: Script, conduct: Conduct) -> None:
        super().__init__(script)
        self._engine = engine
        self._conduct = conduct

    def _ask(self, command: Command, method: str, name: Any, rest: tuple[Any, ...]) -> Promise:
        if method == "do":
            rest = tuple(self._watched(command, part) if inspect.isfunction(part) else part for part in rest)
        promise: Promise = getattr(self._engine, method)(name, *rest)
        heard = Promise()

        def over() -> None:
            command.outcome = (promise.state, promise.value)
            command.at_ms = self._script.now_ms()
            if self._conduct.over(command):
                heard._settle(promise.state, promise.value)
            elif heard._io is not None:
                heard._io.begin_outside()  # so that the run is not taken for one that hangs

        promise.when_settled(over)
        return heard

    def _watched(self, command: Command, callback: Callable[..., Any]) -> Callable[..., Any]:
        async def call(*arguments: Any) -> Any:
            async def once(attempt: Attempt) -> Any:
                command.attempts.append(attempt)
                INSIDE.set(attempt)  # in the context of this call, which ends with it
                return await callback(*arguments)

            result = await self._conduct.attempt(command, once)
            command.size = max(command.size, _size(result))
            return result

        return call


class ReplayedStep(Asked, js="JsRpcStub"):
    """Each step is over at once, as it was in the run that `past` is of. What was not asked then gets no answer."""

    __slots__ = ("_past", "_reached", "_used")

    def __init__(self, script: Script, past: Script, reached: Callable[[Command], object]) -> None:
        super().__init__(script)
        self._past = past
        self._reached = reached
        self._used: set[Key] = set()

    def _ask(self, command: Command, method: str, name: Any, rest: tuple[Any, ...]) -> Promise:
        before = self._past.find(command.key) or self._stand_in(command)
        if before is None or before.outcome is None:
            return Promise()
        self._used.add(before.key)
        self._reached(before)
        state, value = before.outcome
        return Promise.fulfilled(value) if state == "fulfilled" else Promise.rejected(value)

    def _stand_in(self, command: Command) -> Command | None:
        """Under another name the step at the same place, so that a replay goes on."""
        return next(
            (
                before
                for before in self._past.commands
                if before.site == command.site and before.key[0] == command.key[0] and before.key not in self._used
            ),
            None,
        )


def _size(result: Any) -> int:
    """Bytes that the result takes in the journal; a stream's don't count."""
    value = from_python(result)
    if isinstance(value, Stream):
        return 0
    try:
        return len(encode(value, over_rpc=True))
    except JsError:
        return 0  # the engine says so itself


def _definition(function: Callable[..., Any] | None, sources: Sources) -> Site | None:
    """Where the Worker's function is written that the SDK's callbacks are wrapped around."""
    while function is not None:
        code = function.__code__
        if sources.own(code.co_filename):
            return code.co_filename, code.co_firstlineno
        cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
        inner = cells.get("callback")
        function = inner.cell_contents if inner is not None and inspect.isroutine(inner.cell_contents) else None
    return None
