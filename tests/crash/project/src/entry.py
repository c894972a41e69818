"""The Worker that is killed: a workflow whose params name its shape, one function of this file."""

import asyncio
from datetime import UTC, datetime, timedelta
from urllib.parse import urlparse

from telling import PATIENT, Teller, note
from workers import Response, WorkerEntrypoint, WorkflowEntrypoint
from workers.workflows import NonRetryableError


class Flow(WorkflowEntrypoint):
    async def run(self, event, step):
        tell = Teller(self.env, event, step)
        tell.note("runs")
        return await SHAPES[tell.params.get("shape", "scheduled")](tell)


class Default(WorkerEntrypoint):
    """For clients that come over HTTP: /create/<id>/<shape>, /send/<id>/<type>/<payload>, /prepare."""

    async def fetch(self, request):
        match urlparse(request.url).path.split("/")[1:]:
            case ["create", instance_id, shape]:
                await self.env.FLOW.create(id=instance_id, params={"shape": shape})
            case ["send", instance_id, event_type, payload]:
                instance = await self.env.FLOW.get(instance_id)
                await instance.sendEvent({"type": event_type, "payload": payload})
            case ["prepare"]:
                await self.env.DB.exec("CREATE TABLE IF NOT EXISTS effects (nonce TEXT PRIMARY KEY)")
        return Response("done")

    async def queue(self, batch, env, ctx):
        for message in batch.messages:
            note(self.env, "got", nonce=message.body)


def until_attempt(wanted, error=ValueError):
    def fail(attempt):
        if attempt < wanted:
            raise error(f"not in attempt {attempt}")

    return fail


def never(error):
    def fail(attempt):
        raise error

    return fail


async def steps(tell):
    """Steps one after another: at once, slow, tried again, given up, and the same name twice."""
    first = await tell.do("first")
    slow = await tell.do("slow", seconds=2)
    again = await tell.do("again", seconds=0.5, fail=until_attempt(3))
    final = await tell.attempted(tell.do("final", fail=never(NonRetryableError("no"))))
    twice = [await tell.do("twice") for _ in range(2)]
    return [first, slow, again, final, *twice]


async def sleeps(tell):
    seen = [await tell.do("before")]
    await tell.sleep("nap", "1 hour")
    seen.append(await tell.do("between"))
    await tell.step.sleep_until("morning", datetime(2026, 3, 1, tzinfo=UTC) + timedelta(hours=6))
    await tell.sleep("nap", 1500)
    return [*seen, await tell.do("after")]


async def events(tell):
    """Two were sent before the first wait, one comes during a wait, one wait times out before its event is sent."""
    await tell.do("while they come", seconds=5)
    early = [await tell.wait(f"early {number}", "go") for number in range(2)]
    late = await tell.attempted(tell.wait("late", "late", timeout="10 seconds"))
    return [*early, late, await tell.wait("third", "go"), await tell.wait("late at last", "late")]


async def crowd(tell):
    """Waits side by side for one type: each event goes to one of them, in order."""

    async def one(number):
        got = await tell.wait(f"w{number}", "go")
        return [got, await tell.do(f"after w{number}", seconds=number / 10)]

    return await asyncio.gather(*(one(number) for number in range(4)))


async def side_by_side(tell):
    """Concurrent steps, a sleep beside them, and a step within a step."""

    async def napping():
        await tell.sleep("nap", "3 seconds")
        return await tell.do("after the nap")

    together = await asyncio.gather(
        *(tell.do(f"part {number}", seconds=number) for number in range(4)),
        tell.do("flaky", fail=until_attempt(2)),
        napping(),
    )
    outer = await tell.do("outer", inner=lambda: tell.do("inner", seconds=1))
    return [*together, outer]


async def dependencies(tell):
    """The SDK's own: parameters name steps, which are made together."""
    step = tell.step

    def made(name):
        count = tell.count("do", name)
        tell.note("begins", name=name, count=count, attempt=None, limit=None)
        return name

    @step.do("left", config=PATIENT)
    async def left():
        await asyncio.sleep(1)
        return made("left")

    @step.do("right", config=PATIENT)
    async def right():
        await asyncio.sleep(2)
        return made("right")

    @step.do("both", concurrent=True, config=PATIENT)
    async def both(left, right):
        return [made("both"), left, right]

    return [await both(), await tell.do("last")]


async def plodding(tell):
    """For what is done to an instance meanwhile: slow steps, sleeps and a wait by turns."""
    seen = [await tell.do("one", seconds=4)]
    await tell.sleep("nap", "4 seconds")
    seen.append(await tell.do("two", seconds=4))
    seen.append(await tell.wait("word", "word"))
    return [*seen, await tell.do("three", seconds=4)]


async def stubborn(tell):
    """Doesn't let itself be cancelled: it swallows what ends it, and goes on."""
    seen = []
    for number in range(3):
        try:
            seen.append(await tell.do(f"s{number}", seconds=3))
        except BaseException:
            seen.append(await tell.do("although it was cancelled"))
    return seen


