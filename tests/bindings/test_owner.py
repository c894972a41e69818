"""One owner per state folder, and its doorbell. Two claims in one process stand for two processes."""

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
        first, second = Owner(root, loop), Owner(root, loop)
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


def test_a_ring_is_short(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="too long for the doorbell"):
        Doorbell(tmp_path).ring("queues", "x" * 600)
