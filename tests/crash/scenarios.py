"""What is done to workflows while their process is killed: one small function each, a script for the client.

A new one needs a function here, and a shape in `project/src/entry.py` if none fits. Its result is what a life without
kills leaves; where an interrupted attempt may change that, `Scenario.may_differ` says for which instances.
"""

from __future__ import annotations

import asyncio
from typing import Final

from tests.crash.client import Client
from tests.crash.data_scenarios import DATA, JAVASCRIPT_DATA
from tests.crash.scenario import Scenario

HOUR_S: Final = 3_600
HOUR_MS: Final = 3_600_000


async def steps(client: Client) -> None:
    await client.create("i", "steps")


async def sleeps(client: Client) -> None:
    await client.create("i", "sleeps")


async def delays(client: Client) -> None:
    await client.create("i", "delays")


async def frugal(client: Client) -> None:
    await client.create("i", "frugal")


async def ends(client: Client) -> None:
    """Without a step, with one, with an error; and what a user reads of it at every turn of the loop."""
    for shape in ("stepless", "quick", "failing"):
        await client.create(shape, shape)
    for _ in range(60):
        for shape in ("stepless", "quick", "failing"):
            if not client.has_read(shape, "complete", "errored"):
                await client.read(shape)
        await asyncio.sleep(0)  # noqa: TID251 - a turn of the loop, no time


async def events(client: Client) -> None:
    """Before the instance waits, while it waits, and when it is over."""
    await client.create("i", "events")
    await client.send("i", "go", 1)
    await client.after(1)
    await client.send("i", "go", 2)
    await client.noted("saw", "i", "late")
    await client.send("i", "late", "too late for the first wait")
    await client.send("i", "go", 3)
    await client.until("i", "complete")
    await client.send("i", "go", "nobody waits any more")


async def crowd(client: Client) -> None:
    await client.create("i", "crowd")
    for number in range(3):
        await client.send("i", "go", number)
    await client.after(1)
    await client.send("i", "go", 3)


async def side_by_side(client: Client) -> None:
    await client.create("i", "side_by_side")


async def dependencies(client: Client) -> None:
    await client.create("i", "dependencies")


async def effects(client: Client) -> None:
    await client.create("i", "effects")


async def family(client: Client) -> None:
    await client.create("i", "parent")


async def unserialisable(client: Client) -> None:
    await client.create("i", "unserialisable")


async def batch(client: Client) -> None:
    await client.create_batch("quick", *(f"b{number}" for number in range(8)))
    await client.create_batch("sleeps", "b0", "c0", "c1")


async def pauses(client: Client) -> None:
    """In a step, in a sleep, called off before it takes place, before the first run, and after the end."""
    await client.create("i", "plodding")
    await client.noted("begins", "i", "one")
    await client.pause("i")
    await client.after(1)
    await client.resume("i")
    await client.pause("i")
    await client.until("i", "paused")
    await client.after(86_400)
    await client.resume("i")
    await client.after(3)
    await client.pause("i")
    await client.send("i", "word", "while it was paused")
    await client.after(3_600)
    await client.resume("i")
    await client.until("i", "complete")
    await client.pause("i")
    await client.resume("i")


async def paused_at_once(client: Client) -> None:
    """Before and while it starts, and while it ends."""
    await client.create("i", "quick")
    await client.pause("i")
    await client.create("j", "quick")
    await client.noted("begins", "j")
    await client.pause("j")
    await client.after(60)
    await client.resume("i")
    await client.resume("j")


async def terminated(client: Client) -> None:
    """In a step, in a sleep, in a wait, and one that doesn't let itself be cancelled."""
    for number, after_s in enumerate((2, 6, 14)):
        await client.create(f"i{number}", "plodding")
        await client.after(after_s)
        await client.terminate(f"i{number}")
    await client.create("stubborn", "stubborn")
    await client.noted("begins", "stubborn", "s1")
    await client.terminate("stubborn")


async def restarted(client: Client) -> None:
    """While a step's callback is in flight, with an event in the buffer that goes; and when it has ended."""
    await client.create("i", "plodding")
    await client.send("i", "word", "before the restart")
    await client.noted("begins", "i", "one")
    await client.restart("i")
    await client.send("i", "word", "after the restart")
    await client.until("i", "complete")
    await client.restart("i")
    await client.send("i", "word", "after the second restart")