async def insert(env, nonce):
    await env.DB.prepare("INSERT INTO effects (nonce) VALUES (?)").bind(nonce).run()


async def put(env, nonce):
    await env.KV.put(nonce, "here")


async def effects(tell):
    written = []
    for number in range(3):
        written.append(await tell.do(f"row {number}", effect=insert))
        written.append(await tell.do(f"key {number}", effect=put))
    return written


async def send(env, nonce):
    await env.JOBS.send(nonce)


async def sending(tell):
    return [await tell.do(f"job {number}", seconds=1, effect=send) for number in range(3)]


async def saga(tell):
    """Steps that are undone, two of them made at a time; the last one fails, and is undone too."""
    stuck = tell.params.get("stuck")

    async def made(name, **how):
        return await tell.undoable(name, fail_undoing=ValueError("not undone") if name == stuck else None, **how)

    await made("one", seconds=1)
    await asyncio.gather(made("two", seconds=2), made("three", seconds=1))
    await tell.sleep("night", "8 hours")
    await tell.do("not to be undone")
    await made("four", fail=never(NonRetryableError("no")))


async def streams(tell):
    """More than one chunk, at once and slowly; none at all."""
    parts = [await tell.stream("at once", 6), await tell.stream("slow", 4, seconds=1), await tell.stream("empty", 0)]
    return [*parts, await tell.do("last")]


async def hibernating(tell):
    """Sleeps and waits for so long that it leaves memory; an event for the second wait comes before the first."""
    seen = [await tell.do("before")]
    await tell.sleep("night", "8 hours")
    seen += [await tell.wait(name, name, timeout="30 days") for name in ("first", "second")]
    return [*seen, await tell.do("after")]


async def scheduled(tell):
    return [await tell.do("only", seconds=1), tell.event["schedule"]["cron"]]


AT_ONCE = set()


async def one_of_two(env, nonce):
    AT_ONCE.add(nonce)
    try:
        if len(AT_ONCE) > 2:
            raise NonRetryableError("more than two at a time")
        await asyncio.sleep(2)
    finally:
        AT_ONCE.remove(nonce)


async def busy(tell):
    return [await tell.do(f"part {number}", before=one_of_two) for number in range(2)]


async def hasty(tell):
    """A little of everything within a second of real time."""
    at_once = {"retries": {"limit": 40, "delay": 50, "backoff": "constant"}}
    first = await tell.do("first", seconds=0.02, effect=insert)
    await tell.sleep("nap", 100)
    word = await tell.wait("word", "word")
    parts = await asyncio.gather(*(tell.do(f"part {number}", seconds=number / 50) for number in range(3)))
    flaky = await tell.do("flaky", fail=until_attempt(2), config=at_once, effect=put)
    return [first, word, *parts, flaky]


async def frugal(tell):
    """Steps with few attempts: an interrupted one counts."""

    def of(limit):
        return {"retries": {"limit": limit, "delay": "1 minute", "backoff": "constant"}}

    return [await tell.attempted(tell.do(f"limit {limit}", seconds=1, config=of(limit))) for limit in (0, 1, 0)]


async def delays(tell):
    """A delay that a function gives, growing ones, and attempts that take too long."""

    short = {"retries": {"limit": 40, "delay": "2 seconds", "backoff": "linear"}, "timeout": "1 second"}
    asked = {"retries": {"limit": 40, "delay": lambda asked: "3 seconds"}}
    growing = {"retries": {"limit": 40, "delay": "1 second", "backoff": "exponential"}}
    return [
        await tell.do("asked", fail=until_attempt(3), config=asked),
        await tell.do("growing", fail=until_attempt(4), config=growing),
        await tell.do("late", seconds=lambda attempt: 5 if attempt < 3 else 0, config=short),
    ]


async def quick(tell):
    """What is over within a few turns of the loop."""
    return [await tell.do("only")]


async def stepless(tell):
    return "nothing to record"


async def failing(tell):
    await tell.do("before")
    raise ValueError("the end")


async def parent(tell):
    """Makes an instance in a step, and asks in another until that one has ended."""

    async def create(env, nonce):
        try:
            await env.FLOW.create(id="child", params={"shape": "quick"})
        except Exception as error:
            if "already exists" not in str(error):
                raise

    async def ask(env, nonce):
        if (await (await env.FLOW.get("child")).status())["status"] != "complete":
            raise ValueError("not yet")

    return [await tell.do("creates", before=create), await tell.do("asks", before=ask)]


async def unserialisable(tell):
    """Ends the instance on the spot."""
    first = await tell.do("first")

    @tell.step.do("no value", config=PATIENT)
    async def no_value():
        return lambda: None  # what is no value ends the instance

    return [first, await tell.attempted(no_value())]


SHAPES = {
    shape.__name__: shape
    for shape in (
        steps, sleeps, events, crowd, side_by_side, dependencies, plodding, stubborn, effects, frugal, delays, quick,
        stepless, failing, parent, unserialisable, hasty, sending, saga, streams, hibernating, scheduled, busy,
    )
}  # fmt: skip
