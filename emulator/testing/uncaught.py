"""Exceptions that a Worker did not catch, in the test: the very object, with the Worker's own lines on top."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from flarebed.bindings.errors import JsError


def raise_as_thrown(error: BaseException, folder: Path) -> NoReturn:
    """Raise what the Worker raised; the traceback begins where its own code, below `folder`, does."""
    __tracebackhide__ = True
    thrown = error.thrown if isinstance(error, JsError) and isinstance(error.thrown, BaseException) else error
    place = thrown.__traceback__
    while place is not None and not _is_below(folder, Path(place.tb_frame.f_code.co_filename)):
        place = place.tb_next
    raise thrown.with_traceback(place or thrown.__traceback__)


def _is_below(folder: Path, file: Path) -> bool:
    return file.is_relative_to(folder) and "site-packages" not in file.parts


class Uncaught:
    """Hears of each exception that a handler or a waitUntil did not catch, before `report` does."""

    def __init__(self, report: Callable[[BaseException], None]) -> None:
        self._report = report
        self.last: BaseException | None = None

    def __call__(self, error: BaseException) -> None:
        self.last = error
        self._report(error)
