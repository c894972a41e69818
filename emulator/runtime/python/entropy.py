"""While a Worker's top level runs, randomness is refused to its own files, as in production.

There start-up values would be the same in every copy of the Worker. Installed packages are let through: production
patches those that need it. Observed on workerd 1.20261117.1.
"""

from __future__ import annotations

import functools
import os
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_WHY = (
    "Randomness is not allowed while a Worker is starting because startup values will be repeated across Worker "
    "instances, making them predictable. If this error occurs from importing a package, import the package from a "
    "function to load it after the Worker starts."
)
_RANDOM = (
    "random", "seed", "randint", "randrange", "choice", "choices", "shuffle", "sample", "uniform", "triangular",
    "betavariate", "expovariate", "gammavariate", "gauss", "lognormvariate", "normalvariate", "vonmisesvariate",
    "paretovariate", "weibullvariate", "getrandbits", "randbytes", "getstate", "setstate",
)  # fmt: skip
_STANDARD_LIBRARY = os.path.dirname(os.__file__)


@contextmanager
def refused_to(folder: Path) -> Iterator[None]:
    """Refuse randomness to code below `folder` while the block runs."""
    own = f"{folder}{os.sep}"
    replaced: list[tuple[Any, str, Any]] = []
    starting = True

    def guard(owner: Any, name: str, error: Callable[[], Exception]) -> None:
        original = getattr(owner, name)

        @functools.wraps(original)
        def guarded(*arguments: Any, **options: Any) -> Any:
            # `from random import choice` keeps this; workerd asks when called, too (topLevelEntropy/allow_entropy.py)
            if starting and _caller().startswith(own):
                raise error()
            return original(*arguments, **options)

        replaced.append((owner, name, original))
        setattr(owner, name, guarded)

    for name in _RANDOM:
        guard(random, name, functools.partial(_no_random, name))
    guard(os, "urandom", _no_bytes)
    guard(random, "_urandom", _no_bytes)  # what `secrets` and SystemRandom use
    try:
        yield
    finally:
        starting = False
        for owner, name, original in reversed(replaced):
            setattr(owner, name, original)


def _caller() -> str:
    """The file of the nearest caller that is neither a guard nor the standard library."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        file = frame.f_code.co_filename
        in_library = file.startswith(_STANDARD_LIBRARY) and "site-packages" not in file
        if not in_library and file != __file__:
            return file
        frame = frame.f_back
    return ""


def _no_random(name: str) -> Exception:
    return RuntimeError(f"Cannot use random.{name}() outside of request context. {_WHY}")


def _no_bytes() -> Exception:
    return OSError(29, _WHY)