async def restarted_from_a_step(client: Client) -> None:
    await client.create("i", "plodding")
    await client.noted("begins", "i", "two")
    await client.restart("i", "two")
    await client.send("i", "word", "first")
    await client.until("i", "complete")
    await client.restart("i", "two")
    await client.send("i", "word", "second")


async def deleted(client: Client) -> None:
    """While it runs; the same id is then another instance's."""
    await client.create("i", "plodding")
    await client.send("i", "word", "to the first")
    await client.noted("begins", "i", "one")
    await client.delete("i")
    await client.create("i", "events")
    await client.delete("i")
    await client.create("i", "quick")


async def rolled_back(client: Client) -> None:
    """After an error; one goes through, one is stopped by a rollback that fails."""
    await client.create("i", "saga")
    await client.create("j", "saga", stuck="two")


async def terminated_and_rolled_back(client: Client) -> None:
    """In the middle of attempts, out of memory, and before there is anything to undo."""
    await client.create("i", "saga")
    await client.create("j", "saga", stuck="three")
    await client.create("k", "quick")
    await client.terminate("k", roll_back=True)
    await client.noted("begins", "i", "three")
    await client.terminate("i", roll_back=True)
    await client.after(HOUR_S)
    await client.terminate("j", roll_back=True)


async def streams(client: Client) -> None:
    await client.create("i", "streams")


async def hibernating(client: Client) -> None:
    """Woken by time and by events; paused while it is out of memory."""
    await client.create("i", "hibernating")
    await client.create("j", "hibernating")
    await client.after(HOUR_S)
    await client.send("i", "second", "before the first")
    await client.pause("j")
    await client.after(8 * HOUR_S)
    await client.send("i", "first", "the first")
    await client.resume("j")
    await client.after(8 * HOUR_S)
    await client.send("j", "first", "first of j")
    await client.send("j", "second", "second of j")


async def scheduled(client: Client) -> None:
    """Three instants, and two of the instances expire: no instant comes twice."""
    await client.at(60 * HOUR_S)


async def expiring(client: Client) -> None:
    """Ended in all ways; an id is used again when it has become free."""
    await client.create("i", "quick", kept_ms=HOUR_MS)
    await client.create("j", "failing", kept_ms=2 * HOUR_MS)
    await client.create("k", "plodding", kept_ms=HOUR_MS)
    await client.noted("begins", "k", "one")
    await client.terminate("k")
    await client.after(HOUR_S + 60)
    await client.create("i", "quick", kept_ms=999 * HOUR_MS)
    await client.after(2 * HOUR_S)


async def queued(client: Client) -> None:
    """More than may run at a time."""
    await client.create_batch("busy", *(f"b{number}" for number in range(5)))


async def sending(client: Client) -> None:
    await client.create("i", "sending")


SCHEDULED = {"schedules": ("0 6 * * *",), "success_retention_ms": 20 * HOUR_MS}

WORKFLOWS = {
    scenario.name: scenario
    for scenario in (
        Scenario(steps), Scenario(sleeps), Scenario(delays), Scenario(frugal, frozenset({"i"})), Scenario(ends),
        Scenario(events), Scenario(crowd), Scenario(side_by_side), Scenario(dependencies), Scenario(effects),
        Scenario(family), Scenario(unserialisable), Scenario(batch), Scenario(pauses), Scenario(paused_at_once),
        Scenario(terminated), Scenario(restarted), Scenario(restarted_from_a_step), Scenario(deleted),
        Scenario(rolled_back), Scenario(terminated_and_rolled_back), Scenario(streams), Scenario(hibernating),
        Scenario(scheduled, workflow=SCHEDULED), Scenario(expiring), Scenario(sending),
        Scenario(queued, workflow={"concurrency_limit": 2}),
    )
}  # fmt: skip


class JavaScriptClient(Client):
    config = "flow.jsonc"
    prefix = "javascript_"
    is_javascript = True


JAVASCRIPT = {
    scenario.name: scenario
    for scenario in (
        *(
            Scenario(script, client=JavaScriptClient)
            for script in (
                steps, sleeps, ends, events, crowd, side_by_side, effects, family, batch, restarted, deleted,
                rolled_back, terminated_and_rolled_back, hibernating, sending,
            )
        ),
        Scenario(frugal, frozenset({"i"}), client=JavaScriptClient),
    )
}  # fmt: skip
"""Those whose shapes flow.js has."""

SCENARIOS = WORKFLOWS | DATA | JAVASCRIPT | JAVASCRIPT_DATA
