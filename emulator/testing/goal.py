"""What a test waits for: a `Goal`, and how it is reached on the private loop of a session.

Every operation of the test API is a method that returns a Goal, written once. `@operation` gives it two faces: on an
`Awaiting` object it is a coroutine function, which lets others of the test's tasks go first at each step (under asyncio
or Trio), on a `Blocking` one it returns the result.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from anyio.lowlevel import checkpoint

from flarebed.emulator.testing.session import Session

P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


def _nothing() -> None:
    pass


@dataclass(frozen=True)
class Goal(Generic[T]):
    """`what` is waited for, in the words of an error. `moves_time`: also on a frozen clock, for that is its purpose."""

    session: Session
    what: str
    done: Callable[[], bool]
    result: Callable[[], T]
    cancel: Callable[[], object] = _nothing
    moves_time: bool = False

    def reach(self) -> T:
        """Run until it is done, in this very call."""
        __tracebackhide__ = True
        since_ms, moves = self._begun(), 0
        try:
            while not self.done():
                if not self.session.work(wait=True, what=self.what):
                    moves += self._jump(since_ms, moves)
        except BaseException:
            self.cancel()
            raise
        return self.result()

    async def reached(self) -> T:
        """The same, step by step. Time moves when no other task of the test has begun something meanwhile."""
        __tracebackhide__ = True
        since_ms, moves = self._begun(), 0
        try:
            await checkpoint()
            while not self.done():
                if self.session.work(wait=False, what=self.what):
                    if self.session.is_waiting_outside():  # perhaps for something that the test itself serves
                        await checkpoint()
                    continue
                begun = self.session.begun
                await checkpoint()
                if begun == self.session.begun and self.session.is_idle() and not self.done():
                    moves += self._jump(since_ms, moves)
        except BaseException:
            self.cancel()
            raise
        return self.result()

    def _begun(self) -> float:
        self.session.be_patient()
        return self.session.clock.now_ms()

    def _jump(self, since_ms: float, moves: int) -> bool:
        return self.session.jump(self.what, since_ms, moves, moves_time=self.moves_time)


def running(session: Session, what: str, work: Coroutine[Any, Any, T]) -> Goal[T]:
    """Engine code, begun on the session's loop."""
    session.begun += 1
    task = session.loop.create_task(work)
    return Goal(session, what, task.done, task.result, task.cancel)


def at_once(session: Session, what: str, act: Callable[[], T]) -> Goal[T]:
    """What needs no waiting; it happens when it is awaited."""
    return Goal(session, what, lambda: True, act)


class Awaiting:
    """An object whose operations are awaited."""

    def perform(self, begin: Callable[..., Goal[T]], *arguments: Any, **options: Any) -> Coroutine[Any, Any, T]:
        return _begin_and_reach(partial(begin, self, *arguments, **options))


class Blocking:
    """An object whose operations return their results."""

    def perform(self, begin: Callable[..., Goal[T]], *arguments: Any, **options: Any) -> T:
        __tracebackhide__ = True
        return begin(self, *arguments, **options).reach()


async def _begin_and_reach(begin: Callable[[], Goal[T]]) -> T:
    __tracebackhide__ = True
    return await begin().reached()


class operation(Generic[P, T_co]):
    """A method that returns a Goal, as those who call it see it."""

    def __init__(self, begin: Callable[Concatenate[Any, P], Goal[T_co]]) -> None:
        self._begin = begin
        self.__doc__ = begin.__doc__

    @overload
    def __get__(self, face: Blocking, owner: type) -> Callable[P, T_co]: ...
    @overload
    def __get__(self, face: Awaiting, owner: type) -> Callable[P, Coroutine[Any, Any, T_co]]: ...
    @overload
    def __get__(self, face: None, owner: type) -> operation[P, T_co]: ...
    def __get__(self, face: Any, owner: type) -> Any:
        return self if face is None else partial(face.perform, self._begin)
