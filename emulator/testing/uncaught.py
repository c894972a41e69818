"""Exceptions that a Worker did not catch, in the test: the very object, with the Worker's own lines on top. One of a
JavaScript Worker (`UncaughtError`) has its stack in its text.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import NoReturn

from flarebed.bindings.errors import JsError
from flarebed.emulator.runtime.http import WorkerError
from flarebed.emulator.runtime.python.tracebacks import python_traceback
from flarebed.emulator.runtime.services import Services
from flarebed.emulator.runtime.workerd.uncaught import UncaughtError


def raise_as_thrown(error: BaseException, folder: Path) -> NoReturn:
    """Raise what the Worker raised; the traceback begins where its own code, below `folder`, does."""
    __tracebackhide__ = True
    if isinstance(error, UncaughtError):
        raise error.with_traceback(None) from None
    thrown = error.thrown if isinstance(error, JsError) and isinstance(error.thrown, BaseException) else error
    raise thrown.with_traceback(_own_part(thrown, folder) or thrown.__traceback__)


def in_words(error: Exception, folder: Path) -> str:
    """What the top level of a Worker raised, from its own code on; of a file that is no Python, the line alone."""
    if isinstance(error, WorkerError):
        return error.text.rstrip()
    return python_traceback(error.with_traceback(_own_part(error, folder))).rstrip()


def _own_part(error: BaseException, folder: Path) -> TracebackType | None:
    place = error.__traceback__
    while place is not None and not _is_below(folder, Path(place.tb_frame.f_code.co_filename)):
        place = place.tb_next
    return place


def _is_below(folder: Path, file: Path) -> bool:
    return file.is_relative_to(folder) and "site-packages" not in file.parts


class Uncaught:
    """Hears of each exception that a handler or a waitUntil did not catch, before `report` does."""

    def __init__(self, report: Callable[[BaseException], None]) -> None:
        self._report = report
        self.last: BaseException | None = None

    @classmethod
    def of(cls, services: Services) -> Uncaught:
        """What hears in a test, with nothing heard yet."""
        heard = services.uncaught
        assert isinstance(heard, cls)
        heard.last = None
        return heard

    def __call__(self, error: BaseException) -> None:
        self.last = error
        self._report(error)
