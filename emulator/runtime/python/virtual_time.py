"""The clock's time in the code of a Worker on a virtual clock: `time`, `datetime`, `uuid.uuid1`.

Only code that runs on such a Worker's loop sees it; the host, and the test around it, keep the machine's time. On the
real clock nothing is replaced. JavaScript's `Date` and `performance` ask the clock themselves.

Functions of modules are replaced in their modules. `datetime` and `date` are types of C that refuse assignment, so
`now`, `utcnow` and `today` are replaced in the dict behind the type. That keeps the types what they are: isinstance,
pickle, pydantic and names that were imported long ago go on working. A subclass in their place breaks some of each.

Limits: a module that was loaded before the Worker and took a function for itself (`from time import time`) keeps the
machine's time, and so does what asks the system: `time.clock_gettime`, `time.process_time`, times of files, extensions
written in C or Rust. Needs CPython.
"""

from __future__ import annotations

import asyncio.base_events
import ctypes
import datetime
import functools
import gc
import random
import sys
import time
import uuid
import warnings
from asyncio import events
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from flarebed.bindings.clock import VirtualClock
from flarebed.emulator.runtime.python.context import CURRENT
from flarebed.emulator.runtime.python.webloop import WebLoop

_UTCNOW_IS_DEPRECATED = (
    "datetime.datetime.utcnow() is deprecated and scheduled for removal in a future version. Use timezone-aware "
    "objects to represent datetimes in UTC: datetime.datetime.now(datetime.UTC)."
)


def clock_of_caller() -> VirtualClock | None:
    """The virtual clock of the Worker whose code is calling, if one is."""
    if not isinstance(events._get_running_loop(), WebLoop):
        return None
    io = CURRENT.get(None)
    clock = io.services.clock if io is not None else None
    return clock if isinstance(clock, VirtualClock) else None


class VirtualTime:
    """The replaced functions of this process; they stay as long as somebody who installed them needs them."""

    def __init__(self) -> None:
        self._users = 0
        self._undo: list[Callable[[], None]] = []
        self._monotonic_s = 0.0

    def install(self) -> None:
        self._users += 1
        if self._users > 1:
            return
        self._monotonic_s = time.monotonic()
        # A host's loop times its callbacks by time.monotonic, also for Worker code that makes it wait for something.
        self._set(asyncio.base_events, "time", SimpleNamespace(**vars(time)))
        self._replace_time()
        self._replace_datetime()
        self._set(uuid, "_last_timestamp", None)  # uuid1 never goes back behind it
        self._replace(uuid, "uuid1", _uuid1)

    def remove(self) -> None:
        self._users -= 1
        if not self._users:
            for undo in reversed(self._undo):
                undo()
            self._undo.clear()

    def _replace_time(self) -> None:
        self._replace(time, "time", lambda _, clock: clock.now_ms() / 1000)
        self._replace(time, "time_ns", lambda _, clock: _ns(clock.now_ms()))
        for name in ("monotonic", "perf_counter"):
            self._replace(time, name, lambda _, clock: self._monotonic_s + _elapsed_ms(clock) / 1000)
            self._replace(time, f"{name}_ns", lambda _, clock: _ns(self._monotonic_s * 1000) + _ns(_elapsed_ms(clock)))
        for name in ("localtime", "gmtime", "ctime"):
            self._replace(time, name, _of_seconds)
        local = time.localtime  # replaced already
        self._replace(time, "asctime", lambda original, _, at=None: original(local() if at is None else at))
        self._replace(
            time, "strftime", lambda original, _, form, at=None: original(form, local() if at is None else at)
        )

    def _replace_datetime(self) -> None:
        self._replace_class_method(datetime.datetime, "now", lambda cls, now_s, tz=None: cls.fromtimestamp(now_s, tz))
        self._replace_class_method(datetime.datetime, "utcnow", _utcnow)
        self._replace_class_method(datetime.date, "today", lambda cls, now_s: cls.fromtimestamp(now_s))

    def _set(self, owner: Any, name: str, value: Any) -> None:
        self._undo.append(functools.partial(setattr, owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    def _replace(self, owner: Any, name: str, virtual: Callable[..., Any]) -> None:
        """`virtual` gets the original and the clock, then the caller's arguments."""
        original = getattr(owner, name)

        @functools.wraps(original)
        def replaced(*arguments: Any, **options: Any) -> Any:
            clock = clock_of_caller()
            if clock is None:
                return original(*arguments, **options)
            return virtual(original, clock, *arguments, **options)

        self._set(owner, name, replaced)

    def _replace_class_method(self, owner: type, name: str, virtual: Callable[..., Any]) -> None:
        """`virtual` gets the class and the time in seconds, then the caller's arguments."""
        original: Any = vars(owner)[name]

        def replaced(cls: type, *arguments: Any, **options: Any) -> Any:
            clock = clock_of_caller()
            if clock is None:
                return original.__get__(None, cls)(*arguments, **options)
            return virtual(cls, clock.now_ms() / 1000, *arguments, **options)

        self._undo.append(functools.partial(_set_in_type, owner, name, original))
        _set_in_type(owner, name, classmethod(functools.wraps(original)(replaced)))


def _set_in_type(owner: type, name: str, value: Any) -> None:
    """Assign to an attribute of a type that refuses it, and tell the interpreter's caches."""
    (members,) = gc.get_referents(vars(owner))  # the dict that the read-only view shows
    members[name] = value
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(owner))


def _utcnow(cls: type[datetime.datetime], now_s: float) -> datetime.datetime:
    if sys.version_info >= (3, 12):
        warnings.warn(_UTCNOW_IS_DEPRECATED, DeprecationWarning, stacklevel=3)
    return cls.fromtimestamp(now_s, datetime.UTC).replace(tzinfo=None)


def _uuid1(
    original: Callable[..., uuid.UUID], _clock: VirtualClock, node: int | None = None, clock_seq: int | None = None
) -> uuid.UUID:
    """With a sequence number given, uuid1 asks `time` and not the system."""
    return original(node, random.getrandbits(14) if clock_seq is None else clock_seq)


def _of_seconds(original: Callable[[float], Any], clock: VirtualClock, seconds: float | None = None) -> Any:
    return original(clock.now_ms() / 1000 if seconds is None else seconds)


def _elapsed_ms(clock: VirtualClock) -> float:
    return clock.now_ms() - clock.start_ms


def _ns(ms: float) -> int:
    whole = int(ms)
    return whole * 1_000_000 + round((ms - whole) * 1_000_000)
