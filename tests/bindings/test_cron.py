"""Cron expressions in Cloudflare's dialect."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from flarebed.bindings.cron import Cron, CronError


def instants(text: str, since: str, count: int = 3) -> list[str]:
    """The next instants, as "weekday year-month-day hour:minute"."""
    cron, now_ms, found = Cron(text), datetime.fromisoformat(since).replace(tzinfo=UTC).timestamp() * 1000, []
    for _ in range(count):
        next_ms = cron.next_ms(now_ms)
        assert next_ms is not None
        now_ms = next_ms
        found.append(f"{datetime.fromtimestamp(now_ms / 1000, UTC):%a %Y-%m-%d %H:%M}")
    return found


@pytest.mark.parametrize(
    ("text", "since", "expected"),
    [
        ("* * * * *", "2026-01-01", ["Thu 2026-01-01 00:01", "Thu 2026-01-01 00:02"]),
        ("* * * * *", "2026-01-01T00:00:30", ["Thu 2026-01-01 00:01", "Thu 2026-01-01 00:02"]),
        ("*/30 * * * *", "2026-12-31T23:45", ["Fri 2027-01-01 00:00", "Fri 2027-01-01 00:30"]),
        ("45 * * * *", "2026-01-01", ["Thu 2026-01-01 00:45", "Thu 2026-01-01 01:45"]),
        # the documentation's examples
        ("0 17 * * sun", "2026-01-01", ["Sun 2026-01-04 17:00", "Sun 2026-01-11 17:00"]),
        ("0 17 * * 1", "2026-01-01", ["Sun 2026-01-04 17:00", "Sun 2026-01-11 17:00"]),
        ("10 7 * * 2-6", "2026-01-02T08:00", ["Mon 2026-01-05 07:10", "Tue 2026-01-06 07:10"]),
        ("10 7 * * mon-fri", "2026-01-02T08:00", ["Mon 2026-01-05 07:10", "Tue 2026-01-06 07:10"]),
        ("0 15 1 * *", "2026-01-01T15:00", ["Sun 2026-02-01 15:00", "Sun 2026-03-01 15:00"]),
        ("0 18 * * 6L", "2026-01-01", ["Fri 2026-01-30 18:00", "Fri 2026-02-27 18:00"]),
        ("0 18 * * friL", "2026-01-01", ["Fri 2026-01-30 18:00", "Fri 2026-02-27 18:00"]),
        ("59 23 LW * *", "2026-01-01", ["Fri 2026-01-30 23:59", "Fri 2026-02-27 23:59"]),
        # what Cloudflare's parser does beyond them
        ("0 0 L * *", "2026-01-01", ["Sat 2026-01-31 00:00", "Sat 2026-02-28 00:00"]),
        ("0 0 L-3 * *", "2026-01-01", ["Wed 2026-01-28 00:00", "Wed 2026-02-25 00:00"]),
        ("0 0 L-6W * *", "2026-01-01", ["Mon 2026-01-26 00:00", "Mon 2026-02-23 00:00"]),
        ("0 0 1W * *", "2026-07-31", ["Mon 2026-08-03 00:00", "Tue 2026-09-01 00:00"]),
        ("0 0 31W * *", "2026-04-01", ["Fri 2026-05-29 00:00", "Fri 2026-07-31 00:00"]),
        ("0 0 * * L", "2026-01-01", ["Sat 2026-01-03 00:00", "Sat 2026-01-10 00:00"]),
        ("0 0 * * mon#2", "2026-01-01", ["Mon 2026-01-12 00:00", "Mon 2026-02-09 00:00"]),
        ("0 0 * * FRI-MON", "2026-01-02", ["Sat 2026-01-03 00:00", "Sun 2026-01-04 00:00"]),
        ("50-10/10 0 * * *", "2026-01-01T00:11", ["Thu 2026-01-01 00:50", "Fri 2026-01-02 00:00"]),
        ("0 0 13 * FRI", "2026-01-01", ["Fri 2026-01-02 00:00", "Fri 2026-01-09 00:00"]),
        ("0 12 31 DEC,jan *", "2026-01-31T12:00", ["Thu 2026-12-31 12:00", "Sun 2027-01-31 12:00"]),
        ("0 0 29 2 *", "2096-03-01", ["Fri 2104-02-29 00:00", "Wed 2108-02-29 00:00"]),
        ("5/20,7 3 * * *", "2026-01-01", ["Thu 2026-01-01 03:05", "Thu 2026-01-01 03:07"]),
    ],
)
def test_when_it_is_due(text: str, since: str, expected: list[str]) -> None:
    assert instants(text, since, len(expected)) == expected


def test_a_day_that_never_comes() -> None:
    assert Cron("0 0 31 11 *").next_ms(0) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it has 0 fields instead of five"),
        ("*", "it has 1 field instead of five"),
        ("0 0 0 * * *", "it has 6 fields instead of five"),
        ("60 * * * *", '"60" is not a valid minute'),
        ("* 24 * * *", '"24" is not a valid hour'),
        ("* * 0 * *", '"0" is not a valid day of the month'),
        ("* * L-31 * *", '"L-31" is not a valid day of the month'),
        ("* * * 13 *", '"13" is not a valid month'),
        ("* * * foo *", '"foo" is not a valid month'),
        ("* * * * 0", '"0" is not a valid day of the week'),
        ("* * * * 8", '"8" is not a valid day of the week'),
        ("* * * * mon#6", '"mon#6" is not a valid day of the week'),
        ("*/0 * * * *", '"*/0" is not a valid minute'),
        ("*/60 * * * *", '"*/60" is not a valid minute'),
        ("1, * * * *", '"" is not a valid minute'),
        ("*-5 * * * *", '"*-5" is not a valid minute'),
        ("@daily", "it has 1 field instead of five"),
    ],
)
def test_what_is_none(text: str, reason: str) -> None:
    with pytest.raises(CronError) as caught:
        Cron(text)
    assert str(caught.value) == reason
