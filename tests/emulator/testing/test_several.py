"""Several Workers in one test, in both languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from flarebed.bindings.errors import UserError
from flarebed.emulator.testing import SyncWorker, Worker
from flarebed.emulator.testing.settings import Wishes, settle

HERE = Path(__file__).parent
BOTH = pytest.mark.flarebed(
    config=HERE / "several" / "shop" / "wrangler.jsonc", workers=["several/prices/wrangler.jsonc"]
)


@BOTH
def test_each_has_its_own_events_and_bindings(flarebed_sync: SyncWorker) -> None:
    prices = flarebed_sync.worker("prices")
    prices.env.STORE.put("desk", "100")
    assert flarebed_sync.fetch("/desk").text == "desk costs 100"
    assert flarebed_sync.env.PRICES.price("desk") == "100"
    assert prices.fetch("/lamp").text == "None"
    assert not hasattr(flarebed_sync.env, "STORE")
    assert prices.config.name == "prices"


@BOTH
async def test_a_message_from_one_to_the_other(flarebed: Worker) -> None:
    prices = flarebed.worker("prices")
    await flarebed.env.CHANGES.send({"item": "desk", "price": 90})
    await flarebed.drain()
    assert await prices.env.STORE.get("desk") == "90"
    result = await prices.queue("changes", [{"item": "desk", "price": 80}])
    assert (result.outcome, await prices.env.STORE.get("desk")) == ("ok", "80")


@BOTH
def test_a_fault_is_one_workers(flarebed_sync: SyncWorker) -> None:
    prices = flarebed_sync.worker("prices")
    prices.faults.fail_binding("STORE.get", "out of order")
    with pytest.raises(Exception, match="out of order"):
        flarebed_sync.fetch("/desk")
    with pytest.raises(UserError) as refused:
        flarebed_sync.faults.fail_binding("STORE.get")
    assert refused.value.message == 'There is no binding "STORE".'


@BOTH
def test_a_name_that_nobody_has(flarebed_sync: SyncWorker) -> None:
    with pytest.raises(UserError) as refused:
        flarebed_sync.worker("nobody")
    assert (refused.value.message, refused.value.hint) == (
        'There is no Worker "nobody" in this test.',
        'It has shop, prices. More come with @pytest.mark.flarebed(workers=["../other/wrangler.jsonc"]).',
    )


def test_workers_are_a_list(tmp_path: Path) -> None:
    wishes = Wishes(config=HERE / "project" / "wrangler.jsonc", workers="wrangler.jsonc")
    with pytest.raises(UserError) as refused:
        settle(wishes, tmp_path, tmp_path / "state")
    assert refused.value.message == "workers is a list of configs, not 'wrangler.jsonc'."
