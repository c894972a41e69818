"""`js.Promise`: what settles when, and with what."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from tests.emulator.runtime.python.js.worker import in_worker, thrown

from flarebed.emulator.runtime.python.js import language
from flarebed.emulator.runtime.python.proxy import JsException, to_python

js = SimpleNamespace(**language.exports())


async def later(value: Any, delay_s: float = 0.01) -> Any:
    await asyncio.sleep(delay_s)  # Worker code's own sleep, on the test's clock
    return value


async def failing(text: str) -> None:
    raise js.Error.new(text)


def test_resolve() -> None:
    async def code() -> list[Any]:
        promise = js.Promise.resolve(later(1))
        return [await promise, await js.Promise.resolve(2), js.Promise.resolve(promise) is promise]

    assert in_worker(code) == [1, 2, True]


def test_reject() -> None:
    async def code() -> list[str]:
        return [await thrown(js.Promise.reject(js.TypeError.new("no"))), await thrown(js.Promise.reject("why"))]

    assert in_worker(code) == ["TypeError: no", "Error: why"]


def test_all_keeps_order_and_fails_with_the_first_failure() -> None:
    async def code() -> tuple[Any, str]:
        values = await js.Promise.all([later("slow", 2), later("fast"), 3])
        return values.to_py(), await thrown(js.Promise.all([later(1, 1000), failing("at once")]))

    assert in_worker(code) == (["slow", "fast", 3], "Error: at once")


def test_all_of_nothing() -> None:
    async def code() -> Any:
        return (await js.Promise.all([])).to_py()

    assert in_worker(code) == []


def test_all_settled() -> None:
    async def code() -> list[Any]:
        done, failed = await js.Promise.allSettled([later(1), failing("no")])
        return [done.status, done.value, failed.status, str(failed.reason)]

    assert in_worker(code) == ["fulfilled", 1, "rejected", "Error: no"]


def test_race_takes_the_first_to_settle() -> None:
    async def code() -> tuple[Any, str]:
        winner = await js.Promise.race([later("slow", 5), later("fast")])
        return winner, await thrown(js.Promise.race([later(1), failing("failed first")]))

    assert in_worker(code) == ("fast", "Error: failed first")


def test_any_takes_the_first_success() -> None:
    async def code() -> tuple[Any, str, list[str]]:
        winner = await js.Promise.any([failing("a"), later("b")])
        with pytest.raises(JsException) as caught:
            await js.Promise.any([failing("a"), failing("b")])
        return winner, str(caught.value), [str(error) for error in caught.value.errors]

    expected = ("b", "AggregateError: All promises were rejected", ["Error: a", "Error: b"])
    assert in_worker(code) == expected


def test_an_executor() -> None:
    async def code() -> list[Any]:
        def fail(_resolve: Any, _reject: Any) -> None:
            raise js.RangeError.new("thrown")

        return [
            await js.Promise.new(lambda resolve, _reject: resolve(1)),
            await js.Promise.new(lambda resolve, _reject: resolve(later(2))),
            await thrown(js.Promise.new(lambda _resolve, reject: reject(js.Error.new("no")))),
            await thrown(js.Promise.new(fail)),
        ]

    assert in_worker(code) == [1, 2, "Error: no", "RangeError: thrown"]


def test_what_is_no_executor() -> None:
    with pytest.raises(JsException) as caught:
        js.Promise.new()
    assert str(caught.value) == "TypeError: Promise resolver undefined is not a function"


def test_resolvers() -> None:
    async def code() -> list[Any]:
        made = js.Promise.withResolvers()
        asyncio.get_running_loop().call_later(1, made.resolve, "late")
        first = await made.promise
        made.reject("a settled promise does not change")
        return [first, await made.promise]

    assert in_worker(code) == ["late", "late"]


def test_try() -> None:
    async def code() -> list[Any]:
        return [await js.Promise.try_(lambda x: x + 1, 1), await thrown(js.Promise.try_(failing, "no"))]

    assert in_worker(code) == [2, "Error: no"]


def test_a_microtask_runs_after_what_runs_now() -> None:
    async def code() -> list[str]:
        seen: list[str] = []
        js.queueMicrotask(lambda: seen.append("microtask"))
        seen.append("now")
        await js.Promise.resolve(to_python({}))
        return seen

    assert in_worker(code) == ["now", "microtask"]
