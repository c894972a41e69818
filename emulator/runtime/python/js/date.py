"""Date: the methods of a Date's proxy, and `js.Date`. Local time is UTC, as in workerd."""

from __future__ import annotations

import math
import re
from typing import Any, Final

from flarebed.bindings import ecma, ecma_date
from flarebed.bindings.values import Date
from flarebed.emulator.runtime.python.context import CURRENT
from flarebed.emulator.runtime.python.js.protocols import ValueConstructor, to_number
from flarebed.emulator.runtime.python.proxy import from_python, throw, to_python

_MONTHS: Final = {
    name: index
    for index, name in enumerate(("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"))
}
_ISO: Final = re.compile(
    r"([+-]\d{6}|\d{4})(?:-(\d\d)(?:-(\d\d))?)?(?:T(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(Z|[+-]\d\d:\d\d)?)?",
    re.ASCII,
)
_CLOCK: Final = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d)(?:\.(\d{1,3})\d*)?)?\s*(am|pm)?", re.IGNORECASE | re.ASCII)
_OFFSET: Final = re.compile(
    r"(?:\b(?:UTC|GMT|Z)\b\s*)?([+-])(\d\d):?(\d\d)(?!\d)|\b(?:UTC|GMT|Z)\b", re.IGNORECASE | re.ASCII
)


def time_of(numbers: list[int | float]) -> float:
    """MakeDate of year, month, day, hours, minutes, seconds, milliseconds; NaN if one of them is not finite."""
    if not all(map(math.isfinite, numbers)):
        return math.nan
    year, month, day, hours, minutes, seconds, ms = map(int, numbers)
    if abs(year) > 400_000 or abs(month) > 5_000_000:
        return math.nan
    days = ecma_date.day_number(year, month, day)
    return ecma_date.time_clip(days * ecma_date.MS_PER_DAY + hours * 3_600_000 + minutes * 60_000 + seconds * 1000 + ms)


def parse(text: str) -> float:
    """Date.parse: the ISO forms of ECMA-262, else V8's lenient reading of month names, slashes, clocks and offsets."""
    if match := _ISO.fullmatch(text.strip()):
        return _parse_iso(match)
    return _parse_loosely(text)


def _parse_iso(match: re.Match[str]) -> float:
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    numbers = [int(part or default) for part, default in ((month, 1), (day, 1), (hour, 0), (minute, 0), (second, 0))]
    ms = int((fraction or "0").ljust(3, "0")[:3])
    in_range = 1 <= numbers[0] <= 12 and 1 <= numbers[1] <= 31 and numbers[2] <= 24 and max(numbers[3:]) <= 59
    if not in_range or year == "-000000" or (numbers[2] == 24 and (numbers[3] or numbers[4] or ms)):
        return math.nan
    offset_ms = 0
    if zone and zone != "Z":
        offset_ms = (int(zone[1:3]) * 60 + int(zone[4:])) * (-60_000 if zone[0] == "-" else 60_000)
    return ecma_date.time_clip(time_of([int(year), numbers[0] - 1, *numbers[1:], ms]) - offset_ms)


def _parse_loosely(text: str) -> float:
    rest = re.sub(r"\([^)]*\)", " ", text)
    clock = _CLOCK.search(rest)
    times = _clock_numbers(clock) if clock else [0, 0, 0, 0]
    offset_ms = 0
    if clock:
        offset = _OFFSET.search(rest, clock.end())
        if offset and offset[1]:
            offset_ms = (int(offset[2]) * 60 + int(offset[3])) * (-60_000 if offset[1] == "-" else 60_000)
        rest = rest[: clock.start()] + " " + (rest[offset.end() :] if offset else rest[clock.end() :])
    date = _date_numbers(rest)
    if date is None or times is None:
        return math.nan
    return ecma_date.time_clip(time_of([*date, *times]) - offset_ms)


def _clock_numbers(match: re.Match[str]) -> list[int | float] | None:
    hour, minute, second, fraction, half = match.groups()
    hours = int(hour)
    if half:
        hours = hours % 12 + (12 if half.lower() == "pm" else 0)
    numbers = [hours, int(minute), int(second or 0), int((fraction or "0").ljust(3, "0"))]
    return numbers if hours <= 24 and numbers[1] <= 59 and numbers[2] <= 59 else None  # type: ignore[return-value]


def _date_numbers(text: str) -> list[int] | None:
    """Year, month (from 0) and day of "Jan 2, 2020", "2 January 2020" or "1/2/2020" and "2020/1/2"."""
    months = [_MONTHS[word[:3].lower()] for word in re.findall("[A-Za-z]{3,}", text) if word[:3].lower() in _MONTHS]
    numbers = [int(digits) for digits in re.findall(r"\d+", text)]
    if months and len(numbers) >= 2:
        day, year = (numbers[1], numbers[0]) if numbers[0] > 31 else (numbers[0], numbers[1])
        month = months[0]
    elif len(numbers) >= 3:
        year, month, day = numbers[:3] if numbers[0] > 31 else (numbers[2], numbers[0], numbers[1])
        month -= 1
    else:
        return None
    if year < 100 and not re.search(rf"0{{2,}}{year}\b", text):
        year += 2000 if year < 50 else 1900
    return [year, month, day] if 0 <= month <= 11 and 1 <= day <= 31 else None


def now_ms() -> int:
    """Date.now(): the clock's, whole milliseconds; the epoch while a Worker starts, as in workerd."""
    io = CURRENT.get(None)
    return int(io.services.clock.now_ms()) if io is not None and io.allows_io else 0


