"""Messages of type v8 between the languages, and a JavaScript consumer: one workerd for all."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from flarebed.bindings.queues.body import deserialize
from flarebed.bindings.values import UNDEFINED, ArrayBuffer, BigInt, Date, Error, Map, Set, View
from tests.oracle.bindings.virtual_time import finished
from tests.served import Served, served

VALUES = Path(__file__).parents[1] / "oracle/values.js"
WORKER = """
import { revive, shown } from "./values.js";

const seen = [];
export default {
  async fetch(request, env) {
    const { send } = await request.json();
    if (!send) return Response.json(seen.splice(0));
    for (const body of send) await env.OUT.send(revive(body, {}), { contentType: "v8" });
    return new Response();
  },
  async queue(batch, env) {
    const bodies = [];
    for (const { body } of batch.messages) bodies.push(await shown(body));
    seen.push(bodies);
    if (bodies.includes("throw")) throw new TypeError("no\\nmore");
    if (bodies.includes("hang")) await new Promise((resolve) => setTimeout(resolve, 600_000));
    if (bodies.includes("contradict")) {
      batch.messages[0].ack();
      batch.messages[0].retry();
    }
  },
};
"""
CONFIG = {
    "name": "w", "main": "worker.js", "compatibility_date": "2026-11-01",
    "queues": {
        "producers": [{"binding": "OUT", "queue": "out"}, {"binding": "IN", "queue": "in"}],
        "consumers": [{"queue": "in", "max_batch_size": 100, "max_batch_timeout": 1, "max_retries": 0}],
    },
}  # fmt: skip
SHARED = [{"$twice": 0}, {"$circular": 0}]


@asynccontextmanager
async def worker(folder: Path) -> AsyncIterator[Served]:
    (folder / "worker.js").write_text(WORKER)
    (folder / "values.js").write_text(VALUES.read_text())
    (folder / "wrangler.json").write_text(json.dumps(CONFIG))
    async with served(folder, folder / "state") as serving:
        yield serving


async def ask(serving: Served, **body: Any) -> Any:
    asking = asyncio.ensure_future(serving.ask_in_time("POST", "/", body))
    answer = await finished(serving.clock, asking)
    assert answer.status == 200, answer.text
    return json.loads(answer.body or b"null")


async def delivered(serving: Served, *bodies: Any, content_type: str = "v8") -> list[Any]:
    """What the Worker was shown of one batch of these."""
    queue: Any = serving.app.resources["queues"].bindings()["IN"]
    await queue.sendBatch([{"body": body, "contentType": content_type} for body in bodies])
    ended = asyncio.ensure_future(_ended(serving))
    await finished(serving.clock, ended)
    (batch,) = await ask(serving)
    shown: list[Any] = batch
    return shown


async def _ended(serving: Served) -> None:
    """Until the log tells of the batch."""
    told = len(serving.logged)
    while not any("QUEUE in" in text for _, text in serving.logged[told:]):
        await asyncio.wait([serving.clock.loop.create_future()], timeout=0.001)


def test_messages_between_the_languages(tmp_path: Path) -> None:
    async def work() -> None:
        async with worker(tmp_path) as serving:
            await from_javascript(serving)
            await from_python(serving)
            await what_a_consumer_gets(serving)
            await what_a_consumer_says(serving)
            await how_long_a_consumer_may_take(serving)

    asyncio.run(work())


async def from_javascript(serving: Served) -> None:
    sent = [{"$date": 5}, {"$map": [[1, {"$set": [{"$bigint": "-7"}]}]]}, {"$view": ["Int16Array", [1, -1]]}, *SHARED]
    await ask(serving, send=sent)
    backlog: Any = serving.app.resources["queues"]
    messages = backlog.backlog("out").lease(100).messages
    date, map_, view, twice, circular = (deserialize(message.body, message.content_type) for message in messages)
    assert date == Date(5)
    ((key, members),) = map_.items()
    assert (key, list(members), {type(member) for member in members}) == (1, [-7], {BigInt})
    assert (view.kind, view.elements()) == ("Int16Array", [1, -1])
    assert (twice, twice[0] is twice[1]) == ([{"a": 1}, {"a": 1}], True)
    assert (circular["a"], circular["self"] is circular) == (1, True)


async def from_python(serving: Served) -> None:
    nested = {"a": [UNDEFINED, None, 1.5, float("nan"), -0.0, 2**60], "$": {"$": 1}}
    one = {"a": 1}
    bodies = [
        Date(5), Map([(1, Set([BigInt(-7)]))]), View(ArrayBuffer(b"\1\0\xff\xff"), "Int16Array"),
        ArrayBuffer(b"\1\2"), nested, [one, one],
    ]  # fmt: skip
    assert await delivered(serving, *bodies) == [
        {"$date": 5}, {"$map": [[1, {"$set": [{"$bigint": "-7"}]}]]}, {"$view": ["Int16Array", [1, -1]]},
        {"$buffer": [1, 2]},
        {
            "a": [{"$undefined": 0}, None, 1.5, {"$number": "NaN"}, {"$number": "-0"}, {"$bigint": str(2**60)}],
            "$": {"$": 1},
        },
        [{"a": 1}, {"a": 1}],
    ]  # fmt: skip
    ((shown,),) = [await delivered(serving, Error("no", "TypeError"))]
    assert shown["$error"][:2] == ["TypeError", "no"]


async def what_a_consumer_gets(serving: Served) -> None:
    assert await delivered(serving, "a\0ü", content_type="text") == ["a\0ü"]
    assert await delivered(serving, View(ArrayBuffer(b"\0\xff")), content_type="bytes") == [
        {"$view": ["Uint8Array", [0, 255]]}
    ]
    assert await delivered(serving, *range(100), content_type="json") == list(range(100))


async def what_a_consumer_says(serving: Served) -> None:
    serving.logged.clear()
    await delivered(serving, "throw", content_type="json")
    texts = [text for _, text in serving.logged]
    assert any(text.startswith("Uncaught TypeError: no\nmore") for text in texts)
    assert "QUEUE in 0/1" in texts[-1]
    await delivered(serving, "contradict", content_type="json")
    assert "QUEUE in 1/1" in serving.logged[-1][1]


async def how_long_a_consumer_may_take(serving: Served) -> None:
    queue: Any = serving.app.resources["queues"].bindings()["IN"]
    await queue.send("hang")
    await serving.clock.advance(1000)
    for _ in range(100):
        if await ask(serving):
            break
    serving.logged.clear()
    await serving.clock.advance(15 * 60_000)
    told = ("error", 'Queue "in": a batch took 15 minutes, the limit of a consumer; it has failed.')
    assert serving.logged[0] == told
    assert "QUEUE in 0/1" in serving.logged[-1][1]
