"""What is done to KV, D1 and queues while their process is killed; the Worker is `project/src/keeper.py`."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from flarebed.bindings.errors import JsError
from tests.crash.data_client import DataClient
from tests.crash.data_judge import DataJudge
from tests.crash.scenario import Scenario

LARGEST_BYTES: Final = 25 * 1024 * 1024
_FACTS: Final = "CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY)"
_LATER: Final = ("DELETE FROM facts WHERE name = 'one'", "INSERT OR REPLACE INTO facts VALUES ('six')")
_LAST: Final = ("DELETE FROM facts WHERE name = 'two'", "INSERT OR REPLACE INTO facts VALUES ('seven')")
_SLOWLY: Final = """
INSERT OR REPLACE INTO facts
WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < 60000)
SELECT 'slow ' || n FROM numbers WHERE n % 30000 = 0
"""


async def puts(client: DataClient) -> None:
    """New and over others, alone and several in one turn, among them one that is read before it is committed."""
    await client.put("a")
    await client.put("a")
    await asyncio.gather(client.put("b"), client.put("c"), client.delete("a"), client.glance("b"))
    await asyncio.gather(client.put("a"), client.glance("a"), client.delete("c"))
    await client.put("b", size=100_000)


async def values_expire(client: DataClient) -> None:
    """Over a value that stays, and the other way round; the last put clears away what has expired."""
    await client.put("a")
    await client.put("a", ttl_s=100)
    await asyncio.gather(client.put("b", ttl_s=200), client.put("c", ttl_s=100))
    await client.put("c")
    await client.after(120)
    await client.look()
    await client.put("d", ttl_s=100)
    await client.after(300)
    await client.put("e", ttl_s=1_000_000)


async def large(client: DataClient) -> None:
    """The largest value over a small one, another over that, in the middle of a stream of it, and none."""
    await client.put("a")
    await client.put("a", size=LARGEST_BYTES - 100, is_streamed=True)
    await asyncio.gather(client.stream("a"), client.put("a", size=3_000_000, is_streamed=True))
    await client.put("b", size=2_000_000)
    await client.delete("a")
    await client.put("b")


async def rows(client: DataClient) -> None:
    """One by one, in batches, with exec and several in one text; and a batch that fails."""
    insert = client.insert
    await client.write(lambda: client.db.exec(_FACTS), ["table facts"])
    await client.write(lambda: insert("one").run(), ["one"])
    await client.write(
        lambda: client.db.batch([insert("two"), insert("three"), insert("four")]), ["two", "three", "four"]
    )
    await client.write(lambda: _refused(client))
    await client.write(lambda: client.db.exec("\n".join(_LATER)), ["-one", "six"])
    await client.write(lambda: client.db.prepare(";".join(_LAST)).run(), ["-two", "seven"])
    await client.write(lambda: client.db.batch(_renamed(client, "three", "four")), ["-three", "-four", "THREE", "FOUR"])
    await asyncio.gather(*(client.write(insert(name).run, [name]) for name in ("x", "y", "z")))


async def _refused(client: DataClient) -> None:
    """A batch whose last statement fails, with those before it."""
    once = client.db.prepare("INSERT INTO facts VALUES ('eight')")
    try:
        await client.db.batch([client.insert("never"), once, once])
    except JsError as error:
        if "UNIQUE" not in error.message:
            raise


def _renamed(client: DataClient, *names: str) -> list[Any]:
    rename = client.db.prepare("UPDATE facts SET name = upper(name) WHERE name = ?")
    return [rename.bind(name) for name in names]


async def slow_rows(client: DataClient) -> None:
    """In the database's own thread, since they take long; a short one waits behind them."""
    slow = ["slow 0", "slow 30000", "slow 60000"]
    await client.write(lambda: client.db.exec(_FACTS), ["table facts"])
    await asyncio.gather(
        client.write(client.db.prepare(_SLOWLY).run, slow), client.write(client.insert("quick").run, ["quick"])
    )
    batch = [client.db.prepare("DELETE FROM facts"), client.db.prepare(_SLOWLY), client.insert("last")]
    await client.write(lambda: client.db.batch(batch), ["-quick", *slow, "last"])


async def migrating(client: DataClient) -> None:
    await client.migrate()


async def sends(client: DataClient) -> None:
    """One by one, in batches, delayed; to a queue that nobody consumes; several in one turn."""
    await client.send("plain-a")
    await client.send("acked-b", "plain-c", "acked-d", "plain-e")
    await client.send("plain-f", delay_s=5)
    await client.send("kept-g", "kept-h", queue="kept")
    await client.send("kept-i", queue="kept", delay_s=100)
    await asyncio.gather(client.send("plain-j"), client.send("acked-k", "plain-l", delay_s=2), client.send("plain-m"))


async def retries(client: DataClient) -> None:
    """Alone, the whole batch, and by an exception that what was acknowledged survives."""
    await client.send("again-a", "plain-b", "acked-c")
    await client.send("acked-d", "thrown-e", "plain-f")
    await client.after(2)
    await client.send("all-g", "acked-h", "plain-i")
    await client.send("again-j", delay_s=3)


async def dying(client: DataClient) -> None:
    """To the dead letter queue, which is consumed too."""
    await client.send("poison-a", "plain-b", "poison-c")
    await client.after(1)
    await client.send("poison-d", "acked-e")


async def side_by_side_deliveries(client: DataClient) -> None:
    """Several batches at a time."""
    await client.send(*(f"plain-{number}" for number in range(8)), queue="side")
    await client.send("again-a", "acked-b", "thrown-c", queue="side")
    await client.after(1)
    await client.send("plain-d", "all-e", "acked-f", queue="side")


async def paused(client: DataClient) -> None:
    """It takes messages and delivers none, also after a death, until it is resumed."""
    await client.send("plain-a", "again-b")
    await client.after(1.2)
    await client.set_paused("orders", True)
    await client.after(5)
    await client.send("plain-c", "acked-d")
    await client.send("plain-e", delay_s=2)
    await client.after(10)
    await client.set_paused("orders", False)


async def redriven(client: DataClient) -> None:
    """From a queue that nobody consumes to one that is."""
    await client.send("plain-a", "again-b", "acked-c", queue="kept")
    await client.send("plain-d", queue="kept")
    await client.redrive("kept", "orders")
    await client.send("plain-e", queue="kept")


async def everything(client: DataClient) -> None:
    """All kinds in one turn, again and again."""
    await client.write(lambda: client.db.exec(_FACTS), ["table facts"])
    for word in ("one", "two", "three"):
        await asyncio.gather(
            client.put("a"), client.write(client.insert(word).run, [word]), client.send(f"plain-{word}"),
            client.send(f"again-{word}", queue="side"), client.glance("a"),
        )  # fmt: skip


DATA: Final = {
    script.__name__: Scenario(script, client=DataClient, judge=DataJudge)
    for script in (
        puts, values_expire, large, rows, slow_rows, migrating, sends, retries, dying, side_by_side_deliveries,
        paused, redriven, everything,
    )
}  # fmt: skip


class JavaScriptDataClient(DataClient):
    config = "keeper.jsonc"
    prefix = "javascript_"
    is_javascript = True


JAVASCRIPT_DATA: Final = {
    scenario.name: scenario
    for scenario in (
        Scenario(script, client=JavaScriptDataClient, judge=DataJudge)
        for script in (sends, retries, dying, side_by_side_deliveries, everything)
    )
}
"""Those whose Worker is called."""
