"""Which compatibility flags are on: by date, by name, or because another flag implies them.

https://developers.cloudflare.com/workers/configuration/compatibility-flags/; workerd's compileCompatibilityFlags
(src/workerd/io/compatibility-date.c++) has the rules and the texts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from flarebed.emulator.config.compatibility import NEWEST_DATE, TABLE
from flarebed.emulator.config.diagnostics import Diagnostics

_PYODIDE = (
    ("python_workers_314", "314.0.6"),
    ("python_workers_20260610", "314.0.4"),
    ("python_workers_20250116", "0.28.2"),
    ("python_workers", "0.26.0a2"),
)
"""The newest first; observed on workerd 1.20261117.1."""


@dataclass(frozen=True)
class Flag:
    """A row of the table; dates are "YYYY-MM-DD" or "", `implied_by` are enabling flags."""

    enable: str
    disable: str
    date: str
    implied_by: tuple[str, ...] = ()
    implied_date: str = ""


def _table() -> Iterator[Flag]:
    for line in TABLE.split("\n"):
        columns = line.split()
        if not columns:
            continue
        enable, disable, date, *rest = ["" if column == "-" else column for column in columns]
        implied = rest[:1] == ["with"]
        yield Flag(enable, disable, date, tuple(rest[1:-2]) if implied else (), rest[-1] if implied else "")


_FLAGS = tuple(_table())


def is_valid_date(date: str) -> bool:
    """Whether workerd takes it: padded, month and day in range, but not checked against the calendar."""
    return re.fullmatch(r"2\d{3}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])", date, re.ASCII) is not None


def resolve(date: str, listed: Sequence[str], diagnostics: Diagnostics) -> frozenset[str]:
    """The enabling names of all flags that are on at `date` with the flags `listed`; complains as workerd does."""
    if not is_valid_date(date):
        diagnostics.error(f"Invalid compatibility date: {date}", "compatibility_date")
        return frozenset()
    if date > NEWEST_DATE:
        diagnostics.warn(
            f'This Worker requires compatibility date "{date}", but the newest date known here is "{NEWEST_DATE}". '
            "What changed since then is not emulated.",
            "compatibility_date",
        )
    for name, count in Counter(listed).items():
        if count > 1:
            diagnostics.error(f"Compatibility flag specified multiple times: {name}", _path(name, listed))
    on = {flag.enable for flag in _FLAGS if _is_on(flag, date, listed, diagnostics)}
    for flag in _FLAGS:
        implied = flag.implied_by and date >= flag.implied_date and flag.disable not in listed
        if implied and not on.isdisjoint(flag.implied_by):
            on.add(flag.enable)
    known = {name for flag in _FLAGS for name in (flag.enable, flag.disable) if name}
    for name in dict.fromkeys(listed):
        if name not in known:
            diagnostics.error(f"No such compatibility flag: {name}", _path(name, listed))
    return frozenset(on)


def known_flags() -> tuple[str, ...]:
    """The enabling names of all flags."""
    return tuple(flag.enable for flag in _table())


def pyodide_version(flags: Collection[str]) -> str | None:
    """The Pyodide that a Python Worker gets in production; None if it is none."""
    return next((version for flag, version in _PYODIDE if flag in flags), None) if "python_workers" in flags else None


def _is_on(flag: Flag, date: str, listed: Sequence[str], diagnostics: Diagnostics) -> bool:
    enabled, disabled = flag.enable in listed, bool(flag.disable) and flag.disable in listed
    by_date = bool(flag.date) and date >= flag.date
    if enabled and disabled:
        diagnostics.error(
            f"Compatibility flags are mutually contradictory: {flag.enable} vs {flag.disable}",
            _path(flag.disable, listed),
        )
    elif enabled and by_date:
        diagnostics.warn(
            f"The compatibility flag {flag.enable} became the default as of {flag.date} so does not need to be "
            "specified anymore.",
            _path(flag.enable, listed),
        )
    return enabled or (by_date and not disabled)


def _path(flag: str, listed: Sequence[str]) -> str:
    return f"compatibility_flags[{listed.index(flag)}]"
