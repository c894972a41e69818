"""Orders: a person decides within two days, or time does; what was reserved is given back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from tests.served import ROOT, Served, served
from tests.support import run

FOLDER = ROOT / "fixtures" / "orders"
DAY_S = 86_400
STOCK = [{"sku": "desk", "available": 2}, {"sku": "lamp", "available": 10}]
LARGE = {"sku": "desk", "quantity": 2, "total": 2000}


def scenario(tmp_path: Path, story: Callable[[Served], Awaitable[None]]) -> None:
    async def whole() -> None:
        async with served(FOLDER, tmp_path) as worker:
            worker.migrate()
            await story(worker)

    run(whole())


async def order(worker: Served, body: dict[str, Any]) -> str:
    answer = await worker.post("/orders", body)
    assert answer.status == 202
    return str(answer.json["id"])


async def ended(worker: Served, order_id: str) -> tuple[str, Any]:
    found = (await worker.get(f"/orders/{order_id}")).json
    return found["status"], found["output"]


def test_a_small_order_ships_without_asking(tmp_path: Path) -> None:
    async def story(worker: Served) -> None:
        order_id = await order(worker, {"sku": "lamp", "quantity": 3, "total": 60})
        await worker.advance(3601)
        assert await ended(worker, order_id) == ("complete", {"state": "shipped", "sku": "lamp", "quantity": 3})
        assert (await worker.get("/stock")).json[1] == {"sku": "lamp", "available": 7}

    scenario(tmp_path, story)


def test_an_approved_order_ships(tmp_path: Path) -> None:
    async def story(worker: Served) -> None:
        order_id = await order(worker, LARGE)
        await worker.advance(DAY_S)
        assert (await worker.post(f"/orders/{order_id}/approval", {"approved": True})).status == 204
        await worker.advance(3601)
        assert await ended(worker, order_id) == ("complete", {"state": "shipped", "sku": "desk", "quantity": 2})

    scenario(tmp_path, story)


def test_a_declined_order_is_given_back(tmp_path: Path) -> None:
    async def story(worker: Served) -> None:
        order_id = await order(worker, LARGE)
        await worker.advance(1)
        assert (await worker.get("/stock")).json[0] == {"sku": "desk", "available": 0}
        await worker.post(f"/orders/{order_id}/approval", {"approved": False, "reason": "too dear"})
        await worker.advance(1)
        assert await ended(worker, order_id) == ("complete", {"state": "declined", "reason": "too dear"})
        assert (await worker.get("/stock")).json == STOCK

    scenario(tmp_path, story)


def test_nobody_answers_for_two_days(tmp_path: Path) -> None:
    async def story(worker: Served) -> None:
        order_id = await order(worker, LARGE)
        await worker.advance(2 * DAY_S - 1)
        assert (await ended(worker, order_id))[0] == "waiting"
        await worker.advance(2)
        assert await ended(worker, order_id) == ("complete", {"state": "declined", "reason": "nobody answered"})
        assert (await worker.get("/stock")).json == STOCK

    scenario(tmp_path, story)


def test_too_little_in_stock_is_not_tried_again(tmp_path: Path) -> None:
    async def story(worker: Served) -> None:
        order_id = await order(worker, {"sku": "desk", "quantity": 3, "total": 3000})
        await worker.advance(0)
        assert await ended(worker, order_id) == (
            "complete",
            {"state": "rejected", "reason": "not enough desk in stock"},
        )
        assert (await worker.get("/stock")).json == STOCK

    scenario(tmp_path, story)
