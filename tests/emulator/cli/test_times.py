"""Times and durations as they are read, and as wrangler shows them."""

from __future__ import annotations

import pytest

from flarebed.bindings.errors import UserError
from flarebed.emulator.cli.times import distance, parse_duration, parse_time

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("30 days", 30 * DAY_MS), ("1 day", DAY_MS), ("30d", 30 * DAY_MS), ("90m", 90 * MINUTE_MS),
        ("90 minutes", 90 * MINUTE_MS), ("5 mins", 5 * MINUTE_MS), ("1.5 hours", 1.5 * HOUR_MS), ("12H", 12 * HOUR_MS),
        ("5s", 5_000), ("5 secs", 5_000), ("500 ms", 500), ("500ms", 500), ("2 weeks", 14 * DAY_MS),
        ("1 month", 30 * DAY_MS), ("1 year", 365.25 * DAY_MS), (" 0 seconds ", 0),
    ],
)  # fmt: skip
def test_durations(text: str, ms: float) -> None:
    assert parse_duration(text) == ms


@pytest.mark.parametrize("text", ["", "30", "days", "30 dys", "-1 day", "1 day 2 hours", "1e3 s", "5 ss", "1 mss"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(UserError) as error:
        parse_duration(text)
    assert error.value.message == f'"{text}" is not a duration.'


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("2026-01-01", 1_767_225_600_000), ("2026-01-01T00:00:00Z", 1_767_225_600_000),
        ("2026-01-01T01:00:00+01:00", 1_767_225_600_000), ("2026-01-01 00:00:01.5", 1_767_225_601_500),
    ],
)  # fmt: skip
def test_times(text: str, ms: float) -> None:
    assert parse_time(text, "it") == ms


@pytest.mark.parametrize("text", ["", "tomorrow", "2026-13-01", "1767225600000"])
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(UserError) as error:
        parse_time(text, "it")
    assert error.value.message == f'"{text}" is not a time for it.'


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "0 seconds"), (499, "0 seconds"), (500, "1 second"), (59_499, "59 seconds"), (MINUTE_MS, "1 minute"),
        (59.6 * MINUTE_MS, "60 minutes"), (HOUR_MS, "1 hour"), (DAY_MS, "1 day"), (29.4 * DAY_MS, "29 days"),
        (30 * DAY_MS, "1 month"), (355 * DAY_MS, "1 year"), (400 * DAY_MS, "1 year"), (-2_000, "2 seconds"),
    ],
)  # fmt: skip
def test_distances(ms: float, text: str) -> None:
    """As date-fns' formatDistanceStrict answers."""
    assert distance(ms) == text
