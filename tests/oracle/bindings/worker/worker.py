"""Asks flarebed's KV, D1 and Queues: each request is a question, played here as worker.js plays it on wrangler.

The bindings are taken from below the SDK, so that a value means here what it means to JavaScript.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import math
import time

from js_values import revive, shown, thrown
from workers import Response, WorkerEntrypoint

PATIENCE_S = 20
plays = {}  # by the name of the queue that a question has to itself


class Play:
    """`names` has this question's bindings: {KV, DB, Q?}."""

    def __init__(self, env, asked):
        self.question = asked["question"]
        self.env = env
        self.names = asked["names"]
        self.made = {}
        self.delivered = []
        self.delivery = asyncio.Event()
        self.start_s = time.time()
        self.makers = {
            "$chain": self.follow,
            "$ahead": lambda seconds: math.floor(time.time()) + seconds,
        }

    def value(self, given):
        return revive(given, self.makers)

    def follow(self, chain):
        """[what, [method, ...arguments] | "property", ...]"""
        what, *links = chain
        at = self.made[what] if what in self.made else getattr(self.env, self.names[what])
        for link in links:
            at = getattr(at, link, None) if isinstance(link, str) else self.called(at, *link)
        return at

    def called(self, at, method, *arguments):
        return getattr(at, method)(*map(self.value, arguments))

    async def ask(self, op):
        what, *rest = op
        if what == "wait":
            return await asyncio.sleep(rest[0])
        if what == "until":
            return await self.until(rest[0])
        if what == "quietly":
            await settled(self.follow(rest))
            return None
        if what == "let":
            self.made[rest[0]] = await settled(self.follow(rest[1:]))
            return None
        return await settled(self.follow(op))

    async def until(self, batches):
        """Until so many batches were delivered."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_S):
                while len(self.delivered) < batches:
                    self.delivery.clear()
                    await self.delivery.wait()
        return len(self.delivered)

    async def consume(self, batch, context):
        place, messages, said = len(self.delivered), [], []
        seen = {"queue": batch.queue, "messages": messages, "said": said}
        self.delivered.append(seen)
        self.delivery.set()
        for message in batch.messages:
            parts = {name: getattr(message, name) for name in ("id", "timestamp", "attempts", "body")}
            messages.append({name: await shown(part) for name, part in parts.items()})
        if self.question.get("timed"):
            seen["second"] = math.floor(time.time() - self.start_s + 0.5)
        if self.question.get("metrics"):
            seen["metadata"] = await shown(batch.metadata)
        turns = [[]] if batch.queue.endswith("-dead") else self.question.get("handler", [[]])
        for verb, *rest in turns[min(place, len(turns) - 1)]:
            if verb == "throw":
                raise Exception(rest[0])
            if verb == "fail later":
                context.waitUntil(fail_later(rest[0]))
            else:
                said.append(await tried(self.say, batch, verb, rest))

    async def say(self, batch, verb, rest):
        """`ack` and `retry` are of the message at a place in the batch."""
        if verb not in ("ack", "retry"):
            return getattr(batch, verb)(*map(self.value, rest))
        if rest[0] >= batch.messages.length:
            return None
        return getattr(batch.messages[rest[0]], verb)(*map(self.value, rest[1:]))


async def fail_later(text):
    await asyncio.sleep(0.05)
    raise Exception(text)


async def settled(value):
    return await value if inspect.isawaitable(value) else value


async def tried(act, *arguments):
    try:
        return await shown(await act(*arguments))
    except Exception as error:
        return await thrown(error)


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        asked = json.loads(await request.text())
        env, names = self.env._env, asked["names"]
        play = Play(env, asked)
        if "Q" in names:
            plays[names["Q"]] = play
        answers = [await tried(play.ask, op) for op in asked["question"]["ask"]]
        answer = {"start_s": math.floor(play.start_s), "asked": answers}
        if "Q" in names:
            answer["delivered"] = play.delivered
        return Response(json.dumps(answer))

    async def queue(self, batch, env, ctx):
        play = plays.get(batch.queue.replace("-dead", ""))
        if play is not None:
            await play.consume(getattr(batch, "_binding", batch), self.ctx)
