"""JavaScript's time values (milliseconds since the epoch, NaN when invalid) as calendar fields and as text.

`ecma.py` uses it for String(date) and JSON; the runtime's Date builds on it. Python's datetime knows the years 1 to
9999, JavaScript's Date 100,000,000 days both ways, so the calendar is computed here. Local time is UTC, as in workerd.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from flarebed.bindings.errors import range_error

MS_PER_DAY: Final = 86_400_000
MAX_TIME_MS: Final = 8.64e15
_WEEKDAYS: Final = ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class Fields(NamedTuple):
    """A UTC date: `month` 0-11, `weekday` 0 (Sunday) to 6."""

    year: int
    month: int
    day: int
    hour: int
    minute: int
    second: int
    ms: int
    weekday: int


def time_clip(ms: float) -> float:
    """ECMA-262 TimeClip: an integral time within range, else NaN."""
    if not math.isfinite(ms) or abs(ms) > MAX_TIME_MS:
        return math.nan
    return int(ms)


def fields(ms: float) -> Fields:
    """The calendar fields of a valid time value."""
    day_number, rest = divmod(int(ms), MS_PER_DAY)
    hour, rest = divmod(rest, 3_600_000)
    minute, rest = divmod(rest, 60_000)
    second, milli = divmod(rest, 1000)
    # Days to a proleptic Gregorian date in eras of 400 years that begin on 1 March of year 0.
    era, day_of_era = divmod(day_number + 719_468, 146_097)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted_month = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * shifted_month + 2) // 5 + 1
    month = shifted_month + 2 if shifted_month < 10 else shifted_month - 10
    year = year_of_era + era * 400 + (month < 2)
    return Fields(year, month, day, hour, minute, second, milli, (day_number + 4) % 7)


def day_number(year: int, month: int, day: int) -> int:
    """Days from the epoch; `month` (from 0) and `day` (from 1) may overflow, as in ECMA-262 MakeDay."""
    carry, month = divmod(month, 12)
    year += carry
    shifted_year = year - (month < 2)
    era, year_of_era = divmod(shifted_year, 400)
    shifted_month = month - 2 if month >= 2 else month + 10
    day_of_era = year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + (153 * shifted_month + 2) // 5
    return era * 146_097 + day_of_era - 719_468 + day - 1


def date_text(ms: float) -> str:
    """Date.prototype.toDateString of a valid time."""
    at = fields(ms)
    return f"{_WEEKDAYS[at.weekday]} {_MONTHS[at.month]} {at.day:02} {_year_text(at.year)}"


def time_text(ms: float) -> str:
    """Date.prototype.toTimeString of a valid time."""
    at = fields(ms)
    return f"{at.hour:02}:{at.minute:02}:{at.second:02} GMT+0000 (Coordinated Universal Time)"


def date_to_string(ms: float) -> str:
    """String(date)."""
    return "Invalid Date" if math.isnan(ms) else f"{date_text(ms)} {time_text(ms)}"


def date_to_utc_string(ms: float) -> str:
    """Date.prototype.toUTCString."""
    if math.isnan(ms):
        return "Invalid Date"
    at = fields(ms)
    day = f"{_WEEKDAYS[at.weekday]}, {at.day:02} {_MONTHS[at.month]} {_year_text(at.year)}"
    return f"{day} {at.hour:02}:{at.minute:02}:{at.second:02} GMT"


def date_to_iso(ms: float) -> str:
    """Date.prototype.toISOString; RangeError for an invalid date."""
    if math.isnan(ms):
        raise range_error("Invalid time value")
    at = fields(ms)
    year = f"{at.year:04}" if 0 <= at.year <= 9999 else f"{at.year:+07}"
    return f"{year}-{at.month + 1:02}-{at.day:02}T{at.hour:02}:{at.minute:02}:{at.second:02}.{at.ms:03}Z"


def _year_text(year: int) -> str:
    return f"-{-year:04}" if year < 0 else f"{year:04}"
