"""One owner per Worker, workflow and queue, and its doorbell. Two claims in one process stand for two processes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from flarebed.bindings.owner import Doorbell, Owner
from tests.support import run


def owning(root: Path, check: Callable[[Owner, Owner], Awaitable[None]]) -> None:
    async def work() -> None:
        loop = asyncio.get_running_loop()
        first, second = Owner(root, loop, "w"), Owner(root, loop, "w")
        try:
            await check(first, second)
        finally:
            first.release()
            second.release()

    run(work())


def test_one_owns_until_it_lets_go(tmp_path: Path) -> None:
    async def check(first: Owner, second: Owner) -> None:
        assert first.acquire()
        assert not second.acquire()
        assert (first.owns, second.owns) == (True, False)
        first.release()
        assert second.acquire()

    owning(tmp_path, check)


def test_who_waits_takes_over(tmp_path: Path) -> None:
    async def check(first: Owner, second: Owner) -> None:
        await first.wait()
        waiting = asyncio.ensure_future(second.wait())
        await asyncio.wait([waiting], timeout=0.01)
        assert not second.owns
        first.release()
        await waiting
        assert second.owns

    owning(tmp_path, check)


def test_a_claim_that_was_given_up_holds_nothing(tmp_path: Path) -> None:
    async def check(first: Owner, second: Owner) -> None:
        assert first.acquire()
        waiting = asyncio.ensure_future(second.wait())
        await asyncio.wait([waiting], timeout=0.01)
        waiting.cancel()
        await asyncio.wait([waiting])
        first.release()
        assert not second.owns
        await first.wait()

    owning(tmp_path, check)


def test_the_owner_hears_who_rings(tmp_path: Path) -> None:
    async def check(first: Owner, second: Owner) -> None:
        heard: asyncio.Queue[tuple[str, str]] = asyncio.Queue()
        assert first.acquire()
        first.listen(lambda kind, resource: heard.put_nowait((kind, resource)))
        doorbell = Doorbell(tmp_path)
        doorbell.ring("queues", "a\tb\n")
        assert await heard.get() == ("queues", "a\tb\n")
        for _ in range(3):
            doorbell.ring("queues", "q")
        doorbell.ring("workflows", "w")
        assert [await heard.get(), await heard.get()] == [("queues", "q"), ("workflows", "w")]
        assert heard.empty()
        doorbell.close()

    owning(tmp_path, check)


def test_the_next_owner_hears_a_doorbell_that_was_rung_before(tmp_path: Path) -> None:
    async def check(first: Owner, second: Owner) -> None:
        heard: asyncio.Queue[str] = asyncio.Queue()
        doorbell = Doorbell(tmp_path)
        doorbell.ring("queues", "nobody owns")
        first.acquire()
        first.listen(lambda kind, resource: heard.put_nowait(f"first {resource}"))
        doorbell.ring("queues", "a")
        assert await heard.get() == "first a"
        first.release()
        doorbell.ring("queues", "nobody owns")
        second.acquire()
        second.listen(lambda kind, resource: heard.put_nowait(f"second {resource}"))
        doorbell.ring("queues", "b")
        assert await heard.get() == "second b"
        doorbell.close()

    owning(tmp_path, check)


async def two(root: Path, first: Owner, second: Owner) -> tuple[bool, bool, tuple[str, str] | None]:
    try:
        return first.acquire(), second.acquire(), second.missing
    finally:
        first.release()
        second.release()


@pytest.mark.parametrize(
    ("first", "second", "missing"),
    [
        (("a", []), ("b", []), None),
        (("a", [("workflows", "x")]), ("b", [("queues", "x"), ("workflows", "y")]), None),
        (("a", [("workflows", "x")]), ("a", [("workflows", "y")]), ("worker", "a")),
        (("a", [("workflows", "x")]), ("b", [("queues", "q"), ("workflows", "x")]), ("workflows", "x")),
        (("a", [("queues", "Q"), ("queues", "q")]), ("b", [("queues", "Q")]), ("queues", "Q")),
    ],
)
def test_workers_side_by_side_unless_they_claim_the_same(
    tmp_path: Path,
    first: tuple[str, list[tuple[str, str]]],
    second: tuple[str, list[tuple[str, str]]],
    missing: tuple[str, str] | None,
) -> None:
    async def work() -> None:
        loop = asyncio.get_running_loop()
        owners = Owner(tmp_path, loop, *first), Owner(tmp_path, loop, *second)
        assert await two(tmp_path, *owners) == (True, missing is None, missing)
        assert await two(tmp_path, *reversed(owners)) == (True, missing is None, missing)

    run(work())


def test_a_claim_given_up_half_way_holds_nothing(tmp_path: Path) -> None:
    async def work() -> None:
        loop = asyncio.get_running_loop()
        holder = Owner(tmp_path, loop, "a", [("workflows", "x")])
        claiming, next_one = (Owner(tmp_path, loop, "b", [("workflows", "x")]) for _ in range(2))
        assert holder.acquire()
        waiting = asyncio.ensure_future(claiming.wait())
        await asyncio.wait([waiting], timeout=0.01)
        waiting.cancel()
        await asyncio.wait([waiting])
        assert not next_one.acquire()
        assert next_one.missing == ("workflows", "x")
        holder.release()
        await next_one.wait()
        assert next_one.owns
        next_one.release()

    run(work())


def test_all_owners_hear_it_but_the_one_that_rings(tmp_path: Path) -> None:
    async def work() -> None:
        loop = asyncio.get_running_loop()
        owners = {name: Owner(tmp_path, loop, name) for name in ("a", "b", "C/3")}
        heard: asyncio.Queue[str] = asyncio.Queue()
        for name, owner in owners.items():
            assert owner.acquire()
            owner.listen(lambda kind, resource, name=name: heard.put_nowait(f"{name} {resource}"))  # type: ignore[misc]
        doorbell = Doorbell(tmp_path)
        doorbell.ring("queues", "q", but=[owners["a"].doorbell])
        assert sorted([await heard.get(), await heard.get()]) == ["C/3 q", "b q"]
        owners["b"].release()
        doorbell.ring("queues", "r")
        assert sorted([await heard.get(), await heard.get()]) == ["C/3 r", "a r"]
        assert heard.empty()
        doorbell.close()
        owners["a"].release()
        owners["C/3"].release()

    run(work())


def test_a_ring_is_short(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="too long for the doorbell"):
        Doorbell(tmp_path).ring("queues", "x" * 600)
