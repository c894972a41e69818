"""Times and durations as people write and read them on the command line.

What is read is strict: a unit that is not understood must not move a clock. What is shown is what wrangler shows:
JavaScript's `toLocaleString()` of en-US, and date-fns' `formatDistanceStrict`.
"""

from __future__ import annotations

import calendar
import math
import re
from datetime import UTC, datetime
from typing import Final

from flarebed.bindings.errors import UserError
from flarebed.bindings.workflows.duration import to_ms

_UNITS: Final = {
    "s": "second", "sec": "second", "m": "minute", "min": "minute", "h": "hour", "d": "day", "w": "week", "y": "year",
    **{unit: unit for unit in ("second", "minute", "hour", "day", "week", "month", "year")},
}  # fmt: skip
_MILLISECONDS: Final = ("ms", "millisecond", "milliseconds")
_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?) *([a-z]+)", re.IGNORECASE)
_DATE: Final = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:T|$)")
_MINUTE_MS: Final = 60_000
_DAY: Final = 1_440
_MONTH: Final = 43_200
_YEAR: Final = 525_600


def parse_time(text: str, what: str) -> float:
    """An ISO 8601 date or time, in UTC unless it says otherwise."""
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        raise UserError(
            f'"{text}" is not a time for {what}.', hint="For example: 2026-01-01 or 2026-01-01T13:00:00Z"
        ) from None
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp() * 1000


def parse_duration(text: str) -> float:
    """ "30 days", "90m", "500 ms" in milliseconds."""
    found = _DURATION.fullmatch(text.strip())
    word = found[2].lower() if found else ""
    unit = _UNITS.get(word) or (_UNITS.get(word.removesuffix("s")) if len(word) > 2 else None)
    if found is not None and word in _MILLISECONDS:
        return float(found[1])
    if found is None or unit is None:
        raise UserError(f'"{text}" is not a duration.', hint='For example: "30 days", "90 minutes", 12h or 500ms')
    return to_ms(f"{found[1]} {unit}")


def parse_day_or_time(text: str, flag: str, *, is_end: bool = False) -> float:
    """For `--date-start` and `--date-end`, with wrangler's refusals; a date at the end covers its whole day."""
    invalid = (
        f'Looks like you have provided an invalid date "{text}" for {flag}. Provide an ISO 8601 date or timestamp, '
        "for example 2026-01-01 or 2026-01-01T13:00:00Z."
    )
    found = _DATE.match(text)
    year, month, day = map(int, found.groups()) if found else (0, 0, 0)
    if not (1 <= month <= 12 and 1 <= day <= 31):
        raise UserError(invalid)
    if not year or day > calendar.monthrange(year, month)[1]:
        raise UserError(f'The date "{text}" provided for {flag} is not a real calendar date. Check the month and day.')
    try:
        at_ms = parse_time(text, flag)
    except UserError:
        raise UserError(invalid) from None
    return at_ms + _DAY * _MINUTE_MS - 1 if is_end and "T" not in text else at_ms


def local_text(ms: float) -> str:
    """Local time as en-US has it: 11/30/2026, 2:18:09 PM."""
    at = datetime.fromtimestamp(ms // 1000)
    half = "AM" if at.hour < 12 else "PM"
    return f"{at.month}/{at.day}/{at.year}, {at.hour % 12 or 12}:{at.minute:02}:{at.second:02} {half}"


def distance(ms: float) -> str:
    """How long that is, in its one fitting unit: "2 seconds", "1 day"."""
    ms = abs(ms)
    minutes = ms / _MINUTE_MS
    if minutes < 1:
        return _count(ms / 1000, "second")
    if minutes < 60:
        return _count(minutes, "minute")
    if minutes < _DAY:
        return _count(minutes / 60, "hour")
    if minutes < _MONTH:
        return _count(minutes / _DAY, "day")
    if minutes < _YEAR:
        return _count(minutes / _MONTH, "month") if round(minutes / _MONTH) < 12 else "1 year"
    return _count(minutes / _YEAR, "year")


def _count(number: float, unit: str) -> str:
    whole = math.floor(number + 0.5)
    return f"{whole} {unit}{'' if whole == 1 else 's'}"
