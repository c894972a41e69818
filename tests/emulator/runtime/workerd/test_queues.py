"""Queues as workerd's client sends to them, and batches as `js/queues.js` reads them."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.emulator.runtime.workerd.asking import ask
from tests.support import Bench, run

from flarebed.bindings import codec
from flarebed.bindings.queues import engine
from flarebed.bindings.queues.backlog import Message, Metrics
from flarebed.bindings.queues.binding import Delivery
from flarebed.bindings.queues.spec import QueueProducerSpec
from flarebed.bindings.queues.verdict import Verdict
from flarebed.bindings.values import BigInt, Map
from flarebed.emulator.runtime.workerd import wire
from flarebed.emulator.runtime.workerd.host import Adapter
from flarebed.emulator.runtime.workerd.queues import adapter, take, to_deliver

NOTHING = {"backlogCount": 0, "backlogBytes": 0, "oldestMessageTimestamp": 0}
OURS = {"a": Map([(1, BigInt(7))])}
NOW_MS = 1_767_225_600_000


class Queue:
    def __init__(self, root: Path) -> None:
        self.bench = Bench(root)
        self.resources = engine.open((QueueProducerSpec(binding="Q", queue="q"),), self.bench.around)
        producer: Any = self.resources.bindings()["Q"]
        self.adapter: Adapter = adapter(producer)
        self.backlog = self.resources.backlog("q")

    async def send(self, body: bytes, **headers: str) -> Any:
        return await self._ask("POST", "/message", body, headers)

    async def batch(self, *messages: dict[str, Any], **headers: str) -> Any:
        return await self._ask("POST", "/batch", json.dumps({"messages": messages}).encode(), headers)

    async def metrics(self) -> Any:
        return await self._ask("GET", "/metrics", b"", {})

    async def _ask(self, method: str, target: str, body: bytes, headers: dict[str, str]) -> Any:
        status, reason, answer = await ask(self.adapter, method, target, body, **headers)
        return json.loads(answer) if status == 200 else reason

    def stored(self) -> list[tuple[str, bytes]]:
        return [(message.content_type, message.body) for message in self.backlog.lease(100).messages]


def item(body: bytes, **more: Any) -> dict[str, Any]:
    return {"body": base64.b64encode(body).decode(), **more}


def test_a_message_is_stored_as_it_came(tmp_path: Path) -> None:
    async def work() -> None:
        queue = Queue(tmp_path)
        assert await queue.send(b"\xff\x0f0") == {"metadata": {"metrics": NOTHING}}
        before = {"backlogCount": 1, "backlogBytes": 3, "oldestMessageTimestamp": NOW_MS}
        assert await queue.send(b'{"a":1}', x_msg_fmt="json") == {"metadata": {"metrics": before}}
        await queue.send("ü\0".encode(), x_msg_fmt="text")
        await queue.send(b"a\xed\xa0\x80", x_msg_fmt="text")  # a lone surrogate
        await queue.send(b"\xff\0", x_msg_fmt="bytes")
        assert await queue.metrics() == {**before, "backlogCount": 5, "backlogBytes": 25}
        assert queue.stored() == [
            ("v8", b"\xff\x0f0"), ("json", b'{"a":1}'), ("text", "ü\0".encode()),
            ("text", "a\ufffd\ufffd\ufffd".encode()), ("bytes", b"\xff\0"),
        ]  # fmt: skip

    run(work())


def test_a_batch_has_delays_of_its_own_and_of_its_messages(tmp_path: Path) -> None:
    async def work() -> None:
        queue = Queue(tmp_path)
        messages = [item(b"1", contentType="json", delaySecs=0), item(b"2", contentType="json"), item(b"\xff\x0f0")]
        assert await queue.batch(*messages, x_msg_delay_secs="60") == {"metadata": {"metrics": NOTHING}}
        assert queue.stored() == [("json", b"1")]
        assert queue.bench.store.database("queues", "q", "").read("SELECT count(*) FROM delayed") == [(2,)]

    run(work())


def test_refusals(tmp_path: Path) -> None:
    async def work() -> None:
        queue = Queue(tmp_path)
        long = b"x" * 128_001
        assert await queue.send(long, x_msg_fmt="text") == "message length of 128001 bytes exceeds limit of 128000"
        assert await queue.send(b"undefined", x_msg_fmt="json") == "Internal Server Error"
        assert await queue.send(b"1", x_msg_fmt="json", x_msg_delay_secs="86401") == "Internal Server Error"
        many = [item(b"1", contentType="json")] * 101
        assert await queue.batch(*many) == "batch message count of 101 exceeds limit of 100"
        reason = "message in batch has length 128001 bytes which exceeds single message size limit of 128000"
        assert await queue.batch(item(long, contentType="text")) == reason
        assert await queue.batch(*[item(b"x" * 100_000)] * 3) == "batch size of 300000 bytes exceeds limit of 288000"
        assert await queue.metrics() == NOTHING

    run(work())


def test_a_disk_that_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        queue = Queue(tmp_path)

        def fail(*_: Any) -> None:
            raise apsw.FullError("database or disk is full")

        monkeypatch.setattr(queue.backlog, "append", fail)
        assert await queue.send(b"1", x_msg_fmt="json") == "Internal Server Error"
        assert queue.bench.logged == [("warn", 'Queue "q": send() failed: database or disk is full')]

    run(work())


def test_a_batch_to_deliver() -> None:
    bodies = [
        ("json", b'{"a":"\xc3\xbc"}'), ("text", b'a"b\0'), ("bytes", b"\xff\0"), ("v8", b"\xff\x0f0"),
        ("v8", codec.encode(OURS)),
    ]  # fmt: skip
    messages = [Message(str(at), kind, NOW_MS + at, 0, at, body) for at, (kind, body) in enumerate(bodies)]
    delivery = Delivery("q", messages, Metrics(2, 30, NOW_MS), Verdict(print))
    assert json.loads(to_deliver(delivery)) == {
        "queue": "q",
        "metadata": {"metrics": {"backlogCount": 2, "backlogBytes": 30, "oldestMessageTimestamp": NOW_MS}},
        "messages": [
            ["0", NOW_MS, 1, "json", {"a": "ü"}],
            ["1", NOW_MS + 1, 2, "json", 'a"b\0'],
            ["2", NOW_MS + 2, 3, "bytes", "/wA="],
            ["3", NOW_MS + 3, 4, "v8", "/w8w"],
            ["4", NOW_MS + 4, 5, "wire", wire.to_wire(OURS, wire.no_function)],
        ],
    }


@pytest.mark.parametrize(
    ("said", "delays"),
    [
        ({}, [None, None]),
        ({"ackAll": True}, [None, None]),
        ({"retryBatch": {"retry": True}}, [9, 9]),
        ({"retryBatch": {"retry": True, "delaySeconds": 5}}, [5, 5]),
        ({"retryBatch": {"retry": True, "delaySeconds": 5}, "explicitAcks": ["a"]}, [None, 5]),
        ({"retryMessages": [{"msgId": "a", "delaySeconds": 3}, {"msgId": "b"}]}, [3, 9]),
    ],
)
def test_what_a_handler_said(said: dict[str, Any], delays: list[float | None]) -> None:
    nothing = {"ackAll": False, "retryBatch": {"retry": False}, "explicitAcks": [], "retryMessages": []}
    verdict = Verdict(print)
    take(nothing | said, verdict)
    assert [verdict.retry_delay_s(name, 9, threw=False) for name in "ab"] == delays
