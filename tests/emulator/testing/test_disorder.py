"""The marker's modes of queues, by way of a real Worker."""

from __future__ import annotations

import pytest

from flarebed.emulator.testing import SyncWorker


@pytest.mark.flarebed(queue_duplicates=1.0, seed=1)
def test_duplicates(flarebed_sync: SyncWorker) -> None:
    flarebed_sync.env.JOBS.send("once")
    flarebed_sync.drain()
    assert flarebed_sync.env.KV.get("seen") == "once1 once2 "


@pytest.mark.flarebed(queue_shuffle=True, seed=1)
def test_shuffle(flarebed_sync: SyncWorker) -> None:
    flarebed_sync.env.JOBS.sendBatch([{"body": body} for body in range(6)])
    flarebed_sync.drain()
    assert flarebed_sync.env.KV.get("seen") == "01 51 21 11 31 41 "
