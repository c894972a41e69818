"""Asks flarebed's KV, D1 and Queues: each request is a question, played here as worker.js plays it on wrangler.

The bindings are taken from below the SDK, so that a value means here what it means to JavaScript.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import math
import time

from js_values import revive, shown, thrown
from workers import Response, WorkerEntrypoint

PATIENCE_S = 20
plays = {}  # by the name of the queue that a question has to itself

EVERYTHING = """SELECT * FROM (
  SELECT type, name FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite%' AND name NOT LIKE '_cf%'
  UNION ALL SELECT 'rowid', last_insert_rowid() WHERE last_insert_rowid() <> 0
) ORDER BY type = 'table', name"""
KEPT = (
    "reverse_unordered_selects", "case_sensitive_like", "ignore_check_constraints", "legacy_alter_table",
    "recursive_triggers",
)  # fmt: skip
ZERO = ["CREATE TABLE zero (id INTEGER PRIMARY KEY)", "INSERT INTO zero VALUES (0)", "DROP TABLE zero"]


class Play:
    """`names` has this question's bindings: {KV, DB, Q?}."""

    def __init__(self, env, asked):
        self.question = asked["question"]
        self.env = env
        self.names = asked["names"]
        self.poll_s = asked["poll_s"]
        self.made = {}
        self.delivered = []
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
        waited_s = 0
        while len(self.delivered) < batches and waited_s < PATIENCE_S:
            await asyncio.sleep(self.poll_s)
            waited_s += self.poll_s
        return len(self.delivered)

    async def consume(self, batch, context):
        place, messages, said = len(self.delivered), [], []
        seen = {"queue": batch.queue, "messages": messages, "said": said}
        self.delivered.append(seen)
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


async def empty_namespace(kv):
    while keys := (await kv.list()).keys.to_py():
        for key in keys:
            await kv.delete(key["name"])


async def empty_database(db):
    """Also last_insert_rowid() begins anew, and what pragmas have set ends."""
    everything = (await db.prepare(EVERYTHING).all()).results.to_py()
    if not everything:
        return
    names = [(each["type"], each["name"].replace('"', '""')) for each in everything if each["type"] != "rowid"]
    drops = [f'DROP {kind} IF EXISTS "{name}"' for kind, name in names]
    statements = ["PRAGMA defer_foreign_keys = ON", *drops, *ZERO, *(f"PRAGMA {name} = OFF" for name in KEPT)]
    await db.batch(revive([{"$statement": sql} for sql in statements], {"$statement": db.prepare}))


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        asked = json.loads(await request.text())
        env, names = self.env._env, asked["names"]
        if "KV" in names:
            await empty_namespace(getattr(env, names["KV"]))
        if "DB" in names:
            await empty_database(getattr(env, names["DB"]))
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