class DateConstructor(ValueConstructor, js="Function"):
    """`js.Date`."""

    __slots__ = ()

    def make(self, *parts: Any) -> Any:
        if not parts:
            return Date(now_ms())
        if len(parts) > 1:
            return Date(self.UTC(*map(to_python, parts)))
        if isinstance(parts[0], Date):
            return Date(parts[0].ms)
        if isinstance(parts[0], str) or ecma.is_object(parts[0]):
            return Date(parse(ecma.to_string(parts[0])))
        return Date(ecma_date.time_clip(to_number(parts[0])))

    def __call__(self, *_arguments: Any, **_options: Any) -> str:
        return ecma_date.date_to_string(now_ms())

    def now(self) -> int:
        return now_ms()

    def parse(self, text: Any = None) -> int | float:
        time: int | float = to_python(parse(ecma.to_string(from_python(text))))
        return time

    def UTC(self, *parts: Any) -> int | float:
        numbers = [to_number(from_python(part)) for part in parts[:7]]
        numbers += ([math.nan, 0, 1, 0, 0, 0, 0])[len(numbers) :]
        if math.isfinite(numbers[0]) and 0 <= int(numbers[0]) <= 99:
            numbers[0] = 1900 + int(numbers[0])
        return time_of(numbers)


def _getter(field: str) -> Any:
    def get(self: DateMethods) -> int | float:
        ms = self.value.ms
        return ms if math.isnan(ms) else int(getattr(ecma_date.fields(ms), field))

    return get


_FIELDS: Final = ("year", "month", "day", "hour", "minute", "second", "ms")


def _setter(field: str, most: int) -> Any:
    """A setter of a field and of up to `most` fields from it on."""
    first = _FIELDS.index(field)

    def set_(self: DateMethods, *values: Any) -> int | float:
        ms = self.value.ms
        if math.isnan(ms):
            if field != "year":
                return ms
            ms = 0
        numbers: list[int | float] = list(ecma_date.fields(ms)[:7])
        given = [to_number(from_python(value)) for value in (values or (None,))[:most]]
        numbers[first : first + len(given)] = given
        self.value.ms = time_of(numbers)
        return self.getTime()

    return set_


class DateMethods:
    """The methods of a Date's proxy; `value` is the Date."""

    __slots__ = ()
    value: Date

    def __lt__(self, other: Any) -> bool:
        return bool(self.value.ms < other.value.ms) if isinstance(other, DateMethods) else NotImplemented

    def __le__(self, other: Any) -> bool:
        return bool(self.value.ms <= other.value.ms) if isinstance(other, DateMethods) else NotImplemented

    def getTime(self) -> int | float:
        ms = self.value.ms
        return ms if math.isnan(ms) else int(ms)

    valueOf = getTime

    def setTime(self, time: Any = None) -> int | float:
        self.value.ms = ecma_date.time_clip(to_number(from_python(time)))
        return self.getTime()

    getFullYear = getUTCFullYear = _getter("year")
    getMonth = getUTCMonth = _getter("month")
    getDate = getUTCDate = _getter("day")
    getDay = getUTCDay = _getter("weekday")
    getHours = getUTCHours = _getter("hour")
    getMinutes = getUTCMinutes = _getter("minute")
    getSeconds = getUTCSeconds = _getter("second")
    getMilliseconds = getUTCMilliseconds = _getter("ms")
    setFullYear = setUTCFullYear = _setter("year", 3)
    setMonth = setUTCMonth = _setter("month", 2)
    setDate = setUTCDate = _setter("day", 1)
    setHours = setUTCHours = _setter("hour", 4)
    setMinutes = setUTCMinutes = _setter("minute", 3)
    setSeconds = setUTCSeconds = _setter("second", 2)
    setMilliseconds = setUTCMilliseconds = _setter("ms", 1)

    def getTimezoneOffset(self) -> int | float:
        return self.value.ms if math.isnan(self.value.ms) else 0

    def toISOString(self) -> str:
        if math.isnan(self.value.ms):
            raise throw("Invalid time value", "RangeError")
        return ecma_date.date_to_iso(self.value.ms)

    def toJSON(self, _key: Any = None) -> Any:
        return to_python(None) if math.isnan(self.value.ms) else self.toISOString()

    def toString(self) -> str:
        return ecma_date.date_to_string(self.value.ms)

    def toUTCString(self) -> str:
        return ecma_date.date_to_utc_string(self.value.ms)

    toGMTString = toUTCString

    def toDateString(self) -> str:
        return "Invalid Date" if math.isnan(self.value.ms) else ecma_date.date_text(self.value.ms)

    def toTimeString(self) -> str:
        return "Invalid Date" if math.isnan(self.value.ms) else ecma_date.time_text(self.value.ms)

    def toLocaleDateString(self, *_options: Any) -> str:
        """As the locale en-US without options writes it, the only one that workerd has."""
        at = ecma_date.fields(self.value.ms)
        return f"{at.month + 1}/{at.day}/{at.year}"

    def toLocaleTimeString(self, *_options: Any) -> str:
        at = ecma_date.fields(self.value.ms)
        return f"{(at.hour + 11) % 12 + 1}:{at.minute:02}:{at.second:02} {'PM' if at.hour >= 12 else 'AM'}"

    def toLocaleString(self, *_options: Any) -> str:
        return f"{self.toLocaleDateString()}, {self.toLocaleTimeString()}"
