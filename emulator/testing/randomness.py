"""Randomness by a seed, for a Worker and its engines: `random`, `secrets`, `uuid`, `js.crypto`, ids.

As with time, functions of modules are replaced by ones that look at who calls; the test keeps the machine's randomness.
Out of reach: `random.Random()` and `SystemRandom` of C extensions, numpy's generators, and what took a function for
itself before the Worker was loaded.
"""

from __future__ import annotations

import functools
import os
import random
from asyncio import events
from collections.abc import Callable
from typing import Any

from flarebed.emulator.runtime.python.webloop import WebLoop
from flarebed.emulator.testing.session import SessionLoop

_FUNCTIONS = (
    "random", "seed", "randint", "randrange", "choice", "choices", "shuffle", "sample", "uniform", "triangular",
    "betavariate", "expovariate", "gammavariate", "gauss", "lognormvariate", "normalvariate", "vonmisesvariate",
    "paretovariate", "weibullvariate", "getrandbits", "randbytes", "getstate", "setstate",
)  # fmt: skip


def entropy_of_caller() -> random.Random | None:
    """The seeded source of the session whose code is calling."""
    loop = events._get_running_loop()
    host = loop.host if isinstance(loop, WebLoop) else loop
    return host.entropy if isinstance(host, SessionLoop) else None


class SeededRandomness:
    """The replaced functions, for as long as somebody who installed them needs them."""

    def __init__(self) -> None:
        self._users = 0
        self._undo: list[Callable[[], None]] = []

    def install(self) -> None:
        self._users += 1
        if self._users > 1:
            return
        for name in _FUNCTIONS:
            self._replace(random, name, name)
        self._replace(os, "urandom", "randbytes")
        self._replace(random, "_urandom", "randbytes")  # what `secrets` and SystemRandom use

    def remove(self) -> None:
        self._users -= 1
        if not self._users:
            for undo in reversed(self._undo):
                undo()
            self._undo.clear()

    def _replace(self, owner: Any, name: str, of_seeded: str) -> None:
        original = getattr(owner, name)

        @functools.wraps(original)
        def replaced(*arguments: Any, **options: Any) -> Any:
            entropy = entropy_of_caller()
            return (original if entropy is None else getattr(entropy, of_seeded))(*arguments, **options)

        self._undo.append(functools.partial(setattr, owner, name, original))
        setattr(owner, name, replaced)


@functools.cache
def seeded_randomness() -> SeededRandomness:
    """That of this process, as the modules are that it changes."""
    return SeededRandomness()
