"""Date through `js`; every expected text is Node.js's for the same expression with TZ=UTC."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from tests.emulator.runtime.python.js.worker import in_worker

from flarebed.emulator.runtime.python.js import language
from flarebed.emulator.runtime.python.js.console import inspect
from flarebed.emulator.runtime.python.proxy import JsException, from_python

js = SimpleNamespace(**language.exports())

TABLE = [
    ("js.Date.new(0).toISOString()", "'1970-01-01T00:00:00.000Z'"),
    ("js.Date.new(2020, 0, 2, 3, 4, 5, 6).toISOString()", "'2020-01-02T03:04:05.006Z'"),
    ("js.Date.new(99, 12).toISOString()", "'2000-01-01T00:00:00.000Z'"),
    ("js.Date.new('2020-01-02').getTime()", "1577923200000"),
    ("js.Date.new(js.Date.new(5)).getTime()", "5"),
    ("js.Date.new(None).getTime()", "NaN"),
    ("js.Date.new(8640000000000001).toString()", "'Invalid Date'"),
    ("js.Date.new(1577934245006).toString()", "'Thu Jan 02 2020 03:04:05 GMT+0000 (Coordinated Universal Time)'"),
    ("js.Date.new(1577934245006).toUTCString()", "'Thu, 02 Jan 2020 03:04:05 GMT'"),
    ("js.Date.new(1577934245006).toDateString()", "'Thu Jan 02 2020'"),
    ("js.Date.new(1577934245006).toTimeString()", "'03:04:05 GMT+0000 (Coordinated Universal Time)'"),
    ("js.Date.new(1577934245006).toLocaleDateString()", "'1/2/2020'"),
    ("js.Date.new(1577977445006).toLocaleString()", "'1/2/2020, 3:04:05 PM'"),
    ("js.Date.new(1577934245006).toJSON()", "'2020-01-02T03:04:05.006Z'"),
    ("js.Date.new(js.NaN).toJSON()", "null"),
    ("js.Date.new(1577934245006)", "2020-01-02T03:04:05.006Z"),
    ("js.Date.new(1577934245006).getFullYear()", "2020"),
    ("js.Date.new(1577934245006).getMonth()", "0"),
    ("js.Date.new(1577934245006).getDate()", "2"),
    ("js.Date.new(1577934245006).getDay()", "4"),
    ("js.Date.new(1577934245006).getUTCHours()", "3"),
    ("js.Date.new(1577934245006).getMilliseconds()", "6"),
    ("js.Date.new(0).getTimezoneOffset()", "0"),
    ("js.Date.new(js.NaN).getFullYear()", "NaN"),
    ("js.Date.new(0).setFullYear(2021, 1, 3)", "1612310400000"),
    ("js.Date.new(0).setMonth(13)", "34214400000"),
    ("js.Date.new(0).setDate(0)", "-86400000"),
    ("js.Date.new(0).setHours(25, 1, 2, 3)", "90062003"),
    ("js.Date.new(0).setTime(1.5)", "1"),
    ("js.Date.new(js.NaN).setMonth(1)", "NaN"),
    ("js.Date.new(js.NaN).setFullYear(1970)", "0"),
    ("js.Date.UTC(2020)", "1577836800000"),
    ("js.Date.UTC(2020, 14, 35)", "1617494400000"),
    ("js.Date.UTC()", "NaN"),
    ("js.Date.parse('2020')", "1577836800000"),
    ("js.Date.parse('2020-02')", "1580515200000"),
    ("js.Date.parse('2020-01-02T03:04Z')", "1577934240000"),
    ("js.Date.parse('2020-01-02T03:04:05')", "1577934245000"),
    ("js.Date.parse('2020-01-02T03:04:05.1234567+02:30')", "1577925245123"),
    ("js.Date.parse('2020-01-02T24:00:00Z')", "1578009600000"),
    ("js.Date.parse('2020-13-02')", "NaN"),
    ("js.Date.parse('2020-01-02T25:00Z')", "NaN"),
    ("js.Date.parse('+012020-01-01T00:00:00Z')", "317147356800000"),
    ("js.Date.parse('Thu, 02 Jan 2020 03:04:05 GMT')", "1577934245000"),
    ("js.Date.parse('Thu Jan 02 2020 03:04:05 GMT+0100 (CET)')", "1577930645000"),
    ("js.Date.parse('Jan 2, 2020')", "1577923200000"),
    ("js.Date.parse('2 January 2020 3:04 PM')", "1577977440000"),
    ("js.Date.parse('1/2/2020')", "1577923200000"),
    ("js.Date.parse('2020/1/2 12:00 AM')", "1577923200000"),
    ("js.Date.parse('1/2/49')", "2493158400000"),
    ("js.Date.parse('1/2/50')", "-631065600000"),
    ("js.Date.parse('nope')", "NaN"),
    ("js.Date.parse('')", "NaN"),
]

THROWS = [("js.Date.new(js.NaN).toISOString()", "RangeError: Invalid time value")]


@pytest.mark.parametrize(("code", "shown"), TABLE)
def test_an_expression(code: str, shown: str) -> None:
    assert inspect(from_python(eval(code, {"js": js}))) == shown


@pytest.mark.parametrize(("code", "message"), THROWS)
def test_an_expression_that_throws(code: str, message: str) -> None:
    with pytest.raises(JsException) as thrown:
        eval(code, {"js": js})
    assert str(thrown.value) == message


def test_now_is_the_clocks() -> None:
    async def code() -> tuple[int, int, str]:
        return js.Date.now(), js.Date.new().getTime(), js.Date()

    now, made, text = in_worker(code)
    assert (now, made) == (1_767_225_600_000, 1_767_225_600_000)
    assert text == "Thu Jan 01 2026 00:00:00 GMT+0000 (Coordinated Universal Time)"


def test_there_is_no_time_while_a_worker_starts() -> None:
    assert js.Date.now() == 0
