"""Workflows of other shapes: an import in batches and side by side, durable polling, a pipeline of outside services."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx

from tests.served import ROOT, Served, served
from tests.support import run

DOCUMENT = b"one\n\ntwo\n\n\nthree"
CSV = "customer,product,cents\n" + "".join(f"c{i % 3},p{i % 2},{i}\n" for i in range(50))


async def ended(worker: Served, path: str) -> tuple[str, Any]:
    found = (await worker.get(path)).json
    return found["status"], found["output"]


def test_import_sums_what_it_wrote_in_batches(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(ROOT / "fixtures" / "import", tmp_path) as worker:
            worker.migrate()
            assert (await worker.ask("PUT", "/sales-1", CSV)).json == {"id": "sales-1"}
            await worker.advance(1)
            report = {
                "rows": 50,
                "customers": {"c0": 408, "c1": 425, "c2": 392},
                "products": {"p0": 600, "p1": 625},
            }
            assert await ended(worker, "/sales-1") == ("complete", report)
            written = [
                step for step in (await worker.get("/sales-1")).json["__LOCAL_DEV_STEP_OUTPUTS"] if step in (20, 10)
            ]
            assert written == [20, 20, 10]

    run(scenario())


def test_polling_checks_every_minute_then_sleeps_until_the_premiere(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(ROOT / "fixtures" / "polling", tmp_path) as worker:
            await worker.post("/film-1", {"publishAt": "2026-01-01T01:00:00+00:00"})
            await worker.advance(90)
            assert (await worker.ask("PUT", "/film-1", "240")).status == 204
            await worker.advance(3500)
            assert (await ended(worker, "/film-1"))[0] == "waiting"
            await worker.advance(11)
            assert await ended(worker, "/film-1") == ("complete", {"film": "film-1", "frames": 240, "checks": 3})

    run(scenario())


def test_polling_gives_up(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(ROOT / "fixtures" / "polling", tmp_path) as worker:
            await worker.post("/film-2", {})
            await worker.advance(29 * 60 + 59)
            assert (await ended(worker, "/film-2"))[0] == "waiting"
            await worker.advance(2)
            found = (await worker.get("/film-2")).json
            assert found["status"] == "errored"
            assert "TimeoutError: film-2 was not rendered after 30 checks" in found["error"]["message"]

    run(scenario())


class Services:
    """The outside of the pipeline: `refuse` are the answers that come before the good ones, by host."""

    def __init__(self, **refuse: list[int]) -> None:
        self.refuse = refuse
        self.asked: list[str] = []

    def client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=httpx.MockTransport(self.answer))

    def answer(self, request: httpx.Request) -> httpx.Response:
        host = request.url.host.partition(".")[0]
        self.asked.append(f"{request.method} {host}{request.url.path}")
        if self.refuse.get(host):
            return httpx.Response(self.refuse[host].pop(0))
        return httpx.Response(
            200, content=streamed(DOCUMENT if host == "docs" else b'{"vectors": [[1, 0], [0, 1], [1, 1]]}')
        )


async def streamed(body: bytes) -> AsyncIterator[bytes]:
    """As a socket gives it."""
    yield body


def test_pipeline_tries_again_what_may_mend(tmp_path: Path) -> None:
    async def scenario() -> None:
        outside = Services(docs=[503, 503], hooks=[500])
        async with served(ROOT / "fixtures" / "pipeline", tmp_path, outbound=outside.client) as worker:
            worker.migrate()
            instance = (await worker.post("/guide", "")).json["id"]
            await worker.advance(10 + 20 + 10 + 1)
            assert await ended(worker, f"/{instance}") == ("complete", {"document": "guide", "chunks": 3})
            assert outside.asked == [
                *["GET docs/guide"] * 3,
                "POST embeddings/embed",
                *["POST hooks/done"] * 2,
            ]
            outputs = (await worker.get(f"/{instance}")).json["__LOCAL_DEV_STEP_OUTPUTS"]
            assert outputs == [DOCUMENT.decode(), "[REDACTED]", 3, None]

    run(scenario())


def test_pipeline_does_not_try_again_what_is_refused(tmp_path: Path) -> None:
    async def scenario() -> None:
        outside = Services(docs=[404])
        async with served(ROOT / "fixtures" / "pipeline", tmp_path, outbound=outside.client) as worker:
            instance = (await worker.post("/guide", "")).json["id"]
            await worker.advance(0)
            found = (await worker.get(f"/{instance}")).json
            assert found["status"] == "errored"
            assert "https://docs.example.com/guide answered 404" in found["error"]["message"]
            assert outside.asked == ["GET docs/guide"]

    run(scenario())
