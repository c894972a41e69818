"""Cron expressions as Cloudflare reads them: five fields in UTC, weekdays from 1 (Sunday) to 7, with L, W and #. Pure.

https://developers.cloudflare.com/workers/configuration/cron-triggers/#supported-cron-expressions; where that says
nothing, what Cloudflare's own parser does (github.com/cloudflare/saffron).
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

_MONTHS: Final = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_WEEKDAYS: Final = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_DAYS_AHEAD: Final = 366 * 9
"""The 29th of February is the rarest of days: from 2096 it is eight years to the next."""

_DayTest = Callable[[date], bool]


class CronError(ValueError):
    """The text is no cron expression."""


@dataclass(frozen=True)
class _Field:
    name: str
    least: int
    most: int
    names: tuple[str, ...] = ()

    def values(self, text: str) -> frozenset[int]:
        """All, or those of a list such as `1,10-20/2,*/15`."""
        if text == "*":
            return frozenset(range(self.least, self.most + 1))
        return frozenset(value for item in text.split(",") for value in self._item(item))

    def _item(self, text: str) -> Iterator[int]:
        found = re.fullmatch(r"(\*|\w+)(?:-(\w+))?(?:/(\d+))?", text, re.ASCII)
        if found is None or (found[1] == "*" and found[2]):
            raise self.wrong(text)
        first = self.least if found[1] == "*" else self.value(found[1])
        last = self.value(found[2]) if found[2] else self.most if found[3] else first
        step = int(found[3] or 1)
        if not 1 <= step <= self.most - self.least:
            raise self.wrong(text)
        if last < first:  # over the end: FRI-MON
            last += self.most - self.least + 1
        span = self.most - self.least + 1
        return iter((value - self.least) % span + self.least for value in range(first, last + 1, step))

    def value(self, text: str) -> int:
        if text.upper() in self.names:
            return self.names.index(text.upper()) + 1
        if not text.isdecimal() or not self.least <= int(text) <= self.most:
            raise self.wrong(text)
        return int(text)

    def wrong(self, text: str) -> CronError:
        return CronError(f'"{text}" is not a valid {self.name}')


_MINUTE = _Field("minute", 0, 59)
_HOUR = _Field("hour", 0, 23)
_DAY = _Field("day of the month", 1, 31)
_MONTH = _Field("month", 1, 12, _MONTHS)
_WEEKDAY = _Field("day of the week", 1, 7, _WEEKDAYS)


class Cron:
    """`text` as it was given, and when it is due."""

    def __init__(self, text: str) -> None:
        fields = text.split()
        if len(fields) != 5:
            raise CronError(f"it has {len(fields)} field{'' if len(fields) == 1 else 's'} instead of five")
        self.text = text
        minutes, hours = _MINUTE.values(fields[0]), _HOUR.values(fields[1])
        self._times = [time(hour, minute) for hour in sorted(hours) for minute in sorted(minutes)]
        self._months = _MONTH.values(fields[3])
        self._is_day = _either(_days(fields[2]), _weekdays(fields[4]))

    def next_ms(self, after_ms: float) -> float | None:
        """The first instant after that time; None if there never is one."""
        after = datetime.fromtimestamp(after_ms / 1000, UTC)
        for days in range(_DAYS_AHEAD):
            day = after.date() + timedelta(days)
            if day.month in self._months and self._is_day(day):
                for moment in self._times:
                    due_ms = datetime.combine(day, moment, UTC).timestamp() * 1000
                    if due_ms > after_ms:
                        return due_ms
        return None


def _either(by_month: _DayTest | None, by_week: _DayTest | None) -> _DayTest:
    """If both fields say something, a day that fits one of them is enough."""
    if by_month is None or by_week is None:
        return by_month or by_week or (lambda day: True)
    return lambda day: by_month(day) or by_week(day)


def _days(text: str) -> _DayTest | None:
    """Which days of the month; None for all."""
    if text == "*":
        return None
    if found := re.fullmatch(r"L(?:-(\d+))?(W)?", text):
        offset = _offset(found[1], text)
        if found[2]:
            return lambda day: day.day == _near_weekday(day, _last(day) - offset)
        return lambda day: day.day == _last(day) - offset
    if found := re.fullmatch(r"(\d+)W", text):
        wanted = _DAY.value(found[1])
        return lambda day: wanted <= _last(day) and day.day == _near_weekday(day, wanted)
    days = _DAY.values(text)
    return lambda day: day.day in days


def _offset(digits: str | None, text: str) -> int:
    offset = int(digits or 0)
    if digits is not None and not 1 <= offset <= 30:
        raise _DAY.wrong(text)
    return offset


def _weekdays(text: str) -> _DayTest | None:
    """Which days of the week; None for all."""
    if text == "*":
        return None
    if text == "L":
        text = "SAT"
    if found := re.fullmatch(r"(\w+?)L", text, re.ASCII):
        last = _WEEKDAY.value(found[1])
        return lambda day: _weekday(day) == last and day.day + 7 > _last(day)
    if found := re.fullmatch(r"(\w+)#([1-5])", text, re.ASCII):
        nth_day, nth = _WEEKDAY.value(found[1]), int(found[2])
        return lambda day: _weekday(day) == nth_day and (day.day - 1) // 7 + 1 == nth
    weekdays = _WEEKDAY.values(text)
    return lambda day: _weekday(day) in weekdays


def _weekday(day: date) -> int:
    """From 1, Sunday."""
    return day.isoweekday() % 7 + 1


def _last(day: date) -> int:
    return calendar.monthrange(day.year, day.month)[1]


def _near_weekday(month: date, number: int) -> int:
    """The day from Monday to Friday that is nearest to day `number`, in the same month; 0 if there is no such day."""
    if number < 1:
        return 0
    weekday = month.replace(day=number).isoweekday()
    if weekday == 6:
        return number - 1 if number > 1 else number + 2
    if weekday == 7:
        return number + 1 if number < _last(month) else number - 2
    return number
