"""Randomness that the check decides: that of Python's modules, of `js.crypto` and of `js.Math`, in Worker code.

`uuid.uuid4` and `secrets` look `os.urandom` and `random._urandom` up when they are called, so they follow. In a step
the numbers are those of the step's attempt, the same in each trial; outside of steps those of the trial.
"""

from __future__ import annotations

import os
import random
from asyncio import events
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

from flarebed.emulator.checking.witness import INSIDE
from flarebed.emulator.runtime.python.context import CURRENT
from flarebed.emulator.runtime.python.js import number
from flarebed.emulator.runtime.python.webloop import WebLoop

_FUNCTIONS = (
    "random", "uniform", "triangular", "randint", "choice", "randrange", "sample", "shuffle", "choices",
    "normalvariate", "lognormvariate", "expovariate", "vonmisesvariate", "gammavariate", "gauss", "betavariate",
    "paretovariate", "weibullvariate", "getrandbits", "randbytes",
)  # fmt: skip


LOW, HIGH = 0.0, 1 - 2**-53
_LOADED_THROWS = 32
"""Then they roll freely: the distributions throw again and again until they like what they get."""


class Loaded(random.Random):
    """Dice that fall the same way at first: `random()` is `value`."""

    def __init__(self, value: float) -> None:
        self._value = value
        self._thrown = 0
        super().__init__(0)

    def random(self) -> float:
        self._thrown += 1
        return self._value if self._thrown <= _LOADED_THROWS else super().random()

    def _randbelow(self, n: int) -> int:
        return int(self.random() * n)


@contextmanager
def thrown(outside: Callable[[], random.Random], seen: Callable[[], object]) -> Iterator[None]:
    """Give Worker code these dice while the block runs; `seen()` is told when they are thrown outside of steps."""

    def dice() -> random.Random | None:
        if not isinstance(events._get_running_loop(), WebLoop) or CURRENT.get(None) is None:
            return None
        attempt = INSIDE.get()
        if attempt is not None:
            return attempt.dice
        seen()
        return outside()

    def function(name: str) -> Callable[..., Any]:
        original = getattr(random, name)

        def call(*arguments: Any, **options: Any) -> Any:
            thrower = dice()
            return (original if thrower is None else getattr(thrower, name))(*arguments, **options)

        return call

    def math_random(_math: number.Math) -> float:
        return random.random()

    class Random(random.Random):
        """Without a seed it takes one from the system, in C; here from the dice."""

        def __init__(self, x: Any = None) -> None:
            thrower = dice() if x is None else None
            super().__init__(x if thrower is None else thrower.getrandbits(64))

    urandom = os.urandom

    def octets(size: int) -> bytes:
        thrower = dice()
        return urandom(size) if thrower is None else thrower.randbytes(size)

    with ExitStack() as stack:
        for name in _FUNCTIONS:
            stack.enter_context(mock.patch.object(random, name, function(name)))
        stack.enter_context(mock.patch.object(random, "Random", Random))
        stack.enter_context(mock.patch.object(random, "_urandom", octets))
        stack.enter_context(mock.patch.object(number.Math, "random", math_random))
        stack.enter_context(mock.patch.object(os, "urandom", octets))
        yield
